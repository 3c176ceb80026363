// The cells of a matrix of distances, or of bits: types of numbers, and a relaxation in each.
//
// Cells are kept in words, two cells of 16 bits in one of 32. Integers count as infinite from half of the type's
// greatest value on, so two infinities add up without wrapping, and no addition is checked: `src/cuda/apsp/mod.rs` says
// why that is exact. Floats have their own infinity.
//
// A relaxation is `relax(a, b, best)`: the lesser of `best` and `a + b`. `relax_twice` relaxes with two pairs, which
// may be quicker than one after the other. A minimum takes two cycles of the unit for integers (ALU), whether or not an
// addition is part of it (VIADDMNMX). Separate additions can go to the units that multiply (IMAD, FADD); then the ALU
// has only a least of three to do for two relaxations (VIMNMX3). The cycles are not documented. On an H200 half of the
// relaxations of integers in pairs were 6 % quicker than none (u32) and 4 % (u16), and all relaxations of floats as
// integers in pairs 17 %. `one` is 1, unknown to the compiler.
#pragma once

#include "../overlap.cuh"

namespace cells {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
/// How many relaxations of twelve are done in pairs: of integers, and of floats as integers. This chip has no least of
/// three.
constexpr u32 integers_in_pairs = 0, floats_in_pairs = 0;
#else
constexpr u32 integers_in_pairs = 6, floats_in_pairs = 12;
#endif
/// Whether cells of 16 bits are added and compared in pairs by single instructions. Elsewhere nobody asks for them.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
constexpr bool has_pairs = false;
#else
constexpr bool has_pairs = true;
#endif

/// The bits of a value as another type.
template <class To, class From>
__device__ __forceinline__ To same_bits(From from) {
    static_assert(sizeof(To) == sizeof(From), "");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}

/// 16-bit numbers of 0 or more, two in a word.
struct U16 {
    using Number = u16;
    using Word = u32;
    static constexpr bool is_signed = false;
    /// How many of every twelve relaxations are done in pairs, the quicker way for those.
    static constexpr u32 in_pairs = integers_in_pairs;
    static constexpr Number infinity = 0x7fff;
    /// The number in all cells of a word.
    static __device__ __forceinline__ Word everywhere(Number number) { return number * 0x1'0001u; }
    static __device__ __forceinline__ Word relax(Word a, Word b, Word best) { return __viaddmin_u16x2(a, b, best); }
    static __device__ __forceinline__ Word relax_twice(Word a, Word b, Word c, Word d, Word best, u32 one) {
        // Both halves are below 2^15: nothing is carried from one to the other.
        return __vimin3_u16x2(multiply_add(a, one, b), multiply_add(c, one, d), best);
    }
};

/// 32-bit numbers of 0 or more.
struct U32 {
    using Number = u32;
    using Word = u32;
    static constexpr bool is_signed = false;
    static constexpr u32 in_pairs = integers_in_pairs;
    static constexpr Number infinity = 0x7fff'ffff;
    static __device__ __forceinline__ Word everywhere(Number number) { return number; }
    static __device__ __forceinline__ Word relax(Word a, Word b, Word best) { return __viaddmin_u32(a, b, best); }
    static __device__ __forceinline__ Word relax_twice(Word a, Word b, Word c, Word d, Word best, u32 one) {
        return __vimin3_u32(multiply_add(a, one, b), multiply_add(c, one, d), best);
    }
};

/// 32-bit numbers.
struct I32 {
    using Number = int;
    using Word = int;
    static constexpr bool is_signed = true;
    static constexpr u32 in_pairs = integers_in_pairs;
    static constexpr Number infinity = 0x3fff'ffff;
    static __device__ __forceinline__ Word everywhere(Number number) { return number; }
    static __device__ __forceinline__ Word relax(Word a, Word b, Word best) { return __viaddmin_s32(a, b, best); }
    static __device__ __forceinline__ Word relax_twice(Word a, Word b, Word c, Word d, Word best, u32 one) {
        const auto sum = [=](Word x, Word y) {
            return static_cast<int>(multiply_add(static_cast<u32>(x), one, static_cast<u32>(y)));
        };
        return __vimin3_s32(sum(a, b), sum(c, d), best);
    }
};

/// 64-bit numbers.
struct I64 {
    using Number = long long;
    using Word = long long;
    static constexpr bool is_signed = true;
    static constexpr u32 in_pairs = 0;
    static constexpr Number infinity = 0x3fff'ffff'ffff'ffff;
    static __device__ __forceinline__ Word everywhere(Number number) { return number; }
    static __device__ __forceinline__ Word relax(Word a, Word b, Word best) {
        const Word sum = a + b;
        return sum < best ? sum : best;
    }
    static __device__ __forceinline__ Word relax_twice(Word a, Word b, Word c, Word d, Word best, u32) {
        return relax(c, d, relax(a, b, best));
    }
};

/// 32-bit floats of 0 or more: they order as their bits do, as integers.
struct F32NonNegative {
    using Number = float;
    using Word = float;
    static constexpr bool is_signed = false;
    static constexpr u32 in_pairs = floats_in_pairs;
    static __device__ __forceinline__ Word everywhere(Number number) { return number; }
    static __device__ __forceinline__ Word relax(Word a, Word b, Word best) {
        const int sum = __float_as_int(a + b), before = __float_as_int(best);
        return __int_as_float(sum < before ? sum : before);
    }
    static __device__ __forceinline__ Word relax_twice(Word a, Word b, Word c, Word d, Word best, u32) {
        return __int_as_float(__vimin3_s32(__float_as_int(a + b), __float_as_int(c + d), __float_as_int(best)));
    }
};

/// 32-bit floats.
struct F32 {
    using Number = float;
    using Word = float;
    static constexpr bool is_signed = true;
    static constexpr u32 in_pairs = 0;
    static __device__ __forceinline__ Word everywhere(Number number) { return number; }
    static __device__ __forceinline__ Word relax(Word a, Word b, Word best) { return fminf(a + b, best); }
    static __device__ __forceinline__ Word relax_twice(Word a, Word b, Word c, Word d, Word best, u32) {
        return relax(c, d, relax(a, b, best));
    }
};

/// 64-bit floats.
struct F64 {
    using Number = double;
    using Word = double;
    static constexpr bool is_signed = true;
    static constexpr u32 in_pairs = 0;
    static __device__ __forceinline__ Word everywhere(Number number) { return number; }
    static __device__ __forceinline__ Word relax(Word a, Word b, Word best) {
        const Word sum = a + b;
        return sum < best ? sum : best;
    }
    static __device__ __forceinline__ Word relax_twice(Word a, Word b, Word c, Word d, Word best, u32) {
        return relax(c, d, relax(a, b, best));
    }
};

/// Whether a path exists, in a bit, 32 in a word. A word with the same bit everywhere is a mask.
struct Bits {
    using Number = bool;
    using Word = u32;
    static __device__ __forceinline__ Word everywhere(bool bit) { return bit ? ~0u : 0; }
};

/// Whether a path exists, in a word, which is 0 or 1.
struct Flags {
    using Number = u32;
    using Word = u32;
    static constexpr bool is_signed = false;
    static __device__ __forceinline__ Word relax(Word a, Word b, Word best) { return best | (a & b); }
};

/// How many cells a word has.
template <class Cell>
constexpr u32 cells_of_word = sizeof(typename Cell::Word) / sizeof(typename Cell::Number);
template <>
constexpr u32 cells_of_word<Bits> = 32;

/// Words that are moved at once: 16 bytes.
template <class Word>
struct alignas(16) Vector {
    Word word[16 / sizeof(Word)];
};

template <class Word>
__device__ __forceinline__ Vector<Word> read_vector(const Word* from) {
    return same_bits<Vector<Word>>(*reinterpret_cast<const uint4*>(from));
}
template <class Word>
__device__ __forceinline__ void write_vector(Word* to, const Vector<Word>& vector) {
    *reinterpret_cast<uint4*>(to) = same_bits<uint4>(vector);
}

/// The number in one of the cells of a word.
template <class Cell>
__device__ __forceinline__ typename Cell::Number cell_of(typename Cell::Word word, u32 place) {
    if constexpr (cells_of_word<Cell> == 32) {
        return (word >> place & 1) != 0;
    } else if constexpr (sizeof(typename Cell::Number) == sizeof(typename Cell::Word)) {
        (void)place;
        return same_bits<typename Cell::Number>(word);
    } else {
        return static_cast<typename Cell::Number>(word >> (place * 8 * sizeof(typename Cell::Number)));
    }
}

}  // namespace cells
