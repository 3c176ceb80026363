// What several devices that reach each other's memory need beside `device.cuh`:
//
//   system_fence()           as device_fence, for what other devices see, too
//   load_system(p),          the same as load and store for memory that other devices write or read while the kernel runs, this
//   store_system(p, v)       device's own and theirs; of 4, 8 or 16 bytes
//
// The emulator lets stores arrive as late as the hardware may, and ends with an error where memory of another device is accessed by
// anything else.
#pragma once

#include "device.cuh"

#ifndef WARPATH_EMULATOR

__device__ __forceinline__ void system_fence() { asm volatile("fence.acq_rel.sys;" ::: "memory"); }

namespace warpath_device {

__device__ __forceinline__ unsigned load_of_system(const unsigned* pointer) {
    unsigned value;
    asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(pointer) : "memory");
    return value;
}
__device__ __forceinline__ unsigned long long load_of_system(const unsigned long long* pointer) {
    unsigned long long value;
    asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(pointer) : "memory");
    return value;
}
__device__ __forceinline__ uint4 load_of_system(const uint4* pointer) {
    uint4 value;
    asm volatile("ld.relaxed.sys.global.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
        : "l"(pointer)
        : "memory");
    return value;
}
__device__ __forceinline__ void store_of_system(unsigned* pointer, unsigned value) {
    asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(pointer), "r"(value) : "memory");
}
__device__ __forceinline__ void store_of_system(unsigned long long* pointer, unsigned long long value) {
    asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(pointer), "l"(value) : "memory");
}
__device__ __forceinline__ void store_of_system(uint4* pointer, uint4 value) {
    asm volatile("st.relaxed.sys.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(pointer), "r"(value.x), "r"(value.y), "r"(value.z),
                 "r"(value.w)
                 : "memory");
}

}  // namespace warpath_device

// Machine code: LDG.STRONG.SYS and STG.STRONG.SYS.
template <class T>
__device__ __forceinline__ T load_system(const T* pointer) {
    using Word = warpath_device::WordOf<T>;
    return warpath_device::same_bits<T>(warpath_device::load_of_system(reinterpret_cast<const Word*>(pointer)));
}
template <class T>
__device__ __forceinline__ void store_system(T* pointer, typename warpath_device::Itself<T>::Type value) {
    using Word = warpath_device::WordOf<T>;
    warpath_device::store_of_system(reinterpret_cast<Word*>(pointer), warpath_device::same_bits<Word>(value));
}

#endif
