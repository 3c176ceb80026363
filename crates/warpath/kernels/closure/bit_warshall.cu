// Transitive closure on packed bits by tiles in registers: `../apsp/tiles.cuh` has all of it. The essay is in
// `src/cuda/closure/bit_warshall.rs`.
//
// registers: 128
// no-sass: STL
// sass: LOP3
// sass: LDS.128
#include "../apsp/tiles.cuh"

extern "C" __global__ void __launch_bounds__(tiles::threads, 2) closure_bits(tiles::KernelArgument<cells::Bits> search) {
    tiles::run(search);
}
WARPATH_KERNEL(closure_bits)
