// The part of CUDA that Warpath's kernels use, on the host. `device.cuh` includes this file when a kernel is compiled
// as C++20 for the emulator; `emulator.cpp` explains how a launch is run.
//
// Beyond running the kernel it checks: barriers and warp operations that not all threads reach, or that they reach at
// different places; lanes outside their own mask; misaligned accesses through `device.cuh`; pointers into another
// block's shared memory that don't lead there; writes past dynamic shared memory. With AddressSanitizer, also every
// access outside of an allocation. It can't show: a weak memory model within a device (every store is seen at once; between
// devices it is weak), the speed of anything, and races through plain loads and stores (only the accesses of `device.cuh` and the atomics can be
// interrupted).
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <type_traits>
#include <utility>

// ---- The language ---------------------------------------------------------------------------------------------------

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(bytes) alignas(bytes)
// One operating system thread runs one block at a time. Values that an earlier block left there are still there, as on
// a GPU.
#define __shared__ static thread_local

struct dim3 {
    unsigned x = 1, y = 1, z = 1;
};
struct uint3 {
    unsigned x, y, z;
};
struct alignas(8) uint2 {
    unsigned x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
struct alignas(8) int2 {
    int x, y;
};
struct alignas(16) int4 {
    int x, y, z, w;
};
struct alignas(16) ulonglong2 {
    unsigned long long x, y;
};
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline int2 make_int2(int x, int y) { return {x, y}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
inline ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y) { return {x, y}; }

extern constinit thread_local uint3 threadIdx, blockIdx;
extern constinit thread_local dim3 blockDim, gridDim;
inline constexpr int warpSize = 32;

// ---- The way into the emulator --------------------------------------------------------------------------------------

namespace warpath_emulator {

/// Where in a kernel something is called: it tells apart barriers, and goes into messages.
using Site = std::source_location;

/// An operation of the lanes of a warp together.
enum class WarpOperation : uint8_t { synchronize, shuffle, ballot, add, minimum, maximum, bit_or, bit_and };

/// Who meets at a barrier.
enum class Meeting : uint8_t { block, cluster, grid };

/// The result of a barrier for a thread.
struct Votes {
    unsigned in_favour, all;
};

/// Waits for the lanes in `mask` to call the same operation at the same place; returns this lane's result.
uint64_t with_warp(WarpOperation operation, uint32_t mask, uint64_t operand, unsigned source_lane, Site site);
/// Waits for everyone at the meeting; a thread votes with `in_favour`.
Votes meet(Meeting meeting, bool in_favour, Site site);
/// Lets other threads go on first.
void yield();
/// Ends the launch with an error; the process goes on.
[[noreturn]] void fail(const char* what, Site site);

unsigned lane();
unsigned cluster_rank();
unsigned cluster_blocks();
unsigned char* dynamic_shared_memory();
/// `pointer` points into this block's dynamic shared memory; the same place in that of block `rank` of the cluster.
void* in_block(const volatile void* pointer, unsigned rank, Site site);

/// Ends the launch if `pointer` leads to the dynamic shared memory of this block's cluster, or to another device.
void check_global(const volatile void* pointer, Site site);
/// Ends the launch if `pointer` leads to the memory of another device.
void check_own(const volatile void* pointer, Site site);

// Accesses that other devices may see, and to what they may have written.
void load_system(void* to, const void* pointer, size_t bytes);
void store_system(void* pointer, const void* from, size_t bytes);
void fence_system();

extern constinit thread_local int accesses_until_yield;

/// Called before every access that other threads may see: the moment at which the scheduler may switch threads.
inline void yield_point() {
    if (--accesses_until_yield <= 0) yield();
}

/// Checks a pointer as a GPU does before it follows it.
template <class T>
void check_alignment(const T* pointer, Site site) {
    if (reinterpret_cast<uintptr_t>(pointer) % sizeof(T) != 0) fail("misaligned address", site);
}

template <class T>
T read(const T* pointer, Site site) {
    check_alignment(pointer, site);
    T value;
    std::memcpy(&value, pointer, sizeof value);  // kernels read arrays of words as vectors
    return value;
}

template <class T>
void write(T* pointer, T value, Site site) {
    check_alignment(pointer, site);
    std::memcpy(pointer, &value, sizeof value);
}

/// No other thread runs between the read and the write.
template <class T, class Change>
T read_modify_write(T* pointer, Change change, Site site) {
    static_assert((std::is_integral_v<T> && sizeof(T) == 4) || sizeof(T) == 8, "CUDA has no such atomic");
    yield_point();
    check_own(pointer, site);
    T old = read(pointer, site);
    write(pointer, static_cast<T>(change(old)), site);
    return old;
}

template <class T>
T shuffle(uint32_t mask, T value, unsigned source_lane, Site site) {
    static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8), "CUDA has no such shuffle");
    uint64_t operand = 0;
    std::memcpy(&operand, &value, sizeof value);
    operand = with_warp(WarpOperation::shuffle, mask, operand, source_lane, site);
    std::memcpy(&value, &operand, sizeof value);
    return value;
}

/// Calls a kernel with the arguments that `arguments` points to, as `cuLaunchKernel` takes them.
using Call = void (*)(void (*kernel)(), void** arguments);

/// Makes a kernel known under its name.
struct Registration {
    Registration(const char* name, void (*kernel)(), Call call);

    template <class... Arguments>
    Registration(const char* name, void (*kernel)(Arguments...))
        : Registration(name, reinterpret_cast<void (*)()>(kernel), [](void (*erased)(), void** arguments) {
              auto typed = reinterpret_cast<void (*)(Arguments...)>(erased);
              [&]<size_t... index>(std::index_sequence<index...>) {
                  typed(*static_cast<Arguments*>(arguments[index])...);
              }(std::index_sequence_for<Arguments...>{});
          }) {}
};

}  // namespace warpath_emulator

#define WARPATH_KERNEL(name) static const warpath_emulator::Registration warpath_registration_of_##name(#name, name);
#define WARPATH_SITE warpath_emulator::Site site = warpath_emulator::Site::current()

// ---- Barriers, warps, fences ----------------------------------------------------------------------------------------

inline void __syncthreads(WARPATH_SITE) { warpath_emulator::meet(warpath_emulator::Meeting::block, false, site); }
inline int __syncthreads_or(int vote, WARPATH_SITE) {
    return warpath_emulator::meet(warpath_emulator::Meeting::block, vote != 0, site).in_favour != 0;
}
inline int __syncthreads_and(int vote, WARPATH_SITE) {
    auto votes = warpath_emulator::meet(warpath_emulator::Meeting::block, vote != 0, site);
    return votes.in_favour == votes.all;
}
inline int __syncthreads_count(int vote, WARPATH_SITE) {
    return static_cast<int>(warpath_emulator::meet(warpath_emulator::Meeting::block, vote != 0, site).in_favour);
}
inline void __threadfence_block() { warpath_emulator::yield_point(); }
inline void __threadfence() { warpath_emulator::yield_point(); }
inline void device_fence() { warpath_emulator::yield_point(); }
inline void __nanosleep(unsigned) { warpath_emulator::yield(); }

inline void __syncwarp(unsigned mask = ~0u, WARPATH_SITE) {
    warpath_emulator::with_warp(warpath_emulator::WarpOperation::synchronize, mask, 0, 0, site);
}
inline unsigned __ballot_sync(unsigned mask, int vote, WARPATH_SITE) {
    return static_cast<unsigned>(
        warpath_emulator::with_warp(warpath_emulator::WarpOperation::ballot, mask, vote != 0, 0, site));
}
inline int __any_sync(unsigned mask, int vote, WARPATH_SITE) { return __ballot_sync(mask, vote, site) != 0; }
inline int __all_sync(unsigned mask, int vote, WARPATH_SITE) { return __ballot_sync(mask, !vote, site) == 0; }

// A shuffle within segments of `width` lanes; reading past a segment's end gives the lane its own value.
template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32, WARPATH_SITE) {
    unsigned last = static_cast<unsigned>(width) - 1, lane = warpath_emulator::lane();
    return warpath_emulator::shuffle(mask, value, (lane & ~last) | (static_cast<unsigned>(source) & last), site);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32, WARPATH_SITE) {
    unsigned last = static_cast<unsigned>(width) - 1, lane = warpath_emulator::lane();
    return warpath_emulator::shuffle(mask, value, (lane & last) >= by ? lane - by : lane, site);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32, WARPATH_SITE) {
    unsigned last = static_cast<unsigned>(width) - 1, lane = warpath_emulator::lane();
    return warpath_emulator::shuffle(mask, value, (lane & last) + by <= last ? lane + by : lane, site);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int with, int width = 32, WARPATH_SITE) {
    unsigned last = static_cast<unsigned>(width) - 1, lane = warpath_emulator::lane();
    unsigned source = lane ^ static_cast<unsigned>(with);
    return warpath_emulator::shuffle(mask, value, (source & ~last) <= (lane & ~last) ? source : lane, site);
}

#define WARPATH_WARP_REDUCTION(name, operation)                                                                   \
    inline unsigned name(unsigned mask, unsigned value, WARPATH_SITE) {                                           \
        return static_cast<unsigned>(                                                                             \
            warpath_emulator::with_warp(warpath_emulator::WarpOperation::operation, mask, value, 0, site));       \
    }
WARPATH_WARP_REDUCTION(__reduce_add_sync, add)
WARPATH_WARP_REDUCTION(__reduce_min_sync, minimum)
WARPATH_WARP_REDUCTION(__reduce_max_sync, maximum)
WARPATH_WARP_REDUCTION(__reduce_or_sync, bit_or)
WARPATH_WARP_REDUCTION(__reduce_and_sync, bit_and)
#undef WARPATH_WARP_REDUCTION

// ---- Atomics --------------------------------------------------------------------------------------------------------

#define WARPATH_ATOMIC(name, result)                                                                              \
    template <class T>                                                                                            \
    T name(T* pointer, std::type_identity_t<T> value, WARPATH_SITE) {                                             \
        return warpath_emulator::read_modify_write(pointer, [=](T old) { return result; }, site);                 \
    }
WARPATH_ATOMIC(atomicAdd, static_cast<std::make_unsigned_t<T>>(old) + static_cast<std::make_unsigned_t<T>>(value))
WARPATH_ATOMIC(atomicSub, static_cast<std::make_unsigned_t<T>>(old) - static_cast<std::make_unsigned_t<T>>(value))
WARPATH_ATOMIC(atomicMin, old < value ? old : value)
WARPATH_ATOMIC(atomicMax, old > value ? old : value)
WARPATH_ATOMIC(atomicOr, old | value)
WARPATH_ATOMIC(atomicAnd, old & value)
WARPATH_ATOMIC(atomicXor, old ^ value)
WARPATH_ATOMIC(atomicExch, (static_cast<void>(old), value))
#undef WARPATH_ATOMIC
inline double atomicAdd(double* pointer, double value, WARPATH_SITE) {
    return warpath_emulator::read_modify_write(pointer, [=](double old) { return old + value; }, site);
}
template <class T>
T atomicCAS(T* pointer, std::type_identity_t<T> expected, std::type_identity_t<T> value, WARPATH_SITE) {
    return warpath_emulator::read_modify_write(pointer, [=](T old) { return old == expected ? value : old; }, site);
}

// ---- Arithmetic -----------------------------------------------------------------------------------------------------

template <class A, class B>
constexpr std::common_type_t<A, B> min(A a, B b) {
    using T = std::common_type_t<A, B>;
    return static_cast<T>(a) < static_cast<T>(b) ? static_cast<T>(a) : static_cast<T>(b);
}
template <class A, class B>
constexpr std::common_type_t<A, B> max(A a, B b) {
    using T = std::common_type_t<A, B>;
    return static_cast<T>(a) > static_cast<T>(b) ? static_cast<T>(a) : static_cast<T>(b);
}
inline int __popc(unsigned value) { return std::popcount(value); }
inline int __popcll(unsigned long long value) { return std::popcount(value); }
inline int __ffs(int value) { return __builtin_ffs(value); }
inline int __ffsll(long long value) { return __builtin_ffsll(value); }
inline int __clz(int value) { return std::countl_zero(static_cast<unsigned>(value)); }
inline int __clzll(long long value) { return std::countl_zero(static_cast<unsigned long long>(value)); }
inline unsigned __brev(unsigned value) {
    unsigned reversed = 0;
    for (int bit = 0; bit < 32; ++bit) reversed |= (value >> bit & 1) << (31 - bit);
    return reversed;
}
// Four of the eight bytes of two words, chosen by the digits of a hexadecimal number.
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned digits) {
    const unsigned long long bytes = low | static_cast<unsigned long long>(high) << 32;
    unsigned chosen = 0;
    for (unsigned k = 0; k < 4; ++k) chosen |= static_cast<unsigned>(bytes >> 8 * (digits >> 4 * k & 7) & 0xff) << 8 * k;
    return chosen;
}
inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
inline float __uint_as_float(unsigned value) { return std::bit_cast<float>(value); }
inline int __float_as_int(float value) { return std::bit_cast<int>(value); }
inline float __int_as_float(int value) { return std::bit_cast<float>(value); }
inline long long __double_as_longlong(double value) { return std::bit_cast<long long>(value); }
inline double __longlong_as_double(long long value) { return std::bit_cast<double>(value); }
// Rounded once, whatever the compiler would make of them.
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline int __viaddmin_s32(int a, int b, int c) {
    return min(static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b)), c);
}
inline unsigned __viaddmin_u32(unsigned a, unsigned b, unsigned c) { return min(a + b, c); }
inline int __vimin3_s32(int a, int b, int c) { return min(min(a, b), c); }
inline unsigned __vimin3_u32(unsigned a, unsigned b, unsigned c) { return min(min(a, b), c); }
inline unsigned __vminu2(unsigned a, unsigned b) { return min(a & 0xffff, b & 0xffff) | min(a >> 16, b >> 16) << 16; }
inline unsigned __vmaxu2(unsigned a, unsigned b) { return ~__vminu2(~a, ~b); }
inline unsigned __viaddmin_u16x2(unsigned a, unsigned b, unsigned c) {
    return __vminu2(((a + b) & 0xffff) | ((a >> 16) + (b >> 16)) << 16, c);
}
inline unsigned __vimin3_u16x2(unsigned a, unsigned b, unsigned c) { return __vminu2(__vminu2(a, b), c); }

// ---- The names of device.cuh ----------------------------------------------------------------------------------------

#define DYNAMIC_SHARED(name) unsigned char* const name = warpath_emulator::dynamic_shared_memory()

inline void grid_barrier(WARPATH_SITE) { warpath_emulator::meet(warpath_emulator::Meeting::grid, false, site); }
inline void cluster_barrier(WARPATH_SITE) { warpath_emulator::meet(warpath_emulator::Meeting::cluster, false, site); }
inline unsigned cluster_rank() { return warpath_emulator::cluster_rank(); }
inline unsigned cluster_blocks() { return warpath_emulator::cluster_blocks(); }
template <class T>
T* of_block(T* pointer, unsigned rank, WARPATH_SITE) {
    return static_cast<T*>(warpath_emulator::in_block(pointer, rank, site));
}

template <class T>
T load(const T* pointer, WARPATH_SITE) {
    warpath_emulator::yield_point();
    warpath_emulator::check_global(pointer, site);
    return warpath_emulator::read(pointer, site);
}
template <class T>
void store(T* pointer, std::type_identity_t<T> value, WARPATH_SITE) {
    warpath_emulator::yield_point();
    warpath_emulator::check_global(pointer, site);
    warpath_emulator::write(pointer, value, site);
}
template <class T>
T load_shared(const T* pointer, WARPATH_SITE) {
    warpath_emulator::yield_point();
    return warpath_emulator::read(pointer, site);
}
template <class T>
void store_shared(T* pointer, std::type_identity_t<T> value, WARPATH_SITE) {
    warpath_emulator::yield_point();
    warpath_emulator::write(pointer, value, site);
}
template <class T>
T load_constant(const T* pointer, WARPATH_SITE) {
    warpath_emulator::check_global(pointer, site);
    return warpath_emulator::read(pointer, site);
}
template <class T>
T load_once(const T* pointer, WARPATH_SITE) {
    warpath_emulator::check_global(pointer, site);
    return warpath_emulator::read(pointer, site);
}
template <class T>
void store_once(T* pointer, std::type_identity_t<T> value, WARPATH_SITE) {
    warpath_emulator::yield_point();
    warpath_emulator::check_global(pointer, site);
    warpath_emulator::write(pointer, value, site);
}
template <class T>
T load_system(const T* pointer, WARPATH_SITE) {
    warpath_emulator::yield_point();
    warpath_emulator::check_alignment(pointer, site);
    T value;
    warpath_emulator::load_system(&value, pointer, sizeof value);
    return value;
}
template <class T>
void store_system(T* pointer, std::type_identity_t<T> value, WARPATH_SITE) {
    warpath_emulator::yield_point();
    warpath_emulator::check_alignment(pointer, site);
    warpath_emulator::store_system(pointer, &value, sizeof value);
}
inline void system_fence() {
    warpath_emulator::yield_point();
    warpath_emulator::fence_system();
}
inline void prefetch_to_l2(const void*) {}
inline bool is_cancelled(const uint32_t* flag) {
    warpath_emulator::yield_point();
    return __atomic_load_n(flag, __ATOMIC_RELAXED) != 0;  // the host writes it while the kernel runs
}
