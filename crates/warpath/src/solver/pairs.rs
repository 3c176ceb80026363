//! Paths between pairs of vertices: a search for each source, until its targets are settled; or, where there is a hierarchy,
//! a walk up from both ends of each pair.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use rayon::prelude::*;

use super::decision::Decision;
use super::{Request, Search, Solver, hierarchy, sssp};
use crate::algorithms::add_counters;
use crate::graph::{Distance, VertexId};
use crate::problems::{Pairs, Path, PathsOfPairs, Report, Sssp};
use crate::team::Team;
use crate::{Engine, Plan, Result, memory};

/// Pairs of one source: their indices in the request.
struct Group<'p> {
    source: VertexId,
    pairs: &'p [usize],
}

/// The answer to one pair.
struct Found {
    pair: usize,
    distance: Option<Distance>,
    path: Option<Path>,
}

impl Request for Pairs {
    type Answer = PathsOfPairs;
    type Choice = sssp::Choice;

    fn decide(&self, solver: &Solver, _: Option<usize>) -> Result<Decision<sssp::Choice>> {
        let (mut search, sources) = self.search(solver)?;
        let pays = self.hierarchy_pays(solver, sources);
        if pays.is_some() {
            search.algorithm = Some(hierarchy::NAME.to_owned());
        }
        let walks = hierarchy::is_asked_for(search.algorithm.as_deref());
        let decision = match (walks, &solver.engine) {
            // Walks up the hierarchy are for the CPU; a device that is asked for sweeps from one source after another.
            (true, Engine::Cuda(_)) => search.decide(solver, None)?,
            (true, _) => {
                search.decide_on_cpu(solver, Some(sources), "walks up a hierarchy are quickest there".into())?
            }
            (false, _) => search.decide(solver, Some(sources))?,
        };
        let decision = pays.into_iter().fold(decision, |decision, reason| Decision { reason, ..decision });
        Ok(self.planned(solver, decision))
    }

    fn decide_on_cpu(&self, solver: &Solver, _: Option<usize>, reason: String) -> Result<Decision<sssp::Choice>> {
        let (search, sources) = self.search(solver)?;
        Ok(self.planned(solver, search.decide_on_cpu(solver, Some(sources), reason)?))
    }

    fn run(&mut self, solver: &Solver, team: &Team, decision: &Decision<sssp::Choice>) -> Result<PathsOfPairs> {
        if decision.choice.needs_metric() && !self.verified {
            return self.walk(solver, team, decision);
        }
        let start = Instant::now();
        let mut order = memory::listed("the list of pairs", 0..self.pairs.len())?;
        order.sort_unstable_by_key(|&pair| (self.pairs[pair], pair));
        let groups = order.chunk_by(|&a, &b| self.pairs[a].0 == self.pairs[b].0);
        let groups: Vec<Group<'_>> = groups.map(|pairs| Group { source: self.pairs[pairs[0]].0, pairs }).collect();
        let done = AtomicU64::new(0);
        let answer = |group: &Group<'_>, team: &Team| {
            let found = self.answer(group, solver, team, decision)?;
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            solver.control.progress("solve", done, groups.len() as u64)?;
            Ok(found)
        };
        // One search has all threads; of several, each has one.
        let found: Vec<(Vec<Found>, Report)> = if decision.placed.is_on_cuda() || groups.len() == 1 {
            groups.iter().map(|group| answer(group, team)).collect::<Result<_>>()?
        } else {
            let each = || groups.par_iter().with_max_len(1).map(|group| answer(group, &Team::alone()));
            team.install(|| each().collect::<Result<_>>())?
        };
        self.gathered(found, decision, start)
    }
}

impl Pairs {
    /// A search like those for the sources, after all vertices have been checked; and how many sources there are.
    fn search(&self, solver: &Solver) -> Result<(Sssp, usize)> {
        let mut sources = memory::listed("the list of sources", self.pairs.iter().map(|pair| pair.0))?;
        let targets = memory::listed("the list of targets", self.pairs.iter().map(|pair| pair.1))?;
        solver.graph.check_vertices(&sources, "source")?;
        solver.graph.check_vertices(&targets, "target")?;
        sources.sort_unstable();
        sources.dedup();
        let first = self.pairs.first().map(|pair| pair.1).into_iter().collect();
        let search = Sssp {
            sources: Vec::new(),
            targets: first,
            cutoff: None,
            distances_only: self.distances_only,
            algorithm: self.algorithm.clone(),
        };
        Ok((search, sources.len()))
    }

    /// Why the hierarchy is predicted to be quicker than searches; `None` if it is not, or if there is no room for it.
    fn hierarchy_pays(&self, solver: &Solver, sources: usize) -> Option<String> {
        if self.algorithm.is_some() {
            return None;
        }
        let otherwise = sssp::seconds_here(solver, sssp::choose(&solver.graph).0, sources);
        let reason = solver.pairs_pay(self.pairs.len(), otherwise)?;
        // By now the number of shortcuts is known or estimated.
        let mut plan = Plan::new();
        solver.plan_hierarchy(false, &mut plan);
        (plan.memory_bytes() <= solver.memory / 2).then_some(reason)
    }

    /// Answers each pair by itself, over the hierarchy.
    fn walk(&self, solver: &Solver, team: &Team, decision: &Decision<sssp::Choice>) -> Result<PathsOfPairs> {
        let start = Instant::now();
        let metric = solver.metric()?;
        let mut report = decision.report();
        report.seconds.prepare = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let done = AtomicU64::new(0);
        let answer = |&(source, target): &(VertexId, VertexId)| {
            solver.control.progress("solve", done.fetch_add(1, Ordering::Relaxed) + 1, self.pairs.len() as u64)?;
            if self.distances_only {
                return Ok((metric.distance(source, target)?, None));
            }
            let path = metric.path(source, target)?;
            Ok((path.as_ref().map(Path::length), path))
        };
        let found = team.install(|| self.pairs.par_iter().map(answer).collect::<Result<Vec<_>>>())?;
        report.seconds.solve = start.elapsed().as_secs_f64();
        report.semiring = metric.number_types();
        let (distances, mut paths): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        if self.distances_only {
            paths.clear();
        }
        Ok(PathsOfPairs { pairs: memory::copied("the list of pairs", &self.pairs)?, distances, paths, report })
    }

    /// The decision on the searches, with the memory of the answer. Nobody knows how long the paths will be: as many
    /// edges as a breadth-first search has levels are expected.
    fn planned(&self, solver: &Solver, mut decision: Decision<sssp::Choice>) -> Decision<sssp::Choice> {
        let mut plan = Plan::new();
        let pairs = self.pairs.len() as u64;
        plan.memory("the pairs and their distances", pairs.saturating_mul(8 + size_of::<Found>() as u64));
        if !self.distances_only {
            let levels = solver.workload(solver.weighted_facts(), &decision.parameters, 1).levels();
            let vertices = (levels as u64 + 1).min(solver.graph.vertices() as u64);
            let bytes = pairs.saturating_mul(vertices).saturating_mul(size_of::<VertexId>() as u64);
            plan.memory(format!("the paths, of about {vertices} vertices each"), bytes);
            if decision.choice.needs_metric() {
                solver.plan_paths(&mut plan);
            }
        }
        for item in decision.plan.memory_items() {
            plan.memory(item.what.clone(), item.bytes);
        }
        for item in decision.plan.device_items() {
            plan.device(item.what.clone(), item.bytes);
        }
        decision.plan = plan;
        decision
    }

    /// Searches from a source, and takes the answers out of the tree.
    fn answer(
        &self,
        group: &Group<'_>,
        solver: &Solver,
        team: &Team,
        decision: &Decision<sssp::Choice>,
    ) -> Result<(Vec<Found>, Report)> {
        let targets = memory::listed("the list of targets", group.pairs.iter().map(|&pair| self.pairs[pair].1))?;
        let search = Sssp {
            sources: Vec::new(),
            targets,
            cutoff: None,
            distances_only: self.distances_only,
            algorithm: self.algorithm.clone(),
        };
        let tree = search.starting_at(group.source).run(solver, team, decision)?;
        if self.verified {
            team.install(|| tree.verify(&solver.graph))?;
        }
        let found = group.pairs.iter().map(|&pair| {
            let target = self.pairs[pair].1;
            Found { pair, distance: tree.distance(target), path: tree.path_to(target) }
        });
        Ok((memory::listed("the paths of a source", found)?, tree.report))
    }

    /// The answers in the order of the pairs.
    fn gathered(
        &self,
        found: Vec<(Vec<Found>, Report)>,
        decision: &Decision<sssp::Choice>,
        start: Instant,
    ) -> Result<PathsOfPairs> {
        let mut distances = memory::filled("the distances of pairs", self.pairs.len(), None)?;
        let with_paths = if self.distances_only { 0 } else { self.pairs.len() };
        let mut paths = memory::with_capacity("the paths of pairs", with_paths)?;
        paths.resize_with(with_paths, || None);
        let mut report = decision.report();
        for (answers, of_search) in found {
            report.engine = of_search.engine;
            report.device_bytes = of_search.device_bytes;
            if report.semiring.is_empty() || of_search.repeated_wide {
                report.semiring = of_search.semiring;
                report.repeated_wide = of_search.repeated_wide;
            }
            add_counters(&mut report.statistics, of_search.statistics);
            for Found { pair, distance, path } in answers {
                distances[pair] = distance;
                if let Some(place) = paths.get_mut(pair) {
                    *place = path;
                }
            }
        }
        report.seconds.solve = start.elapsed().as_secs_f64();
        Ok(PathsOfPairs { pairs: memory::copied("the list of pairs", &self.pairs)?, distances, paths, report })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Random, TestWeight, graphs_of_every_shape};
    use crate::{Error, Graph};

    fn pairs_agree<W: TestWeight>(seed: u64) {
        let mut random = Random(seed);
        for (name, graph) in graphs_of_every_shape::<W>(seed) {
            let count = graph.vertices() as u64;
            // Few sources, so that some pairs share one; the last pair is there twice.
            let mut pairs: Vec<(VertexId, VertexId)> =
                (0..12).map(|_| (random.below(count.min(5)) as VertexId, random.below(count) as VertexId)).collect();
            pairs.extend(pairs.last().copied());
            for threads in [1, 3] {
                let solver = Solver::builder(graph.clone()).threads(threads).open().unwrap();
                let found = solver.solve(Pairs::of(pairs.clone()).verified()).unwrap();
                let lengths = solver.solve(Pairs::of(pairs.clone()).distances_only()).unwrap();
                assert_eq!(found.pairs(), pairs);
                assert_eq!(
                    found.reachable(),
                    pairs.iter().enumerate().filter(|(pair, _)| found.path(*pair).is_some()).count()
                );
                for (pair, &(from, to)) in pairs.iter().enumerate() {
                    let tree = solver.sssp(from).unwrap();
                    assert_eq!(found.distance(pair), tree.distance(to), "{name}");
                    assert_eq!(found.path(pair), tree.path_to(to).as_ref(), "{name}");
                    assert_eq!((lengths.distance(pair), lengths.path(pair)), (tree.distance(to), None), "{name}");
                    let Some(path) = found.path(pair) else { continue };
                    let steps = path.steps(&graph).unwrap();
                    assert_eq!(steps.iter().map(|step| step.vertex).collect::<Vec<_>>(), path.vertices());
                    for step in steps {
                        assert_eq!(Some(step.distance), tree.distance(step.vertex), "{name}");
                    }
                }
            }
        }
    }

    #[test]
    fn pairs_have_the_paths_of_single_searches_with_every_weight() {
        pairs_agree::<crate::graph::Unit>(41);
        pairs_agree::<u32>(42);
        pairs_agree::<i32>(43);
        pairs_agree::<f32>(44);
        pairs_agree::<f64>(45);
    }

    #[test]
    fn negative_weights_missing_vertices_and_no_pairs() {
        let graph = Graph::from_edges([(0, 1, 5), (1, 2, -7), (0, 2, 1)]).unwrap();
        let solver = Solver::new(graph).unwrap();
        let found = solver.solve(Pairs::of([(0, 2), (2, 1)])).unwrap();
        assert_eq!(found.path(0).unwrap().vertices(), [0, 1, 2]);
        assert_eq!((found.path(1), found.reachable()), (None, 1));
        assert_eq!(solver.solve(Pairs::of([])).unwrap().pairs(), []);
        for pairs in [[(0, 1), (0, 3)], [(9, 0), (0, 0)]] {
            assert!(matches!(solver.solve(Pairs::of(pairs)), Err(Error::InvalidRequest(_))));
        }
        let cycle = Graph::from_edges([(0, 1, 1), (1, 2, -2), (2, 0, 0), (3, 3, 1)]).unwrap();
        let solver = Solver::new(cycle).unwrap();
        assert!(matches!(solver.solve(Pairs::of([(3, 0), (0, 2)])), Err(Error::NegativeCycle(_))));
    }
}
