// Launches, and all that is in them: clusters, blocks, warps, threads. `emulator.cpp` explains how they run.
#pragma once

#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <semaphore>
#include <string>
#include <vector>

#include "emulator.hpp"
#include "fiber.hpp"
#include "peers.hpp"
#include "schedule.hpp"

namespace warpath_emulator {

// ---- Limits, as a large GPU has them --------------------------------------------------------------------------------

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
/// The same for launches on several devices: they wait for each other by spinning, which looks like work.
constexpr uint64_t most_switches_of_several = uint64_t{1} << 28;
/// The same once one of them has ended: what is left of the others is what follows their last meeting, unless they wait for one that it left out.
constexpr uint64_t most_switches_after_one = uint64_t{1} << 24;
/// The value that a shuffle reads from a lane that isn't there.
constexpr uint64_t undefined_value = 0xA5A5'A5A5'A5A5'A5A5;

// ---- Threads, warps, blocks, clusters, launches ---------------------------------------------------------------------

/// A fiber, and the operation or barrier that it waits at.
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
struct Group;

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
    /// Switches between threads until another block has the turn.
    unsigned until_turn_passes = 0;

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
    Thread* next();
    void resume(Thread& thread);
    void make_ready(Thread& thread);
    void release_gathered();
    void settle_barrier();
    void settle_warp(unsigned warp, unsigned lane);
    void check_fences();
    void describe_waiting(std::string& text) const;
};

/// A kernel on one device.
struct Launch {
    Group& group;
    unsigned device;  // its place among those of the group
    const char* kernel_name;
    void (*kernel)();
    Call call;
    void** arguments;
    dim3 grid, block;
    unsigned shared_bytes;
    unsigned blocks_a_cluster;
    bool cooperative;

    uint64_t clusters_in_all = 0, clusters_started = 0, first_cluster = 0;
    std::vector<std::unique_ptr<Cluster>> clusters{};
    std::vector<std::unique_ptr<Block>> blocks{};  // those that were ever started
    std::vector<Block*> alive{};

    uint64_t blocks_in_all() const { return uint64_t{grid.x} * grid.y * grid.z; }
    unsigned threads_a_block() const { return block.x * block.y * block.z; }

    void begin();
    void fail(std::string what);
    void start_clusters();
};

/// Launches that run at once, each on a device of its own, under one schedule.
struct Group {
    Policy policy;
    Random random;
    std::vector<std::unique_ptr<Launch>> launches{};
    PeerMemory memory{};

    std::vector<Block*> candidates{};
    uint64_t switches_left = most_switches;
    bool failed = false;
    std::string message{};

    std::mutex mutex{};
    bool ended = false;
    std::condition_variable end{};

    void run();
    Block* choose();
    void pass_turn(Block& from);
    void finish(Block& block);
};

extern constinit thread_local Block* current_block;
extern constinit thread_local Thread* current_thread;

/// Goes back to the block's scheduler; returns when the scheduler resumes this thread.
void leave();

// For messages.
const char* name_of(WarpOperation operation);
const char* name_of(Meeting meeting);
std::string in_words(Site site);
std::string in_words(uint3 index);
/// "0-15, 32", of ascending numbers.
std::string ranges(const std::vector<unsigned>& numbers);
bool is_same(Site a, Site b);

}  // namespace warpath_emulator
