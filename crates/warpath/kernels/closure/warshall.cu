// Transitive closure with a word for each pair, one launch for each vertex, or three for each block of vertices: as
// Katz and Kider 2008 have it, sect. 3.2 and 4.3. `../apsp/by_vertex.cuh` and `../apsp/blocks.cuh` have all of it.
//
// Repair. Line 10 of algorithm 1 prints OR where AND is meant.
//
// registers: 48
// no-sass: STL
#include "../apsp/blocks.cuh"
#include "../apsp/by_vertex.cuh"
#include "../collectives.cuh"
#include "../generated/closure/warshall.cuh"

namespace flags {

/// A warp for a word of bits.
__device__ __forceinline__ void pack(const Packing& packing) {
    const u64 words = (packing.vertices + lanes_a_warp - 1) / lanes_a_warp;
    for (u64 row = blockIdx.x; row < packing.vertices; row += gridDim.x) {
        for (u64 word = warp_index(); word < words; word += warps_of_block()) {
            const u64 column = word * lanes_a_warp + lane_index();
            const bool flag = column < packing.vertices && packing.flags[row * packing.pitch + column] != 0;
            const u32 bits = __ballot_sync(all_lanes, flag);
            if (lane_index() == 0) packing.bits[row * packing.bits_pitch + word] = bits;
        }
    }
}

/// The reverse; vertices beyond the last reach nothing.
__device__ __forceinline__ void unpack(const Packing& packing, u32* flags) {
    for (u64 row = blockIdx.x; row < packing.pitch; row += gridDim.x) {
        for (u64 column = threadIdx.x; column < packing.pitch; column += blockDim.x) {
            const bool is_there = row < packing.vertices && column < packing.vertices;
            const u32 word = is_there ? packing.bits[row * packing.bits_pitch + column / 32] : 0;
            flags[row * packing.pitch + column] = word >> (column % 32) & 1;
        }
    }
}

}  // namespace flags

extern "C" __global__ void closure_pack(flags::Packing packing) { flags::pack(packing); }
WARPATH_KERNEL(closure_pack)
extern "C" __global__ void closure_unpack(flags::Packing packing, u32* to) { flags::unpack(packing, to); }
WARPATH_KERNEL(closure_unpack)
extern "C" __global__ void closure_warshall(by_vertex::KernelArgument<cells::Flags> search) {
    by_vertex::relax_pairs_as_printed(search);
}
WARPATH_KERNEL(closure_warshall)
extern "C" __global__ void closure_tuned_warshall(by_vertex::KernelArgument<cells::Flags> search) {
    by_vertex::relax_pairs(search);
}
WARPATH_KERNEL(closure_tuned_warshall)
extern "C" __global__ void __launch_bounds__(1024) closure_blocked_diagonal(blocks::KernelArgument<cells::Flags> search) {
    blocks::close_diagonal(search);
}
WARPATH_KERNEL(closure_blocked_diagonal)
extern "C" __global__ void __launch_bounds__(1024) closure_blocked_panels(blocks::KernelArgument<cells::Flags> search) {
    blocks::relax_panels(search);
}
WARPATH_KERNEL(closure_blocked_panels)
extern "C" __global__ void __launch_bounds__(1024) closure_blocked_rest(blocks::KernelArgument<cells::Flags> search) {
    blocks::relax_rest(search);
}
WARPATH_KERNEL(closure_blocked_rest)
