// The last steps on a complete matrix of distances: its greatest distance, which tells whether the cells were wide
// enough, and its rows as the host wants them. The host's side is `src/cuda/apsp/matrix.rs`.
//
// Both read the matrix once, at the rate of the memory.
//
// registers: 40
// no-sass: STL
#include "../collectives.cuh"
#include "cells.cuh"
#include "../generated/apsp/matrix.cuh"

namespace apsp_matrix {

__device__ __forceinline__ bool is_distance(float number, long long) { return __float_as_uint(number) != 0x7f80'0000; }
__device__ __forceinline__ bool is_distance(double number, long long) {
    return __double_as_longlong(number) != 0x7ff0'0000'0000'0000;
}
template <class Integer>
__device__ __forceinline__ bool is_distance(Integer number, long long threshold) {
    return static_cast<long long>(number) < threshold;
}

/// An unsigned number that orders as these do: integers with the top bit flipped, floats as the bits of doubles, all
/// flipped below 0, the top one from 0 on.
template <class Integer>
__device__ __forceinline__ u64 key_of(Integer number) {
    return static_cast<u64>(static_cast<long long>(number)) ^ (u64{1} << 63);
}
__device__ __forceinline__ u64 key_of(double number) {
    const auto bits = static_cast<u64>(__double_as_longlong(number));
    return bits >> 63 != 0 ? ~bits : bits ^ (u64{1} << 63);
}
__device__ __forceinline__ u64 key_of(float number) { return key_of(static_cast<double>(number)); }

// Whether this is less than all numbers, as floats become that leave their range below 0.
__device__ __forceinline__ bool is_below_all(float number) { return __float_as_uint(number) == 0xff80'0000; }
__device__ __forceinline__ bool is_below_all(double number) {
    return static_cast<u64>(__double_as_longlong(number)) == 0xfff0'0000'0000'0000;
}
template <class Integer>
__device__ __forceinline__ bool is_below_all(Integer) {
    return false;
}

/// The greatest distance of all; the greatest key if a cell is below all numbers.
template <class Number>
__device__ __forceinline__ void survey(const Survey& survey) {
    const MatrixArgument& matrix = survey.matrix;
    u64 greatest = 0;
    for (u64 row = blockIdx.x; row < survey.rows; row += gridDim.x) {
        const Number* const cells = static_cast<const Number*>(matrix.cells) + row * matrix.pitch;
        for (u64 column = threadIdx.x; column < matrix.vertices; column += blockDim.x) {
            const Number number = load_once(cells + column);
            if (is_distance(number, matrix.threshold)) {
                greatest = max(greatest, is_below_all(number) ? ~u64{0} : key_of(number));
            }
        }
    }
    // The greatest of a block: the least of the complements.
    greatest = ~block_min(~greatest);
    if (threadIdx.x == 0 && greatest > load(survey.greatest)) atomicMax(survey.greatest, greatest);
}

/// Some rows, one after another without gaps, as numbers of another type.
template <class Number, class Out>
__device__ __forceinline__ void rows(const Rows& rows) {
    const MatrixArgument& matrix = rows.matrix;
    const Out unreachable = [&] {
        if constexpr (sizeof(Out) == 4) return cells::same_bits<Out>(static_cast<u32>(rows.unreachable));
        else return cells::same_bits<Out>(rows.unreachable);
    }();
    for (u64 row = blockIdx.x; row < rows.count; row += gridDim.x) {
        const Number* const from = static_cast<const Number*>(matrix.cells) + (rows.first + row) * matrix.pitch;
        Out* const to = static_cast<Out*>(rows.to) + row * matrix.vertices;
        for (u64 column = threadIdx.x; column < matrix.vertices; column += blockDim.x) {
            const Number number = load_once(from + column);
            store_once(to + column, is_distance(number, matrix.threshold) ? static_cast<Out>(number) : unreachable);
        }
    }
}

}  // namespace apsp_matrix

#define WARPATH_SURVEY(cell, Number)                                            \
    extern "C" __global__ void apsp_matrix_survey_##cell(apsp_matrix::Survey survey) { \
        apsp_matrix::survey<Number>(survey);                                    \
    }                                                                           \
    WARPATH_KERNEL(apsp_matrix_survey_##cell)
#define WARPATH_ROWS(cell, Number, out, Out)                                    \
    extern "C" __global__ void apsp_matrix_rows_##cell##_##out(apsp_matrix::Rows rows) { \
        apsp_matrix::rows<Number, Out>(rows);                                   \
    }                                                                           \
    WARPATH_KERNEL(apsp_matrix_rows_##cell##_##out)

WARPATH_SURVEY(u16, u16)
WARPATH_SURVEY(u32, u32)
WARPATH_SURVEY(i32, int)
WARPATH_SURVEY(i64, long long)
WARPATH_SURVEY(f32, float)
WARPATH_SURVEY(f64, double)
WARPATH_ROWS(u16, u16, u32, u32)
WARPATH_ROWS(u32, u32, u32, u32)
WARPATH_ROWS(u16, u16, i64, long long)
WARPATH_ROWS(i32, int, i64, long long)
WARPATH_ROWS(i64, long long, i64, long long)
WARPATH_ROWS(i64, long long, u64, u64)
WARPATH_ROWS(f32, float, f32, float)
WARPATH_ROWS(f64, double, f64, double)
