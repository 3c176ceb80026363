// Products of matrices of bits by tensor cores, and the matrices packed for them. The host's part, and the essay, are in
// `src/cuda/closure/bit_product.rs`.
//
// A block works on tiles of 128 rows and 256 columns, one after another; each of its 8 warps on 64 rows and 64 columns. Of both
// matrices it brings *slabs* to shared memory: 512 bits of each row that the tile needs. Slabs are one stream through all tiles of the
// block, so the first slabs of a tile come while the tile before is finished.
//
// A *step* is 256 bits of a slab, as long as a product of the tensor cores. A lane reads 8 bytes of a row at once, which is all that a step
// needs of it: in which order a product takes the bits of a row is all the same if it takes both matrices' alike. While the products of
// a step are made, the next one is read.
//
// Counts begin at 2^31 - 1, so the highest bit of one is set if rows have anything in common, and one shift puts it beside others.
//
// *Packed* matrices lie in memory as slabs do: 128 rows by 512 bits, all their first steps, then all their second ones, and after them the
// next bits of the same rows. So threads beside each other copy what lies beside each other. Rows are in the order that leaves each
// lane of a product with 16 columns beside each other.
//
// Matrices may overlap: bits are only ever set, and each says that there is a path. Whoever reads a bit that is set early gets done
// sooner.
//
// registers: 255
// no-sass: STL
// sass: LDS.64
// sass: LDGSTS
// sass sm_90: BMMA
#include "../overlap.cuh"
#include "../tensor.cuh"
#include "../generated/closure/bit_product.cuh"

namespace bit_product {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr u32 slabs_there = slabs_of_old;
#else
constexpr u32 slabs_there = slabs;
#endif

/// 16 bytes of bits.
using Vector = uint4;
/// The bits of a row in a step, as vectors, and as pairs of words.
constexpr u32 step_bits = 256, vectors_a_step = step_bits / 128, pairs_a_step = step_bits / 64;
constexpr u32 steps_a_slab = slab_bits / step_bits;
/// Vectors of a slab of packed rows, in a step and in all.
constexpr u32 vectors_packed = packed_rows * vectors_a_step, vectors_a_pack = vectors_packed * steps_a_slab;
/// Packs that a tile needs: the first of the left matrix, the others of the right one.
constexpr u32 packs = 1 + columns_a_tile / packed_rows;
constexpr u32 vectors_a_slab = packs * vectors_a_pack;
/// Rows, and columns, of a warp.
constexpr u32 side = 64;
constexpr u32 warps_across = columns_a_tile / side;
/// Rows of the left matrix, and of the right one, of a product of a warp.
constexpr u32 left_rows = 16, right_rows = 8;
constexpr u32 left_parts = side / left_rows, right_parts = side / right_rows;
/// Tiles below each other that blocks beside each other work on: then all need much the same.
constexpr u32 tiles_together = 16;

static_assert(threads / 32 == rows_a_tile / side * warps_across, "");
static_assert(rows_a_tile == packed_rows && columns_a_tile == 256 && threads == vectors_packed, "");
static_assert(steps_a_slab == 2, "");

/// Where a row is among packed ones. Rows 8i + 2t and 8i + 2t + 1 of 64 in memory are those from 16t + 2i on.
__device__ __forceinline__ u32 place_of(u32 row) {
    return row / side * side + row % 16 / 2 * 8 + row % side / 16 * 2 + row % 2;
}

/// The vector of packed rows that has this row's first bits of the step in which this column is; `bits` is the length of a row.
__device__ __forceinline__ u64 packed_at(u32 row, u32 column, u32 bits) {
    const u64 pack = static_cast<u64>(row / packed_rows) * (bits / slab_bits) + column / slab_bits;
    return pack * vectors_a_pack + column % slab_bits / step_bits * vectors_packed + place_of(row % packed_rows) * vectors_a_step;
}

/// The tiles of a block, one after another: groups of tiles below each other, in each column after column. There are no divisions, which
/// take as long as a tenth of a tile. Where there are fewer rows of tiles than a group has, some places are of no tile.
struct Tiles {
    const Product& product;
    /// The first row of tiles of the group, and the place in it.
    u32 group, place;

    __device__ __forceinline__ explicit Tiles(const Product& product) : product(product), group(0), place(blockIdx.x) { settle(); }

    __device__ __forceinline__ bool is_at_end() const { return group >= product.tiles_down; }

    __device__ __forceinline__ void next() {
        place += gridDim.x;
        settle();
    }

    /// The first row, and the first column, of the tile.
    __device__ __forceinline__ u32 row() const {
        const u32 row = group + place % tiles_together;
        return (row < product.left_out_from ? row : row + product.left_out) * rows_a_tile;
    }
    __device__ __forceinline__ u32 column() const { return place / tiles_together * columns_a_tile; }

    /// Goes on until there is a tile.
    __device__ __forceinline__ void settle() {
        while (true) {
            while (place >= tiles_together * product.tiles_across) {
                place -= tiles_together * product.tiles_across;
                group += tiles_together;
            }
            if (is_at_end() || group + place % tiles_together < product.tiles_down) return;
            place += gridDim.x;
        }
    }
};

/// The slabs of all tiles of a block, one after another.
struct Stream {
    const Product& product;
    Tiles tiles;
    u32 slab;
    const Vector* left;
    const Vector* right;

    __device__ __forceinline__ explicit Stream(const Product& product) : product(product), tiles(product), slab(0) { begin(); }

    /// Where this thread begins to copy.
    __device__ __forceinline__ void begin() {
        const u64 of_rows = static_cast<u64>(product.depth) * vectors_a_pack;
        left = reinterpret_cast<const Vector*>(product.left) + tiles.row() / packed_rows * of_rows + threadIdx.x;
        right = reinterpret_cast<const Vector*>(product.right) + tiles.column() / packed_rows * of_rows + threadIdx.x;
    }

    /// Brings the next slab to shared memory, if there is one: a step after another, in each the left rows before the right ones.
    __device__ __forceinline__ void fetch(Vector* slot) {
        if (tiles.is_at_end()) return;
        Vector* const to = slot + threadIdx.x;
#pragma unroll
        for (u32 pack = 0; pack < packs; pack++) {
            const u32 next_rows = pack == 0 ? 0 : (pack - 1) * product.depth * vectors_a_pack;
#pragma unroll
            for (u32 step = 0; step < steps_a_slab; step++) {
                copy_to_shared(to + (step * packs + pack) * vectors_packed,
                               (pack == 0 ? left : right + next_rows) + step * vectors_packed);
            }
        }
        left += vectors_a_pack;
        right += vectors_a_pack;
        if (++slab < product.depth) return;
        slab = 0;
        tiles.next();
        begin();
    }
};

/// What this lane has of a step: two words of each row.
struct Step {
    u64 left[left_parts][2];
    u64 right[right_parts];

    /// Reads one of the two steps of a slab.
    __device__ __forceinline__ void read(const Vector* slot, u32 step) {
        const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        const u64* const rows = reinterpret_cast<const u64*>(slot + step * packs * vectors_packed) + lane;
        const u64* const of_left = rows + warp / warps_across * side * pairs_a_step;
        const u64* const of_right = rows + (rows_a_tile + warp % warps_across * side) * pairs_a_step;
#pragma unroll
        for (u32 part = 0; part < left_parts; part++) {
#pragma unroll
            for (u32 half = 0; half < 2; half++) {
                left[part][half] = of_left[(part * left_rows + half * (left_rows / 2)) * pairs_a_step];
            }
        }
#pragma unroll
        for (u32 part = 0; part < right_parts; part++) right[part] = of_right[part * right_rows * pairs_a_step];
    }
};

__device__ __forceinline__ u32 low(u64 words) { return static_cast<u32>(words); }
__device__ __forceinline__ u32 high(u64 words) { return static_cast<u32>(words >> 32); }

/// How many bits rows have in common, of those that this lane has, and `nothing`.
using Counts = u32[left_parts][right_parts][4];
constexpr u32 nothing = 0x7fff'ffff;

/// Counts those of a step.
__device__ __forceinline__ void count_step(Counts& counts, const Step& step) {
#pragma unroll
    for (u32 part = 0; part < left_parts; part++) {
        const u64 above = step.left[part][0], below = step.left[part][1];
        const u32 rows[4] = {low(above), low(below), high(above), high(below)};
#pragma unroll
        for (u32 other = 0; other < right_parts; other++) {
            const u32 columns[2] = {low(step.right[other]), high(step.right[other])};
            count_common(counts[part][other], rows, columns);
        }
    }
}

/// The bits of a row that this lane has: which of its 16 columns have something in common with it.
__device__ __forceinline__ u16 row_of(const Counts& counts, u32 part, u32 half) {
    u32 bits = 0;
#pragma unroll
    for (u32 index = 0; index < 2 * right_parts; index++) {
        const u32 column = 2 * right_parts - 1 - index;
        bits = bits << 1 | counts[part][column / 2][2 * half + column % 2] >> 31;
    }
    return static_cast<u16>(bits);
}

/// Sets the bits of `to` of which the row of `left` and the row of `right` have a bit in common.
__device__ __forceinline__ void multiply(const Product& product) {
    if (product.before != nullptr && load(product.before) == 0) return;
    DYNAMIC_SHARED(bytes);
    Vector* const shared = reinterpret_cast<Vector*>(bytes);
    // The rows of a tile.
    __shared__ Vector found[threads];
    const u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    Stream stream(product);
#pragma unroll
    for (u32 slot = 0; slot < slabs_there - 1; slot++) {
        stream.fetch(shared + slot * vectors_a_slab);
        commit_copies();
    }
    wait_for_copies<slabs_there - 2>();
    __syncthreads();
    Step steps[2];
    steps[0].read(shared, 0);
    u32 here = 0;
#pragma unroll 1
    for (Tiles tile(product); !tile.is_at_end(); tile.next()) {
        // Two threads have a row of the tile.
        Vector* const to = reinterpret_cast<Vector*>(
            product.to + (tile.row() + threadIdx.x / 2) * product.pitch + tile.column() / 32 + threadIdx.x % 2 * 4);
        const Vector there = load(to);
        Counts counts;
#pragma unroll
        for (u32 index = 0; index < left_parts * right_parts * 4; index++) {
            counts[index / 4 / right_parts][index / 4 % right_parts][index % 4] = nothing;
        }
#pragma unroll 1
        for (u32 slab = 0; slab < product.depth; slab++) {
            // Everyone is done with the slab before this one.
            const u32 free_slot = here == 0 ? slabs_there - 1 : here - 1, next = here == slabs_there - 1 ? 0 : here + 1;
            stream.fetch(shared + free_slot * vectors_a_slab);
            commit_copies();
            steps[1].read(shared + here * vectors_a_slab, 1);
            count_step(counts, steps[0]);
            wait_for_copies<slabs_there - 2>();
            __syncthreads();
            // After the last slab of all, this is nothing.
            steps[0].read(shared + next * vectors_a_slab, 0);
            count_step(counts, steps[1]);
            here = next;
        }
        // This lane's rows are not beside each other, since rows are packed; its columns are.
        u16* const of_lane = reinterpret_cast<u16*>(found) +
                             (warp / warps_across * side + lane / 8 * 16 + lane / 4 % 2) * (columns_a_tile / 16) +
                             warp % warps_across * (side / 16) + lane % 4;
#pragma unroll
        for (u32 part = 0; part < left_parts; part++) {
#pragma unroll
            for (u32 half = 0; half < 2; half++) {
                of_lane[(part * 4 + half * 2) * (columns_a_tile / 16)] = row_of(counts, part, half);
            }
        }
        __syncthreads();
        const Vector own = found[threadIdx.x];
        const u32 fresh = (own.x & ~there.x) | (own.y & ~there.y) | (own.z & ~there.z) | (own.w & ~there.w);
        if (fresh == 0) continue;
        store(to, Vector{own.x | there.x, own.y | there.y, own.z | there.z, own.w | there.w});
        if (product.changed != nullptr) store(product.changed, 1);
    }
}

static_assert(threads == square, "a warp has one word of each row");

/// Packs rows. A block takes as many as are packed together, and a slab of them, at a time.
__device__ __forceinline__ void pack(const Packing& packing) {
    if (packing.before != nullptr && load(packing.before) == 0) return;
    const u32 slabs_across = packing.columns / slab_bits, vectors_a_row = slab_bits / 128;
    for (u32 number = blockIdx.x; number < packing.rows / packed_rows * slabs_across; number += gridDim.x) {
        const u32 first = number / slabs_across * packed_rows, column = number % slabs_across * slab_bits;
#pragma unroll
        for (u32 index = threadIdx.x; index < vectors_a_pack; index += threads) {
            const u32 row = first + index / vectors_a_row, vector = index % vectors_a_row;
            const u32* const from = packing.from + row * packing.pitch + column / 32 + vector * 4;
            const u64 at = packed_at(row, column + vector * 128, packing.columns) + vector % vectors_a_step;
            store(reinterpret_cast<Vector*>(packing.to) + at, load(reinterpret_cast<const Vector*>(from)));
        }
    }
}

/// Packs columns, as if they were rows. A block takes a square at a time.
__device__ __forceinline__ void turn(const Packing& packing) {
    if (packing.before != nullptr && load(packing.before) == 0) return;
    const u32 lane = threadIdx.x % 32, squares_down = packing.rows / square;
    for (u32 number = blockIdx.x; number < squares_down * (packing.columns / square); number += gridDim.x) {
        const u32 first = number % squares_down * square;
        const u32 word = number / squares_down * (square / 32) + threadIdx.x / 32;
        u32 columns[square / 32];
#pragma unroll
        for (u32 part = 0; part < square / 32; part++) {
            const u32 bits = load_constant(packing.from + (first + part * 32 + lane) * packing.pitch + word);
#pragma unroll
            for (u32 column = 0; column < 32; column++) {
                const u32 turned = __ballot_sync(~0u, bits >> column & 1);
                if (lane == column) columns[part] = turned;
            }
        }
        Vector* const to = reinterpret_cast<Vector*>(packing.to) + packed_at(word * 32 + lane, first, packing.rows);
#pragma unroll
        for (u32 part = 0; part < square / 32; part += 4) {
            store(to + part / 4, Vector{columns[part], columns[part + 1], columns[part + 2], columns[part + 3]});
        }
    }
}

}  // namespace bit_product

extern "C" __global__ void __launch_bounds__(bit_product::threads, 1) closure_bit_product(bit_product::Product product) {
    bit_product::multiply(product);
}
WARPATH_KERNEL(closure_bit_product)

extern "C" __global__ void __launch_bounds__(bit_product::threads) closure_pack_rows(bit_product::Packing packing) {
    bit_product::pack(packing);
}
WARPATH_KERNEL(closure_pack_rows)

extern "C" __global__ void __launch_bounds__(bit_product::threads) closure_pack_columns(bit_product::Packing packing) {
    bit_product::turn(packing);
}
WARPATH_KERNEL(closure_pack_columns)
