// Made from `src/cuda/closure/warshall.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../../layout.cuh"

namespace flags {

/// Words of flags, and the same as bits, 32 in a word.
struct Packing {
    const u32* flags;
    u64 pitch;
    u32* bits;
    u64 bits_pitch;
    u32 vertices;
};
static_assert(sizeof(Packing) == 40, "");
static_assert(offsetof(Packing, flags) == 0, "");
static_assert(offsetof(Packing, pitch) == 8, "");
static_assert(offsetof(Packing, bits) == 16, "");
static_assert(offsetof(Packing, bits_pitch) == 24, "");
static_assert(offsetof(Packing, vertices) == 32, "");

}  // namespace flags
