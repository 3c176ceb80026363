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

/// Defines the images, and the list of all of them.
macro_rules! images {
    ($($image:ident = $name:literal,)*) => {
        $(
            #[doc = concat!("The image `", $name, "`.")]
            pub(crate) static $image: Image = Image {
                name: $name,
                // In the order of `PARTS`.
                parts: &[part!($name, "sm_8x"), part!($name, "sm_90"), part!($name, "sm_1xx"), part!($name, "ptx")],
            };
        )*

        #[cfg(test)]
        const ALL: &[&Image] = &[$(&$image),*];
    };
}

// The image `bfs_queue` is built from `kernels/bfs/queue.cu`.
images! {
    APSP_BLOCKED_FLOYD_WARSHALL = "apsp_blocked_floyd_warshall",
    APSP_CUSTOMIZATION = "apsp_customization",
    APSP_FLOYD_WARSHALL = "apsp_floyd_warshall",
    APSP_HIERARCHY = "apsp_hierarchy",
    APSP_HIERARCHY_LENGTHS = "apsp_hierarchy_lengths",
    APSP_HIERARCHY_OFFSETS = "apsp_hierarchy_offsets",
    APSP_HIERARCHY_ROWS = "apsp_hierarchy_rows",
    APSP_KATZ_KIDER = "apsp_katz_kider",
    APSP_MATRIX = "apsp_matrix",
    APSP_SEARCH_ROWS = "apsp_search_rows",
    APSP_STRIPS = "apsp_strips",
    APSP_SUCCESSORS = "apsp_successors",
    APSP_TILED_FLOYD_WARSHALL = "apsp_tiled_floyd_warshall",
    BETWEENNESS_DISTANCES = "betweenness_distances",
    BETWEENNESS_LEVELS = "betweenness_levels",
    BFS_DIRECTION_OPTIMIZING = "bfs_direction_optimizing",
    BFS_LEVEL_PARALLEL = "bfs_level_parallel",
    BFS_LEVEL_SUMS = "bfs_level_sums",
    BFS_MANY_SOURCES = "bfs_many_sources",
    BFS_MULTI_HOP = "bfs_multi_hop",
    BFS_ONE_BLOCK = "bfs_one_block",
    BFS_PART = "bfs_part",
    BFS_PARTITIONED = "bfs_partitioned",
    BFS_PREDECESSORS = "bfs_predecessors",
    BFS_QUEUE = "bfs_queue",
    BFS_REGIONS = "bfs_regions",
    BFS_SCAN = "bfs_scan",
    BFS_SINGH = "bfs_singh",
    BFS_VERTEX_PARALLEL = "bfs_vertex_parallel",
    BFS_ZERO_COPY = "bfs_zero_copy",
    CLOSURE_BIT_PRODUCT = "closure_bit_product",
    CLOSURE_BIT_WARSHALL = "closure_bit_warshall",
    CLOSURE_WARSHALL = "closure_warshall",
    RESIDENT = "resident",
    SSSP_BELLMAN_FORD = "sssp_bellman_ford",
    SSSP_MANY_SOURCES = "sssp_many_sources",
    SSSP_MASK = "sssp_mask",
    SSSP_MULTI_HOP = "sssp_multi_hop",
    SSSP_NEAR_FAR = "sssp_near_far",
    SSSP_PART = "sssp_part",
    SSSP_PARTITIONED = "sssp_partitioned",
    SSSP_PREDECESSORS = "sssp_predecessors",
    SSSP_REGIONS = "sssp_regions",
    SSSP_WORK_EFFICIENT = "sssp_work_efficient",
    SSSP_ZERO_COPY = "sssp_zero_copy",
    TRANSPOSE = "transpose",
}

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
        for image in ALL {
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
