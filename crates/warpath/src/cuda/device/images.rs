//! The compiled kernels, as `cargo xtask kernels` builds them: one image a source file, for every kind of device.

use super::Image;

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

/// The driver reads an image as words.
#[repr(C, align(64))]
struct Aligned<Bytes: ?Sized>(Bytes);

macro_rules! image {
    ($name:literal) => {
        Image {
            name: $name,
            bytes: {
                static BYTES: &Aligned<[u8]> =
                    &Aligned(*include_bytes!(concat!("../../../kernels/images/", $name, ".fatbin")));
                &BYTES.0
            },
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
    fn images_are_fat_binaries() {
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
            &BFS_MANY_SOURCES,
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
            assert_eq!(image.bytes[..4], 0xba55_ed50_u32.to_le_bytes(), "{}", image.name);
            assert!(image.bytes.as_ptr().addr().is_multiple_of(64));
        }
    }
}
