// Fibers: small stacks, switched to and from in a few instructions.
#pragma once

#include <cstddef>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define WARPATH_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WARPATH_ADDRESS_SANITIZER 1
#endif
#endif
#ifdef WARPATH_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if defined(__x86_64__) && defined(__ELF__)
#define WARPATH_OWN_SWITCH 1
#else
#include <ucontext.h>
#endif

namespace warpath_emulator {

/// The bytes of memory before anyone writes to it.
constexpr unsigned char unwritten = 0xA5;
/// Bytes behind dynamic shared memory, and at the low end of every stack, that nobody may change.
constexpr size_t fence_bytes = 64;
#ifdef WARPATH_ADDRESS_SANITIZER
constexpr size_t stack_bytes = 128 << 10;  // redzones around every local array
#else
constexpr size_t stack_bytes = 64 << 10;
#endif

/// Does a fence have the bytes that were put there?
bool is_untouched(const unsigned char* fence);

// A context is where a fiber, or a block's scheduler, goes on.
#ifdef WARPATH_OWN_SWITCH

/// A stack pointer; the registers that a called function must preserve lie on top of the stack.
struct Context {
    void* stack_pointer = nullptr;
};

extern "C" void warpath_emulator_switch(void** save, void* load);
inline void switch_context(Context& from, Context& to) {
    warpath_emulator_switch(&from.stack_pointer, to.stack_pointer);
}

#else

/// The portable way, slower by two system calls a switch.
struct Context {
    ucontext_t registers;
};

inline void switch_context(Context& from, Context& to) { swapcontext(&from.registers, &to.registers); }

#endif

/// Makes a context that starts with `entry`, which never returns.
void prepare_context(Context& context, unsigned char* stack, void (*entry)());

/// The stacks of one operating system thread's fibers. They are kept from block to block: fresh pages cost more than
/// everything else about a small launch.
class Stacks {
public:
    /// Makes sure that there are `count` of them.
    void reserve(unsigned count);

    unsigned char* operator[](unsigned index) { return stacks[index]; }

private:
    std::vector<unsigned char*> stacks;
};

}  // namespace warpath_emulator
