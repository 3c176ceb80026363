// Katz and Kider's program for all pairs, as they print it: cells of two values, three passes a stage, one thread a
// cell. The host loop, and the essay, are in `src/cuda/apsp/katz_kider/mod.rs`.
//
// Source: Katz and Kider 2008, "All-pairs shortest-paths for large graphs on the GPU", sect. 4.1 (three passes), 4.2
// (grids, shared memory, equations 5 to 7), 4.3 (cells of two values, algorithm 3) and 4.4 (pages).
//
// A thread loads its cell of each block that a pass needs, relaxes its own cell in shared memory, and writes it back at
// the end, changed or not. The first pass has one block in shared memory, the second two side by side, the third three.
//
// Repairs.
// 1. Algorithm 3 counts edges, and 0 stands for no path. Here arcs have lengths, which may be 0, so infinity stands for
//    no path, and the diagonal is 0 (equation 1). "A path exists" is "not infinite". "Shorter, or no path yet" is one
//    comparison: every sum of two paths that fits the cell is less than infinity. A sum that does not fit is not kept;
//    `src/cuda/apsp/mod.rs` says how that is noticed.
// 2. A cell without a path has -1 for its intermediate vertex, where the paper starts with 0, which is a vertex.
// 3. A vertex on a cycle of negative length is noticed in the first pass, which then stops: all later launches see the
//    flag and do nothing.
// 4. Sect. 4.4 says for the second major pass which page has d_ik and d_kj if the page is in the column of the primary
//    page. For a page in its row, d_ik comes from the primary page and d_kj from the page itself. And a page beside the
//    primary page has no blocks to skip in the direction in which the primary page is elsewhere.
//
// registers: 64
// no-sass: STL
#include "cells.cuh"
#include "../generated/apsp/katz_kider.cuh"

namespace katz_kider {

/// The cell of two values, as the paper's float2: the intermediate vertex, -1 for none, and the distance.
template <class Distance, class Vertex>
struct alignas(2 * sizeof(Distance)) Pair {
    Vertex via;
    Distance distance;
};

/// Cells with these distances and vertices. `KernelArgument` calls the pair a word.
template <class Distance, class Vertex>
struct Cells {
    using Number = typename Distance::Number;
    using Word = Pair<Number, Vertex>;
    static_assert(sizeof(Vertex) == sizeof(Number), "two words of one size");
    static constexpr bool is_signed = Distance::is_signed;
    /// The distance that stands for no path.
    static __device__ __forceinline__ Number none() {
        if constexpr (Distance::is_float) return cells::same_bits<Number>(Distance::infinity_bits);
        else return Distance::infinity;
    }
};

template <class Integer>
struct OfIntegers : Integer {
    static constexpr bool is_float = false;
};
struct OfSingles : cells::F32 {
    static constexpr bool is_float = true;
    static constexpr u32 infinity_bits = 0x7f80'0000;
};
struct OfDoubles : cells::F64 {
    static constexpr bool is_float = true;
    static constexpr u64 infinity_bits = 0x7ff0'0000'0000'0000;
};

using U32 = Cells<OfIntegers<cells::U32>, int>;
using I32 = Cells<OfIntegers<cells::I32>, int>;
using I64 = Cells<OfIntegers<cells::I64>, long long>;
using F32 = Cells<OfSingles, int>;
using F64 = Cells<OfDoubles, long long>;

/// Equations 5 to 7: 0 before the centre block, 1 from it on.
__device__ __forceinline__ u32 skip_center_block(u32 index, u32 center) { return min((index + 1) / (center + 1), 1u); }

/// Where this thread's cell of a block is in a page.
__device__ __forceinline__ u64 place_in(u64 pitch, u32 row, u32 column) {
    const u64 y = u64{row} * blockDim.y + threadIdx.y, x = u64{column} * blockDim.x + threadIdx.x;
    return y * pitch + x;
}

/// Algorithm 3: the path over `k`, if its parts exist and it is shorter.
template <class Cell>
__device__ __forceinline__ void check_path(typename Cell::Word& ij, const typename Cell::Word& ik,
                                           const typename Cell::Word& kj, u32 k) {
    if (ik.distance != Cell::none() && kj.distance != Cell::none()) {
        const auto length = ik.distance + kj.distance;
        if (length < ij.distance) {
            ij.distance = length;
            ij.via = static_cast<decltype(ij.via)>(k);
        }
    }
}

/// Pass 1: the primary block, in one block of threads.
template <class Cell>
__device__ __forceinline__ void first_pass(const KernelArgument<Cell>& search) {
    DYNAMIC_SHARED(bytes);
    auto* const current = reinterpret_cast<typename Cell::Word*>(bytes);
    const u32 side = blockDim.x, y = threadIdx.y, x = threadIdx.x;
    if (load(search.stopped) != 0) return;
    const u64 place = place_in(search.pitch, search.stage, search.stage);
    current[y * side + x] = search.current[place];
    __syncthreads();
    for (u32 k = 0; k < side; k++) {
        if (Cell::is_signed && current[k * side + k].distance < 0) {
            if (y == 0 && x == 0) store(search.stopped, 1u);
            return;
        }
        // The cells that others read now are not written now: a way over `k` to `k` itself is no shorter.
        check_path<Cell>(current[y * side + x], current[y * side + k], current[k * side + x], search.first + k);
        __syncthreads();
    }
    search.current[place] = current[y * side + x];
}

/// Pass 2: the blocks in the row of the primary block in the first row of the grid, those in its column in the second.
template <class Cell>
__device__ __forceinline__ void second_pass(const KernelArgument<Cell>& search) {
    DYNAMIC_SHARED(bytes);
    const u32 side = blockDim.x, y = threadIdx.y, x = threadIdx.x;
    auto* const primary = reinterpret_cast<typename Cell::Word*>(bytes);
    auto* const current = primary + side * side;
    if (load(search.stopped) != 0) return;
    const bool is_row = blockIdx.y + search.line == 0;
    const u32 index = blockIdx.x + skip_center_block(blockIdx.x, is_row ? search.center_x : search.center_y);
    const u64 place = is_row ? place_in(search.pitch, search.stage, index) : place_in(search.pitch, index, search.stage);
    const auto* const page_of_primary = is_row ? search.column : search.row;
    primary[y * side + x] = page_of_primary[place_in(search.pitch, search.stage, search.stage)];
    current[y * side + x] = search.current[place];
    __syncthreads();
    const auto* const column = is_row ? primary : current;
    const auto* const row = is_row ? current : primary;
    for (u32 k = 0; k < side; k++) {
        check_path<Cell>(current[y * side + x], column[y * side + k], row[k * side + x], search.first + k);
        __syncthreads();
    }
    search.current[place] = current[y * side + x];
}

/// Pass 3: all other blocks, with the block of their row in the column of the primary block, and that of their column in
/// its row.
template <class Cell>
__device__ __forceinline__ void third_pass(const KernelArgument<Cell>& search) {
    DYNAMIC_SHARED(bytes);
    const u32 side = blockDim.x, y = threadIdx.y, x = threadIdx.x;
    auto* const current = reinterpret_cast<typename Cell::Word*>(bytes);
    auto* const column = current + side * side;
    auto* const row = column + side * side;
    if (load(search.stopped) != 0) return;
    const u32 block_x = blockIdx.x + skip_center_block(blockIdx.x, search.center_x);
    const u32 block_y = blockIdx.y + skip_center_block(blockIdx.y, search.center_y);
    const u64 place = place_in(search.pitch, block_y, block_x);
    current[y * side + x] = search.current[place];
    column[y * side + x] = search.column[place_in(search.pitch, block_y, search.stage)];
    row[y * side + x] = search.row[place_in(search.pitch, search.stage, block_x)];
    __syncthreads();
    for (u32 k = 0; k < side; k++) {
        check_path<Cell>(current[y * side + x], column[y * side + k], row[k * side + x], search.first + k);
    }
    search.current[place] = current[y * side + x];
}

/// Makes cells of two values from distances. Beyond the vertices there are no paths.
template <class Cell>
__device__ __forceinline__ void join(const Conversion<Cell>& conversion) {
    for (u64 row = blockIdx.x; row < conversion.pitch; row += gridDim.x) {
        for (u64 column = threadIdx.x; column < conversion.pitch; column += blockDim.x) {
            const bool is_there = row < conversion.vertices && column < conversion.vertices;
            const auto distance = is_there ? conversion.distances[row * conversion.distances_pitch + column] : Cell::none();
            conversion.pairs[row * conversion.pitch + column] = {-1, distance};
        }
    }
}

/// The reverse.
template <class Cell>
__device__ __forceinline__ void split(const Conversion<Cell>& conversion) {
    for (u64 row = blockIdx.x; row < conversion.vertices; row += gridDim.x) {
        for (u64 column = threadIdx.x; column < conversion.vertices; column += blockDim.x) {
            conversion.distances[row * conversion.distances_pitch + column] =
                conversion.pairs[row * conversion.pitch + column].distance;
        }
    }
}

}  // namespace katz_kider

#define WARPATH_KATZ_KIDER_PASS(pass, cell, Cell)                                                        \
    extern "C" __global__ void __launch_bounds__(1024)                                                   \
        apsp_katz_kider_##pass##_##cell(katz_kider::KernelArgument<katz_kider::Cell> search) {           \
        katz_kider::pass##_pass(search);                                                                 \
    }                                                                                                    \
    WARPATH_KERNEL(apsp_katz_kider_##pass##_##cell)
#define WARPATH_KATZ_KIDER_CONVERSION(way, cell, Cell)                                                    \
    extern "C" __global__ void apsp_katz_kider_##way##_##cell(                                            \
        katz_kider::Conversion<katz_kider::Cell> conversion) {                                            \
        katz_kider::way(conversion);                                                                      \
    }                                                                                                     \
    WARPATH_KERNEL(apsp_katz_kider_##way##_##cell)
#define WARPATH_KATZ_KIDER(cell, Cell)               \
    WARPATH_KATZ_KIDER_PASS(first, cell, Cell)       \
    WARPATH_KATZ_KIDER_PASS(second, cell, Cell)      \
    WARPATH_KATZ_KIDER_PASS(third, cell, Cell)       \
    WARPATH_KATZ_KIDER_CONVERSION(join, cell, Cell)  \
    WARPATH_KATZ_KIDER_CONVERSION(split, cell, Cell)

WARPATH_KATZ_KIDER(u32, U32)
WARPATH_KATZ_KIDER(i32, I32)
WARPATH_KATZ_KIDER(i64, I64)
WARPATH_KATZ_KIDER(f32, F32)
WARPATH_KATZ_KIDER(f64, F64)
