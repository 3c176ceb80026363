// Parameters for the templates in the headers of `generated`, which Rust makes (`src/cuda/kernel_header.rs`). Pointers
// have one size, so a struct has one layout, whatever its parameters are.
#pragma once

#include <cstddef>

#include "device.cuh"

namespace layout {

using Offset = u32;
struct Lane {
    using Weight = u32;
    using Distance = u32;
};
struct Cell {
    using Number = u32;
    using Word = u32;
};

}  // namespace layout
