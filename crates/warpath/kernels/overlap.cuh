// Work beside a thread: copies to shared memory while it computes, additions by a unit that it leaves idle.
//
//   copy_to_shared(to, from) copies 16 bytes from global to shared memory, past the registers, while the thread continues
//   commit_copies()          closes a group of these copies
//   wait_for_copies<n>()     waits until at most `n` of the groups that this thread has closed last are still under way;
//                            other threads see the copies after a barrier
//   multiply_add(a, b, c)    a * b + c of 32-bit numbers, by the unit that multiplies. Minima go to another
//                            unit, so additions may go there too (with a 1 that the compiler can't see)
#pragma once

#include "device.cuh"

#ifdef WARPATH_EMULATOR

// The copy is done at once, which is one of the ways it may happen.
inline void copy_to_shared(void* to, const void* from, WARPATH_SITE) {
    *static_cast<uint4*>(to) = load(static_cast<const uint4*>(from), site);
}
inline void commit_copies() {}
template <int n>
void wait_for_copies() {}
inline u32 multiply_add(u32 a, u32 b, u32 c) { return a * b + c; }

#else

// LDGSTS, which exists from compute capability 8.0 on; before, a load and a store.
__device__ __forceinline__ void copy_to_shared(void* to, const void* from) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    *static_cast<uint4*>(to) = warpath_device::load_relaxed(static_cast<const uint4*>(from));
#else
    const unsigned place = static_cast<unsigned>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place), "l"(from) : "memory");
#endif
}
__device__ __forceinline__ void commit_copies() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int n>
__device__ __forceinline__ void wait_for_copies() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory");
#endif
}
// IMAD.
__device__ __forceinline__ u32 multiply_add(u32 a, u32 b, u32 c) {
    u32 sum;
    asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c));
    return sum;
}

#endif
