// A schedule: chance, from a seed, and the threads that can continue.
#pragma once

#include <bit>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace warpath_emulator {

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
    /// Accesses, on average, from one yield to other threads to the next.
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

}  // namespace warpath_emulator
