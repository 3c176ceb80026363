//! Rust packages with hierarchies: `fast_paths`, and `routingkit-cch`, which is RoutingKit's C++.
//!
//! `fast_paths` contracts the vertices by the weights, so that new weights take a new contraction, in the old order. It
//! answers pairs alone: a table asks it for each pair.
//!
//! `routingkit-cch` needs an order. Its own good one needs coordinates, which these graphs don't have, so it gets Warpath's
//! nested dissection, whose time counts as part of preparing. Rows are its tables with all vertices as targets; pinning the
//! targets is part of each call.
//!
//! Both answer on one thread; here each thread asks an instance of its own. A call can't be stopped, so a worker makes it.

use std::sync::Arc;
use std::time::Instant;

use fast_paths::{FastGraph, InputGraph};
use rayon::prelude::*;
use routingkit_cch::{CCH, CCHMetric, CCHOneToMany, CCHQuery, INF_WEIGHT};
use warpath::graph::{Distances, Weights};
use warpath::hierarchy::nested_dissection;
use warpath::{Control, Error, Graph, Result, VertexId};

use super::answers::{Answer, Questions, length_of_path, with_other_weights};
use super::linked::ROUTINGKIT_UNREACHED;
use super::nanoseconds;
use crate::peers::link::Link;
use crate::peers::messages::{Case, Counters, Ready, Reply};
use crate::results::Clock;
use crate::suite::Job;

const _: () = assert!(INF_WEIGHT == ROUTINGKIT_UNREACHED);

/// What the packages have made of a graph, and the seconds that it took.
#[derive(Default)]
pub(crate) struct Built {
    contracted: Option<(FastGraph, f64)>,
    eliminated: Option<(Eliminated, f64)>,
}

/// Answers the questions of a case; returns counters that came up meanwhile.
pub(crate) fn answer(link: &Link, graph: &Arc<Graph>, case: Case, built: &mut Built) -> Result<Counters> {
    let questions = serde_json::from_value(case.questions);
    let questions = questions.map_err(|error| Error::invalid(format!("these are no questions: {error}")))?;
    let asked = Asked { link, graph, questions };
    match case.package.as_str() {
        "fast_paths" => run_fast_paths(&asked, &mut built.contracted),
        _ => run_routingkit(&asked, &mut built.eliminated),
    }
}

/// The questions of a case, and who asks them.
struct Asked<'a> {
    link: &'a Link,
    graph: &'a Arc<Graph>,
    questions: Questions,
}

fn ready(name: String, prepare: f64, at_once: usize) -> Ready {
    Ready { name, ran_on: None, clock: Clock::Host, prepare, counters: Vec::new(), at_once }
}

/// A path and its length.
type Found = Option<(u64, Vec<VertexId>)>;

/// The answers to pairs; of paths, after each was followed through the graph.
fn answers_of(
    graph: &Graph,
    questions: &Questions,
    pairs: &[(VertexId, VertexId)],
    found: &[Found],
) -> Result<Vec<Answer>> {
    let answer = |(found, &(source, target)): (&Found, &(VertexId, VertexId))| {
        let Some((length, path)) = found else { return Ok(Answer::default()) };
        if questions.job == Job::Paths && length_of_path(graph, path, source, target) != Some(*length) {
            return Err(Error::NotVerified(format!("the path from {source} to {target} is none of its length")));
        }
        Ok(Answer { reached: 1, sum: (*length).into(), greatest: *length, hash: None })
    };
    found.iter().zip(pairs).map(answer).collect()
}

/// One answer for the pairs that show whether what was prepared is right.
fn probe(found: &[Found]) -> Vec<Answer> {
    let lengths = || found.iter().flatten().map(|(length, _)| *length);
    let sum = lengths().map(u128::from).sum();
    vec![Answer { reached: lengths().count() as u64, sum, greatest: lengths().max().unwrap_or(0), hash: None }]
}

/// Some sources for each thread.
fn share(sources: usize) -> usize {
    sources.div_ceil(rayon::current_num_threads()).max(1)
}

fn input_of(graph: &Graph) -> InputGraph {
    let mut input = InputGraph::new();
    for (u, v, weight) in graph.edges().filter(|(u, v, _)| u != v) {
        input.add_edge(u as usize, v as usize, weight as usize);
    }
    input.freeze();
    input
}

fn fast_paths_between(graph: &FastGraph, pairs: &[(VertexId, VertexId)]) -> Vec<Found> {
    let of_part = |part: &[(VertexId, VertexId)]| -> Vec<Found> {
        let mut calculator = fast_paths::create_calculator(graph);
        let mut find = |&(source, target): &(VertexId, VertexId)| {
            // It knows the vertices with edges alone.
            if source == target {
                return Some((0, vec![source]));
            }
            let path = calculator.calc_path(graph, source as usize, target as usize)?;
            Some((path.get_weight() as u64, path.get_nodes().iter().map(|&v| v as VertexId).collect()))
        };
        part.iter().map(&mut find).collect()
    };
    pairs.par_chunks(share(pairs.len())).flat_map_iter(of_part).collect()
}

fn run_fast_paths(asked: &Asked<'_>, contracted: &mut Option<(FastGraph, f64)>) -> Result<Counters> {
    let Asked { link, graph, questions } = asked;
    let name = format!("fast_paths {}", env!("WARPATH_PEER_FAST_PATHS"));
    let contract = |input: &InputGraph| {
        let start = Instant::now();
        let made = fast_paths::prepare(input);
        (made, start.elapsed().as_secs_f64())
    };
    if questions.job == Job::Build {
        let input = input_of(graph);
        link.answer(ready(name, 0.0, 1), &mut |_| {
            let (made, seconds) = contract(&input);
            let answers = probe(&fast_paths_between(&made, &questions.probes()));
            *contracted = Some((made, seconds));
            Ok(Reply { seconds, answers })
        })?;
        return Ok(Counters::new());
    }
    let (made, built) = contracted.get_or_insert_with(|| contract(&input_of(graph)));
    if questions.job == Job::Customize {
        let order = fast_paths::get_node_ordering(made);
        let input = input_of(&with_other_weights(graph)?);
        link.answer(ready(name, *built, 1), &mut |_| {
            let start = Instant::now();
            let other = fast_paths::prepare_with_order(&input, &order).map_err(Error::invalid)?;
            let seconds = start.elapsed().as_secs_f64();
            Ok(Reply { seconds, answers: probe(&fast_paths_between(&other, &questions.probes())) })
        })?;
        return Ok(Counters::new());
    }
    let at_once = if questions.job == Job::Table { 16 } else { questions.count() };
    let counters = vec![("build_nanoseconds".to_owned(), nanoseconds(*built))];
    let ready = Ready { counters, ..ready(name, *built, at_once) };
    link.answer(ready, &mut |range| {
        let Some(columns) = questions.columns() else {
            let pairs = questions.pairs(range);
            let start = Instant::now();
            let found = fast_paths_between(made, &pairs);
            let seconds = start.elapsed().as_secs_f64();
            return Ok(Reply { seconds, answers: answers_of(graph, questions, &pairs, &found)? });
        };
        let sources = &questions.sources[range.clone()];
        let pairs: Vec<_> = sources.iter().flat_map(|&source| columns.iter().map(move |&to| (source, to))).collect();
        let start = Instant::now();
        let found = fast_paths_between(made, &pairs);
        let seconds = start.elapsed().as_secs_f64();
        let length = |found: &Found| found.as_ref().map_or(u64::MAX, |(length, _)| *length);
        let distances = Distances::U64(found.iter().map(length).collect());
        Ok(Reply { seconds, answers: Answer::of_rows(&distances, columns.len(), range.start) })
    })?;
    Ok(Counters::new())
}

/// A graph after RoutingKit has eliminated its vertices.
struct Eliminated {
    cch: CCH,
    /// Of each arc that is no loop, its place among all.
    arcs: Vec<usize>,
    /// Seconds that the order took.
    ordering: f64,
}

impl Eliminated {
    /// Orders and eliminates, and says how many seconds that took.
    fn new(graph: &Graph) -> Result<(Self, f64)> {
        let (mut tails, mut heads, mut arcs) = (Vec::new(), Vec::new(), Vec::new());
        for (place, (tail, head, _)) in graph.edges().enumerate().filter(|(_, (tail, head, _))| tail != head) {
            tails.push(tail);
            heads.push(head);
            arcs.push(place);
        }
        let start = Instant::now();
        let order = nested_dissection(graph, &Control::new())?;
        let ordering = start.elapsed().as_secs_f64();
        let cch = CCH::new(&order, &tails, &heads, |_| (), false);
        let seconds = start.elapsed().as_secs_f64();
        Ok((Eliminated { cch, arcs, ordering }, seconds))
    }

    /// The lengths of its shortcuts, and the seconds that they took.
    fn customize(&self, weights: &Weights) -> Result<(CCHMetric<'_>, f64)> {
        let Weights::U32(weights) = weights else {
            return Err(Error::invalid("the weights are not whole numbers without sign"));
        };
        let weights = self.arcs.iter().map(|&place| weights[place]).collect();
        let start = Instant::now();
        let metric = CCHMetric::parallel_new(&self.cch, weights, rayon::current_num_threads() as u32);
        Ok((metric, start.elapsed().as_secs_f64()))
    }
}

fn routingkit_between(metric: &CCHMetric<'_>, pairs: &[(VertexId, VertexId)], with_paths: bool) -> Vec<Found> {
    let of_part = |part: &[(VertexId, VertexId)]| -> Vec<Found> {
        let mut query = CCHQuery::new(metric);
        let mut find = |&(source, target): &(VertexId, VertexId)| {
            query.add_source(source, 0);
            query.add_target(target, 0);
            let result = query.run();
            let length = result.distance()?;
            Some((length.into(), if with_paths { result.node_path() } else { Vec::new() }))
        };
        part.iter().map(&mut find).collect()
    };
    pairs.par_chunks(share(pairs.len())).flat_map_iter(of_part).collect()
}

fn routingkit_rows(metric: &CCHMetric<'_>, sources: &[VertexId], targets: &[VertexId]) -> Vec<Vec<Option<u32>>> {
    let of_part = |part: &[VertexId]| -> Vec<Vec<Option<u32>>> {
        let mut query = CCHOneToMany::new(metric, targets);
        part.iter().map(|&source| query.distances_from(source)).collect()
    };
    sources.par_chunks(share(sources.len())).flat_map_iter(of_part).collect()
}

fn run_routingkit(asked: &Asked<'_>, eliminated: &mut Option<(Eliminated, f64)>) -> Result<Counters> {
    let Asked { link, graph, questions } = asked;
    let name = format!("routingkit-cch {}, in Warpath's order", env!("WARPATH_PEER_ROUTINGKIT_CCH"));
    if questions.job == Job::Build {
        let mut ordering = 0.0;
        link.answer(ready(name, 0.0, 1), &mut |_| {
            let (made, seconds) = Eliminated::new(graph)?;
            ordering = made.ordering;
            let (metric, _) = made.customize(graph.weights())?;
            let answers = probe(&routingkit_between(&metric, &questions.probes(), false));
            drop(metric);
            *eliminated = Some((made, seconds));
            Ok(Reply { seconds, answers })
        })?;
        return Ok(vec![("order_nanoseconds".to_owned(), nanoseconds(ordering))]);
    }
    if eliminated.is_none() {
        *eliminated = Some(Eliminated::new(graph)?);
    }
    let Some((made, built)) = eliminated.as_ref() else { return Err(Error::invalid("nothing was eliminated")) };
    if questions.job == Job::Customize {
        let other = with_other_weights(graph)?;
        link.answer(ready(name, *built, 1), &mut |_| {
            let (metric, seconds) = made.customize(other.weights())?;
            Ok(Reply { seconds, answers: probe(&routingkit_between(&metric, &questions.probes(), false)) })
        })?;
        return Ok(Counters::new());
    }
    let (metric, customized) = made.customize(graph.weights())?;
    let counters = [("build_nanoseconds", *built), ("first_nanoseconds", customized)];
    let counters = counters.map(|(name, seconds)| (name.to_owned(), nanoseconds(seconds))).to_vec();
    let everywhere: Vec<VertexId> = (0..graph.vertices() as VertexId).collect();
    let targets = questions.columns().unwrap_or(&everywhere);
    // Answers have eight bytes.
    let at_once = match questions.job {
        Job::Rows | Job::Table => ((1 << 28) / targets.len().max(1)).max(1),
        _ => questions.count(),
    };
    let ready = Ready { counters, ..ready(name, built + customized, at_once) };
    link.answer(ready, &mut |range| {
        if !matches!(questions.job, Job::Rows | Job::Table) {
            let pairs = questions.pairs(range);
            let start = Instant::now();
            let found = routingkit_between(&metric, &pairs, questions.job == Job::Paths);
            let seconds = start.elapsed().as_secs_f64();
            return Ok(Reply { seconds, answers: answers_of(graph, questions, &pairs, &found)? });
        }
        let start = Instant::now();
        let rows = routingkit_rows(&metric, &questions.sources[range.clone()], targets);
        let seconds = start.elapsed().as_secs_f64();
        let row = |(index, row): (usize, &Vec<Option<u32>>)| {
            let distances = Distances::U32(row.iter().map(|distance| distance.unwrap_or(u32::MAX)).collect());
            Answer::of_row(&distances, 0, row.len(), range.start + index)
        };
        Ok(Reply { seconds, answers: rows.iter().enumerate().map(row).collect() })
    })?;
    Ok(Counters::new())
}
