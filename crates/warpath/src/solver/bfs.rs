//! Breadth-first search: the decision.

mod work;

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::costs::{COPYING, HANDING_OVER, Predicted};
use super::decision::{Decision, Manner, Placed, only_on_cuda};
use super::facts::{OnDevice, is_by_regions, layouts_of_regions};
use super::swept::SweepsOnDevice;
use super::{Request, Solver, hierarchy, plan_search};
use crate::algorithms::{Parameters, parse_algorithm};
use crate::cpu::bfs::{ALGORITHMS, BfsAlgorithm, batch_width, choose, memory_of_many, multi_source, sequential};
use crate::cuda::bfs::{self as cuda, many_sources, partitioned, regions, zero_copy};
use crate::cuda::peers::company::{Company, parts_of, says_parts};
use crate::cuda::regions::suits;
use crate::graph::{Graph, MinPlus, UnitToU32};
use crate::problems::{Bfs, ShortestPathTree};
use crate::team::Team;
use crate::{Error, Plan, Result, available_memory};

/// The algorithm that a search was decided on.
#[derive(Debug, Clone)]
pub struct Choice(Algorithm);

/// An algorithm of either engine.
#[derive(Debug, Clone)]
enum Algorithm {
    /// An algorithm of the CPU, and whether the arcs by head are made for it.
    Cpu(&'static BfsAlgorithm, ArcsByHead),
    /// Batches of this many searches that share their reads of the graph, on each thread of the CPU.
    Batches(usize),
    /// An algorithm of the CUDA engine.
    Cuda(Arc<OnDevice<cuda::BfsAlgorithm>>),
    /// Sweeps over the hierarchy on the CUDA engine.
    Swept(SweepsOnDevice),
}

impl Choice {
    /// Whether one search uses all threads of the CPU.
    pub(super) fn uses_team(&self) -> bool {
        matches!(self.0, Algorithm::Cpu(algorithm, _) if algorithm.uses_team)
    }
}

impl Request for Bfs {
    type Answer = ShortestPathTree;
    type Choice = Choice;

    fn decide(&self, solver: &Solver, many: Option<usize>) -> Result<Decision<Choice>> {
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
        self.decide_here(solver, many, Placed::on_cpu(reason))
    }

    fn takes_a_turn(&self, decision: &Decision<Choice>) -> bool {
        decision.choice.uses_team()
    }

    fn run(&mut self, solver: &Solver, team: &Team, decision: &Decision<Choice>) -> Result<ShortestPathTree> {
        self.search(solver, team, decision)
    }
}

/// Whether a search makes the arcs by head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ArcsByHead {
    /// They are there, or the search does without.
    NotMade,
    /// They were asked for with the algorithm.
    AskedFor,
    /// Searches before would have been quicker with them.
    Worth,
}

impl Bfs {
    /// Decides on an algorithm of the CPU.
    fn decide_here(&self, solver: &Solver, many: Option<usize>, placed: Placed) -> Result<Decision<Choice>> {
        let number_types = &[UnitToU32::NAME];
        if let Some((width, plan)) = many.and_then(|many| self.batches(solver, many)) {
            return Ok(Decision {
                placed,
                algorithm: "multi-source".into(),
                reason: shared_reads(many),
                parameters: Parameters::default(),
                number_types,
                plan,
                fallback: false,
                manner: Manner::InBatches,
                devices: 1,
                choice: Choice(Algorithm::Batches(width)),
            });
        }
        let threads = threads_of_a_search(solver, many);
        let name = self.algorithm.as_deref().unwrap_or_else(|| choose(&solver.graph, false, threads).0);
        let (algorithm, parameters) = parse_algorithm(ALGORITHMS, |entry| &entry.info, name)?;
        let mut one = plan_search(solver, 4, self.distances_only);
        let arcs_by_head = self.arcs_by_head(solver, many, algorithm, &one);
        let reason = match self.algorithm {
            Some(_) => "asked for".to_owned(),
            None => choose(&solver.graph, arcs_by_head == ArcsByHead::Worth, threads).1,
        };
        self.plan_path_counts(&solver.graph, arcs_by_head != ArcsByHead::NotMade, &mut one);
        let (manner, plan) = match algorithm.needs_metric {
            true => solver.searches_over_hierarchy(many, &placed, one, true),
            false => solver.single_searches(many, &placed, one),
        };
        Ok(Decision {
            placed,
            algorithm: name.into(),
            reason,
            parameters,
            number_types,
            plan,
            fallback: false,
            manner,
            devices: 1,
            choice: Choice(Algorithm::Cpu(algorithm, arcs_by_head)),
        })
    }

    /// Whether the arcs by head are made before the search, if they are not at hand: if the algorithm that was asked for needs them, or if so many searches have done without
    /// them that making them would have taken as long as they have lost, and there is room.
    fn arcs_by_head(&self, solver: &Solver, many: Option<usize>, algorithm: &BfsAlgorithm, plan: &Plan) -> ArcsByHead {
        /// Making them takes as long as two to four searches lose.
        const SEARCHES: u32 = 3;
        let graph = &*solver.graph;
        if !algorithm.needs_transpose || graph.has_transpose() {
            return ArcsByHead::NotMade;
        }
        if self.algorithm.is_some() {
            return ArcsByHead::AskedFor;
        }
        let has_room = plan.memory_bytes().saturating_add(graph.transpose_bytes()) <= solver.memory;
        let searches = solver.facts.without_arcs_by_head.load(Relaxed);
        if many.is_none() && searches >= SEARCHES && has_room { ArcsByHead::Worth } else { ArcsByHead::NotMade }
    }

    /// How many searches are in a batch on each thread of the CPU, and their plan; `None` if single searches are better
    /// or there is too little memory.
    fn batches(&self, solver: &Solver, many: usize) -> Option<(usize, Plan)> {
        let (graph, threads) = (&*solver.graph, solver.team.threads());
        let has_wide_levels = choose(graph, false, 1).0 != sequential::ALGORITHM.info.name;
        if self.algorithm.is_some() || !self.targets.is_empty() || !has_wide_levels || solver.graph_facts().has_hubs() {
            return None;
        }
        let mut plan = plan_search(solver, 4, self.distances_only);
        self.plan_path_counts(graph, true, &mut plan);
        // A search takes 1.4 bytes a vertex while its batch runs, and 4 for its levels until their turn comes. So a
        // quarter of the memory for the batches leaves enough for the levels.
        let memory = solver.memory.saturating_sub(plan.memory_bytes()) / 4;
        let width = batch_width(graph, many, threads, memory);
        let at_once = (width * threads).min(many) as u64;
        plan.memory("batches of searches", memory_of_many(graph, width, threads));
        plan.memory("levels of the searches of a batch", 4 * at_once * graph.vertices() as u64);
        (width > 0).then_some((width, plan))
    }

    /// Decides on an algorithm of the CUDA engine.
    fn decide_there(&self, solver: &Solver, many: Option<usize>, placed: Placed) -> Result<Decision<Choice>> {
        if hierarchy::is_asked_for(self.algorithm.as_deref()) {
            return self.decide_swept(solver, many, placed);
        }
        let together = many.is_some_and(|many| self.goes_together(many));
        let batches = if together { self.most_on_cuda(solver)? } else { None };
        let (chosen, reason, manner) = match batches {
            Some(batches) => (batches, shared_reads(many), Manner::InBatches),
            None => {
                let (chosen, reason) = self.that_fits(solver, many.is_none())?;
                (chosen, reason, Manner::InTurn)
            }
        };
        let work = solver.workload(solver.graph_facts(), &chosen.parameters, many.unwrap_or(1));
        let busy = (chosen.algorithm.info.seconds)(&work);
        Ok(Decision {
            fallback: placed.optional,
            placed,
            algorithm: chosen.name.clone(),
            reason,
            parameters: chosen.parameters.clone(),
            number_types: &[UnitToU32::NAME],
            plan: self.with_tree(solver, chosen.plan.clone(), cuda::needs_transpose(&chosen.parameters)),
            manner,
            devices: solver.devices_for_searches(many, busy),
            choice: Choice(Algorithm::Cuda(chosen)),
        })
    }

    /// Decides on sweeps over the hierarchy on a GPU.
    fn decide_swept(&self, solver: &Solver, many: Option<usize>, placed: Placed) -> Result<Decision<Choice>> {
        let parameters = cuda::OVER_HIERARCHY.parameters_in(self.algorithm.as_deref().unwrap_or(hierarchy::NAME))?;
        hierarchy::check_sources(many, &self.sources)?;
        let mut one = plan_search(solver, 4, self.distances_only);
        self.plan_path_counts(&solver.graph, false, &mut one);
        let (sweeps, plan) = SweepsOnDevice::new(solver, many, &one, true)?;
        Ok(Decision {
            fallback: placed.optional,
            placed,
            algorithm: hierarchy::NAME.into(),
            reason: "asked for".into(),
            parameters,
            number_types: &[UnitToU32::NAME],
            plan,
            manner: if many.is_some() { Manner::InBatches } else { Manner::InTurn },
            devices: solver.devices_for_searches(many, 0.0),
            choice: Choice(Algorithm::Swept(sweeps)),
        })
    }

    /// Whether a GPU is predicted to finish the searches sooner, preparation included; and why, or why not. Opens the
    /// device only if it pays.
    fn gpu_pays(&self, solver: &Solver, many: Option<usize>) -> std::result::Result<String, String> {
        if let Some(reason) = solver.no_device_for_a_new_hierarchy(self.algorithm.as_deref()) {
            return Err(reason);
        }
        let searches = many.unwrap_or(1).max(1);
        if hierarchy::is_asked_for(self.algorithm.as_deref()) {
            hierarchy::check_sources(many, &self.sources).map_err(|error| error.to_string())?;
            let cpu = solver.seconds_of_sweeps(searches, None, false, f64::INFINITY).unwrap_or(f64::INFINITY);
            return match solver.no_quicker_device(cpu) {
                Some(reason) => Err(reason),
                None => solver.sweeps_pay_on_device(searches, cpu),
            };
        }
        let none = Parameters::default();
        let work = solver.workload(solver.graph_facts(), &none, searches);
        let handing_over = work.in_turn(work.vertices() / HANDING_OVER);
        let cpu = self.seconds_on_cpu(solver, many, handing_over).map_err(|error| error.to_string())?;
        if let Some(reason) = solver.no_quicker_device(cpu) {
            return Err(reason);
        }
        let Ok(alone) = self.on_cuda(solver) else {
            return Err("only the CPU has this algorithm, with these parameters".into());
        };
        let together = many.filter(|&many| self.goes_together(many));
        let together = together.and_then(|_| self.many_on_cuda(solver, many_sources::WIDEST, "").ok());
        let (chosen, ready) = match &together {
            // The arrays of levels are not copied.
            Some(many) => (many, solver.seconds_until_ready(&many.name, graph_bytes(&solver.graph) as f64)),
            None => (&alone, solver.seconds_until_ready(&alone.name, alone.plan.device_bytes() as f64)),
        };
        let work = solver.workload(solver.graph_facts(), &chosen.parameters, searches);
        let back = work.in_turn(4.0 * work.vertices() / COPYING);
        let gpu = ready + (chosen.algorithm.info.seconds)(&work) + back + handing_over;
        Predicted { gpu, cpu }.gpu_pays(solver, alone.plan.device_bytes())
    }

    /// Predicted seconds on the CPU, of which handing over takes these. Searches that run side by side are handed over
    /// meanwhile.
    fn seconds_on_cpu(&self, solver: &Solver, many: Option<usize>, handing_over: f64) -> Result<f64> {
        let searches = many.unwrap_or(1).max(1);
        let none = Parameters::default();
        if many.is_some_and(|many| self.batches(solver, many).is_some()) {
            let work = solver.workload(solver.graph_facts(), &none, searches);
            return Ok(multi_source::seconds(&work) + handing_over);
        }
        let name = self.algorithm.clone().unwrap_or_else(|| {
            let threads = threads_of_a_search(solver, many);
            choose(&solver.graph, false, threads).0.to_owned()
        });
        let (algorithm, parameters) = parse_algorithm(ALGORITHMS, |entry| &entry.info, &name)?;
        let work = solver.workload(solver.graph_facts(), &parameters, searches);
        let searching = (algorithm.info.seconds)(&work);
        Ok(if searches > 1 { searching.max(handing_over) } else { searching + handing_over })
    }

    /// The algorithm of the CUDA engine for this search; where nothing else was asked for, with the graph shared out among several
    /// devices if that is quicker; and why. If the device has too little memory for it, the search takes the first of these that
    /// fits: region by region, if levels are many and short, with ever fewer records on the devices; the graph shared out; its arcs in the
    /// host's memory. A search that is not alone has one device.
    fn that_fits(&self, solver: &Solver, alone: bool) -> Result<(Arc<OnDevice<cuda::BfsAlgorithm>>, String)> {
        const PARTITIONED: &str = partitioned::ALGORITHM.info.name;
        let find = |layout: &str| solver.facts.bfs.get(Some(layout), || find_on_cuda(solver, Some(layout)));
        let seconds = |one: &OnDevice<cuda::BfsAlgorithm>| {
            (one.algorithm.info.seconds)(&solver.workload(solver.graph_facts(), &one.parameters, 1))
        };
        let on_one = self.on_cuda(solver)?;
        let company = if alone { solver.company(seconds(&on_one)) } else { Company::ALONE };
        let shares = company != Company::ALONE;
        let several = shares && self.algorithm.is_none();
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
            None => suits(&solver.graph_facts()),
        };
        let regions = if by_regions { layouts_of_regions(company) } else { Vec::new() };
        let mut layouts: Vec<&str> = regions.iter().map(String::as_str).collect();
        layouts.extend(several.then_some(&*partitioned));
        layouts.extend(may_stay.then_some(zero_copy::LAYOUTS).into_iter().flatten());
        solver.that_fits(chosen, &layouts, find)
    }

    /// The algorithm of the CUDA engine for this search, and its plan.
    fn on_cuda(&self, solver: &Solver) -> Result<Arc<OnDevice<cuda::BfsAlgorithm>>> {
        let asked = self.algorithm.as_deref();
        solver.facts.bfs.get(asked, || find_on_cuda(solver, asked))
    }

    /// Whether the CUDA engine may search from this many sources at once.
    fn goes_together(&self, searches: usize) -> bool {
        /// Fewer searches are as good one after another.
        const FEWEST: usize = 8;
        let name = self.algorithm.as_deref().map(|text| text.split(':').next().unwrap_or(text));
        self.targets.is_empty()
            && match name {
                None => searches >= FEWEST,
                Some(name) => name == many_sources::ALGORITHM.info.name,
            }
    }

    /// The algorithm of the CUDA engine for `width` searches at once, with a parameter that says where arcs are, or the algorithm asked for.
    fn many_on_cuda(&self, solver: &Solver, width: usize, arcs: &str) -> Result<Arc<OnDevice<cuda::BfsAlgorithm>>> {
        let named = format!("{}:width={width}{arcs}", many_sources::ALGORITHM.info.name);
        let asked = Some(self.algorithm.as_deref().unwrap_or(&named));
        solver.facts.bfs.get(asked, || find_on_cuda(solver, asked))
    }

    /// The algorithm for as many searches at once as fit the device's memory; `None` if too few fit.
    fn most_on_cuda(&self, solver: &Solver) -> Result<Option<Arc<OnDevice<cuda::BfsAlgorithm>>>> {
        if self.algorithm.is_some() {
            return Ok(Some(self.many_on_cuda(solver, many_sources::WIDEST, "")?));
        }
        // Without a device nobody knows how much fits; the check of the plan then tells what is wrong with the device.
        let widest = |arcs: &str, fits: &dyn Fn(&Plan) -> bool| {
            for width in [64, 32, 16, 8] {
                let many = self.many_on_cuda(solver, width, arcs)?;
                if fits(&many.plan) {
                    return Ok(Some(many));
                }
            }
            Ok::<_, Error>(None)
        };
        if let Some(many) = widest("", &|plan| solver.has_room_for(plan))? {
            return Ok(Some(many));
        }
        // Searches alone are quicker where the device has the arcs, and region by region.
        let (alone, _) = self.that_fits(solver, false)?;
        if alone.algorithm.info.name != zero_copy::ALGORITHM.info.name {
            return Ok(None);
        }
        widest(",arcs=host", &|plan| solver.has_room_for(plan) && plan.memory_bytes() <= available_memory())
    }

    /// The plan, with the memory of a tree on the host, and of arcs by head if something needs them.
    fn with_tree(&self, solver: &Solver, mut plan: Plan, needs_transpose: bool) -> Plan {
        plan.memory("distances", 4 * solver.graph.vertices() as u64);
        if !self.distances_only {
            plan.memory("predecessors", 4 * solver.graph.vertices() as u64);
        }
        self.plan_path_counts(&solver.graph, needs_transpose, &mut plan);
        plan
    }

    /// Adds the host's memory for counting paths, if asked for, and for the arcs by head, if something needs them.
    fn plan_path_counts(&self, graph: &Graph, needs_transpose: bool, plan: &mut Plan) {
        if self.count_paths {
            plan.memory("path counts", 20 * graph.vertices() as u64);
        }
        if !graph.has_transpose() && (self.count_paths || needs_transpose) {
            plan.memory("the arcs by head", graph.transpose_bytes());
        }
    }
}

/// The algorithm of the CUDA engine that was asked for, or the one predicted fastest, and its plan.
fn find_on_cuda(solver: &Solver, asked: Option<&str>) -> Result<OnDevice<cuda::BfsAlgorithm>> {
    let (name, reason) = match asked {
        Some(name) if name.split(':').next() == Some(partitioned::ALGORITHM.info.name) || says_parts(name) => {
            (solver.all_devices().text(name), "asked for".to_owned())
        }
        Some(name) => (name.to_owned(), "asked for".to_owned()),
        None => {
            let (name, reason) = cuda::choose(&solver.graph_facts());
            (name.to_owned(), reason)
        }
    };
    let (algorithm, parameters) = parse_algorithm(cuda::ALGORITHMS, |entry| &entry.info, &name)?;
    let mut plan = (algorithm.plan)(&solver.graph, &parameters);
    plan.on_each_of(parts_of(&parameters));
    Ok(OnDevice { name, reason, algorithm, parameters, plan })
}

/// Why searches run together.
fn shared_reads(many: Option<usize>) -> String {
    format!("{} sources share their reads of the graph", many.unwrap_or(1))
}

/// The bytes that the arcs of a graph take on a device.
fn graph_bytes(graph: &Graph) -> u64 {
    4 * (graph.vertices() as u64 + graph.arcs() as u64)
}

/// The threads of each search: several searches have one each.
fn threads_of_a_search(solver: &Solver, many: Option<usize>) -> usize {
    if many.is_some_and(|many| many > 1) { 1 } else { solver.team.threads() }
}

#[cfg(test)]
mod tests;
