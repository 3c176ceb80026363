//! The compiled kernels, as `cargo xtask kernels` builds them: one image a source file, for every kind of device.

use std::io::Read;

use lzma_rust2::XzReader;

use super::Image;
use crate::{Error, Result};

/// The machine code in every image, by compute capability. It runs on devices of the same major number and the same or
/// a later minor number.
const CUBINS: [(u32, u32); 6] = [(8, 0), (8, 6), (8, 9), (9, 0), (10, 0), (12, 0)];

/// The PTX in every image. The driver compiles it, for this compute capability and all later ones.
const PTX: [(u32, u32); 2] = [(7, 5), (9, 0)];

/// Which part of an image a device runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Machine code, for this compute capability.
    Cubin(u32, u32),
    /// PTX, which the driver compiles when it is loaded.
    Ptx(u32, u32),
    /// Nothing in it is for this device.
    None,
}

impl std::fmt::Display for Kind {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Kind::Cubin(major, minor) => write!(out, "machine code for {major}.{minor}"),
            Kind::Ptx(major, minor) => write!(out, "PTX for {major}.{minor}, compiled by the driver"),
            Kind::None => write!(out, "none"),
        }
    }
}

/// What a device of this compute capability runs.
pub(crate) fn kind_for(capability: (u32, u32)) -> Kind {
    let cubin = CUBINS.iter().filter(|have| have.0 == capability.0 && have.1 <= capability.1).max();
    let ptx = PTX.iter().filter(|have| **have <= capability).max();
    match (cubin, ptx) {
        (Some((major, minor)), _) => Kind::Cubin(*major, *minor),
        (None, Some((major, minor))) => Kind::Ptx(*major, *minor),
        (None, None) => Kind::None,
    }
}

/// The parts that an image is stored in, each packed alone: a device needs one of them.
const PARTS: [&str; 4] = ["sm_8x", "sm_90", "sm_1xx", "ptx"];

/// Which of [`PARTS`] has this.
fn part_of(kind: Kind) -> Option<usize> {
    match kind {
        Kind::Cubin(8, _) => Some(0),
        Kind::Cubin(9, _) => Some(1),
        Kind::Cubin(..) => Some(2),
        Kind::Ptx(..) => Some(3),
        Kind::None => None,
    }
}

impl Image {
    /// Unpacks the part with this, which is done when the first of its kernels is asked for.
    pub(crate) fn unpack(&self, kind: Kind) -> Result<FatBinary> {
        let part = part_of(kind).and_then(|part| Some((PARTS[part], *self.parts.get(part)?)));
        let (part, packed) = part.ok_or_else(|| Error::Device(format!("the image {} has no {kind}", self.name)))?;
        let unreadable = |why| Error::Device(format!("the image {}, {part}, can't be unpacked: {why}", self.name));
        // A test has a kernel of its own, as text.
        #[cfg(test)]
        if packed.starts_with(b".version") {
            let mut words = vec![0; packed.len().div_ceil(8)];
            bytemuck::cast_slice_mut(&mut words)[..packed.len()].copy_from_slice(packed);
            return Ok(FatBinary(words));
        }
        let mut reader = XzReader::new(packed, false);
        let mut header = [0; HEADER_WORDS];
        reader.read_exact(bytemuck::cast_slice_mut(&mut header)).map_err(unreadable)?;
        let mut words = vec![0; HEADER_WORDS + (header[1] / 8) as usize];
        words[..HEADER_WORDS].copy_from_slice(&header);
        reader.read_exact(bytemuck::cast_slice_mut(&mut words[HEADER_WORDS..])).map_err(unreadable)?;
        // The checksum comes after the last byte.
        match reader.read(&mut [0]).map_err(unreadable)? {
            0 => Ok(FatBinary(words)),
            _ => Err(Error::Device(format!("the image {}, {part}, is longer than it says", self.name))),
        }
    }
}

/// The size of the header of a fat binary, in words: magic number, version and size of the header; size of the rest.
const HEADER_WORDS: usize = 2;

/// Code for one or several kinds of device, as nvcc writes it.
#[derive(Debug)]
pub(crate) struct FatBinary(Vec<u64>);

impl FatBinary {
    /// Where it is. The driver reads it as words; it says itself how long it is.
    pub(crate) fn as_ptr(&self) -> *const u64 {
        self.0.as_ptr()
    }
}

macro_rules! part {
    ($name:literal, $part:literal) => {
        include_bytes!(concat!("../../../kernels/images/", $part, "/", $name, ".fatbin.xz"))
    };
}

macro_rules! image {
    ($name:literal) => {
        Image {
            name: $name,
            // In the order of `PARTS`.
            parts: &[part!($name, "sm_8x"), part!($name, "sm_90"), part!($name, "sm_1xx"), part!($name, "ptx")],
        }
    };
}

/// `kernels/apsp/blocked_floyd_warshall.cu`.
pub(crate) static APSP_BLOCKED_FLOYD_WARSHALL: Image = image!("apsp_blocked_floyd_warshall");
/// `kernels/apsp/floyd_warshall.cu`.
pub(crate) static APSP_FLOYD_WARSHALL: Image = image!("apsp_floyd_warshall");
/// `kernels/apsp/matrix.cu`.
pub(crate) static APSP_MATRIX: Image = image!("apsp_matrix");
/// `kernels/apsp/search_rows.cu`.
pub(crate) static APSP_SEARCH_ROWS: Image = image!("apsp_search_rows");
/// `kernels/apsp/strips.cu`.
pub(crate) static APSP_STRIPS: Image = image!("apsp_strips");
/// `kernels/apsp/successors.cu`.
pub(crate) static APSP_SUCCESSORS: Image = image!("apsp_successors");
/// `kernels/apsp/tiled_floyd_warshall.cu`.
pub(crate) static APSP_TILED_FLOYD_WARSHALL: Image = image!("apsp_tiled_floyd_warshall");
/// `kernels/bfs/direction_optimizing.cu`.
pub(crate) static BFS_DIRECTION_OPTIMIZING: Image = image!("bfs_direction_optimizing");
/// `kernels/bfs/multi_hop.cu`.
pub(crate) static BFS_MULTI_HOP: Image = image!("bfs_multi_hop");
/// `kernels/bfs/many_sources.cu`.
pub(crate) static BFS_MANY_SOURCES: Image = image!("bfs_many_sources");
/// `kernels/bfs/one_block.cu`.
pub(crate) static BFS_ONE_BLOCK: Image = image!("bfs_one_block");
/// `kernels/bfs/vertex_parallel.cu`.
pub(crate) static BFS_VERTEX_PARALLEL: Image = image!("bfs_vertex_parallel");
/// `kernels/bfs/level_parallel.cu`.
pub(crate) static BFS_LEVEL_PARALLEL: Image = image!("bfs_level_parallel");
/// `kernels/bfs/predecessors.cu`.
pub(crate) static BFS_PREDECESSORS: Image = image!("bfs_predecessors");
/// `kernels/bfs/queue.cu`.
pub(crate) static BFS_QUEUE: Image = image!("bfs_queue");
/// `kernels/bfs/scan.cu`.
pub(crate) static BFS_SCAN: Image = image!("bfs_scan");
/// `kernels/closure/bit_warshall.cu`.
pub(crate) static CLOSURE_BIT_WARSHALL: Image = image!("closure_bit_warshall");
/// `kernels/closure/warshall.cu`.
pub(crate) static CLOSURE_WARSHALL: Image = image!("closure_warshall");
/// `kernels/sssp/multi_hop.cu`.
pub(crate) static SSSP_MULTI_HOP: Image = image!("sssp_multi_hop");
/// `kernels/sssp/near_far.cu`.
pub(crate) static SSSP_NEAR_FAR: Image = image!("sssp_near_far");
/// `kernels/sssp/many_sources.cu`.
pub(crate) static SSSP_MANY_SOURCES: Image = image!("sssp_many_sources");
/// `kernels/sssp/mask.cu`.
pub(crate) static SSSP_MASK: Image = image!("sssp_mask");
/// `kernels/sssp/bellman_ford.cu`.
pub(crate) static SSSP_BELLMAN_FORD: Image = image!("sssp_bellman_ford");
/// `kernels/sssp/predecessors.cu`.
pub(crate) static SSSP_PREDECESSORS: Image = image!("sssp_predecessors");
/// `kernels/sssp/work_efficient.cu`.
pub(crate) static SSSP_WORK_EFFICIENT: Image = image!("sssp_work_efficient");
/// `kernels/transpose.cu`.
pub(crate) static TRANSPOSE: Image = image!("transpose");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_get_the_nearest_code() {
        for (capability, kind) in [
            ((7, 0), Kind::None),
            ((7, 5), Kind::Ptx(7, 5)),
            ((8, 0), Kind::Cubin(8, 0)),
            ((8, 7), Kind::Cubin(8, 6)),
            ((9, 0), Kind::Cubin(9, 0)),
            ((10, 3), Kind::Cubin(10, 0)),
            ((11, 0), Kind::Ptx(9, 0)),
            ((12, 1), Kind::Cubin(12, 0)),
        ] {
            assert_eq!(kind_for(capability), kind, "{capability:?}");
        }
    }

    #[test]
    fn every_part_of_every_image_is_a_fat_binary() {
        for image in [
            &APSP_BLOCKED_FLOYD_WARSHALL,
            &APSP_FLOYD_WARSHALL,
            &APSP_MATRIX,
            &APSP_SEARCH_ROWS,
            &APSP_STRIPS,
            &APSP_SUCCESSORS,
            &APSP_TILED_FLOYD_WARSHALL,
            &BFS_DIRECTION_OPTIMIZING,
            &BFS_MULTI_HOP,
            &BFS_MANY_SOURCES,
            &BFS_ONE_BLOCK,
            &BFS_VERTEX_PARALLEL,
            &BFS_LEVEL_PARALLEL,
            &BFS_QUEUE,
            &BFS_SCAN,
            &BFS_PREDECESSORS,
            &CLOSURE_BIT_WARSHALL,
            &CLOSURE_WARSHALL,
            &SSSP_MULTI_HOP,
            &SSSP_NEAR_FAR,
            &SSSP_MANY_SOURCES,
            &SSSP_MASK,
            &SSSP_BELLMAN_FORD,
            &SSSP_PREDECESSORS,
            &SSSP_WORK_EFFICIENT,
            &TRANSPOSE,
        ] {
            for kind in [Kind::Cubin(8, 6), Kind::Cubin(9, 0), Kind::Cubin(12, 0), Kind::Ptx(7, 5)] {
                let FatBinary(words) = image.unpack(kind).unwrap();
                assert_eq!(words[0] as u32, 0xba55_ed50, "{} {kind}", image.name);
            }
        }
    }

    #[test]
    fn every_device_gets_a_part_that_has_its_code() {
        // The header of an entry: machine code or PTX, its own size, the size of the code; at byte 28 the kind of device.
        let entries = |FatBinary(words): FatBinary| -> Vec<(u64, u64)> {
            let (mut at, mut found) = (HEADER_WORDS, Vec::new());
            while at < words.len() {
                found.push((words[at] & 0xffff, words[at + 3] >> 32));
                at += ((words[at] >> 32) + words[at + 1]) as usize / 8;
            }
            found
        };
        let cubins = CUBINS.map(|(major, minor)| (Kind::Cubin(major, minor), (2, u64::from(major * 10 + minor))));
        let ptx = PTX.map(|(major, minor)| (Kind::Ptx(major, minor), (1, u64::from(major * 10 + minor))));
        for (kind, entry) in cubins.into_iter().chain(ptx) {
            assert!(entries(BFS_QUEUE.unpack(kind).unwrap()).contains(&entry), "{kind}");
        }
        assert!(BFS_QUEUE.unpack(Kind::None).is_err());
    }

    #[test]
    fn a_damaged_image_is_an_error() {
        let whole = BFS_QUEUE.parts[0];
        let mut damaged = whole.to_vec();
        damaged[whole.len() / 2] ^= 1;
        for bytes in [&whole[..whole.len() / 2], &damaged, b"no image"] {
            let bytes: &'static [u8] = bytes.to_vec().leak();
            let image = Image { name: "damaged", parts: vec![bytes].leak() };
            let why = image.unpack(Kind::Cubin(8, 0)).unwrap_err().to_string();
            assert!(why.contains("damaged, sm_8x, can't be unpacked"), "{why}");
        }
    }
}
