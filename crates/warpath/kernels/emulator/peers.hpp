// Memory that kernels on several devices share, as one device sees what another one writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "schedule.hpp"

namespace warpath_emulator {

/// The memory of the devices of a group, as weak as their hardware allows. What a device writes to its own memory, others see
/// as it was at the last system-wide fence of that device. A store to another device's memory may arrive at any later
/// moment, at the latest at the next such fence of the device that stored; two stores to one place arrive in order.
class PeerMemory {
public:
    /// Memory of a device, by its place in the group.
    void add(void* begin, size_t bytes, unsigned device);
    /// Whether a kernel on `device` may access this by ordinary loads and stores: it is not another device's.
    bool is_ordinary(const volatile void* pointer, unsigned device) const;
    void load(void* to, const void* pointer, size_t bytes, unsigned device, Random& random);
    void store(void* pointer, const void* from, size_t bytes, unsigned device);
    void fence(unsigned device);
    void deliver_all();

private:
    struct Range {
        unsigned char* begin;
        unsigned char* end;
        unsigned device;
        std::vector<unsigned char> seen;  // by other devices
    };
    struct Store {
        unsigned char* to;
        unsigned device;  // that stored
        size_t bytes;
        unsigned char value[16];
    };

    std::vector<Range> ranges;
    std::vector<Store> on_the_way;

    const Range* range_of(const volatile void* pointer) const;
    Range* range_of(const volatile void* pointer);
    void deliver(const Store& store);
};

}  // namespace warpath_emulator
