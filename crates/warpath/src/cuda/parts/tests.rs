//! Searches of parts that exchange their messages here, against a plain search of the whole graph.

mod linked;

use std::ops::Range;
use std::sync::Arc;

use super::*;
use crate::cuda::device::testing;
use crate::graph::{
    DistanceValue, F32ToF32, F64ToF64, Graph, I32ToI64, MinPlus, U32ToU32, U32ToU64, Unit, UnitToU32, VertexId,
    with_weights,
};
use crate::testing::{Random, TestWeight, graphs_of_every_shape, size};

/// A part of a graph, as the host has it.
struct Part<W> {
    first: VertexId,
    owned: usize,
    own_hubs: Range<usize>,
    offsets: Vec<u64>,
    heads: Vec<u32>,
    weights: Vec<W>,
    /// The ghosts of each part.
    ghosts: Vec<Vec<VertexId>>,
}

/// A graph in parts.
struct Parts<W> {
    hubs: Vec<VertexId>,
    parts: Vec<Part<W>>,
    /// For each part and each other part, which of its own vertices are ghosts there.
    subscribers: Vec<Vec<Vec<u32>>>,
}

impl<W: TestWeight> Parts<W> {
    /// Divides a graph; vertices of at least so many arcs are hubs.
    fn of(graph: &Graph, count: usize, hub_degree: usize, weights: &[W]) -> Self {
        let vertices = graph.vertices();
        let start = |part: usize| vertices * part / count;
        let owner = |vertex: VertexId| (0..count).find(|&part| (vertex as usize) < start(part + 1)).unwrap();
        let degree = |vertex: VertexId| graph.neighbors(vertex).len();
        let hubs: Vec<VertexId> =
            (0..vertices as VertexId).filter(|&vertex| count > 1 && degree(vertex) >= hub_degree).collect();
        let arcs_of = |vertex: VertexId| {
            let row =
                graph.csr().offsets()[vertex as usize] as usize..graph.csr().offsets()[vertex as usize + 1] as usize;
            row.map(|arc| (graph.csr().targets()[arc], weights.get(arc).copied()))
        };
        let part = |number: usize| {
            let (first, end) = (start(number) as VertexId, start(number + 1) as VertexId);
            let mut rows: Vec<Vec<(VertexId, Option<W>)>> = Vec::new();
            rows.extend((first..end).map(|v| if hubs.contains(&v) { Vec::new() } else { arcs_of(v).collect() }));
            rows.extend(hubs.iter().map(|&hub| arcs_of(hub).filter(|(head, _)| owner(*head) == number).collect()));
            let is_ghost = |head: &VertexId| !(first..end).contains(head) && !hubs.contains(head);
            let mut all: Vec<VertexId> = rows.iter().flatten().map(|(head, _)| *head).filter(is_ghost).collect();
            all.sort_unstable();
            all.dedup();
            let number_of = |head: VertexId| {
                if let Ok(hub) = hubs.binary_search(&head) {
                    return (end - first) + hub as u32;
                }
                if is_ghost(&head) {
                    let ghost = all.binary_search(&head).unwrap() as u32;
                    return (end - first) + hubs.len() as u32 + ghost;
                }
                head - first
            };
            let ends = rows.iter().scan(0, |end, row| {
                *end += row.len() as u64;
                Some(*end)
            });
            let place = |vertex: VertexId| hubs.partition_point(|&hub| hub < vertex);
            Part {
                first,
                owned: (end - first) as usize,
                own_hubs: place(first)..place(end),
                offsets: std::iter::once(0).chain(ends).collect(),
                heads: rows.iter().flatten().map(|(head, _)| number_of(*head)).collect(),
                weights: rows.iter().flatten().filter_map(|(_, weight)| *weight).collect(),
                ghosts: (0..count)
                    .map(|part| all.iter().copied().filter(|&ghost| owner(ghost) == part).collect())
                    .collect(),
            }
        };
        let parts: Vec<Part<W>> = (0..count).map(part).collect();
        let known = |of: &Part<W>, by: &Part<W>, number: usize| {
            by.ghosts[number].iter().map(|ghost| ghost - of.first).collect()
        };
        let subscribers =
            parts.iter().enumerate().map(|(number, of)| parts.iter().map(|by| known(of, by, number)).collect());
        let subscribers = subscribers.collect();
        Parts { hubs, parts, subscribers }
    }

    fn rows(&self, number: usize) -> PartRows<'_> {
        let part = &self.parts[number];
        let of = |(other, ghosts): (usize, &Vec<VertexId>)| {
            ghosts.iter().map(|ghost| ghost - self.parts[other].first).collect()
        };
        PartRows {
            owned: part.owned,
            own_hubs: part.own_hubs.clone(),
            offsets: &part.offsets,
            heads: &part.heads,
            ghosts: part.ghosts.iter().enumerate().map(of).collect(),
            subscribers: self.subscribers[number].iter().map(Vec::as_slice).collect(),
        }
    }

    /// The sources that have a row in a part, by their numbers there.
    fn sources_of(&self, number: usize, sources: &[VertexId]) -> Vec<u32> {
        let part = &self.parts[number];
        let number_of = |source: &VertexId| match self.hubs.binary_search(source) {
            Ok(hub) => Some((part.owned + hub) as u32),
            Err(_) => source.checked_sub(part.first).filter(|&own| (own as usize) < part.owned),
        };
        sources.iter().filter_map(number_of).collect()
    }

    /// The states of all vertices, from those of the rows of each part.
    fn joined<T: Copy>(&self, states: &[Vec<T>]) -> Vec<T> {
        let of_part = |(part, states): (&Part<W>, &Vec<T>)| {
            let of = |own: usize| match self.hubs.binary_search(&(part.first + own as u32)) {
                Ok(hub) => states[part.owned + hub],
                Err(_) => states[own],
            };
            (0..part.owned).map(of).collect::<Vec<T>>()
        };
        self.parts.iter().zip(states).flat_map(of_part).collect()
    }
}

/// Distances by the plainest method.
fn expected<L: MinPlus>(graph: &Graph, weights: &[L::Weight], sources: &[VertexId]) -> Vec<L::Distance> {
    let mut distances = vec![L::Distance::UNREACHABLE; graph.vertices()];
    sources.iter().for_each(|&source| distances[source as usize] = L::Distance::ZERO);
    let mut changed = true;
    while changed {
        changed = false;
        for tail in 0..graph.vertices() {
            let row = graph.csr().row(tail as VertexId);
            for (&head, &weight) in graph.csr().targets()[row.clone()].iter().zip(&weights[row]) {
                let through = L::extend(distances[tail], weight);
                if distances[tail] != L::Distance::UNREACHABLE && through < distances[head as usize] {
                    distances[head as usize] = through;
                    changed = true;
                }
            }
        }
    }
    distances
}

/// Gives each part what the others send it.
fn exchange(sent: &[PartMail]) -> Vec<Vec<Vec<u32>>> {
    (0..sent.len()).map(|to| sent.iter().map(|from| from.of(to).to_vec()).collect()).collect()
}

/// Searches; in each level the `choose`n way.
fn levels(
    devices: &[Arc<dyn Device>],
    parts: &Parts<Unit>,
    sources: &[VertexId],
    mut looks_up: impl FnMut() -> bool,
) -> Vec<u32> {
    let count = parts.parts.len();
    let mut searches: Vec<BfsPart> =
        (0..count).map(|part| BfsPart::on(&devices[part % devices.len()], &parts.rows(part)).unwrap()).collect();
    let mut sent = vec![PartMail::default(); count];
    // A second search finds nothing of the first.
    for sources in [&sources[..1], sources] {
        for (part, search) in searches.iter_mut().enumerate() {
            search.start(&parts.sources_of(part, sources)).unwrap();
        }
        loop {
            let sizes: Vec<(u64, u64)> = searches.iter().map(|search| search.frontier().unwrap()).collect();
            if sizes.iter().all(|&(vertices, _)| vertices == 0) {
                break;
            }
            if looks_up() {
                searches.iter_mut().zip(&mut sent).for_each(|(search, mail)| search.tell_frontier(mail).unwrap());
                for (search, (bits, part)) in searches.iter_mut().zip(exchange(&sent).into_iter().zip(&parts.parts)) {
                    search.look_up(&joined_bits(&bits, &part.ghosts)).unwrap();
                }
            } else {
                searches.iter_mut().zip(&mut sent).for_each(|(search, mail)| search.expand(mail).unwrap());
                for (search, received) in searches.iter_mut().zip(exchange(&sent)) {
                    search.receive(&received.concat()).unwrap();
                }
            }
            let found: Vec<Vec<u64>> = searches.iter().map(|search| search.found_hubs().unwrap()).collect();
            let any: Vec<u64> =
                (0..found[0].len()).map(|word| found.iter().fold(0, |any, of| any | of[word])).collect();
            searches.iter_mut().for_each(|search| search.advance(&any).unwrap());
        }
    }
    parts.joined(&searches.iter().map(|search| search.levels().unwrap()).collect::<Vec<_>>())
}

/// The bits that each part told, one after another.
fn joined_bits(told: &[Vec<u32>], ghosts: &[Vec<VertexId>]) -> Vec<u32> {
    let bits: Vec<bool> = told
        .iter()
        .zip(ghosts)
        .flat_map(|(words, ghosts)| (0..ghosts.len()).map(|place| words[place / 32] >> (place % 32) & 1 == 1))
        .collect();
    bits.chunks(32).map(|word| word.iter().rev().fold(0, |word, &bit| word << 1 | u32::from(bit))).collect()
}

/// Searches below bounds that ascend by `step`.
fn distances<L: MinPlus>(
    devices: &[Arc<dyn Device>],
    parts: &Parts<L::Weight>,
    sources: &[VertexId],
    next_bound: impl Fn(L::Distance) -> L::Distance,
    delta: f64,
) -> Vec<L::Distance>
where
    L::Weight: TestWeight,
{
    let open = |part: usize| {
        SsspPart::<L>::on(&devices[part % devices.len()], &parts.rows(part), &parts.parts[part].weights).unwrap()
    };
    let mut searches: Vec<SsspPart<L>> = (0..parts.parts.len()).map(open).collect();
    let least = |a: L::Distance, b: L::Distance| if b < a { b } else { a };
    let mut sent = vec![PartMail::default(); searches.len()];
    for sources in [&sources[..1], sources] {
        for (part, search) in searches.iter_mut().enumerate() {
            search.start(&parts.sources_of(part, sources)).unwrap();
        }
        loop {
            let news: Vec<_> = searches.iter_mut().map(|search| search.news().unwrap()).collect();
            let Some(nearest) = news.iter().filter_map(|(nearest, _)| *nearest).reduce(least) else { break };
            for search in &mut searches {
                search.relax(next_bound(nearest), delta).unwrap();
            }
            searches.iter_mut().zip(&mut sent).for_each(|(search, mail)| search.collect_mail(mail).unwrap());
            for (search, received) in searches.iter_mut().zip(exchange(&sent)) {
                search.receive(&received.concat()).unwrap();
            }
            let of_hubs: Vec<Vec<L::Distance>> =
                searches.iter().map(|search| search.hub_distances().unwrap()).collect();
            let nearest = |hub: usize| of_hubs.iter().map(|of_part| of_part[hub]).reduce(least).unwrap();
            let all: Vec<L::Distance> = (0..of_hubs[0].len()).map(nearest).collect();
            searches.iter_mut().for_each(|search| search.receive_hubs(&all).unwrap());
        }
    }
    parts.joined(&searches.iter().map(|search| search.distances().unwrap()).collect::<Vec<_>>())
}

fn check_weights<L: MinPlus>(seed: u64)
where
    L::Weight: TestWeight,
{
    let mut random = Random(seed);
    for (name, graph) in graphs_of_every_shape::<L::Weight>(seed).into_iter().step_by(size(9, 20)) {
        if graph.vertices() == 0 || graph.arcs() > 2000 || graph.has_negative_weights() {
            continue;
        }
        let weights: &[L::Weight] = with_weights!(graph.csr().weights(), weights => {
            (weights as &dyn std::any::Any).downcast_ref::<Vec<L::Weight>>().unwrap()
        });
        let count = 1 + random.below(4) as usize;
        let parts = Parts::of(&graph, count, 1 + random.below(12) as usize, weights);
        let sources: Vec<VertexId> = (0..2).map(|_| random.below(graph.vertices() as u64) as VertexId).collect();
        let steps = [1.0, 40.0, 1e12];
        let step = steps[random.below(3) as usize];
        let delta = [0.1, 3.0, 1e9][random.below(3) as usize];
        let bound = |nearest: L::Distance| {
            let bound = L::Distance::at_most_float(nearest.to_f64() + step);
            if nearest < bound { bound } else { L::Distance::UNREACHABLE }
        };
        let right = expected::<L>(&graph, weights, &sources);
        for devices in testing::several(2, seed) {
            let found = distances::<L>(&devices, &parts, &sources, bound, delta);
            assert_eq!(
                found,
                right,
                "{name}, {count} parts, {} hubs, step {step}, delta {delta}, {}",
                parts.hubs.len(),
                L::NAME
            );
        }
    }
}

#[test]
fn levels_are_those_of_the_whole_graph() {
    let mut random = Random(17);
    for seed in 1..=2 {
        for (name, graph) in graphs_of_every_shape::<Unit>(seed).into_iter().step_by(size(4, 20)) {
            if graph.vertices() == 0 || graph.arcs() > 2000 {
                continue;
            }
            let count = 1 + random.below(4) as usize;
            let weights = vec![Unit; graph.arcs()];
            let parts = Parts::<Unit>::of(&graph, count, 1 + random.below(12) as usize, &weights);
            let sources: Vec<VertexId> =
                (0..1 + random.below(3)).map(|_| random.below(graph.vertices() as u64) as VertexId).collect();
            let right = expected::<UnitToU32>(&graph, &weights, &sources);
            // Looking up needs symmetric arcs.
            let often = if graph.is_directed() { 0 } else { random.below(4) };
            for devices in testing::several(2, seed) {
                let found = levels(&devices, &parts, &sources, || random.below(3) < often);
                assert_eq!(found, right, "{name}, {count} parts, {} hubs", parts.hubs.len());
            }
        }
    }
}

#[test]
fn distances_are_those_of_the_whole_graph() {
    check_weights::<U32ToU32>(3);
    check_weights::<U32ToU64>(4);
    check_weights::<F32ToF32>(5);
    check_weights::<F64ToF64>(6);
    check_weights::<I32ToI64>(7);
}

#[test]
fn what_is_planned_is_what_is_taken() {
    let graph = crate::generate::generate("kron:8").unwrap();
    let parts = Parts::<Unit>::of(&graph, 3, 20, &vec![Unit; graph.arcs()]);
    for device in testing::devices(1) {
        let rows = parts.rows(1);
        let search = BfsPart::on(&device, &rows).unwrap();
        assert_eq!(search.device_bytes(), BfsPart::plan(rows.extent()).device_bytes());
        let weights = vec![1; rows.heads.len()];
        let search = SsspPart::<U32ToU64>::on(&device, &rows, &weights).unwrap();
        assert_eq!(search.device_bytes(), SsspPart::<U32ToU64>::plan(rows.extent()).device_bytes());
    }
}

#[test]
fn numbers_out_of_range_are_refused() {
    let graph = crate::generate::generate("kron:6").unwrap();
    let parts = Parts::<Unit>::of(&graph, 2, 20, &vec![Unit; graph.arcs()]);
    for device in testing::devices(1) {
        let mut search = BfsPart::on(&device, &parts.rows(0)).unwrap();
        search.start(&[0]).unwrap();
        assert!(search.start(&[1000]).is_err());
        assert!(search.receive(&[parts.parts[0].owned as u32]).is_err());
        assert!(search.look_up(&[]).is_err() || parts.parts[0].ghosts.concat().is_empty());
        let mut heads = parts.parts[0].heads.clone();
        heads[0] = 5000;
        let rows = PartRows { heads: &heads, ..parts.rows(0) };
        assert!(BfsPart::on(&device, &rows).is_err());
        let rows = PartRows { offsets: &parts.parts[0].offsets[..3], ..parts.rows(0) };
        assert!(BfsPart::on(&device, &rows).is_err());
    }
}
