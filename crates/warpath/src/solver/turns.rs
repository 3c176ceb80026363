//! Which threads a search on the CPU gets, where several threads put requests to one solver.
//!
//! A search that comes alone has the whole team. Searches that come while another one runs take one thread each, as
//! many at once as the team has threads: searches side by side need no barriers and no atomics.
//!
//! `crates/models` checks it under every order in which threads can run.

use crate::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Counts the searches that run and those that wait.
#[derive(Debug)]
pub(crate) struct Turns {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Whether a search has the team.
    team_is_taken: bool,
    /// How many searches run on a thread of their own.
    alone: usize,
    waiting: usize,
}

/// The permission to search, until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn<'t> {
    turns: &'t Turns,
    has_team: bool,
}

impl Default for Turns {
    fn default() -> Self {
        Turns { state: Mutex::new(State::default()), changed: Condvar::new() }
    }
}

impl Turns {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a turn; at most `at_once` searches run at once.
    pub(crate) fn wait(&self, at_once: usize) -> Turn<'_> {
        let mut state = self.state();
        let has_team = !state.team_is_taken && state.alone == 0 && state.waiting == 0;
        if has_team {
            state.team_is_taken = true;
        } else {
            state.waiting += 1;
            while state.team_is_taken || state.alone >= at_once {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            state.waiting -= 1;
            state.alone += 1;
        }
        Turn { turns: self, has_team }
    }
}

impl Turn<'_> {
    /// Whether the search has the whole team.
    pub(crate) fn has_team(&self) -> bool {
        self.has_team
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = self.turns.state();
        if self.has_team {
            state.team_is_taken = false;
        } else {
            state.alone -= 1;
        }
        drop(state);
        self.turns.changed.notify_all();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn one_has_the_team_or_some_search_alone() {
        const AT_ONCE: usize = 3;
        let turns = Turns::default();
        assert!(turns.wait(AT_ONCE).has_team() && turns.wait(AT_ONCE).has_team());
        let (with_team, alone) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let turn = turns.wait(AT_ONCE);
                        let mine = if turn.has_team() { &with_team } else { &alone };
                        mine.fetch_add(1, Ordering::SeqCst);
                        std::thread::yield_now();
                        let (with_team, alone) = (with_team.load(Ordering::SeqCst), alone.load(Ordering::SeqCst));
                        assert!(with_team <= 1 && alone <= AT_ONCE && (with_team == 0 || alone == 0));
                        mine.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert!(turns.wait(AT_ONCE).has_team());
    }
}
