// Everything that a Warpath kernel knows of the machine it runs on. A kernel includes this file and nothing of CUDA's,
// and ends with `WARPATH_KERNEL(name)`; then it compiles with nvcc for GPUs, and as C++20, with `WARPATH_EMULATOR`
// defined, for the emulator that the tests run it on (`emulator/emulator.hpp`).
//
// CUDA's own names (`threadIdx`, `__syncthreads`, `__shfl_sync`, `atomicAdd`, ...) are used as they are. Exotic
// operations, and those that differ between the two worlds, have a name here:
//
//   DYNAMIC_SHARED(name)     `unsigned char* name`: this block's dynamic shared memory, aligned to 16 bytes
//   device_fence()           orders memory: whoever sees a write of this thread after the fence also sees all that the
//                            thread wrote or saw before
//   grid_barrier()           waits for all threads of the grid, in a cooperative launch; a full memory fence too
//   cluster_barrier()        waits for all threads of the cluster; a full memory fence too
//   cluster_rank()           which block of its cluster this one is
//   cluster_blocks()         how many blocks a cluster has; 1 without clusters
//   of_block(p, rank)        the place of `p`, in dynamic shared memory, in another block of the cluster; a block must
//                            not end while others may still reach into it
//   load(p), store(p, v)     relaxed accesses to global memory, at the L2 cache: they see, and are seen by, other blocks
//                            while the kernel runs
//   load_shared(p),          the same for shared memory, of this block or of another one (`of_block`), where no barrier
//   store_shared(p, v)       separates threads that write from threads that read; up to 8 bytes. Between barriers plain
//                            accesses do. Atomics work on global and on all shared memory.
//   load_constant(p)         of global memory that nobody writes during the kernel
//   load_once(p)             as load_constant, for values that are read once: they should not push others out of caches
//   store_once(p, v)         a store to global memory, of a value that this kernel doesn't read again
//   prefetch_to_l2(p)        a hint
//   is_cancelled(flag)       has the host set this flag, in mapped memory?
//
// Loads and stores take any plain type of 1, 2, 4, 8 or 16 bytes. Threads that spin must do so through `load`,
// `is_cancelled` or atomics: only these let other threads go on under the emulator.
#pragma once

#ifdef WARPATH_EMULATOR

#include "emulator/emulator.hpp"

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;

#else

#include <cooperative_groups.h>
#include <cstdint>

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;

#define WARPATH_KERNEL(name)

#define DYNAMIC_SHARED(name)                                        \
    extern __shared__ __align__(16) unsigned char warpath_shared[]; \
    unsigned char* const name = warpath_shared

// ---- Barriers and clusters ------------------------------------------------------------------------------------------

// Machine code: MEMBAR.ALL.GPU, lighter than __threadfence's MEMBAR.SC.GPU.
__device__ __forceinline__ void device_fence() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }

__device__ __forceinline__ void grid_barrier() { cooperative_groups::this_grid().sync(); }

// Clusters exist from compute capability 9.0 on. For older chips kernels that use them compile too, as if every block
// were a cluster of its own.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
__device__ __forceinline__ void cluster_barrier() { cooperative_groups::this_cluster().sync(); }
__device__ __forceinline__ unsigned cluster_rank() { return cooperative_groups::this_cluster().block_rank(); }
__device__ __forceinline__ unsigned cluster_blocks() { return cooperative_groups::this_cluster().num_blocks(); }
template <class T>
__device__ __forceinline__ T* of_block(T* pointer, unsigned rank) {
    return cooperative_groups::this_cluster().map_shared_rank(pointer, rank);
}
#else
__device__ __forceinline__ void cluster_barrier() { __syncthreads(); }
__device__ __forceinline__ unsigned cluster_rank() { return 0; }
__device__ __forceinline__ unsigned cluster_blocks() { return 1; }
template <class T>
__device__ __forceinline__ T* of_block(T* pointer, unsigned) {
    return pointer;
}
#endif

// ---- Memory ---------------------------------------------------------------------------------------------------------

namespace warpath_device {

/// The type of the same size that the hardware moves.
template <size_t bytes>
struct Word;
template <>
struct Word<1> {
    using Type = unsigned char;
};
template <>
struct Word<2> {
    using Type = unsigned short;
};
template <>
struct Word<4> {
    using Type = unsigned;
};
template <>
struct Word<8> {
    using Type = unsigned long long;
};
template <>
struct Word<16> {
    using Type = uint4;
};
template <class T>
using WordOf = typename Word<sizeof(T)>::Type;

template <class To, class From>
__device__ __forceinline__ To same_bits(From from) {
    static_assert(sizeof(To) == sizeof(From), "");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}

template <class T>
struct Itself {
    using Type = T;
};

// Loads that see, at this moment, the writes of other threads of the device.
__device__ __forceinline__ unsigned char load_relaxed(const unsigned char* pointer) {
    unsigned value;
    asm volatile("ld.relaxed.gpu.global.u8 %0, [%1];" : "=r"(value) : "l"(pointer));
    return static_cast<unsigned char>(value);
}
__device__ __forceinline__ unsigned short load_relaxed(const unsigned short* pointer) {
    unsigned short value;
    asm volatile("ld.relaxed.gpu.global.u16 %0, [%1];" : "=h"(value) : "l"(pointer));
    return value;
}
__device__ __forceinline__ unsigned load_relaxed(const unsigned* pointer) {
    unsigned value;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(pointer));
    return value;
}
__device__ __forceinline__ unsigned long long load_relaxed(const unsigned long long* pointer) {
    unsigned long long value;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(pointer));
    return value;
}
__device__ __forceinline__ uint4 load_relaxed(const uint4* pointer) {
    uint4 value;
    asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
        : "l"(pointer));
    return value;
}

// Through the read-only path, leaving nothing in the L1 cache.
__device__ __forceinline__ unsigned char load_streaming(const unsigned char* pointer) {
    unsigned value;
    asm("ld.global.nc.L1::no_allocate.u8 %0, [%1];" : "=r"(value) : "l"(pointer));
    return static_cast<unsigned char>(value);
}
__device__ __forceinline__ unsigned short load_streaming(const unsigned short* pointer) {
    unsigned short value;
    asm("ld.global.nc.L1::no_allocate.u16 %0, [%1];" : "=h"(value) : "l"(pointer));
    return value;
}
__device__ __forceinline__ unsigned load_streaming(const unsigned* pointer) {
    unsigned value;
    asm("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(value) : "l"(pointer));
    return value;
}
__device__ __forceinline__ unsigned long long load_streaming(const unsigned long long* pointer) {
    unsigned long long value;
    asm("ld.global.nc.L1::no_allocate.u64 %0, [%1];" : "=l"(value) : "l"(pointer));
    return value;
}
__device__ __forceinline__ uint4 load_streaming(const uint4* pointer) {
    uint4 value;
    asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
        : "l"(pointer));
    return value;
}

}  // namespace warpath_device

// Machine code: LDG.STRONG.GPU and STG.STRONG.GPU. A load is volatile, or the compiler would take it out of a loop that
// waits for another block.
template <class T>
__device__ __forceinline__ T load(const T* pointer) {
    using Word = warpath_device::WordOf<T>;
    return warpath_device::same_bits<T>(warpath_device::load_relaxed(reinterpret_cast<const Word*>(pointer)));
}
template <class T>
__device__ __forceinline__ void store(T* pointer, typename warpath_device::Itself<T>::Type value) {
    using Word = warpath_device::WordOf<T>;
    __stcg(reinterpret_cast<Word*>(pointer), warpath_device::same_bits<Word>(value));
}
// LDS or LD, STS or ST.
template <class T>
__device__ __forceinline__ T load_shared(const T* pointer) {
    static_assert(sizeof(T) <= 8, "");
    using Word = warpath_device::WordOf<T>;
    return warpath_device::same_bits<T>(*reinterpret_cast<const volatile Word*>(pointer));
}
template <class T>
__device__ __forceinline__ void store_shared(T* pointer, typename warpath_device::Itself<T>::Type value) {
    static_assert(sizeof(T) <= 8, "");
    using Word = warpath_device::WordOf<T>;
    *reinterpret_cast<volatile Word*>(pointer) = warpath_device::same_bits<Word>(value);
}
// LDG.CONSTANT.
template <class T>
__device__ __forceinline__ T load_constant(const T* pointer) {
    using Word = warpath_device::WordOf<T>;
    return warpath_device::same_bits<T>(__ldg(reinterpret_cast<const Word*>(pointer)));
}
// LDG.NA.CONSTANT.
template <class T>
__device__ __forceinline__ T load_once(const T* pointer) {
    using Word = warpath_device::WordOf<T>;
    return warpath_device::same_bits<T>(warpath_device::load_streaming(reinterpret_cast<const Word*>(pointer)));
}
// STG.EF.
template <class T>
__device__ __forceinline__ void store_once(T* pointer, typename warpath_device::Itself<T>::Type value) {
    using Word = warpath_device::WordOf<T>;
    __stcs(reinterpret_cast<Word*>(pointer), warpath_device::same_bits<Word>(value));
}
__device__ __forceinline__ void prefetch_to_l2(const void* pointer) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(pointer));
}
__device__ __forceinline__ bool is_cancelled(const u32* flag) {
    return *reinterpret_cast<const volatile u32*>(flag) != 0;
}

// ---- Operations that CUDA's headers lack ----------------------------------------------------------------------------

// `u64` is `unsigned long` on Linux, for which CUDA has no atomics.
#define WARPATH_ATOMIC_OF_U64(name)                                                                               \
    __device__ __forceinline__ u64 name(u64* pointer, u64 value) {                                                \
        return name(reinterpret_cast<unsigned long long*>(pointer), static_cast<unsigned long long>(value));      \
    }
WARPATH_ATOMIC_OF_U64(atomicAdd)
WARPATH_ATOMIC_OF_U64(atomicMin)
WARPATH_ATOMIC_OF_U64(atomicMax)
WARPATH_ATOMIC_OF_U64(atomicOr)
WARPATH_ATOMIC_OF_U64(atomicAnd)
WARPATH_ATOMIC_OF_U64(atomicXor)
WARPATH_ATOMIC_OF_U64(atomicExch)
#undef WARPATH_ATOMIC_OF_U64
__device__ __forceinline__ u64 atomicCAS(u64* pointer, u64 expected, u64 value) {
    return atomicCAS(reinterpret_cast<unsigned long long*>(pointer), static_cast<unsigned long long>(expected),
                     static_cast<unsigned long long>(value));
}

// Warp reductions are instructions from compute capability 8.0 on; before, five shuffles. The mask must be the mask of
// a whole warp, and all its lanes must be there.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define WARPATH_WARP_REDUCTION(name, combine)                                                                     \
    __device__ __forceinline__ unsigned name(unsigned mask, unsigned a) {                                         \
        for (int with = 16; with > 0; with /= 2) {                                                                \
            unsigned b = __shfl_xor_sync(mask, a, with);                                                          \
            a = combine;                                                                                          \
        }                                                                                                         \
        return a;                                                                                                 \
    }
WARPATH_WARP_REDUCTION(__reduce_add_sync, a + b)
WARPATH_WARP_REDUCTION(__reduce_min_sync, min(a, b))
WARPATH_WARP_REDUCTION(__reduce_max_sync, max(a, b))
WARPATH_WARP_REDUCTION(__reduce_or_sync, a | b)
WARPATH_WARP_REDUCTION(__reduce_and_sync, a & b)
#undef WARPATH_WARP_REDUCTION
#endif

#endif
