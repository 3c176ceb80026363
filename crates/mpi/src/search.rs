//! A search: the request, the choice of the algorithm and the number type, and what is found.

use std::any::Any;
use std::time::Instant;

use warpath::graph::{
    DistanceValue, Distances, F32ToF32, MinPlus, U32ToU64, Unit, UnitToU32, WeightKind, with_min_plus,
};
use warpath::parts::{BfsPart, SsspPart};
use warpath::problems::{Cutoff, DistanceSum};
use warpath::{Distance, Error, Result};

use crate::algorithm::RankAlgorithm;
use crate::allocation::filled;
use crate::bfs;
use crate::certificate;
use crate::device::{OnDevice, RankDevices, RankGpu};
use crate::facts::{facts, greatest_reached};
use crate::graph::{PartOfGraph, Parts};
use crate::predecessors::{self, NO_PREDECESSOR};
use crate::reduced::Reduced;
use crate::source::Source;
use crate::sssp;
use crate::words::{pull, push};
use crate::world::{Outcome, Reduction, Traffic, World};

/// What is searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Problem {
    /// Distances in arcs.
    Bfs,
    /// Distances by weights.
    Sssp,
}

impl Problem {
    /// The algorithms that ranks have for it, the preferred ones first.
    pub fn algorithms(self) -> &'static [RankAlgorithm] {
        match self {
            Problem::Bfs => bfs::ALGORITHMS,
            Problem::Sssp => sssp::ALGORITHMS,
        }
    }
}

/// A search that all ranks do together.
#[derive(Debug, Clone)]
pub struct Search {
    /// What is searched for.
    pub problem: Problem,
    /// The sources: distances are from the nearest of them.
    pub sources: Vec<u64>,
    /// Only vertices up to the farthest of these are reported, if all of them are reached.
    pub targets: Vec<u64>,
    /// Only vertices within this distance are reported.
    pub cutoff: Option<Cutoff>,
    /// The name of the algorithm, such as `delta-stepping`, or with its parameter `delta-stepping:delta=25`; the preferred one if there
    /// is none.
    pub algorithm: Option<String>,
    /// Whether to find the predecessor of every vertex.
    pub predecessors: bool,
    /// Whether to check the result.
    pub verify: bool,
    /// The most bytes that each rank may take; its share of what its host has, if there is no limit.
    pub memory: Option<u64>,
    /// What the ranks search on.
    pub devices: RankDevices,
    /// How the vertices are shared out while they are searched.
    pub parts: Parts,
}

/// What a search found of consecutive vertices, those of this rank, and facts about all vertices.
#[derive(Debug, Clone)]
pub struct Found {
    /// The vertices whose results this rank has.
    pub owned: std::ops::Range<u64>,
    /// The distance of each of these vertices.
    pub distances: Distances,
    /// The predecessor of each of them, if it was asked for; `None` at sources and where no source leads.
    pub predecessors: Option<Vec<Option<u64>>>,
    /// The algorithm with its parameter.
    pub algorithm: String,
    /// The GPU that this rank searched on; `None` if the ranks searched on their cores.
    pub gpu: Option<RankGpu>,
    /// The type of weights and distances.
    pub number_type: &'static str,
    /// Whether the search was repeated because distances left the range of 32 bits.
    pub repeated_wide: bool,
    /// The number of arcs of all ranks.
    pub arcs: u64,
    /// How many vertices are reached, of all ranks.
    pub reached: u64,
    /// The greatest distance of all ranks.
    pub max_distance: Option<Distance>,
    /// The sum of the distances of all ranks.
    pub distance_sum: DistanceSum,
    /// Whether the certificate was checked.
    pub verified: bool,
    /// Where the time went, on this rank.
    pub seconds: Seconds,
    /// What this rank sent while it searched.
    pub traffic: Traffic,
    /// The vertices of each of the blocks that the ranks searched in turn; `None` if they searched consecutive vertices.
    pub block: Option<u64>,
    /// Facts about this rank's part.
    pub part: PartFacts,
}

/// Where the time went, on one rank.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Seconds {
    /// Drawing or reading the graph, and bringing arcs to their owners.
    pub load: f64,
    /// Searching.
    pub solve: f64,
    /// Finding predecessors.
    pub predecessors: f64,
    /// Checking the result.
    pub verify: f64,
}

/// How large a rank's part is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PartFacts {
    /// Vertices that the rank searches.
    pub owned: u64,
    /// Arcs that it has.
    pub arcs: u64,
    /// Heads of these arcs that other ranks own.
    pub ghosts: u64,
    /// Hubs of all ranks.
    pub hubs: u64,
}

/// What one rank did in a search.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RankFacts {
    /// Seconds of searching.
    pub solve: f64,
    /// What it sent.
    pub traffic: Traffic,
    /// How large its part is.
    pub part: PartFacts,
}

impl Found {
    /// What each rank did, for each rank.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub fn of_all_ranks(&self, world: &World) -> Outcome<Vec<RankFacts>> {
        let Traffic { bytes, messages, reduced_bytes, meetings, exchange, wait } = self.traffic;
        let PartFacts { owned, arcs, ghosts, hubs } = self.part;
        let mut words = Vec::new();
        [bytes, messages, reduced_bytes, meetings, owned, arcs, ghosts, hubs].iter().for_each(|&n| push(&mut words, n));
        [exchange, wait, self.seconds.solve].iter().for_each(|&seconds| push(&mut words, seconds));
        let all = world.agree(world.gather(&words))?;
        let facts = |rank| {
            let whole = |index: usize| pull::<u64>(&all.of(rank)[2 * index..]);
            let seconds = |index: usize| pull::<f64>(&all.of(rank)[2 * index..]);
            let traffic = Traffic {
                bytes: whole(0),
                messages: whole(1),
                reduced_bytes: whole(2),
                meetings: whole(3),
                exchange: seconds(8),
                wait: seconds(9),
            };
            let part = PartFacts { owned: whole(4), arcs: whole(5), ghosts: whole(6), hubs: whole(7) };
            RankFacts { solve: seconds(10), traffic, part }
        };
        Ok((0..world.ranks()).map(facts).collect())
    }

    /// The distances of some vertices, for each rank; all ranks ask for the same.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub fn distances_of(&self, world: &World, vertices: &[u64]) -> Outcome<Vec<Option<Distance>>> {
        let mut bits = world.agree(filled("distances of targets", 2 * vertices.len(), 0_u64))?;
        for (slot, vertex) in bits.chunks_exact_mut(2).zip(vertices).filter(|(_, vertex)| self.owned.contains(vertex)) {
            slot.copy_from_slice(&Distance::to_words(self.distances.get((vertex - self.owned.start) as usize)));
        }
        // Only the owner has other numbers than 0.
        world.reduce_all(Reduction::Greatest, &mut bits);
        Ok(bits.chunks_exact(2).map(|slot| Distance::of_words([slot[0], slot[1]])).collect())
    }
}

impl Search {
    /// From the nearest of these sources to all vertices, without predecessors, by the preferred algorithm.
    pub fn new(problem: Problem, sources: Vec<u64>) -> Self {
        Search {
            problem,
            sources,
            targets: Vec::new(),
            cutoff: None,
            algorithm: None,
            predecessors: false,
            verify: false,
            memory: None,
            devices: RankDevices::Auto,
            parts: Parts::Auto,
        }
    }

    /// The same, with the result checked.
    pub fn verified(self) -> Self {
        Search { verify: true, ..self }
    }

    /// Loads the graph and searches. All ranks call it with the same request.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] if a source is no vertex, the algorithm is unknown or does not fit the graph, or weights are below 0;
    /// [`Error::OutOfMemory`] if the plan of a rank does not fit; [`Error::NotVerified`]; [`Error::DistanceOverflow`]; and the errors of [`PartOfGraph::load`].
    pub fn run(&self, world: &World, source: &Source<'_>) -> Outcome<Found> {
        let mut found = None;
        self.search_from(world, source, &[&self.sources], &mut |one| {
            found = Some(one);
            Ok(())
        })?;
        world.agree(found.ok_or_else(|| Error::invalid("a search needs a source")))
    }

    /// Loads the graph once and searches from one of these sources after another, each alone; hands over what each search found. All ranks call it
    /// with the same request and sources; those of the request do not count.
    ///
    /// # Errors
    ///
    /// As [`Search::run`], and what `each` returns.
    pub fn run_each(
        &self,
        world: &World,
        source: &Source<'_>,
        sources: &[u64],
        each: &mut dyn FnMut(Found) -> Outcome<()>,
    ) -> Outcome<()> {
        let alone: Vec<&[u64]> = sources.chunks(1).collect();
        self.search_from(world, source, &alone, each)
    }

    /// Searches from the nearest of the sources in each of these lists.
    fn search_from(
        &self,
        world: &World,
        source: &Source<'_>,
        lists: &[&[u64]],
        each: &mut dyn FnMut(Found) -> Outcome<()>,
    ) -> Outcome<()> {
        let from = |sources: &[u64]| Search { sources: sources.to_vec(), ..self.clone() };
        let mut algorithm = world.agree(from(&lists.concat()).choose(source))?;
        let planned = self.plan(world, source)?;
        world.agree(planned.check())?;
        let start = Instant::now();
        match self.problem {
            Problem::Bfs => {
                let graph = PartOfGraph::<Unit>::load(world, source, self.parts_on(planned.gpu))?;
                let mut device =
                    OnDevice::<BfsPart>::prepare(world, planned.gpu, self.asks_for_gpus(), &graph, lists.len())?;
                let mut load = start.elapsed().as_secs_f64();
                lists.iter().try_for_each(|sources| {
                    let timer = Timer::start(world, std::mem::take(&mut load));
                    each(from(sources).breadth_first(world, &graph, &mut device, algorithm, timer)?)
                })
            }
            Problem::Sssp => with_min_plus!(source.weight_kind(), false, L => {
                let parts = self.parts_on(planned.gpu);
                let mut graph = PartOfGraph::<<L as MinPlus>::Weight>::load(world, source, parts)?;
                check_weights(world, &graph)?;
                let mut device = OnDevice::<SsspPart<L>>::prepare(world, planned.gpu, self.asks_for_gpus(), &graph, lists.len())?;
                let mut load = start.elapsed().as_secs_f64();
                lists.iter().try_for_each(|sources| {
                    let (search, timer) = (from(sources), Timer::start(world, std::mem::take(&mut load)));
                    each(match search.by_weights::<L>(world, &mut graph, &mut device, &mut algorithm, timer)? {
                        Some(found) => found,
                        None => {
                            device.release();
                            search.repeat_wide(world, &mut graph, device.gpu, algorithm, timer)?
                        }
                    })
                })
            }),
        }
    }

    /// A GPU is through its region of a graph sooner than a message is under way, so it does not share its own with others.
    fn parts_on(&self, gpu: Option<RankGpu>) -> Parts {
        match (self.parts, gpu) {
            (Parts::Auto, Some(_)) => Parts::Consecutive,
            (parts, _) => parts,
        }
    }

    fn asks_for_gpus(&self) -> bool {
        self.devices == RankDevices::Cuda
    }

    /// Searches a part that is loaded breadth-first, by the preferred algorithm.
    pub(crate) fn levels_in(
        &self,
        world: &World,
        graph: &PartOfGraph<Unit>,
        device: &mut OnDevice<BfsPart>,
        source: &Source<'_>,
    ) -> Outcome<Found> {
        let algorithm = world.agree(self.choose(source))?;
        self.breadth_first(world, graph, device, algorithm, Timer::start(world, 0.0))
    }

    /// Searches a part that is loaded by weights of 32-bit floats, by the preferred algorithm.
    pub(crate) fn lengths_in(
        &self,
        world: &World,
        graph: &mut PartOfGraph<f32>,
        device: &mut OnDevice<SsspPart<F32ToF32>>,
        source: &Source<'_>,
    ) -> Outcome<Found> {
        let mut algorithm = world.agree(self.choose(source))?;
        let found = self.by_weights::<F32ToF32>(world, graph, device, &mut algorithm, Timer::start(world, 0.0))?;
        world.agree(found.ok_or(Error::DistanceOverflow { semiring: F32ToF32::NAME }))
    }

    fn breadth_first(
        &self,
        world: &World,
        graph: &PartOfGraph<Unit>,
        device: &mut OnDevice<BfsPart>,
        algorithm: Chosen,
        timer: Timer,
    ) -> Outcome<Found> {
        let part = device.part(world, graph)?;
        let levels = bfs::search(world, graph, part, algorithm.info, &self.sources)?;
        self.finish::<UnitToU32>(world, graph, levels, algorithm.on(device.gpu), timer)
    }

    /// Searches by weights of 0 or more; `None` if distances may have left their range.
    fn by_weights<L: MinPlus>(
        &self,
        world: &World,
        graph: &mut PartOfGraph<L::Weight>,
        device: &mut OnDevice<SsspPart<L>>,
        algorithm: &mut Chosen,
        timer: Timer,
    ) -> Outcome<Option<Found>>
    where
        <L::Distance as DistanceValue>::Key: Reduced,
    {
        let part = device.part(world, graph)?;
        let (distances, delta) = sssp::search::<L>(world, graph, part, &self.sources, algorithm.delta)?;
        algorithm.delta = Some(delta);
        match self.suffices::<L>(world, graph, &distances)? {
            true => self.finish::<L>(world, graph, distances, algorithm.on(device.gpu), timer).map(Some),
            false => Ok(None),
        }
    }

    /// The same with distances of 64 bits, if the weights have these.
    fn repeat_wide<W: warpath::graph::Weight>(
        &self,
        world: &World,
        graph: &mut PartOfGraph<W>,
        gpu: Option<RankGpu>,
        algorithm: Chosen,
        timer: Timer,
    ) -> Outcome<Found> {
        match (graph as &mut dyn Any).downcast_mut::<PartOfGraph<u32>>() {
            Some(graph) => {
                let mut device = OnDevice::<SsspPart<U32ToU64>>::prepare(world, gpu, self.asks_for_gpus(), graph, 1)?;
                let part = device.part(world, graph)?;
                let (distances, _) = sssp::search::<U32ToU64>(world, graph, part, &self.sources, algorithm.delta)?;
                let found = self.finish::<U32ToU64>(world, graph, distances, algorithm.on(device.gpu), timer)?;
                Ok(Found { repeated_wide: true, ..found })
            }
            None => world.agree(Err(Error::DistanceOverflow { semiring: number_type(W::KIND) })),
        }
    }

    /// An error if this can't be searched for in a graph.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] if a source or target is no vertex, or the algorithm is unknown or does not fit the graph.
    pub fn check(&self, source: &Source<'_>) -> Result<()> {
        self.choose(source).map(|_| ())
    }

    fn choose(&self, source: &Source<'_>) -> Result<Chosen> {
        let vertices = source.vertices();
        for (what, list) in [("source", &self.sources), ("target", &self.targets)] {
            if let Some(missing) = list.iter().find(|&&vertex| vertex >= vertices) {
                return Err(Error::invalid(format!("{what} {missing} is out of range: there are {vertices} vertices")));
            }
        }
        let algorithms = self.problem.algorithms();
        let fits = |algorithm: &&RankAlgorithm| !(algorithm.undirected_only && source.is_directed());
        let Some(text) = &self.algorithm else {
            let info = algorithms.iter().find(fits).ok_or_else(|| Error::invalid("no algorithm fits this graph"))?;
            return Ok(Chosen { info, delta: None, gpu: None });
        };
        let (name, parameter) = text.split_once(':').map_or((text.as_str(), None), |(name, rest)| (name, Some(rest)));
        let Some(info) = algorithms.iter().find(|algorithm| algorithm.name == name) else {
            let names: Vec<_> = algorithms.iter().map(|algorithm| algorithm.name).collect();
            return Err(Error::invalid(format!("ranks have no algorithm `{name}`; they have {}", names.join(", "))));
        };
        if !fits(&info) {
            return Err(Error::invalid(format!("`{name}` needs a graph without directions")));
        }
        let delta = parameter.map(|parameter| match parameter.strip_prefix("delta=").map(str::parse::<f64>) {
            Some(Ok(delta)) if self.problem == Problem::Sssp && delta > 0.0 && delta.is_finite() => Ok(delta),
            _ if self.problem == Problem::Bfs => Err(Error::invalid(format!("`{name}` has no parameters"))),
            _ => Err(Error::invalid(format!("`{parameter}` is not `delta=` with a number above 0"))),
        });
        Ok(Chosen { info, delta: delta.transpose()?, gpu: None })
    }

    /// Whether the distances are right, although sums may have left the range. Within a bound none has.
    fn suffices<L: MinPlus>(
        &self,
        world: &World,
        graph: &PartOfGraph<L::Weight>,
        distances: &[L::Distance],
    ) -> Outcome<bool>
    where
        <L::Distance as DistanceValue>::Key: Reduced,
    {
        let bound = self.bound::<L>(world, graph, distances)?;
        if bound < L::Distance::UNREACHABLE { Ok(true) } else { narrow_suffices::<L>(world, graph, distances) }
    }

    /// The greatest distance that is reported; `UNREACHABLE` if all are.
    fn bound<L: MinPlus>(
        &self,
        world: &World,
        graph: &PartOfGraph<L::Weight>,
        distances: &[L::Distance],
    ) -> Outcome<L::Distance>
    where
        <L::Distance as DistanceValue>::Key: Reduced,
    {
        let cutoff = self.cutoff.map_or(Ok(L::Distance::UNREACHABLE), Cutoff::in_type);
        let cutoff: L::Distance = world.agree(cutoff)?;
        if self.targets.is_empty() {
            return Ok(cutoff);
        }
        let here = self.targets.iter().filter_map(|&target| graph.number_of(target));
        let farthest = here.map(|target| distances[target]).fold(L::Distance::ZERO, |a, b| if a < b { b } else { a });
        let mut farthest = [farthest.key()];
        world.reduce_all(Reduction::Greatest, &mut farthest);
        let farthest = L::Distance::from_key(farthest[0]);
        Ok(if farthest < cutoff { farthest } else { cutoff })
    }

    /// Predecessors, certificate and facts.
    fn finish<L: MinPlus>(
        &self,
        world: &World,
        graph: &PartOfGraph<L::Weight>,
        mut distances: Vec<L::Distance>,
        algorithm: Chosen,
        timer: Timer,
    ) -> Outcome<Found>
    where
        <L::Distance as DistanceValue>::Key: Reduced,
    {
        let (mut seconds, traffic) = timer.stop(world);
        let start = Instant::now();
        let mut tails = None;
        if self.predecessors {
            let all = graph.with_ghosts(world, "distances", &distances)?;
            tails = Some(predecessors::derive::<L>(world, graph, &self.sources, &all)?);
        }
        seconds.predecessors = start.elapsed().as_secs_f64();
        let start = Instant::now();
        if self.verify {
            certificate::verify::<L>(world, graph, &self.sources, &distances, tails.as_deref())?;
        }
        seconds.verify = start.elapsed().as_secs_f64();
        let bound = self.bound::<L>(world, graph, &distances)?;
        for (vertex, distance) in distances.iter_mut().enumerate().filter(|(_, distance)| bound < **distance) {
            *distance = L::Distance::UNREACHABLE;
            tails.iter_mut().for_each(|tails| tails[vertex] = NO_PREDECESSOR);
        }
        let distances = graph.bring_home(world, "distances", distances)?;
        let tails = tails.map(|tails| graph.bring_home(world, "predecessors", tails)).transpose()?;
        let predecessors =
            tails.map(|tails| tails.into_iter().map(|tail| Some(tail).filter(|&t| t != NO_PREDECESSOR)).collect());
        let (reached, max_distance, distance_sum) = facts(world, &distances);
        Ok(Found {
            owned: graph.at_home(),
            distances: L::Distance::into_distances(distances),
            predecessors,
            algorithm: algorithm.text(),
            gpu: algorithm.gpu,
            number_type: L::NAME,
            repeated_wide: false,
            arcs: graph.arcs(),
            reached,
            max_distance,
            distance_sum,
            verified: self.verify,
            seconds,
            traffic,
            block: graph.block(),
            part: PartFacts {
                owned: graph.owned_count() as u64,
                arcs: graph.arcs_here() as u64,
                ghosts: graph.ghosts() as u64,
                hubs: graph.hubs() as u64,
            },
        })
    }
}

/// An algorithm with its parameter.
#[derive(Debug, Clone, Copy)]
struct Chosen {
    info: &'static RankAlgorithm,
    /// The width of buckets, if it was set.
    delta: Option<f64>,
    /// The device that it ran on, once it did.
    gpu: Option<RankGpu>,
}

impl Chosen {
    fn on(self, gpu: Option<RankGpu>) -> Self {
        Chosen { gpu, ..self }
    }

    fn text(&self) -> String {
        match self.delta {
            Some(delta) => format!("{}:delta={delta}", self.info.name),
            None => self.info.name.to_owned(),
        }
    }
}

/// Measures a search.
#[derive(Clone, Copy)]
struct Timer {
    load: f64,
    start: Instant,
    before: Traffic,
}

impl Timer {
    fn start(world: &World, load: f64) -> Self {
        Timer { load, start: Instant::now(), before: world.traffic() }
    }

    fn stop(&self, world: &World) -> (Seconds, Traffic) {
        let seconds = Seconds { load: self.load, solve: self.start.elapsed().as_secs_f64(), ..Default::default() };
        (seconds, world.traffic().since(&self.before))
    }
}

/// An error if some weights are below 0.
fn check_weights<W: warpath::graph::Weight>(world: &World, graph: &PartOfGraph<W>) -> Outcome<()> {
    world.agree(if graph.weight_range().0 < 0.0 {
        Err(Error::invalid("ranks need weights of 0 or more; one machine finds paths by negative weights"))
    } else {
        Ok(())
    })
}

fn number_type(kind: WeightKind) -> &'static str {
    with_min_plus!(kind, true, L => <L as MinPlus>::NAME)
}

/// Whether sums past the range of the distances can't have changed the result: as `narrow_suffices` in the library.
fn narrow_suffices<L: MinPlus>(
    world: &World,
    graph: &PartOfGraph<L::Weight>,
    distances: &[L::Distance],
) -> Outcome<bool> {
    // A path leaves each vertex once at most. Sums of floats may be rounded up.
    let is_float = matches!(<L::Weight as warpath::graph::Weight>::KIND, WeightKind::F32 | WeightKind::F64);
    if !is_float && graph.vertices() as f64 * graph.weight_range().1 < L::Distance::LIMIT {
        return Ok(true);
    }
    let unreachable = L::Distance::UNREACHABLE;
    let greatest = greatest_reached(distances).to_f64();
    let greatest = f64::from_key(world.reduce(Reduction::Greatest, greatest.key()));
    if greatest + graph.weight_range().1 < L::Distance::LIMIT {
        return Ok(true);
    }
    let all = graph.with_ghosts(world, "distances", distances)?;
    let lost = (0..graph.rows()).filter(|&vertex| all[vertex] != unreachable).any(|vertex| {
        graph
            .edges(vertex)
            .any(|(head, weight)| all[head] == unreachable && L::extend(all[vertex], weight) == unreachable)
    });
    Ok(!world.any(lost))
}
