//! Single-source shortest paths: the decision.

mod work;

use std::sync::Arc;

use super::bfs;
use super::costs::{COPYING, Predicted};
use super::decision::{Decision, Manner, Placed, number_types, only_on_cuda};
use super::facts::{OnDevice, is_by_regions, layouts_of_regions};
use super::swept::SweepsOnDevice;
use super::{Request, Solver, hierarchy, plan_search};
use crate::algorithms::{Parameters, Workload, parse_algorithm};
use crate::cpu::sssp::{self as cpu, ALGORITHMS, SsspAlgorithm};
use crate::cuda::peers::company::{Company, parts_of, says_parts};
use crate::cuda::regions::suits;
use crate::cuda::sssp::{self as cuda, many_sources, partitioned, regions, zero_copy};
use crate::graph::{Graph, WeightKind};
use crate::problems::{Bfs, ShortestPathTree, Sssp};
use crate::team::Team;
use crate::{Error, Result};

/// The algorithm that a search was decided on.
#[derive(Debug, Clone)]
pub struct Choice(Algorithm);

impl Choice {
    /// Whether a hierarchy answers, on the CPU.
    pub(super) fn needs_metric(&self) -> bool {
        matches!(self.0, Algorithm::Cpu(algorithm) if algorithm.needs_metric())
    }
}

/// An algorithm of either engine.
#[derive(Debug, Clone)]
enum Algorithm {
    /// A breadth-first search, since every edge counts 1.
    Bfs(Box<Decision<bfs::Choice>>),
    /// An algorithm of the CPU.
    Cpu(&'static SsspAlgorithm),
    /// An algorithm of the CUDA engine.
    Cuda(Arc<OnDevice<cuda::SsspAlgorithm>>),
    /// Sweeps over the hierarchy on the CUDA engine.
    Swept(SweepsOnDevice),
}

impl Request for Sssp {
    type Answer = ShortestPathTree;
    type Choice = Choice;

    fn decide(&self, solver: &Solver, many: Option<usize>) -> Result<Decision<Choice>> {
        if let Some(bfs) = self.as_bfs(&solver.graph)? {
            return Ok(by_bfs(bfs.decide(solver, many)?));
        }
        let asked = self.algorithm.as_deref();
        let only = || only_on_cuda(asked, ALGORITHMS, |entry| &entry.info, cuda::ALGORITHMS, |entry| &entry.info);
        let placed = Placed::of(&solver.engine, only, || self.gpu_pays(solver, many));
        if placed.is_on_cuda() {
            self.decide_there(solver, many, placed)
        } else {
            self.decide_here(solver, many, placed)
        }
    }

    fn decide_on_cpu(&self, solver: &Solver, many: Option<usize>, reason: String) -> Result<Decision<Choice>> {
        if let Some(bfs) = self.as_bfs(&solver.graph)? {
            return Ok(by_bfs(bfs.decide_on_cpu(solver, many, reason)?));
        }
        self.decide_here(solver, many, Placed::on_cpu(reason))
    }

    fn takes_a_turn(&self, decision: &Decision<Choice>) -> bool {
        match &decision.choice.0 {
            Algorithm::Bfs(decided) => decided.choice.uses_team(),
            Algorithm::Cpu(algorithm) => algorithm.uses_team,
            Algorithm::Cuda(_) | Algorithm::Swept(_) => false,
        }
    }

    fn run(&mut self, solver: &Solver, team: &Team, decision: &Decision<Choice>) -> Result<ShortestPathTree> {
        self.search(solver, team, decision)
    }
}

/// The decision on a breadth-first search that takes the place of a search by weights.
fn by_bfs(mut decision: Decision<bfs::Choice>) -> Decision<Choice> {
    let reason = format!("breadth-first search, since every edge counts 1; {}", decision.reason);
    decision.reason = reason.trim_end_matches("; ").to_owned();
    decision.clone().with(|_| Choice(Algorithm::Bfs(Box::new(decision))))
}

impl Sssp {
    /// The request as a breadth-first search, if no algorithm is asked for: without weights, distances count edges.
    fn as_bfs(&self, graph: &Graph) -> Result<Option<Bfs>> {
        if graph.weight_kind() != WeightKind::Unit || self.algorithm.is_some() {
            return Ok(None);
        }
        Ok(Some(Bfs {
            sources: self.sources.clone(),
            targets: self.targets.clone(),
            cutoff: self.cutoff.map(|cutoff| cutoff.in_type::<u32>()).transpose()?,
            distances_only: self.distances_only,
            ..Bfs::default()
        }))
    }

    /// Decides on an algorithm of the CPU.
    fn decide_here(&self, solver: &Solver, many: Option<usize>, placed: Placed) -> Result<Decision<Choice>> {
        let graph = &*solver.graph;
        let (name, reason) = match &self.algorithm {
            Some(name) => (name.as_str(), "asked for".to_owned()),
            None => self.choose_here(solver, many),
        };
        let (algorithm, parameters) = parse_algorithm(ALGORITHMS, |entry| &entry.info, name)?;
        solver.check_hierarchy(&algorithm.info)?;
        if graph.has_negative_weights() && !algorithm.info.negative_weights {
            return Err(Error::invalid(format!("`{}` needs weights of 0 or more", algorithm.info.name)));
        }
        let one = plan_search(solver, 8, self.distances_only);
        let (manner, plan) = match algorithm.needs_metric() {
            true => solver.searches_over_hierarchy(many, &placed, one, false),
            false => solver.single_searches(many, &placed, one),
        };
        Ok(Decision {
            placed,
            algorithm: name.into(),
            reason,
            parameters,
            number_types: number_types(graph, false),
            plan,
            fallback: false,
            manner,
            devices: 1,
            choice: Choice(Algorithm::Cpu(algorithm)),
        })
    }

    /// The algorithm of the CPU predicted fastest, and why.
    fn choose_here(&self, solver: &Solver, many: Option<usize>) -> (&'static str, String) {
        let (name, reason) = choose(&solver.graph);
        if self.targets.is_empty() && self.cutoff.is_none() {
            let searches = many.unwrap_or(1);
            if let Some(reason) = solver.sweeps_pay(searches, seconds_here(solver, name, searches)) {
                let one = plan_search(solver, 8, self.distances_only).memory_bytes();
                if solver.plan_of_sweeps(searches, one, false).memory_bytes() <= solver.memory {
                    return (hierarchy::NAME, reason);
                }
            }
        }
        (name, reason.to_owned())
    }

    /// Decides on an algorithm of the CUDA engine.
    fn decide_there(&self, solver: &Solver, many: Option<usize>, placed: Placed) -> Result<Decision<Choice>> {
        let graph = &*solver.graph;
        if hierarchy::is_asked_for(self.algorithm.as_deref()) {
            return self.decide_swept(solver, many, placed, "asked for".to_owned());
        }
        if let Ok((otherwise, _)) = self.searched_there(solver, many)
            && let Some(seconds) = self.swept_sooner(solver, many, otherwise)
        {
            let reason = hierarchy::times_as_long(seconds / otherwise);
            let swept = self.decide_swept(solver, many, placed.clone(), reason)?;
            // Without a device nobody knows how much fits.
            if swept.plan.device_bytes() <= solver.allowed_on_device().unwrap_or(u64::MAX) {
                return Ok(swept);
            }
        }
        let batches = match many {
            // Without a device nobody knows how much fits; the check of the plan then tells what is wrong with the
            // device.
            Some(many) if self.goes_together(solver, many)? => {
                self.most_on_cuda(solver, many, solver.allowed_on_device().unwrap_or(u64::MAX))?
            }
            _ => None,
        };
        let (chosen, reason, manner) = match batches {
            Some(batches) => {
                let reason = format!("{} searches hide each other's waiting", many.unwrap_or(1));
                (batches, reason, Manner::InBatches)
            }
            None => {
                let (chosen, reason) = self.that_fits(solver, many.is_none())?;
                (chosen, reason, Manner::InTurn)
            }
        };
        let mut plan = chosen.plan.clone();
        if (chosen.algorithm.needs_transpose)(&chosen.parameters) && !graph.has_transpose() {
            plan.memory("the arcs by head", graph.transpose_bytes());
        }
        let vertices = graph.vertices() as u64;
        plan.memory("distances", 8 * vertices);
        if !self.distances_only {
            plan.memory("predecessors", 4 * vertices);
        }
        let work = solver.workload(solver.weighted_facts(), &chosen.parameters, many.unwrap_or(1));
        let busy = (chosen.algorithm.info.seconds)(&work);
        Ok(Decision {
            fallback: placed.optional,
            placed,
            algorithm: chosen.name.clone(),
            reason,
            parameters: chosen.parameters.clone(),
            number_types: number_types(graph, false),
            plan,
            manner,
            devices: solver.devices_for_searches(many, busy),
            choice: Choice(Algorithm::Cuda(chosen)),
        })
    }

    /// Decides on sweeps over the hierarchy on a GPU.
    fn decide_swept(
        &self,
        solver: &Solver,
        many: Option<usize>,
        placed: Placed,
        reason: String,
    ) -> Result<Decision<Choice>> {
        let asked = self.algorithm.as_deref().unwrap_or(hierarchy::NAME);
        let parameters = cuda::OVER_HIERARCHY.parameters_in(asked)?;
        hierarchy::check_sources(many, &self.sources)?;
        let (sweeps, plan) = SweepsOnDevice::new(solver, many, &plan_search(solver, 8, self.distances_only), false)?;
        Ok(Decision {
            fallback: placed.optional,
            placed,
            algorithm: hierarchy::NAME.into(),
            reason,
            parameters,
            number_types: number_types(&solver.graph, false),
            plan,
            manner: if many.is_some() { Manner::InBatches } else { Manner::InTurn },
            devices: solver.devices_for_searches(many, 0.0),
            choice: Choice(Algorithm::Swept(sweeps)),
        })
    }

    /// Predicted seconds of many searches over the hierarchy on a GPU; `None` if they are not fewer than `otherwise`, the seconds
    /// of any other algorithm of the CUDA engine, or if something was asked for.
    fn swept_sooner(&self, solver: &Solver, many: Option<usize>, otherwise: f64) -> Option<f64> {
        let searches = many.filter(|_| self.algorithm.is_none() && self.targets.is_empty() && self.cutoff.is_none())?;
        solver.seconds_of_searches_on_device(searches, otherwise).filter(|&seconds| seconds < otherwise)
    }

    /// Whether a GPU is predicted to finish the searches sooner, preparation included; and why, or why not. Opens the
    /// device only if it pays.
    fn gpu_pays(&self, solver: &Solver, many: Option<usize>) -> std::result::Result<String, String> {
        if let Some(reason) = solver.no_device_for_a_new_hierarchy(self.algorithm.as_deref()) {
            return Err(reason);
        }
        let searches = many.unwrap_or(1).max(1);
        let name = self.algorithm.as_deref().unwrap_or_else(|| self.choose_here(solver, many).0);
        let on_cpu = parse_algorithm(ALGORITHMS, |entry| &entry.info, name).map_err(|error| error.to_string())?;
        let swept = (name == hierarchy::NAME).then(|| solver.seconds_of_sweeps(searches, None, false, f64::INFINITY));
        let facts = solver.weighted_facts();
        let cpu =
            swept.flatten().unwrap_or_else(|| (on_cpu.0.info.seconds)(&solver.workload(facts, &on_cpu.1, searches)));
        if let Some(reason) = solver.no_quicker_device(cpu) {
            return Err(reason);
        }
        if hierarchy::is_asked_for(self.algorithm.as_deref()) {
            hierarchy::check_sources(many, &self.sources).map_err(|error| error.to_string())?;
            return solver.sweeps_pay_on_device(searches, cpu);
        }
        let (searched, bytes) = self.searched_there(solver, many).map_err(|error| error.to_string())?;
        let (gpu, bytes) = match self.swept_sooner(solver, many, searched) {
            // What they take there is seen once the device is open.
            Some(swept) => (swept, 0),
            None => (searched, bytes),
        };
        Predicted { gpu, cpu }.gpu_pays(solver, bytes)
    }

    /// Predicted seconds of the searches on a GPU without a hierarchy, preparation included, and the bytes that one takes there.
    fn searched_there(&self, solver: &Solver, many: Option<usize>) -> Result<(f64, u64)> {
        let graph = &*solver.graph;
        let alone = self.on_cuda(solver)?;
        let searches = many.unwrap_or(1).max(1);
        let together = many.is_some() && self.goes_together(solver, searches).unwrap_or(false);
        let together = together.then(|| self.most_on_cuda(solver, searches, u64::MAX).ok()).flatten().flatten();
        let bytes = alone.plan.device_bytes();
        let (chosen, ready) = match &together {
            // The arrays of distances are not copied.
            Some(many) => {
                let copied = 4.0 * graph.vertices() as f64 + 8.0 * graph.arcs() as f64;
                (many, solver.seconds_until_ready(&many.name, copied))
            }
            None => (&alone, solver.seconds_until_ready(&alone.name, bytes as f64)),
        };
        let work = solver.workload(solver.weighted_facts(), &chosen.parameters, searches);
        let distance_bytes = if graph.weight_kind() == WeightKind::F64 { 8.0 } else { 4.0 };
        let back = work.in_turn(distance_bytes * work.vertices() / COPYING);
        Ok((ready + (chosen.algorithm.info.seconds)(&work) + back, bytes))
    }

    /// The algorithm of the CUDA engine for this search; where nothing else was asked for, with the graph shared out among several
    /// devices if that is quicker; and why. If the device has too little memory for it, the search takes the first of these that
    /// fits: region by region, if levels are many and short, with ever fewer records on the devices; the graph shared out; its arcs in the
    /// host's memory. A search that is not alone has one device.
    fn that_fits(&self, solver: &Solver, alone: bool) -> Result<(Arc<OnDevice<cuda::SsspAlgorithm>>, String)> {
        const PARTITIONED: &str = partitioned::ALGORITHM.info.name;
        let find = |layout: &str| solver.facts.sssp.get(Some(layout), || find_on_cuda(solver, Some(layout)));
        let seconds = |one: &OnDevice<cuda::SsspAlgorithm>| {
            (one.algorithm.info.seconds)(&solver.workload(solver.weighted_facts(), &one.parameters, 1))
        };
        let on_one = self.on_cuda(solver)?;
        let company = if alone { solver.company(seconds(&on_one)) } else { Company::ALONE };
        let shares = company != Company::ALONE;
        let several = shares && self.algorithm.is_none() && partitioned::ALGORITHM.check(&solver.graph).is_ok();
        let chosen = match self.algorithm.as_deref().filter(|text| shares && is_by_regions(text)) {
            Some(asked) => find(&company.text(asked))?,
            None => on_one,
        };
        let partitioned = company.text(PARTITIONED);
        // Nothing is known of how quick devices are that exchange through the host.
        if several && company.reach {
            let together = find(&partitioned)?;
            let (alone, shared) = ((&*chosen, seconds(&chosen)), (&*together, seconds(&together)));
            if let Some(reason) = solver.pays_together(alone, shared, company.devices) {
                return Ok((together, reason));
            }
        }
        let may_stay = match &self.algorithm {
            Some(asked) => asked == zero_copy::ALGORITHM.info.name,
            None => zero_copy::takes(&solver.graph),
        };
        let by_regions = match &self.algorithm {
            Some(asked) => asked == regions::ALGORITHM.info.name,
            None => suits(&solver.graph_facts()) && regions::ALGORITHM.check(&solver.graph).is_ok(),
        };
        let regions = if by_regions { layouts_of_regions(company) } else { Vec::new() };
        let mut layouts: Vec<&str> = regions.iter().map(String::as_str).collect();
        layouts.extend(several.then_some(&*partitioned));
        // Distances of 32 bits may turn out too narrow.
        let [wide @ .., narrow] = &zero_copy::LAYOUTS;
        layouts.extend(wide.iter().filter(|_| may_stay));
        layouts.extend(regions::NARROW_LAYOUTS.iter().filter(|_| by_regions));
        layouts.extend(may_stay.then_some(narrow));
        solver.that_fits(chosen, &layouts, find)
    }

    /// The algorithm of the CUDA engine for this search, and its plan.
    fn on_cuda(&self, solver: &Solver) -> Result<Arc<OnDevice<cuda::SsspAlgorithm>>> {
        let asked = self.algorithm.as_deref();
        solver.facts.sssp.get(asked, || find_on_cuda(solver, asked))
    }

    /// Whether the CUDA engine searches from this many sources at once.
    ///
    /// # Errors
    ///
    /// If there is no such algorithm there, or it does not take this graph.
    fn goes_together(&self, solver: &Solver, searches: usize) -> Result<bool> {
        let graph = &*solver.graph;
        let chosen = self.on_cuda(solver)?;
        if !self.targets.is_empty() {
            return Ok(false);
        }
        if self.algorithm.is_some() {
            return Ok(chosen.algorithm.info.name == many_sources::ALGORITHM.info.name);
        }
        Ok(searches >= FEWEST
            && graph.vertices() <= many_sources::MOST_VERTICES
            && many_sources::ALGORITHM.check(graph).is_ok()
            && pays_together(chosen.algorithm, &solver.workload(solver.weighted_facts(), &chosen.parameters, searches)))
    }

    /// The algorithm for as many of these searches at once as pay and fit the available memory; `None` if too few fit.
    /// An algorithm that was asked for may set the number.
    fn most_on_cuda(
        &self,
        solver: &Solver,
        searches: usize,
        available: u64,
    ) -> Result<Option<Arc<OnDevice<cuda::SsspAlgorithm>>>> {
        if self.algorithm.is_some() {
            return self.on_cuda(solver).map(Some);
        }
        let mut width = searches.next_power_of_two().min(many_sources::widest(&*solver.graph));
        loop {
            let named = format!("{}:width={width}", many_sources::ALGORITHM.info.name);
            let many = solver.facts.sssp.get(Some(&named), || find_on_cuda(solver, Some(&named)))?;
            if many.plan.device_bytes() <= available {
                return Ok(Some(many));
            }
            width /= 2;
            if width < FEWEST {
                return Ok(None);
            }
        }
    }
}

/// Fewer searches than this go one after another, unless the request asks for something else.
const FEWEST: usize = 8;

/// Whether these searches are predicted to be done sooner at once than one after another by this algorithm.
fn pays_together(alone: &cuda::SsspAlgorithm, work: &Workload<'_>) -> bool {
    let together = Workload { parameters: &Parameters::default(), ..*work };
    many_sources::seconds(&together) < (alone.info.seconds)(work)
}

/// The algorithm of the CUDA engine that was asked for, or the one predicted fastest, and its plan.
fn find_on_cuda(solver: &Solver, asked: Option<&str>) -> Result<OnDevice<cuda::SsspAlgorithm>> {
    let graph = &*solver.graph;
    let (name, reason) = match asked {
        Some(name) if name.split(':').next() == Some(partitioned::ALGORITHM.info.name) || says_parts(name) => {
            (solver.all_devices().text(name), "asked for".to_owned())
        }
        Some(name) => (name.to_owned(), "asked for".to_owned()),
        None => {
            let (name, reason) = cuda::choose(&solver.weighted_facts());
            (name.to_owned(), reason)
        }
    };
    let (algorithm, parameters) = parse_algorithm(cuda::ALGORITHMS, |entry| &entry.info, &name)?;
    algorithm.check(graph)?;
    let mut plan = (algorithm.plan)(graph, &parameters);
    plan.on_each_of(parts_of(&parameters));
    Ok(OnDevice { name, reason, algorithm, parameters, plan })
}

/// The seconds that this many searches are predicted to take by an algorithm of the CPU.
pub(super) fn seconds_here(solver: &Solver, name: &str, searches: usize) -> f64 {
    let Ok((algorithm, parameters)) = parse_algorithm(ALGORITHMS, |entry| &entry.info, name) else { return 0.0 };
    (algorithm.info.seconds)(&solver.workload(solver.weighted_facts(), &parameters, searches))
}

/// The name of the algorithm of the CPU engine predicted fastest without a hierarchy, and why.
pub(super) fn choose(graph: &Graph) -> (&'static str, &'static str) {
    let (algorithm, reason) = cpu::choose(graph.vertices(), graph.arcs(), graph.has_negative_weights());
    (algorithm.info.name, reason)
}

#[cfg(test)]
mod tests;
