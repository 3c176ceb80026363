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
// `fiber` has the fibers, `schedule` chance, `block` the waiting of threads, `launch` the turns of blocks. Here are the
// calls from kernels and from the host.
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
    for (Block* block : current_block->cluster.blocks)
        if (reinterpret_cast<uintptr_t>(pointer) - reinterpret_cast<uintptr_t>(block->shared) <
            block->launch.shared_bytes)
            fail("an access for global memory, to shared memory: use load_shared or store_shared", site);
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

/// Runs a kernel to its end. Returns 0, or an error with its message, cut to fit and always ended by a zero.
extern "C" int warpath_emulator_launch(const char* kernel, const unsigned grid[3], const unsigned block[3],
                                       unsigned shared_bytes, unsigned cluster_blocks, int cooperative, uint64_t seed,
                                       void** arguments, char* message, size_t message_bytes) {
    using namespace warpath_emulator;
    std::string wrong;
    try {
        auto found = kernels().find(kernel);
        if (found == kernels().end()) {
            wrong = std::string("there is no kernel named ") + kernel;
        } else {
            Launch launch{.kernel_name = kernel,
                          .kernel = found->second.function,
                          .call = found->second.call,
                          .arguments = arguments,
                          .grid = {grid[0], grid[1], grid[2]},
                          .block = {block[0], block[1], block[2]},
                          .shared_bytes = shared_bytes,
                          .blocks_a_cluster = std::max(cluster_blocks, 1u),
                          .cooperative = cooperative != 0,
                          .policy = Policy::of(seed),
                          .random = Random(seed)};
            wrong = objection_to(launch);
            if (wrong.empty()) {
                launch.run();
                wrong = std::move(launch.message);
            } else {
                wrong = std::string(kernel) + ": " + wrong;
            }
        }
    } catch (const std::exception& error) {
        wrong = std::string("the emulator itself failed: ") + error.what();
    }
    if (message_bytes > 0) std::snprintf(message, message_bytes, "%s", wrong.c_str());
    return wrong.empty() ? 0 : 1;
}
