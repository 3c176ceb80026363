// A block: its fibers, its warps, its barriers, and its life from its first turn to its last.

#include "launch.hpp"

#include <algorithm>
#include <cstdio>

namespace warpath_emulator {

constinit thread_local Block* current_block = nullptr;
constinit thread_local Thread* current_thread = nullptr;

// ---- Fibers ---------------------------------------------------------------------------------------------------------

void leave() {
    Thread& thread = *current_thread;
    Block& block = *current_block;
#ifndef WARPATH_ADDRESS_SANITIZER
    // Straight to the next thread: by way of the scheduler there would be two switches.
    if (Thread* next = block.next()) {
        if (next == &thread) return;
        current_thread = next;
        threadIdx = next->index;
        switch_context(thread.context, next->context);
        return;
    }
#else
    bool for_good = thread.state == Thread::State::exited;
    __sanitizer_start_switch_fiber(for_good ? nullptr : &thread.fake_stack, block.scheduler_stack,
                                   block.scheduler_stack_bytes);
#endif
    switch_context(thread.context, block.scheduler);
#ifdef WARPATH_ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(thread.fake_stack, nullptr, nullptr);
#endif
}

/// The first function of every fiber.
static void begin() {
    Block& block = *current_block;
    Thread& thread = *current_thread;
#ifdef WARPATH_ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(nullptr, &block.scheduler_stack, &block.scheduler_stack_bytes);
#endif
    block.launch.call(block.launch.kernel, block.launch.arguments);
    thread.state = Thread::State::exited;
    block.live -= 1;
    unsigned warp = thread.number / lanes_of_warp;
    block.warps[warp].live &= ~(1u << thread.number % lanes_of_warp);
    // Others may have waited only for this thread. An operation needs every one of its lanes, so any of them stands for
    // all; those of one that was completed no longer wait.
    for (unsigned lane = 0; lane < lanes_of_warp; ++lane)
        if (block.warps[warp].waiting >> lane & 1) block.settle_warp(warp, lane);
    for (Block* other : block.cluster.blocks) other->settle_barrier();
    leave();
    std::abort();  // an exited thread is never resumed
}

/// The thread that goes on in this turn of the block, if there is one.
Thread* Block::next() {
    Group& group = launch.group;
    if (live == 0 || group.failed || ready.empty() || until_turn_passes == 0) return nullptr;
    until_turn_passes -= 1;
    if (--group.switches_left == 0) {
        launch.fail("the kernel doesn't end: its threads were switched too often");
        return nullptr;
    }
    accesses_until_yield = group.policy.draw_accesses(group.random);
    return &threads[ready.take(group.policy.in_turn, group.random)];
}

void Block::resume(Thread& thread) {
    current_thread = &thread;
    threadIdx = thread.index;
#ifdef WARPATH_ADDRESS_SANITIZER
    __sanitizer_start_switch_fiber(&fake_stack, (*stacks)[thread.number], stack_bytes);
#endif
    switch_context(scheduler, thread.context);
#ifdef WARPATH_ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
    current_thread = nullptr;
}

void Block::make_ready(Thread& thread) {
    thread.state = Thread::State::ready;
    ready.add(thread.number);
}

// ---- Warp operations ------------------------------------------------------------------------------------------------

/// Completes the operation that `lane` waits in, if all lanes that it needs are there.
void Block::settle_warp(unsigned warp, unsigned lane) {
    Thread* lanes = &threads[warp * lanes_of_warp];
    const Thread& one = lanes[lane];
    // Lanes that have exited, and those beyond the end of the block, take no part.
    uint32_t needed = one.mask & warps[warp].live;
    if ((warps[warp].waiting & needed) != needed) return;
    uint64_t combined = one.operation == WarpOperation::minimum || one.operation == WarpOperation::bit_and ? ~0u : 0;
    for (uint32_t rest = needed; rest != 0; rest &= rest - 1) {
        const Thread& other = lanes[std::countr_zero(rest)];
        // A lane that waits in another operation may still come here, unless that one needs this lane.
        if (other.mask != one.mask || other.operation != one.operation ||
            (one.operation != WarpOperation::synchronize && !is_same(other.site, one.site))) {
            if (!(other.mask >> lane & 1)) return;
            char masks[80];
            std::snprintf(masks, sizeof masks, ", mask 0x%08x, and %u, mask 0x%08x:", one.mask, other.number, other.mask);
            launch.fail("the lanes of a warp diverge: threads " + std::to_string(one.number) + masks + " " +
                        name_of(one.operation) + in_words(one.site) + ", " + name_of(other.operation) +
                        in_words(other.site));
            return;
        }
        switch (one.operation) {
            case WarpOperation::ballot: combined |= uint64_t{other.operand != 0} << other.number % lanes_of_warp; break;
            case WarpOperation::add: combined = static_cast<uint32_t>(combined + other.operand); break;
            case WarpOperation::minimum: combined = std::min(combined, other.operand); break;
            case WarpOperation::maximum: combined = std::max(combined, other.operand); break;
            case WarpOperation::bit_or: combined |= other.operand; break;
            case WarpOperation::bit_and: combined &= other.operand; break;
            default: break;
        }
    }
    for (uint32_t rest = needed; rest != 0; rest &= rest - 1) {
        Thread& other = lanes[std::countr_zero(rest)];
        if (other.operation == WarpOperation::shuffle) {
            bool is_there = other.source_lane < lanes_of_warp && (needed >> other.source_lane & 1);
            other.result = is_there ? lanes[other.source_lane].operand : undefined_value;
        } else {
            other.result = combined;
        }
        make_ready(other);
    }
    warps[warp].waiting &= ~needed;
}

// ---- Barriers -------------------------------------------------------------------------------------------------------

void Block::release_gathered() {
    for (Thread& thread : threads) {
        if (thread.state != Thread::State::at_barrier) continue;
        thread.votes = {in_favour, gathered};
        make_ready(thread);
    }
    gathered = 0;
}

/// Opens the barrier at which this block's threads gather, if everyone is there.
void Block::settle_barrier() {
    if (gathered == 0 || gathered < live) return;
    switch (meeting) {
        case Meeting::block: release_gathered(); break;
        case Meeting::cluster:
            for (Block* other : cluster.blocks)
                if (!other->finished && other->live > 0 && !other->is_gathered_at(Meeting::cluster)) return;
            for (Block* other : cluster.blocks)
                if (other->gathered > 0) other->release_gathered();
            break;
        case Meeting::grid:
            // Nobody may have exited: a GPU counts whole blocks, and one thread of each does the counting.
            if (launch.alive.size() != launch.blocks_in_all()) return;
            for (Block* other : launch.alive)
                if (!other->is_gathered_at(Meeting::grid) || other->gathered != other->threads.size()) return;
            for (Block* other : launch.alive) other->release_gathered();
            break;
    }
}

// ---- A block's life -------------------------------------------------------------------------------------------------

Block::Block(Launch& launch, Cluster& cluster, uint3 index, unsigned rank, unsigned threads)
    : launch(launch), cluster(cluster), index(index), rank(rank), threads(threads),
      warps((threads + lanes_of_warp - 1) / lanes_of_warp), ready(threads), live(threads) {
    // With AddressSanitizer, the allocation's own surroundings are the fence.
#ifdef WARPATH_ADDRESS_SANITIZER
    size_t bytes = std::max(launch.shared_bytes, 1u);
#else
    size_t bytes = launch.shared_bytes + fence_bytes;
#endif
    void* memory = nullptr;
    if (posix_memalign(&memory, 128, bytes) != 0) throw std::bad_alloc();
    shared = static_cast<unsigned char*>(memory);
    std::memset(shared, unwritten, bytes);
    dim3 shape = launch.block;
    for (unsigned number = 0; number < threads; ++number) {
        Thread& thread = this->threads[number];
        thread.number = number;
        thread.index = {number % shape.x, number / shape.x % shape.y, number / shape.x / shape.y};
        warps[number / lanes_of_warp].live |= 1u << number % lanes_of_warp;
        ready.add(number);
    }
}

/// Runs on an operating system thread of the block's own, from its first turn on.
void Block::run(Stacks& stacks_of_worker) {
    stacks = &stacks_of_worker;
    current_block = this;
    blockIdx = index;
    blockDim = launch.block;
    gridDim = launch.grid;
    // Until all threads have a context, nothing may be resumed.
    try {
        stacks->reserve(static_cast<unsigned>(threads.size()));
        for (Thread& thread : threads) {
#ifdef WARPATH_ADDRESS_SANITIZER
            // A fiber that was left for good left its frames' redzones behind.
            __asan_unpoison_memory_region((*stacks)[thread.number], stack_bytes);
#endif
            prepare_context(thread.context, (*stacks)[thread.number], begin);
        }
    } catch (const std::exception& error) {
        launch.fail(std::string("no memory for the threads' stacks: ") + error.what());
    }
    Group& group = launch.group;
    while (live > 0 && !group.failed) {
        if (Thread* thread = next()) {
            resume(*thread);
            continue;
        }
        if (group.failed) break;
        group.pass_turn(*this);
        // Mostly long turns, since they cost; short ones catch errors between two blocks.
        unsigned longest = group.random.below(8) == 0 ? 8 : 16 * static_cast<unsigned>(threads.size());
        until_turn_passes = 1 + group.random.below(longest);
    }
    check_fences();
    current_block = nullptr;
    group.finish(*this);  // from here on, nothing of the launch may be touched
}

void Block::check_fences() {
#ifdef WARPATH_ADDRESS_SANITIZER
    // Until the cluster is done, other blocks may still point here. They must not.
    __asan_poison_memory_region(shared, launch.shared_bytes);
#else
    if (!is_untouched(shared + launch.shared_bytes))
        launch.fail("block " + in_words(index) + " wrote past the end of its dynamic shared memory");
#endif
    for (Thread& thread : threads) {
        unsigned char* stack = (*stacks)[thread.number];
        if (is_untouched(stack)) continue;
        launch.fail("thread " + in_words(thread.index) + " of block " + in_words(index) + " overflowed its stack");
        std::memset(stack, unwritten, fence_bytes);
    }
}

void Block::describe_waiting(std::string& text) const {
    std::vector<std::pair<std::string, std::vector<unsigned>>> groups;
    for (const Thread& thread : threads) {
        std::string what;
        switch (thread.state) {
            case Thread::State::ready: what = "can go on"; break;
            case Thread::State::exited: what = "exited"; break;
            case Thread::State::at_barrier: what = std::string("wait at ") + name_of(meeting) + in_words(site); break;
            case Thread::State::with_warp: {
                char mask[32];
                std::snprintf(mask, sizeof mask, ", mask 0x%08x", thread.mask);
                what = std::string("wait at ") + name_of(thread.operation) + in_words(thread.site) + mask;
            }
        }
        auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return group.first == what; });
        if (same == groups.end()) same = groups.insert(same, {what, {}});
        same->second.push_back(thread.number);
    }
    for (const auto& [what, numbers] : groups)
        text += "\n  block " + in_words(index) + ": threads " + ranges(numbers) + " " + what;
}

}  // namespace warpath_emulator
