//! The arrays of another library as the arcs of a graph: checked, and copied to memory of our own.
//!
//! What comes is not trusted: a kernel that copies an array looks at every element, and a graph with a vertex that is not
//! there, or rows that overlap, ends in an error before any search sees it. Rows are taken as they are, in any order and
//! with parallel arcs: searches take the shortest. Lists of edges are sorted by tail as the arcs by head are made elsewhere
//! ([`transpose`](crate::cuda::transpose)): count, sum up, put into place. Whether all arcs have their reverses is told by
//! a sum of hashes, as on the host: breadth-first searches then need no arcs by head.
//!
//! O(V + E) work, a few launches; what is written down on the host are a few words.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect. The callers vouch for the addresses and lengths of what comes.

use std::sync::Arc;

use super::arrays::{Element, ForeignArray};
use crate::cuda::device::arena::Arena;
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::device::{Device, LaunchShape, arguments, images};
use crate::cuda::graph::{Arcs, Extent, Offsets};
use crate::cuda::transpose::Counting;
use crate::graph::{Graph, MAX_VERTICES, VertexId, WeightKind, Weights, with_weights};
use crate::{Error, Result};

/// The arcs of a graph on a device, by tail, with their weights.
#[derive(Debug)]
pub(super) struct Rows {
    pub(super) pool: Pool,
    pub(super) size: Size,
    pub(super) arcs: Arcs,
    /// As many words as weights of the kind take; `None` for unit weights.
    pub(super) weights: Option<DeviceSlice<u32>>,
    pub(super) of_weights: WeightFacts,
    /// The most arcs that leave one vertex.
    pub(super) longest: u64,
}

/// How large a graph is, and of what.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) vertices: u64,
    pub(super) arcs: u64,
    pub(super) weights: WeightKind,
    /// Whether some arc lacks its reverse.
    pub(super) is_directed: bool,
}

impl Extent for Size {
    fn vertices(&self) -> usize {
        self.vertices as usize
    }

    fn arcs(&self) -> usize {
        self.arcs as usize
    }

    fn is_directed(&self) -> bool {
        self.is_directed
    }

    fn weight_kind(&self) -> WeightKind {
        self.weights
    }
}

/// What the kernels find, in words of 64 bits, as [`Found`] has them.
#[derive(Debug, Clone, Copy)]
struct Findings(DeviceSlice<u64>);

/// What the kernels have found.
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Found {
    /// Not 0 if something was wrong.
    wrong: u64,
    greatest_id: u64,
    /// Not 0 if some arc lacks its reverse.
    asymmetry: u64,
    /// The most arcs that leave one vertex.
    longest: u64,
    /// The bits of the greatest weight, and of the least one; all ones if there is none.
    greatest_weight: u64,
    least_weight: u64,
    /// Not 0 if some weight is no whole number of 32 bits.
    broken: u64,
}

/// What is known about the weights of a graph.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct WeightFacts {
    pub(super) least: f64,
    pub(super) greatest: f64,
    /// Whether all are whole numbers of 32 bits.
    pub(super) are_whole: bool,
}

impl Found {
    fn weights(&self, kind: WeightKind) -> WeightFacts {
        let greatest = weight_of_bits(self.greatest_weight, kind);
        let least = if self.least_weight == u64::MAX { greatest } else { weight_of_bits(self.least_weight, kind) };
        WeightFacts { least, greatest, are_whole: self.broken == 0 }
    }
}

impl Findings {
    const WORDS: u64 = size_of::<Found>() as u64 / 8;

    fn layout(arena: &mut Arena<'_>) -> Self {
        Findings(arena.take("findings", Self::WORDS))
    }

    /// Nothing has been found.
    fn start(self, pool: &Pool) -> Result<()> {
        pool.fill(self.0, 0)?;
        pool.fill(self.0.part(5, 1), u32::MAX)
    }

    fn read(self, pool: &Pool) -> Result<Found> {
        Ok(bytemuck::cast(pool.read_array::<u64, { Self::WORDS as usize }>(self.0)?))
    }

    fn wrong(self) -> DeviceSlice<u64> {
        self.0.part(0, 1)
    }

    fn greatest_id(self) -> DeviceSlice<u64> {
        self.0.part(1, 1)
    }

    fn asymmetry(self) -> DeviceSlice<u64> {
        self.0.part(2, 1)
    }

    fn longest(self) -> DeviceSlice<u64> {
        self.0.part(3, 1)
    }

    /// Greatest, least, broken.
    fn of_weights(self) -> DeviceSlice<u64> {
        self.0.part(4, 3)
    }
}

/// How many words a weight takes.
pub(super) fn words_of(kind: WeightKind) -> u64 {
    if kind == WeightKind::F64 { 2 } else { 1 }
}

/// The type that weights of this type have here.
fn kind_of(weights: Option<ForeignArray>) -> WeightKind {
    match weights.map(|weights| weights.element) {
        None => WeightKind::Unit,
        Some(Element::F32) => WeightKind::F32,
        Some(Element::F64) => WeightKind::F64,
        Some(_) => WeightKind::U32,
    }
}

/// Starts a kernel of `resident.cu` for this many items.
macro_rules! launch {
    ($device:expr, $name:expr, $items:expr, [$($argument:expr),* $(,)?]) => {{
        let device: &dyn Device = &**$device;
        let kernel = device.function(&images::RESIDENT, $name)?;
        let threads = device.properties().threads_per_block.min(256);
        let at_once = u64::from(device.blocks_at_once(kernel, threads, 0)?.max(1));
        let shape = LaunchShape::line(($items).div_ceil(threads.into()).clamp(1, at_once) as u32, threads);
        // SAFETY: the arguments are the kernel's, and all arrays have the lengths that it expects: see the module.
        unsafe { device.launch(kernel, &shape, arguments![$($argument),*]) }
    }};
}
pub(super) use launch;

/// 32 or 64.
fn bits_of(offsets: Offsets) -> u32 {
    if offsets.is_wide() { 64 } else { 32 }
}

/// Copies numbers of vertices.
fn copy_ids(
    device: &Arc<dyn Device>,
    from: ForeignArray,
    limit: u64,
    to: DeviceSlice<VertexId>,
    findings: Findings,
) -> Result<()> {
    let name = if from.element.bytes() == 4 { "resident_ids_32" } else { "resident_ids_64" };
    let (wrong, greatest) = (findings.wrong(), findings.greatest_id());
    launch!(device, name, from.length, [from.address, from.length, limit, to, wrong, greatest])
}

/// Copies weights, if there are any.
fn copy_weights(
    device: &Arc<dyn Device>,
    from: Option<ForeignArray>,
    to: Option<DeviceSlice<u32>>,
    findings: Findings,
) -> Result<()> {
    let (Some(from), Some(to)) = (from, to) else { return Ok(()) };
    // Of 64-bit integers, those below 0 are too great if they are taken to have no sign.
    let element = if from.element == Element::I64 { Element::U64 } else { from.element };
    let (wrong, of_weights) = (findings.wrong(), findings.of_weights());
    let name = format!("resident_weights_{}", element.name());
    launch!(device, &name, from.length, [from.address, from.length, to, wrong, of_weights])
}

/// An error if some length is not as it has to be, or an array lies across elements.
fn check_arrays(first: ForeignArray, heads: ForeignArray, weights: Option<ForeignArray>) -> Result<()> {
    for array in [Some(first), Some(heads), weights].into_iter().flatten() {
        if !array.address.is_multiple_of(array.element.bytes() as u64) {
            return Err(Error::invalid(format!(
                "an array at {:#x} is not aligned for {}",
                array.address,
                array.element.name()
            )));
        }
    }
    match weights {
        Some(weights) if weights.length != heads.length => {
            Err(Error::invalid(format!("there are {} arcs and {} weights", heads.length, weights.length)))
        }
        _ => Ok(()),
    }
}

/// An error unless so many vertices can be.
fn check_vertices(vertices: u64) -> Result<()> {
    /// Predecessors are integers with a sign.
    const MOST: u64 = i32::MAX as u64;
    if vertices <= MOST {
        return Ok(());
    }
    Err(Error::invalid(format!("{vertices} vertices are too many; a graph on a device has at most {MOST}")))
}

/// An error if something was wrong.
fn check_findings(found: &Found, vertices: u64) -> Result<()> {
    if found.wrong == 0 {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "the arrays are no graph for a device: offsets have to rise from 0 to the number of arcs, vertices be from 0 to {}, and \
         weights finite, 0 or more, and as integers below 2^32",
        vertices.saturating_sub(1)
    )))
}

/// Looks for the most arcs that leave one vertex, and for offsets that fall.
fn find_longest(pool: &Pool, offsets: Offsets, findings: Findings) -> Result<()> {
    let (vertices, longest, wrong) = ((offsets.length() - 1) as u32, findings.longest(), findings.wrong());
    let name = format!("resident_longest_{}", bits_of(offsets));
    launch!(pool.device(), &name, u64::from(vertices), [offsets, vertices, longest, wrong])
}

/// The number that the bits of a weight are.
pub(super) fn weight_of_bits(bits: u64, kind: WeightKind) -> f64 {
    match kind {
        WeightKind::F32 => f32::from_bits(bits as u32).into(),
        WeightKind::F64 => f64::from_bits(bits),
        WeightKind::Unit => 1.0,
        WeightKind::U32 | WeightKind::I32 => bits as f64,
    }
}

/// Tails, heads and weights, one of each for an edge.
#[derive(Debug, Clone, Copy)]
struct Edges {
    tails: DeviceSlice<VertexId>,
    heads: DeviceSlice<VertexId>,
    weights: Option<DeviceSlice<u32>>,
}

/// The address of weights, for a kernel: 0 if there are none.
fn address_of(weights: Option<DeviceSlice<u32>>) -> u64 {
    weights.map_or(0, |weights| weights.address())
}

impl Rows {
    fn layout(arena: &mut Arena<'_>, size: &Size) -> (Arcs, Option<DeviceSlice<u32>>, Findings) {
        let arcs = Arcs::layout(arena, size);
        let has_weights = size.weights != WeightKind::Unit;
        let weights = has_weights.then(|| arena.take("weights of the arcs", size.arcs * words_of(size.weights)));
        (arcs, weights, Findings::layout(arena))
    }

    /// Copies compressed rows.
    ///
    /// # Safety
    ///
    /// The arrays are on this device, of as many elements as they say, and nobody writes to them meanwhile.
    pub(super) unsafe fn of_rows(
        device: &Arc<dyn Device>,
        offsets: ForeignArray,
        heads: ForeignArray,
        weights: Option<ForeignArray>,
        directed: bool,
    ) -> Result<Self> {
        offsets.element.check_integer("offsets")?;
        heads.element.check_integer("heads")?;
        check_arrays(offsets, heads, weights)?;
        let Some(vertices) = offsets.length.checked_sub(1) else {
            return Err(Error::invalid("the array of offsets is empty; it has one entry more than there are vertices"));
        };
        check_vertices(vertices)?;
        let size = Size { vertices, arcs: heads.length, weights: kind_of(weights), is_directed: true };
        device.synchronize_with_others()?;
        let (pool, (arcs, to_weights, findings)) = Pool::lay_out(device, |arena| Self::layout(arena, &size))?;
        findings.start(&pool)?;
        let name = format!("resident_offsets_{}_{}", 8 * offsets.element.bytes(), bits_of(arcs.offsets));
        let (to, wrong) = (arcs.offsets, findings.wrong());
        launch!(device, &name, offsets.length, [offsets.address, offsets.length, size.arcs, to, wrong])?;
        copy_ids(device, heads, vertices, arcs.targets, findings)?;
        copy_weights(device, weights, to_weights, findings)?;
        let rows = Self::checked(pool, size, arcs, to_weights, findings)?;
        if directed || !rows.size.is_directed { Ok(rows) } else { rows.with_reverses() }
    }

    /// Sorts edges by tail; with their reverses unless they are `directed`.
    ///
    /// # Safety
    ///
    /// As of [`Rows::of_rows`].
    pub(super) unsafe fn of_edges(
        device: &Arc<dyn Device>,
        vertices: Option<u64>,
        tails: ForeignArray,
        heads: ForeignArray,
        weights: Option<ForeignArray>,
        directed: bool,
    ) -> Result<Self> {
        tails.element.check_integer("tails")?;
        heads.element.check_integer("heads")?;
        check_arrays(tails, heads, weights)?;
        if tails.length != heads.length {
            return Err(Error::invalid(format!("there are {} tails and {} heads", tails.length, heads.length)));
        }
        check_vertices(vertices.unwrap_or(0))?;
        let (limit, kind) = (vertices.unwrap_or(MAX_VERTICES), kind_of(weights));
        device.synchronize_with_others()?;
        let layout = |arena: &mut Arena<'_>| {
            let [tails, heads] = arena.take_two(["tails of the edges", "heads of the edges"], tails.length);
            let weights = weights.map(|weights| arena.take("weights of the edges", weights.length * words_of(kind)));
            (Edges { tails, heads, weights }, Findings::layout(arena))
        };
        let (pool, (edges, findings)) = Pool::lay_out(device, layout)?;
        findings.start(&pool)?;
        copy_ids(device, tails, limit, edges.tails, findings)?;
        copy_ids(device, heads, limit, edges.heads, findings)?;
        copy_weights(device, weights, edges.weights, findings)?;
        let found = findings.read(&pool)?;
        check_findings(&found, limit)?;
        let least = if tails.length == 0 { 0 } else { found.greatest_id + 1 };
        let vertices = vertices.unwrap_or(least);
        check_vertices(vertices)?;
        Self::sorted(&pool, edges, vertices, kind, found.weights(kind), !directed)
    }

    /// Sorts edges, which are in `pool`, by tail.
    fn sorted(
        pool: &Pool,
        edges: Edges,
        vertices: u64,
        kind: WeightKind,
        of_weights: WeightFacts,
        with_reverses: bool,
    ) -> Result<Self> {
        let device = pool.device();
        let count = edges.tails.length();
        let room = if with_reverses { 2 * count } else { count };
        let size = Size { vertices, arcs: room, weights: kind, is_directed: true };
        let layout = |arena: &mut Arena<'_>| (Self::layout(arena, &size), Counting::layout_sums(arena, &size));
        let (to_pool, ((arcs, weights, findings), sums)) = Pool::lay_out(device, layout)?;
        findings.start(&to_pool)?;
        let (bits, places) = (bits_of(arcs.offsets), arcs.offsets.address_of_second());
        let counting = Counting { offsets: arcs.offsets, sums };
        counting.count(&to_pool, edges.tails)?;
        if with_reverses {
            let name = format!("resident_count_reverses_{bits}");
            launch!(device, &name, count, [edges.tails, edges.heads, count, places])?;
        }
        counting.place(&to_pool)?;
        let (is_wide, reversed) = (u32::from(words_of(kind) == 2), u32::from(with_reverses));
        let (from_weights, to_weights) = (address_of(edges.weights), address_of(weights));
        let name = format!("resident_scatter_{bits}");
        let Edges { tails, heads, .. } = edges;
        let targets = arcs.targets;
        launch!(
            device,
            &name,
            count,
            [tails, heads, from_weights, is_wide, count, reversed, places, targets, to_weights]
        )?;
        // Loops have no reverses, so there may be fewer arcs than there is room for.
        let there: u64 = match arcs.offsets {
            Offsets::Narrow(offsets) => to_pool.read_array::<_, 1>(offsets.part(vertices, 1))?[0].into(),
            Offsets::Wide(offsets) => to_pool.read_array::<_, 1>(offsets.part(vertices, 1))?[0],
        };
        let arcs = Arcs { targets: arcs.targets.part(0, there), ..arcs };
        let weights = weights.map(|weights| weights.part(0, there * words_of(kind)));
        let size = Size { arcs: there, ..size };
        Ok(Rows { of_weights, ..Self::checked(to_pool, size, arcs, weights, findings)? })
    }

    /// The same with the reverse of each arc.
    fn with_reverses(self) -> Result<Self> {
        let device = self.pool.device();
        let layout = |arena: &mut Arena<'_>| arena.take("tails of the arcs", self.size.arcs);
        let (pool, tails) = Pool::lay_out(device, layout)?;
        let Size { vertices, arcs, weights: kind, .. } = self.size;
        let (offsets, narrow) = (self.arcs.offsets, vertices as u32);
        launch!(device, &format!("resident_tails_{}", bits_of(offsets)), arcs, [offsets, narrow, arcs, tails])?;
        let edges = Edges { tails, heads: self.arcs.targets, weights: self.weights };
        Self::sorted(&pool, edges, vertices, kind, self.of_weights, true)
    }

    /// What has been copied, if nothing was wrong with it.
    fn checked(
        pool: Pool,
        size: Size,
        arcs: Arcs,
        weights: Option<DeviceSlice<u32>>,
        findings: Findings,
    ) -> Result<Self> {
        // Kernels that go along arcs rely on offsets and heads.
        find_longest(&pool, arcs.offsets, findings)?;
        check_findings(&findings.read(&pool)?, size.vertices)?;
        let device = pool.device();
        let (is_wide, vertices) = (u32::from(words_of(size.weights) == 2), size.vertices as u32);
        let (of_weights, asymmetry) = (address_of(weights), findings.asymmetry());
        let Arcs { offsets, targets } = arcs;
        if size.arcs > 0 {
            let name = format!("resident_asymmetry_{}", bits_of(offsets));
            let arcs = size.arcs;
            launch!(device, &name, arcs, [offsets, targets, of_weights, is_wide, vertices, arcs, asymmetry])?;
        }
        let found = findings.read(&pool)?;
        let size = Size { is_directed: found.asymmetry != 0, ..size };
        Ok(Rows { pool, size, arcs, weights, of_weights: found.weights(size.weights), longest: found.longest })
    }

    /// Copies a graph of the host there, whose weights are 0 or more.
    pub(super) fn of_graph(device: &Arc<dyn Device>, graph: &Graph) -> Result<Self> {
        if graph.has_negative_weights() {
            return Err(Error::invalid("a graph on a device has weights of 0 or more"));
        }
        let (vertices, arcs) = (graph.vertices() as u64, graph.arcs() as u64);
        check_vertices(vertices)?;
        let kind = match graph.weight_kind() {
            WeightKind::I32 => WeightKind::U32,
            kind => kind,
        };
        let size = Size { vertices, arcs, weights: kind, is_directed: graph.is_directed() };
        let (pool, (arcs, weights, findings)) = Pool::lay_out(device, |arena| Self::layout(arena, &size))?;
        findings.start(&pool)?;
        arcs.upload(&pool, graph.csr())?;
        if let Some(weights) = weights {
            with_weights!(graph.weights(), values => pool.upload(weights, bytemuck::cast_slice(values)))?;
        }
        find_longest(&pool, arcs.offsets, findings)?;
        let longest = findings.read(&pool)?.longest;
        let (least, greatest) = graph.weight_range();
        // Only what comes from elsewhere has whole numbers as floats.
        let are_whole = matches!(kind, WeightKind::Unit | WeightKind::U32);
        let of_weights = WeightFacts { least, greatest, are_whole };
        Ok(Rows { pool, size, arcs, weights, of_weights, longest })
    }

    /// Offsets, heads and weights, on the host.
    pub(super) fn to_host(&self) -> Result<(Vec<u64>, Vec<VertexId>, Weights)> {
        let offsets = match self.arcs.offsets {
            Offsets::Narrow(offsets) => self.pool.read(offsets)?.into_iter().map(u64::from).collect(),
            Offsets::Wide(offsets) => self.pool.read(offsets)?,
        };
        let heads = self.pool.read(self.arcs.targets)?;
        let weights = match (self.weights, self.size.weights) {
            (None, _) => Weights::unit(heads.len()),
            (Some(words), WeightKind::F32) => Weights::F32(self.pool.read(words.cast())?),
            (Some(words), WeightKind::F64) => Weights::F64(self.pool.read(words.cast())?),
            (Some(words), _) => Weights::U32(self.pool.read(words)?),
        };
        Ok((offsets, heads, weights))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::device::testing::devices;

    /// What a copy has got from an owner who was writing.
    #[test]
    fn offsets_that_fall_are_found_in_the_copy() {
        for (offsets, wrong) in [([0_u32, 2, 5, 5], false), ([0, 5, 2, 5], true), ([3, 0, 0, 5], true)] {
            for device in devices(1) {
                let layout = |arena: &mut Arena<'_>| (arena.take("offsets", 4), Findings::layout(arena));
                let (pool, (there, findings)) = Pool::lay_out(&device, layout).unwrap();
                pool.upload(there, &offsets).unwrap();
                findings.start(&pool).unwrap();
                find_longest(&pool, Offsets::Narrow(there), findings).unwrap();
                let found = findings.read(&pool).unwrap();
                assert_eq!(found.wrong != 0, wrong, "{offsets:?}");
                assert!(wrong || found.longest == 3);
            }
        }
    }

    #[test]
    fn arrays_across_elements_are_refused() {
        let array = |address, element| ForeignArray { address, length: 1, element };
        let right = array(256, Element::I32);
        assert!(check_arrays(right, right, Some(array(8, Element::F64))).is_ok());
        for wrong in [array(258, Element::I32), array(260, Element::I64)] {
            assert!(check_arrays(wrong, right, None).is_err());
            assert!(check_arrays(right, wrong, None).is_err());
            assert!(check_arrays(right, right, Some(wrong)).is_err());
        }
    }
}
