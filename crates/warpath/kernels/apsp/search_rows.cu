// The rows that searches leave, with a gap behind each of them. One kernel packs them for the way to the host, with the
// columns asked for; another sums them up, where the caller wants no more. The host's side is
// `src/cuda/apsp/outgoing.rs`.
//
// Both read the rows once, at the rate of the memory: a block takes row after row. RawFacts about the 82,168 rows of a
// graph of as many vertices are 27 GB, 7 ms here; over the bus it would be half a second, and as much again for the
// host's threads.
//
// registers: 40
// no-sass: STL
#include "../collectives.cuh"
#include "../generated/apsp/search_rows.cuh"

namespace apsp_search_rows {

constexpr long long signed_greatest = 0x7fff'ffff'ffff'ffff;

/// Whether distances are numbers with potentials.
template <class Number, class Out>
constexpr bool shifts = true;
template <class Number>
constexpr bool shifts<Number, Number> = false;

/// The numbers of a row as distances.
template <class Number, class Out>
struct Row {
    const Number* numbers;
    const u32* targets;
    const long long* potentials;
    u64 from = 0;

    __device__ __forceinline__ Row(const Rows& rows, u64 row)
        : numbers(static_cast<const Number*>(rows.numbers) + row * rows.stride),
          targets(rows.targets),
          potentials(rows.potentials) {
        if constexpr (shifts<Number, Out>) from = static_cast<u64>(load_constant(&potentials[load_constant(&rows.sources[row])]));
    }

    static constexpr bool is_signed = shifts<Number, Out>;
    static constexpr Out unreachable = static_cast<Out>(is_signed ? signed_greatest : ~0ll);

    __device__ __forceinline__ Out operator[](u64 column) const {
        const u64 vertex = targets == nullptr ? column : load_constant(&targets[column]);
        const Number number = load_once(numbers + vertex);
        if constexpr (is_signed) {
            if (number == static_cast<Number>(~u64{0})) return unreachable;
            // A sum that leaves 64 bits on the way comes back.
            return static_cast<Out>(number + static_cast<u64>(load_constant(&potentials[vertex])) - from);
        } else {
            return static_cast<Out>(number);
        }
    }
};

template <class Number, class Out>
__device__ __forceinline__ void pack(const Rows& rows) {
    for (u64 row = blockIdx.x; row < rows.count; row += gridDim.x) {
        const Row<Number, Out> from(rows, row);
        Out* const to = static_cast<Out*>(rows.to) + row * rows.columns;
        for (u64 column = threadIdx.x; column < rows.columns; column += blockDim.x) store_once(to + column, from[column]);
    }
}

template <class Number, class Out>
__device__ __forceinline__ void sum_up(const Rows& rows) {
    for (u64 row = blockIdx.x; row < rows.count; row += gridDim.x) {
        const Row<Number, Out> from(rows, row);
        u64 reached = 0, greatest = 0, low = 0, high = 0;
#pragma unroll 4
        for (u64 column = threadIdx.x; column < rows.columns; column += blockDim.x) {
            const Out distance = from[column];
            if (distance == Row<Number, Out>::unreachable) continue;
            reached++;
            if constexpr (sizeof(Out) == 4) {
                greatest = max(greatest, static_cast<u64>(distance));
                low += distance;
            } else {
                constexpr u64 top = Row<Number, Out>::is_signed ? u64{1} << 63 : 0;
                greatest = max(greatest, static_cast<u64>(distance) ^ top);
                low += static_cast<u32>(distance);
                high += static_cast<u64>(distance >> 32);
            }
        }
        RawFacts facts = {};
        facts.reached = block_sum(reached);
        // The greatest is the least of the complements.
        facts.greatest = ~block_min(~greatest);
        facts.low = block_sum(low);
        if constexpr (sizeof(Out) == 8) facts.high = block_sum(high);
        if (threadIdx.x == 0) static_cast<RawFacts*>(rows.to)[row] = facts;
    }
}

}  // namespace apsp_search_rows

#define WARPATH_SEARCH_ROWS(number, Number, out, Out)                                      \
    extern "C" __global__ void apsp_pack_##number##_##out(apsp_search_rows::Rows rows) {   \
        apsp_search_rows::pack<Number, Out>(rows);                                         \
    }                                                                                      \
    WARPATH_KERNEL(apsp_pack_##number##_##out)                                             \
    extern "C" __global__ void apsp_sum_up_##number##_##out(apsp_search_rows::Rows rows) { \
        apsp_search_rows::sum_up<Number, Out>(rows);                                       \
    }                                                                                      \
    WARPATH_KERNEL(apsp_sum_up_##number##_##out)

WARPATH_SEARCH_ROWS(u32, u32, u32, u32)
WARPATH_SEARCH_ROWS(u64, u64, u64, u64)
WARPATH_SEARCH_ROWS(u32, u32, i64, long long)
WARPATH_SEARCH_ROWS(u64, u64, i64, long long)
