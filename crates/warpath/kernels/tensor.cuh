// Products of small matrices of bits by the tensor cores, a warp at a time.
//
//   count_common(counts, left, right)   adds to `counts[i][j]` how many bits row i of `left`, of 16 rows, and row j of `right`, of 8,
//                                       have in common. A row has 256 bits. All lanes of the warp take part
//
// Lane 4g + t, with t below 4, has of `left` the words of row g and of row g + 8, in turn: two of them, then two more. Of `right` it has
// two words of row g. Which of a row's eight words these are is for the caller to choose, the same for both. Of `counts` it has those of
// row g and the columns 2t and 2t + 1, then those of row g + 8.
#pragma once

#include "device.cuh"

#if defined(WARPATH_EMULATOR) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800)

__device__ __forceinline__ void count_common(u32 (&counts)[4], const u32 (&left)[4], const u32 (&right)[2]) {
    struct Operands {
        u32 left[4], right[2];
    };
    constexpr u32 most_warps = 8;
    __shared__ Operands of_warps[most_warps][32];
    const u32 lane = threadIdx.x % 32;
    Operands* const of_lanes = of_warps[threadIdx.x / 32];
    of_lanes[lane] = {{left[0], left[1], left[2], left[3]}, {right[0], right[1]}};
    __syncwarp();
    for (u32 part = 0; part < 4; part++) {
        const Operands& row = of_lanes[lane / 4 * 4 + part];
        for (u32 column = 0; column < 2; column++) {
            const Operands& other = of_lanes[(lane % 4 * 2 + column) * 4 + part];
            for (u32 word = 0; word < 2; word++) {
                counts[column] += __popc(row.left[2 * word] & other.right[word]);
                counts[2 + column] += __popc(row.left[2 * word + 1] & other.right[word]);
            }
        }
    }
    __syncwarp();
}

#else

// BMMA.
__device__ __forceinline__ void count_common(u32 (&counts)[4], const u32 (&left)[4], const u32 (&right)[2]) {
    asm("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+r"(counts[0]), "+r"(counts[1]), "+r"(counts[2]), "+r"(counts[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
}

#endif
