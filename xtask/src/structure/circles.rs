//! Files that import each other in a circle.

use std::collections::VecDeque;

use super::modules::{Import, Modules};

/// A shortest circle through each file that is in one, each circle once. A file and a part of it, in its folder, may
/// import each other: that is no circle.
pub(super) fn circles(modules: &Modules, imports: &[Import]) -> Vec<Vec<Import>> {
    let count = modules.0.len();
    let mut from: Vec<Vec<&Import>> = vec![Vec::new(); count];
    for import in imports {
        if !modules.is_part_of(import.from, import.to) && !modules.is_part_of(import.to, import.from) {
            from[import.from].push(import);
        }
    }
    let mut circles: Vec<Vec<Import>> = Vec::new();
    for start in 0..count {
        let known = |circle: &Vec<Import>| circle.iter().any(|import| import.from == start);
        if !circles.iter().any(known)
            && let Some(circle) = shortest(start, &from)
        {
            circles.push(circle);
        }
    }
    circles
}

/// A shortest chain of imports from a file back to itself.
fn shortest(start: usize, from: &[Vec<&Import>]) -> Option<Vec<Import>> {
    let mut reached_by: Vec<Option<&Import>> = vec![None; from.len()];
    let mut queue = VecDeque::from([start]);
    while let Some(file) = queue.pop_front() {
        for &import in &from[file] {
            if reached_by[import.to].is_some() {
                continue;
            }
            reached_by[import.to] = Some(import);
            if import.to != start {
                queue.push_back(import.to);
                continue;
            }
            let mut circle = vec![import.clone()];
            while circle[circle.len() - 1].from != start {
                circle.push(reached_by[circle[circle.len() - 1].from]?.clone());
            }
            circle.reverse();
            return Some(circle);
        }
    }
    None
}
