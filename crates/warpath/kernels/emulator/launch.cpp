// Launches: the operating system threads that run their blocks, and whose turn it is.

#include "launch.hpp"

#include <algorithm>
#include <exception>
#include <thread>
#include <utility>

namespace warpath_emulator {

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
    if (!group.failed) group.message = std::string(kernel_name) + ": " + std::move(what);
    group.failed = true;
}

/// Starts as many clusters as may be alive. Called by whoever has the turn.
void Launch::start_clusters() {
    uint64_t at_once = cooperative ? blocks_in_all() : std::max<uint64_t>(usual_blocks_at_once, blocks_a_cluster);
    while (!group.failed && clusters_started < clusters_in_all && alive.size() + blocks_a_cluster <= at_once) {
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

/// Starts the first clusters.
void Launch::begin() {
    clusters_in_all = blocks_in_all() / blocks_a_cluster;
    first_cluster = group.policy.in_turn ? 0 : group.random.next() % clusters_in_all;
    alive.reserve(std::max(most_blocks_at_once, usual_blocks_at_once));
    try {
        start_clusters();
    } catch (const std::exception& error) {
        fail(std::string("no memory for the blocks: ") + error.what());
    }
}

// ---- A group --------------------------------------------------------------------------------------------------------

/// The block that has the next turn: one that can go on, or, after a failure, any that still has to end.
Block* Group::choose() {
    candidates.clear();
    Block* any = nullptr;
    for (const auto& launch : launches) {
        for (Block* block : launch->alive) {
            any = block;
            if (failed || !block->ready.empty()) candidates.push_back(block);
        }
    }
    if (!candidates.empty()) return candidates[random.below(static_cast<unsigned>(candidates.size()))];
    if (any == nullptr) return nullptr;
    std::string text = "deadlock:";
    for (const auto& launch : launches)
        for (Block* block : launch->alive) block->describe_waiting(text);
    any->launch.fail(std::move(text));
    return any;
}

void Group::pass_turn(Block& from) {
    Block* to = choose();
    if (to == &from) return;
    to->turn->release();
    from.turn->acquire();
}

/// The last that a block does with its turn.
void Group::finish(Block& block) {
    block.finished = true;
    std::erase(block.launch.alive, &block);
    block.threads = {};
    block.warps = {};
    if (--block.cluster.unfinished == 0) {
        for (Block* done : block.cluster.blocks) {
            std::free(std::exchange(done->shared, nullptr));
        }
    }
    try {
        block.launch.start_clusters();
    } catch (const std::exception& error) {
        block.launch.fail(std::string("no memory for further blocks: ") + error.what());
    }
    if (launches.size() > 1 && block.launch.alive.empty()) switches_left = std::min(switches_left, most_switches_after_one);
    if (Block* to = choose()) {
        to->turn->release();
    } else {
        std::lock_guard lock(mutex);
        ended = true;
        end.notify_one();
    }
}

/// Runs all launches to their ends; called by the host's thread.
void Group::run() {
    if (launches.size() > 1) switches_left = most_switches_of_several;
    for (const auto& launch : launches) launch->begin();
    if (Block* first = choose()) {
        first->turn->release();
        std::unique_lock lock(mutex);
        end.wait(lock, [&] { return ended; });
    }
    memory.deliver_all();
}

}  // namespace warpath_emulator
