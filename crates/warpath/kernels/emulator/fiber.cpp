#include "fiber.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace warpath_emulator {

bool is_untouched(const unsigned char* fence) {
    return std::all_of(fence, fence + fence_bytes, [](unsigned char byte) { return byte == unwritten; });
}

#ifdef WARPATH_OWN_SWITCH

asm(R"(
.pushsection .text
.globl warpath_emulator_switch
.hidden warpath_emulator_switch
.type warpath_emulator_switch, @function
warpath_emulator_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size warpath_emulator_switch, . - warpath_emulator_switch
.popsection
)");


void prepare_context(Context& context, unsigned char* stack, void (*entry)()) {
    auto** top = reinterpret_cast<void**>(stack + stack_bytes);
    *--top = nullptr;  // where `entry` would return to: ends back traces, and aligns the stack as after a call
    *--top = reinterpret_cast<void*>(entry);
    for (int registers = 6; registers > 0; --registers) *--top = nullptr;
    context.stack_pointer = top;
}

#else

void prepare_context(Context& context, unsigned char* stack, void (*entry)()) {
    getcontext(&context.registers);
    context.registers.uc_stack.ss_sp = stack;
    context.registers.uc_stack.ss_size = stack_bytes;
    context.registers.uc_link = nullptr;
    makecontext(&context.registers, entry, 0);
}

#endif

void Stacks::reserve(unsigned count) {
    while (stacks.size() < count) {
        // Stacks that all began at the same place of a page would fight for the same few lines of the caches.
        size_t shift = stacks.size() % 32 * 128;
        void* pages = mmap(nullptr, stack_bytes + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages == MAP_FAILED) throw std::bad_alloc();
        auto* stack = static_cast<unsigned char*>(pages) + shift;
        stacks.push_back(stack);
        std::memset(stack, unwritten, fence_bytes);
    }
}

}  // namespace warpath_emulator
