//! Questions, answers in a few numbers, and the answers that are expected.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use warpath::graph::{Distance, Distances, Weights};
use warpath::{Control, Engine, Error, Graph, Result, ShortestPathTree, Solver, Sssp, VertexId};

use crate::digest::{Digest, hash_row, hexadecimal};
use crate::suite::Job;

/// What is asked of a graph.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Questions {
    pub(crate) job: Job,
    /// A source for each question; of a job that prepares, those of its probes.
    pub(crate) sources: Vec<VertexId>,
    /// Of rows, none; of a table, its columns; of any other job, a target for each source.
    pub(crate) targets: Vec<VertexId>,
}

impl Questions {
    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        if self.job.prepares() { 1 } else { self.sources.len() }
    }

    /// The pairs of these questions.
    pub(crate) fn pairs(&self, range: Range<usize>) -> Vec<(VertexId, VertexId)> {
        range.map(|index| (self.sources[index], self.targets[index])).collect()
    }

    /// The pairs that show whether what was prepared is right.
    pub(crate) fn probes(&self) -> Vec<(VertexId, VertexId)> {
        self.pairs(0..self.sources.len())
    }

    /// The columns of a table; `None` if the answers have all vertices.
    pub(crate) fn columns(&self) -> Option<&[VertexId]> {
        (self.job == Job::Table).then_some(&self.targets)
    }
}

/// An answer in a few numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Answer {
    /// How many vertices were reached.
    pub(crate) reached: u64,
    /// The sum of their distances.
    pub(crate) sum: u128,
    /// The greatest distance.
    pub(crate) greatest: u64,
    /// A hash of all distances; `None` from a program that tells the sum alone.
    pub(crate) hash: Option<u64>,
}

impl Answer {
    /// The answer to question `number`: `columns` distances from index `start` on.
    pub(crate) fn of_row(distances: &Distances, start: usize, columns: usize, number: usize) -> Self {
        let found = (start..start + columns).filter_map(|index| distances.get(index));
        Answer { hash: Some(hash_row(distances, start, columns, number)), ..Self::of(found) }
    }

    /// The answers to questions of `columns` distances each, the first of this number.
    pub(crate) fn of_rows(distances: &Distances, columns: usize, first: usize) -> Vec<Self> {
        let rows = distances.len().checked_div(columns).unwrap_or(0);
        (0..rows).map(|row| Self::of_row(distances, row * columns, columns, first + row)).collect()
    }

    /// The distance of one pair, or the distances of several.
    pub(crate) fn of(found: impl Iterator<Item = Distance>) -> Self {
        found.fold(Self::default(), |sum, distance| match distance {
            Distance::Unsigned(value) => Answer {
                reached: sum.reached + 1,
                sum: sum.sum + u128::from(value),
                greatest: sum.greatest.max(value),
                hash: None,
            },
            // Peers are compared with weights that are whole numbers without sign.
            _ => sum,
        })
    }

    fn agrees_with(self, other: Answer) -> bool {
        let hashes = self.hash.is_none() || other.hash.is_none() || self.hash == other.hash;
        hashes && self.reached == other.reached && self.sum == other.sum
    }

    /// One digest of many answers.
    pub(crate) fn digest(answers: &[Answer]) -> Digest {
        let hashes: Option<Vec<u64>> = answers.iter().map(|answer| answer.hash).collect();
        Digest {
            reached: answers.iter().map(|answer| answer.reached).sum(),
            sum: answers.iter().map(|answer| answer.sum).sum::<u128>().to_string(),
            greatest: answers.iter().map(|answer| answer.greatest).max().map(|greatest| greatest.to_string()),
            hash: hashes.map(|hashes| hexadecimal(hashes.into_iter().fold(0, u64::wrapping_add))),
        }
    }
}

/// The expected answers on one graph, by experiment.
#[derive(Debug, Default)]
pub(crate) struct Expected(HashMap<String, Vec<Option<Answer>>>);

/// How many questions of an experiment are answered by searches before any program is asked.
const SEARCHED: usize = 8;

impl Expected {
    /// The expected answers of an experiment. At first they are those to a few questions, spread over all, by searches whose
    /// certificates are checked; [`compare`] adds the others.
    pub(crate) fn of(
        &mut self,
        experiment: &str,
        graph: &Arc<Graph>,
        questions: &Questions,
        control: &Control,
    ) -> Result<&mut Vec<Option<Answer>>> {
        if !self.0.contains_key(experiment) {
            let answers = searched(graph, questions, control)?;
            self.0.insert(experiment.to_owned(), answers);
        }
        Ok(self.0.get_mut(experiment).expect("it was inserted"))
    }
}

fn searched(graph: &Arc<Graph>, questions: &Questions, control: &Control) -> Result<Vec<Option<Answer>>> {
    let graph = match questions.job {
        Job::Customize => Arc::new(with_other_weights(graph)?),
        _ => graph.clone(),
    };
    let solver = Solver::builder(graph.clone()).engine(Engine::Cpu).control(control.clone()).open()?;
    let search = |source: VertexId| -> Result<ShortestPathTree> {
        let tree = solver.solve(Sssp::from(source).distances_only().algorithm("delta-stepping"))?;
        tree.verify(&graph)?;
        Ok(tree)
    };
    let count = questions.count();
    let mut answers = vec![None; count];
    if questions.job.prepares() {
        let mut found = Vec::new();
        for (source, target) in questions.probes() {
            found.extend(search(source)?.distance(target));
        }
        answers[0] = Some(Answer::of(found.into_iter()));
        return Ok(answers);
    }
    let spread = SEARCHED.min(count);
    for index in (0..spread).map(|place| place * count / spread) {
        let tree = search(questions.sources[index])?;
        answers[index] = Some(match questions.job {
            Job::Table => Answer::of_row(&columns_of(&tree, &questions.targets), 0, questions.targets.len(), index),
            Job::Rows => Answer::of_row(tree.distances(), 0, graph.vertices(), index),
            _ => Answer::of(tree.distance(questions.targets[index]).into_iter()),
        });
    }
    Ok(answers)
}

fn columns_of(tree: &ShortestPathTree, targets: &[VertexId]) -> Distances {
    let value = |target: &VertexId| match tree.distance(*target) {
        Some(Distance::Unsigned(value)) => value,
        _ => u64::MAX,
    };
    Distances::U64(targets.iter().map(value).collect())
}

/// The graph with other weights from the same range.
pub(crate) fn with_other_weights(graph: &Arc<Graph>) -> Result<Graph> {
    const SEED: u64 = 2;
    let (low, high) = graph.weight_range();
    (**graph).clone().with_random_weights(low as i64, high as i64, SEED)
}

/// Compares the answers to the questions from `first` on with those expected. Where nobody has answered before, an answer
/// is what is expected of all later programs.
///
/// # Errors
///
/// [`Error::NotVerified`] at the first that differs.
pub(crate) fn compare(expected: &mut [Option<Answer>], first: usize, answers: &[Answer]) -> Result<()> {
    for (index, (slot, answer)) in expected[first..].iter_mut().zip(answers).enumerate() {
        match slot {
            Some(known) if !answer.agrees_with(*known) => {
                let (reached, sum) = (known.reached, known.sum);
                return Err(Error::NotVerified(format!(
                    "question {}: {} reached, with distances of {} in all, instead of {reached} and {sum}",
                    first + index,
                    answer.reached,
                    answer.sum
                )));
            }
            // A sum alone leaves room for a hash.
            Some(known) if known.hash.is_some() => {}
            slot => *slot = Some(*answer),
        }
    }
    Ok(())
}

/// The length of a path, if it is one from `source` to `target` in this graph.
pub(crate) fn length_of_path(graph: &Graph, path: &[VertexId], source: VertexId, target: VertexId) -> Option<u64> {
    let (Some(&first), Some(&last), Weights::U32(weights)) = (path.first(), path.last(), graph.weights()) else {
        return None;
    };
    if (first, last) != (source, target) {
        return None;
    }
    let length = |step: &[VertexId]| {
        let (csr, tail) = (graph.csr(), step[0]);
        let arcs = csr.neighbors(tail).iter().zip(&weights[csr.row(tail)]);
        arcs.filter(|(head, _)| **head == step[1]).map(|(_, weight)| u64::from(*weight)).min()
    };
    path.windows(2).map(length).sum()
}
