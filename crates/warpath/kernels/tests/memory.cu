// Tests of atomics, of the accesses of `device.cuh`, and of shapes.

#include "collectives.cuh"

/// Every atomic, by all threads on the same words: `words` is {0, 0, ~0, 0, 0, ~0, 0, 0}.
template <class T>
__device__ void all_atomics(T* words, T* swapped_out) {
    T thread = static_cast<T>(blockIdx.x * blockDim.x + threadIdx.x);
    atomicAdd(words + 0, thread);
    atomicMax(words + 1, thread);
    atomicMin(words + 2, thread + 5);
    // A counter by compare and swap.
    T seen = load(words + 3);
    for (;;) {
        T found = atomicCAS(words + 3, seen, seen + 1);
        if (found == seen) break;
        seen = found;
    }
    atomicOr(words + 4, static_cast<T>(1) << thread % (8 * sizeof(T)));
    atomicAnd(words + 5, ~(static_cast<T>(1) << thread % (8 * sizeof(T))));
    // Whatever is put in comes out once.
    atomicAdd(swapped_out, atomicExch(words + 6, thread));
}

extern "C" __global__ void test_atomics(u32* words, u32* swapped_out, u64* wide_words, u64* wide_swapped_out,
                                        u32* in_shared) {
    __shared__ u32 counter;
    all_atomics(words, swapped_out);
    all_atomics(wide_words, wide_swapped_out);
    if (threadIdx.x == 0) counter = 0;
    __syncthreads();
    atomicAdd(&counter, 1u);
    __syncthreads();
    if (threadIdx.x == 0) in_shared[blockIdx.x] = counter;
}
WARPATH_KERNEL(test_atomics)

struct Cell {
    u32 thread;
    u8 padding[8];
    u32 check;
};

/// Copies through every kind of access; writes each thread's coordinates.
extern "C" __global__ void test_accesses(const u8* bytes, const uint2* pairs, const uint4* quads, u32* sums, Cell cell,
                                         uint3* coordinates, const u32* cancelled) {
    u32 block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    u32 number = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    u32 thread = block * blockDim.x * blockDim.y * blockDim.z + number;
    prefetch_to_l2(quads + thread);
    uint2 pair = load(pairs + thread), constant_pair = load_constant(pairs + thread);
    uint4 quad = load(quads + thread), once = load_once(quads + thread);
    u32 byte = load(bytes + thread) + load_once(bytes + thread) + load_constant(bytes + thread);
    u32 sum = byte + pair.x + pair.y + constant_pair.x + quad.x + quad.y + quad.z + quad.w + once.w;
    store(sums + thread, is_cancelled(cancelled) ? 0u : sum + cell.thread + cell.check);
    coordinates[thread] = make_uint3(threadIdx.x + 100 * blockIdx.x, threadIdx.y + 100 * blockIdx.y,
                                     threadIdx.z + 100 * blockIdx.z);
}
WARPATH_KERNEL(test_accesses)

/// Each block waits for the flag of the next one.
extern "C" __global__ void test_spin(u32* flags) {
    store(flags + blockIdx.x, 1u);
    __threadfence();
    while (load(flags + (blockIdx.x + 1) % gridDim.x) == 0) {
    }
}
WARPATH_KERNEL(test_spin)

/// A vertex is claimed by whoever finds it unclaimed first. Without an atomic, several may.
extern "C" __global__ void bug_claim_without_atomic(u32* owners, u32 places, u32* claims) {
    u32 thread = blockIdx.x * blockDim.x + threadIdx.x;
    u32* place = owners + thread % places;
    if (load(place) == ~0u) {
        store(place, thread);
        atomicAdd(claims, 1u);
    }
}
WARPATH_KERNEL(bug_claim_without_atomic)

extern "C" __global__ void test_claim(u32* owners, u32 places, u32* claims) {
    u32 thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (atomicCAS(owners + thread % places, ~0u, thread) == ~0u) atomicAdd(claims, 1u);
}
WARPATH_KERNEL(test_claim)

extern "C" __global__ void bug_misaligned(const u32* words, u64* result) {
    store(result, load(reinterpret_cast<const u64*>(words + 1)));
}
WARPATH_KERNEL(bug_misaligned)

extern "C" __global__ void bug_out_of_bounds(u32* words, u32 length) { words[threadIdx.x + 1] = length; }
WARPATH_KERNEL(bug_out_of_bounds)

extern "C" __global__ void test_nothing() {}
WARPATH_KERNEL(test_nothing)
