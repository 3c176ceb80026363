// Runs CUDA kernels on the host, for tests.
//
// **Blocks.** Every block of a launch has an operating system thread of its own, because the kernels' static shared
// memory is thread-local there. But only one of these threads runs at any time: the one that has the turn. It passes
// the turn on after a while, or when all its CUDA threads wait. All blocks of a cooperative launch are alive at once,
// as are the blocks of one cluster; of other launches a few are, and further ones start as earlier ones end.
//
// **Threads.** A CUDA thread is a fiber: a small stack of its own, switched to and from in a few instructions. A fiber
// runs until it waits for others, ends, or comes to a yield point (an access through `device.cuh`, an atomic, a fence)
// and the dice say so.
//
// **Schedules.** A number, the seed, decides everything: which thread runs next, how often threads are interrupted,
// which block has the turn and for how long. The same seed gives the same schedule, so a failure can be repeated;
// different seeds give schedules of different character, from nearly lockstep to one thread running far ahead.
//
// **Waiting.** Whoever arrives last at a barrier or warp operation sets the others free, so nothing is ever polled.
// When no thread of any block can go on, the launch has deadlocked and ends with a message that says who waits where.
//
// **Errors** end the launch, never the process: the fiber at fault is left where it is, and every block stops when its
// turn comes. Kernels own nothing, so no destructor is missed.
//
// **Several devices.** Launches of a group run under one schedule, each on a device of its own, and may reach into the
// memory of the others. What one device sees of another's is as late as the hardware may have it (`peers.hpp`).
//
// `fiber` has the fibers, `schedule` chance, `block` the waiting of threads, `launch` the turns of blocks, `peers` the
// memory between devices. Here are the calls from kernels and from the host.
//
// A switch between fibers costs some 20 ns, one between blocks some microseconds, a launch some 10 us a block.

#include <algorithm>
#include <cstdio>
#include <exception>
#include <unordered_map>

#include "launch.hpp"

constinit thread_local uint3 threadIdx{}, blockIdx{};
constinit thread_local dim3 blockDim{}, gridDim{};

namespace warpath_emulator {

constinit thread_local int accesses_until_yield = 0;

// ---- Calls from kernels ---------------------------------------------------------------------------------------------

void yield() {
    current_block->make_ready(*current_thread);
    leave();
}

namespace {

/// Ends the launch because of an error of the current thread. The thread must leave then, and own nothing any more.
void blame_current_thread(const std::string& what, Site site) {
    current_block->launch.fail("thread " + in_words(current_thread->index) + " of block " +
                               in_words(current_block->index) + ": " + what + in_words(site));
}

}  // namespace

void fail(const char* what, Site site) {
    blame_current_thread(what, site);
    leave();
    std::abort();  // nobody resumes a thread after a failure
}

uint64_t with_warp(WarpOperation operation, uint32_t mask, uint64_t operand, unsigned source_lane, Site site) {
    Thread& thread = *current_thread;
    unsigned warp = thread.number / lanes_of_warp, lane = thread.number % lanes_of_warp;
    if (!(mask >> lane & 1)) fail("a lane that is not in its own mask", site);
    thread.state = Thread::State::with_warp;
    thread.operation = operation;
    thread.mask = mask;
    thread.source_lane = source_lane;
    thread.operand = operand;
    thread.site = site;
    current_block->warps[warp].waiting |= 1u << lane;
    current_block->settle_warp(warp, lane);
    leave();
    return thread.result;
}

Votes meet(Meeting meeting, bool in_favour, Site site) {
    Block& block = *current_block;
    Thread& thread = *current_thread;
    if (meeting == Meeting::grid && !block.launch.cooperative)
        fail("a grid barrier in a launch that is not cooperative", site);
    if (block.gathered == 0) {
        block.meeting = meeting;
        block.site = site;
        block.in_favour = 0;
    } else if (block.meeting != meeting || !is_same(block.site, site)) {
        blame_current_thread("a barrier in divergent code, while " + std::to_string(block.gathered) +
                                 " threads of the block wait at " + name_of(block.meeting) + in_words(block.site) +
                                 ": " + name_of(meeting),
                             site);
        leave();
    }
    block.gathered += 1;
    block.in_favour += in_favour;
    thread.state = Thread::State::at_barrier;
    block.settle_barrier();
    leave();
    return thread.votes;
}

unsigned lane() { return current_thread->number % lanes_of_warp; }
unsigned cluster_rank() { return current_block->rank; }
unsigned cluster_blocks() { return current_block->launch.blocks_a_cluster; }
unsigned char* dynamic_shared_memory() { return current_block->shared; }

void check_global(const volatile void* pointer, Site site) {
    check_own(pointer, site);
    for (Block* block : current_block->cluster.blocks)
        if (reinterpret_cast<uintptr_t>(pointer) - reinterpret_cast<uintptr_t>(block->shared) <
            block->launch.shared_bytes)
            fail("an access for global memory, to shared memory: use load_shared or store_shared", site);
}

void check_own(const volatile void* pointer, Site site) {
    const Launch& launch = current_block->launch;
    if (!launch.group.memory.is_ordinary(pointer, launch.device))
        fail("an access to the memory of another device: use load_system or store_system", site);
}

void load_system(void* to, const void* pointer, size_t bytes) {
    Launch& launch = current_block->launch;
    launch.group.memory.load(to, pointer, bytes, launch.device, launch.group.random);
}

void store_system(void* pointer, const void* from, size_t bytes) {
    Launch& launch = current_block->launch;
    launch.group.memory.store(pointer, from, bytes, launch.device);
}

void fence_system() {
    Launch& launch = current_block->launch;
    launch.group.memory.fence(launch.device);
}

void* in_block(const volatile void* pointer, unsigned rank, Site site) {
    Block& block = *current_block;
    uintptr_t offset = reinterpret_cast<uintptr_t>(pointer) - reinterpret_cast<uintptr_t>(block.shared);
    if (offset >= block.launch.shared_bytes) fail("of_block: not a pointer into this block's dynamic shared memory", site);
    if (rank >= block.cluster.blocks.size()) fail("of_block: the cluster has no block of this rank", site);
    Block& other = *block.cluster.blocks[rank];
    if (other.finished) fail("of_block: that block has ended, and its shared memory with it", site);
    return other.shared + offset;
}

// ---- Kernels by name ------------------------------------------------------------------------------------------------

namespace {

struct Kernel {
    void (*function)();
    Call call;
};

/// Filled before `main`.
std::unordered_map<std::string, Kernel>& kernels() {
    static auto* by_name = new std::unordered_map<std::string, Kernel>;
    return *by_name;
}

/// The error of a launch before it starts, as a GPU's driver would find; empty if there is none.
std::string objection_to(const Launch& launch) {
    dim3 grid = launch.grid, block = launch.block;
    auto say = [](const char* what, uint64_t is, uint64_t most) {
        return std::string(what) + ": " + std::to_string(is) + ", at most " + std::to_string(most);
    };
    if (grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x == 0 || block.y == 0 || block.z == 0)
        return "an empty grid or block";
    if (grid.x > 0x7fff'ffff || grid.y > 65535 || grid.z > 65535) return "the grid is too large";
    if (block.x > most_threads_of_block || block.y > most_threads_of_block || block.z > 64 ||
        launch.threads_a_block() > most_threads_of_block)
        return say("too many threads a block", uint64_t{block.x} * block.y * block.z, most_threads_of_block);
    if (launch.shared_bytes > most_shared_bytes)
        return say("too many bytes of dynamic shared memory", launch.shared_bytes, most_shared_bytes);
    if (launch.blocks_a_cluster > most_blocks_of_cluster)
        return say("too many blocks a cluster", launch.blocks_a_cluster, most_blocks_of_cluster);
    if (grid.x % launch.blocks_a_cluster != 0) return "the grid is not made of whole clusters";
    if (launch.cooperative && launch.blocks_in_all() > most_blocks_at_once)
        return say("too many blocks for a cooperative launch", launch.blocks_in_all(), most_blocks_at_once);
    return {};
}

}  // namespace

Registration::Registration(const char* name, void (*kernel)(), Call call) { kernels()[name] = {kernel, call}; }

}  // namespace warpath_emulator

// ---- Calls from the host --------------------------------------------------------------------------------------------

/// Is there a kernel of this name?
extern "C" int warpath_emulator_has(const char* kernel) {
    auto& kernels = warpath_emulator::kernels();
    return kernels.find(kernel) != kernels.end();
}

/// As `warpath_emulator_launch_together` takes it.
struct WarpathLaunch {
    const char* kernel;
    const unsigned* grid;
    const unsigned* block;
    unsigned shared_bytes, cluster_blocks;
    int cooperative;
    void** arguments;
};

/// Memory of the device of one of the launches.
struct WarpathMemory {
    void* begin;
    size_t bytes;
    size_t launch;
};

namespace {

/// Runs kernels to their ends; the error, or nothing.
std::string run(const WarpathLaunch* wanted, size_t count, const WarpathMemory* memory, size_t memory_count, uint64_t seed) {
    using namespace warpath_emulator;
    try {
        Group group{.policy = Policy::of(seed), .random = Random(seed)};
        for (size_t k = 0; k < count; ++k) {
            const WarpathLaunch& one = wanted[k];
            auto found = kernels().find(one.kernel);
            if (found == kernels().end()) return std::string("there is no kernel named ") + one.kernel;
            Launch launch{.group = group,
                          .device = static_cast<unsigned>(k),
                          .kernel_name = one.kernel,
                          .kernel = found->second.function,
                          .call = found->second.call,
                          .arguments = one.arguments,
                          .grid = {one.grid[0], one.grid[1], one.grid[2]},
                          .block = {one.block[0], one.block[1], one.block[2]},
                          .shared_bytes = one.shared_bytes,
                          .blocks_a_cluster = std::max(one.cluster_blocks, 1u),
                          .cooperative = one.cooperative != 0};
            std::string wrong = objection_to(launch);
            if (!wrong.empty()) return std::string(one.kernel) + ": " + wrong;
            group.launches.push_back(std::make_unique<Launch>(std::move(launch)));
        }
        for (size_t k = 0; k < memory_count; ++k) {
            group.memory.add(memory[k].begin, memory[k].bytes, static_cast<unsigned>(memory[k].launch));
        }
        group.run();
        return std::move(group.message);
    } catch (const std::exception& error) {
        return std::string("the emulator itself failed: ") + error.what();
    }
}

int answer(const std::string& wrong, char* message, size_t message_bytes) {
    if (message_bytes > 0) std::snprintf(message, message_bytes, "%s", wrong.c_str());
    return wrong.empty() ? 0 : 1;
}

}  // namespace

/// Runs a kernel to its end. Returns 0, or an error with its message, cut to fit and always ended by a zero.
extern "C" int warpath_emulator_launch(const char* kernel, const unsigned grid[3], const unsigned block[3],
                                       unsigned shared_bytes, unsigned cluster_blocks, int cooperative, uint64_t seed,
                                       void** arguments, char* message, size_t message_bytes) {
    const WarpathLaunch wanted = {kernel, grid, block, shared_bytes, cluster_blocks, cooperative, arguments};
    return answer(run(&wanted, 1, nullptr, 0, seed), message, message_bytes);
}

/// Runs several kernels at once, each on a device of its own. `memory` is the memory of these devices that others may access.
extern "C" int warpath_emulator_launch_together(const WarpathLaunch* launches, size_t count, const WarpathMemory* memory, size_t memory_count,
                                                uint64_t seed, char* message, size_t message_bytes) {
    return answer(run(launches, count, memory, memory_count, seed), message, message_bytes);
}
