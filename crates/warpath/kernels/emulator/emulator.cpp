// Runs CUDA kernels on the host, for tests.
//
// **Blocks.** Every block of a launch has an operating system thread of its own, because the kernels' static shared
// memory is thread-local there. But only one of these threads runs at any time: the one that has the turn. It passes the
// turn on after a while, or when all its CUDA threads wait. All blocks of a cooperative launch are alive at once, as are
// the blocks of one cluster; of other launches a few are, and further ones start as earlier ones end.
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
// A switch between fibers costs some 20 ns, one between blocks some microseconds, a launch some 10 us a block.

#include "emulator.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <semaphore>
#include <string>
#include <thread>
#include <unordered_map>
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

#if !(defined(__x86_64__) && defined(__ELF__))
#include <ucontext.h>
#endif

constinit thread_local uint3 threadIdx{}, blockIdx{};
constinit thread_local dim3 blockDim{}, gridDim{};

namespace warpath_emulator {

constinit thread_local int accesses_until_yield = 0;

namespace {

// ---- Limits, those of a large GPU -----------------------------------------------------------------------------------

constexpr unsigned lanes_of_warp = 32;
constexpr unsigned most_threads_of_block = 1024;
constexpr unsigned most_blocks_of_cluster = 16;
constexpr unsigned most_shared_bytes = 227 << 10;
/// More blocks than fit on any GPU at once.
constexpr uint64_t most_blocks_at_once = 1024;
/// Blocks alive at once where the launch needs no more.
constexpr uint64_t usual_blocks_at_once = 4;
/// A launch that switches between threads more often than this (minutes) is taken to run forever.
constexpr uint64_t most_switches = uint64_t{1} << 31;
/// What memory holds before anyone writes to it.
constexpr unsigned char unwritten = 0xA5;
constexpr uint64_t undefined_value = 0xA5A5'A5A5'A5A5'A5A5;
/// Behind dynamic shared memory and at the low end of every stack there are so many bytes that nobody may change.
constexpr size_t fence_bytes = 64;
#ifdef WARPATH_ADDRESS_SANITIZER
constexpr size_t stack_bytes = 128 << 10;  // redzones around every local array
#else
constexpr size_t stack_bytes = 64 << 10;
#endif

bool is_untouched(const unsigned char* fence) {
    return std::all_of(fence, fence + fence_bytes, [](unsigned char byte) { return byte == unwritten; });
}

// ---- Contexts: where a fiber, or a block's scheduler, goes on -------------------------------------------------------

#if defined(__x86_64__) && defined(__ELF__)

/// A stack pointer; the registers that a called function must preserve lie on top of the stack.
struct Context {
    void* stack_pointer = nullptr;
};

extern "C" void warpath_emulator_switch(void** save, void* load);
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

void switch_context(Context& from, Context& to) { warpath_emulator_switch(&from.stack_pointer, to.stack_pointer); }

/// A context that starts with `entry`, which never returns.
void prepare_context(Context& context, unsigned char* stack, void (*entry)()) {
    auto** top = reinterpret_cast<void**>(stack + stack_bytes);
    *--top = nullptr;  // where `entry` would return to: ends back traces, and aligns the stack as after a call
    *--top = reinterpret_cast<void*>(entry);
    for (int registers = 6; registers > 0; --registers) *--top = nullptr;
    context.stack_pointer = top;
}

#else

/// The portable way, slower by two system calls a switch.
struct Context {
    ucontext_t registers;
};

void switch_context(Context& from, Context& to) { swapcontext(&from.registers, &to.registers); }

void prepare_context(Context& context, unsigned char* stack, void (*entry)()) {
    getcontext(&context.registers);
    context.registers.uc_stack.ss_sp = stack;
    context.registers.uc_stack.ss_size = stack_bytes;
    context.registers.uc_link = nullptr;
    makecontext(&context.registers, entry, 0);
}

#endif

/// The stacks of one operating system thread's fibers. They are kept from block to block: fresh pages cost more than
/// everything else about a small launch.
class Stacks {
public:
    /// Makes sure that there are `count` of them.
    void reserve(unsigned count) {
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

    unsigned char* operator[](unsigned index) { return stacks[index]; }

private:
    std::vector<unsigned char*> stacks;
};

// ---- Chance ---------------------------------------------------------------------------------------------------------

/// SplitMix64.
class Random {
public:
    explicit Random(uint64_t seed) : state(seed) {}

    uint64_t next() {
        state += 0x9e37'79b9'7f4a'7c15;
        uint64_t mixed = state;
        mixed = (mixed ^ mixed >> 30) * 0xbf58'476d'1ce4'e5b9;
        mixed = (mixed ^ mixed >> 27) * 0x94d0'49bb'1331'11eb;
        return mixed ^ mixed >> 31;
    }

    unsigned below(unsigned bound) { return static_cast<unsigned>((next() >> 32) * bound >> 32); }

private:
    uint64_t state;
};

/// The character of a schedule.
struct Policy {
    /// The next thread is the one that has waited longest, else any.
    bool in_turn;
    /// One access in so many, on average, lets other threads go first.
    unsigned accesses_a_yield;

    static Policy of(uint64_t seed) {
        constexpr Policy policies[] = {{false, 4}, {true, 1}, {false, 32}, {false, 1}};
        return policies[seed % std::size(policies)];
    }

    int draw_accesses(Random& random) const {
        return accesses_a_yield == 1 ? 1 : 1 + static_cast<int>(random.below(2 * accesses_a_yield - 1));
    }
};

/// The threads of a block that can go on.
class Ready {
public:
    explicit Ready(unsigned capacity) : ring(std::bit_ceil(capacity)) {}

    bool empty() const { return first == end; }

    void add(unsigned thread) { ring[end++ & (ring.size() - 1)] = thread; }

    unsigned take(bool in_turn, Random& random) {
        unsigned& front = ring[first++ & (ring.size() - 1)];
        if (!in_turn) std::swap(front, ring[(first - 1 + random.below(end - first + 1)) & (ring.size() - 1)]);
        return front;
    }

private:
    std::vector<unsigned> ring;
    unsigned first = 0, end = 0;
};

// ---- Threads, warps, blocks, clusters, launches ---------------------------------------------------------------------

/// A fiber, and what it waits for.
struct Thread {
    enum class State : uint8_t { ready, with_warp, at_barrier, exited };

    Context context;
    unsigned number = 0;
    uint3 index{};
    State state = State::ready;
    // With its warp:
    WarpOperation operation{};
    uint32_t mask = 0;
    unsigned source_lane = 0;
    uint64_t operand = 0, result = 0;
    // At a barrier:
    Votes votes{};
    // Either:
    Site site;
#ifdef WARPATH_ADDRESS_SANITIZER
    void* fake_stack = nullptr;
#endif
};

/// Lanes as bits.
struct Warp {
    uint32_t live = 0, waiting = 0;
};

struct Block;
struct Launch;

struct Cluster {
    unsigned unfinished = 0;
    std::vector<Block*> blocks;
};

struct Block {
    Launch& launch;
    Cluster& cluster;
    uint3 index;
    unsigned rank;
    std::vector<Thread> threads;
    std::vector<Warp> warps;
    Ready ready;
    unsigned live;
    bool finished = false;
    unsigned char* shared = nullptr;
    Context scheduler;
    Stacks* stacks = nullptr;
    // The barrier at which threads of this block gather; without any, nothing else is meaningful.
    unsigned gathered = 0, in_favour = 0;
    Meeting meeting{};
    Site site;

    std::binary_semaphore* turn = nullptr;  // its operating system thread's
#ifdef WARPATH_ADDRESS_SANITIZER
    void* fake_stack = nullptr;
    const void* scheduler_stack = nullptr;
    size_t scheduler_stack_bytes = 0;
#endif

    Block(Launch& launch, Cluster& cluster, uint3 index, unsigned rank, unsigned threads);
    Block(const Block&) = delete;
    ~Block() { std::free(shared); }

    bool is_gathered_at(Meeting where) const { return gathered > 0 && gathered == live && meeting == where; }

    void run(Stacks& stacks_of_worker);
    void resume(Thread& thread);
    void make_ready(Thread& thread);
    void release_gathered();
    void settle_barrier();
    void settle_warp(unsigned warp, unsigned lane);
    void check_fences();
    void describe_waiting(std::string& text) const;
};

struct Launch {
    const char* kernel_name;
    void (*kernel)();
    Call call;
    void** arguments;
    dim3 grid, block;
    unsigned shared_bytes;
    unsigned blocks_a_cluster;
    bool cooperative;
    Policy policy;
    Random random;

    uint64_t clusters_in_all = 0, clusters_started = 0, first_cluster = 0;
    std::vector<std::unique_ptr<Cluster>> clusters{};
    std::vector<std::unique_ptr<Block>> blocks{};  // those that were ever started
    std::vector<Block*> alive{}, candidates{};
    uint64_t switches_left = most_switches;
    bool failed = false;
    std::string message{};

    std::mutex mutex{};
    bool ended = false;
    std::condition_variable end{};

    uint64_t blocks_in_all() const { return uint64_t{grid.x} * grid.y * grid.z; }
    unsigned threads_a_block() const { return block.x * block.y * block.z; }

    void run();
    void fail(std::string what);
    void start_clusters();
    Block* choose();
    void pass_turn(Block& from);
    void finish(Block& block);
};

thread_local Block* current_block = nullptr;
thread_local Thread* current_thread = nullptr;

// ---- Names, for messages --------------------------------------------------------------------------------------------

const char* name_of(WarpOperation operation) {
    switch (operation) {
        case WarpOperation::synchronize: return "__syncwarp";
        case WarpOperation::shuffle: return "a shuffle";
        case WarpOperation::ballot: return "a ballot";
        default: return "a warp reduction";
    }
}

const char* name_of(Meeting meeting) {
    switch (meeting) {
        case Meeting::block: return "__syncthreads";
        case Meeting::cluster: return "cluster_barrier";
        default: return "grid_barrier";
    }
}

std::string in_words(Site site) {
    std::string file = site.file_name();
    return " (" + file.substr(file.find_last_of('/') + 1) + ":" + std::to_string(site.line()) + ")";
}

std::string in_words(uint3 index) {
    std::string words = std::to_string(index.x);
    if (index.y != 0 || index.z != 0) words += "," + std::to_string(index.y) + "," + std::to_string(index.z);
    return words;
}

/// "0-15, 32", of ascending numbers.
std::string ranges(const std::vector<unsigned>& numbers) {
    std::string words;
    for (size_t first = 0; first < numbers.size();) {
        size_t last = first;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
        if (!words.empty()) words += ", ";
        words += std::to_string(numbers[first]);
        if (last > first) words += "-" + std::to_string(numbers[last]);
        first = last + 1;
    }
    return words;
}

bool is_same(Site a, Site b) {
    return a.line() == b.line() && a.column() == b.column() &&
           (a.file_name() == b.file_name() || std::strcmp(a.file_name(), b.file_name()) == 0);
}

// ---- Fibers ---------------------------------------------------------------------------------------------------------

/// Goes back to the block's scheduler; returns when the scheduler resumes this thread.
void leave() {
    Thread& thread = *current_thread;
    Block& block = *current_block;
#ifdef WARPATH_ADDRESS_SANITIZER
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
void begin() {
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
    Random& random = launch.random;
    const Policy policy = launch.policy;
    unsigned until_turn_passes = 0;
    while (live > 0 && !launch.failed) {
        if (ready.empty() || until_turn_passes == 0) {
            launch.pass_turn(*this);
            // Mostly long turns, since they cost; short ones catch what happens between two blocks.
            unsigned longest = random.below(8) == 0 ? 8 : 16 * static_cast<unsigned>(threads.size());
            until_turn_passes = 1 + random.below(longest);
            continue;
        }
        until_turn_passes -= 1;
        if (--launch.switches_left == 0) {
            launch.fail("the kernel doesn't end: its threads were switched 2^31 times");
            break;
        }
        accesses_until_yield = policy.draw_accesses(random);
        resume(threads[ready.take(policy.in_turn, random)]);
    }
    check_fences();
    current_block = nullptr;
    launch.finish(*this);  // from here on, nothing of the launch may be touched
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

// ---- Operating system threads ---------------------------------------------------------------------------------------

/// An operating system thread that runs one block after another, of any launch. It begins with a block when that is
/// given its first turn.
class Worker {
public:
    /// An idle worker, or a new one.
    static void assign(Block& block) {
        Worker* worker = nullptr;
        {
            std::lock_guard lock(idle_mutex());
            if (!idle().empty()) {
                worker = idle().back();
                idle().pop_back();
            }
        }
        if (worker == nullptr) {
            auto fresh = std::make_unique<Worker>();
            std::thread([worker = fresh.get()] { worker->work(); }).detach();
            worker = fresh.release();
        }
        block.turn = &worker->turn;
        worker->block = &block;
    }

private:
    // Never destroyed: the threads outlive `main`.
    static std::mutex& idle_mutex() {
        static auto* mutex = new std::mutex;
        return *mutex;
    }
    static std::vector<Worker*>& idle() {
        static auto* workers = new std::vector<Worker*>;
        return *workers;
    }

    [[noreturn]] void work() {
        for (;;) {
            turn.acquire();
            block->run(stacks);
            std::lock_guard lock(idle_mutex());
            idle().push_back(this);
        }
    }

    std::binary_semaphore turn{0};
    Block* block = nullptr;
    Stacks stacks;
};

// ---- A launch -------------------------------------------------------------------------------------------------------

/// Called by whoever has the turn. The first failure counts.
void Launch::fail(std::string what) {
    if (!failed) message = std::string(kernel_name) + ": " + std::move(what);
    failed = true;
}

/// Starts as many clusters as may be alive. Called by whoever has the turn.
void Launch::start_clusters() {
    uint64_t at_once = cooperative ? blocks_in_all() : std::max<uint64_t>(usual_blocks_at_once, blocks_a_cluster);
    while (!failed && clusters_started < clusters_in_all && alive.size() + blocks_a_cluster <= at_once) {
        // A GPU promises no order either.
        uint64_t number = (first_cluster + clusters_started++) % clusters_in_all;
        Cluster& cluster = *clusters.emplace_back(std::make_unique<Cluster>());
        cluster.unfinished = blocks_a_cluster;
        for (unsigned rank = 0; rank < blocks_a_cluster; ++rank) {
            uint64_t linear = number * blocks_a_cluster + rank;
            uint3 index = {static_cast<unsigned>(linear % grid.x), static_cast<unsigned>(linear / grid.x % grid.y),
                           static_cast<unsigned>(linear / grid.x / grid.y)};
            auto fresh = std::make_unique<Block>(*this, cluster, index, rank, threads_a_block());
            cluster.blocks.push_back(blocks.emplace_back(std::move(fresh)).get());
        }
        for (Block* block : cluster.blocks) {
            Worker::assign(*block);
            alive.push_back(block);
        }
    }
}

/// The block that has the next turn: one that can go on, or, after a failure, any that still has to end.
Block* Launch::choose() {
    candidates.clear();
    for (Block* block : alive)
        if (failed || !block->ready.empty()) candidates.push_back(block);
    if (!candidates.empty()) return candidates[random.below(static_cast<unsigned>(candidates.size()))];
    if (alive.empty()) return nullptr;
    std::string text = "deadlock:";
    for (Block* block : alive) block->describe_waiting(text);
    fail(std::move(text));
    return alive.front();
}

void Launch::pass_turn(Block& from) {
    Block* to = choose();
    if (to == &from) return;
    to->turn->release();
    from.turn->acquire();
}

/// The last that a block does with its turn.
void Launch::finish(Block& block) {
    block.finished = true;
    std::erase(alive, &block);
    block.threads = {};
    block.warps = {};
    if (--block.cluster.unfinished == 0) {
        for (Block* done : block.cluster.blocks) {
            std::free(std::exchange(done->shared, nullptr));
        }
    }
    try {
        start_clusters();
    } catch (const std::exception& error) {
        fail(std::string("no memory for further blocks: ") + error.what());
    }
    if (Block* to = choose()) {
        to->turn->release();
    } else {
        std::lock_guard lock(mutex);
        ended = true;
        end.notify_one();
    }
}

/// Runs the whole launch; called by the host's thread.
void Launch::run() {
    clusters_in_all = blocks_in_all() / blocks_a_cluster;
    first_cluster = policy.in_turn ? 0 : random.next() % clusters_in_all;
    alive.reserve(std::max(most_blocks_at_once, usual_blocks_at_once));
    try {
        start_clusters();
    } catch (const std::exception& error) {
        fail(std::string("no memory for the blocks: ") + error.what());
    }
    Block* first = choose();
    if (first == nullptr) return;
    first->turn->release();
    std::unique_lock lock(mutex);
    end.wait(lock, [&] { return ended; });
}

/// What is wrong with a launch before it starts, as a GPU's driver would find; empty if nothing is.
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

// ---- Kernels by name ------------------------------------------------------------------------------------------------

struct Kernel {
    void (*function)();
    Call call;
};

/// Filled before `main`.
std::unordered_map<std::string, Kernel>& kernels() {
    static auto* by_name = new std::unordered_map<std::string, Kernel>;
    return *by_name;
}

}  // namespace

Registration::Registration(const char* name, void (*kernel)(), Call call) { kernels()[name] = {kernel, call}; }

// ---- What kernels call ----------------------------------------------------------------------------------------------

void yield() {
    current_block->make_ready(*current_thread);
    leave();
}

namespace {

/// Ends the launch because of what the current thread does. The thread must leave then, and own nothing any more.
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

}  // namespace warpath_emulator

// ---- What the host calls --------------------------------------------------------------------------------------------

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
