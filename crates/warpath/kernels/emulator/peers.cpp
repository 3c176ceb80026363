// Memory that kernels on several devices share. A kernel that leaves out a fence, or writes a flag before its data, reads what
// was there before under some schedules.

#include "peers.hpp"

#include <algorithm>
#include <cstring>

namespace warpath_emulator {

void PeerMemory::add(void* begin, size_t bytes, unsigned device) {
    auto* first = static_cast<unsigned char*>(begin);
    Range range = {first, first + bytes, device, {first, first + bytes}};
    auto after = std::upper_bound(ranges.begin(), ranges.end(), first,
                                  [](const unsigned char* at, const Range& other) { return at < other.begin; });
    ranges.insert(after, std::move(range));
}

const PeerMemory::Range* PeerMemory::range_of(const volatile void* pointer) const {
    const auto* at = static_cast<const unsigned char*>(const_cast<const void*>(pointer));
    auto after = std::upper_bound(ranges.begin(), ranges.end(), at,
                                  [](const unsigned char* at, const Range& other) { return at < other.begin; });
    if (after == ranges.begin()) return nullptr;
    const Range& range = *(after - 1);
    return at < range.end ? &range : nullptr;
}

PeerMemory::Range* PeerMemory::range_of(const volatile void* pointer) {
    return const_cast<Range*>(static_cast<const PeerMemory*>(this)->range_of(pointer));
}

bool PeerMemory::is_ordinary(const volatile void* pointer, unsigned device) const {
    if (ranges.empty()) return true;
    const Range* range = range_of(pointer);
    return range == nullptr || range->device == device;
}

void PeerMemory::deliver(const Store& store) {
    std::memcpy(store.to, store.value, store.bytes);
    if (Range* range = range_of(store.to)) {
        std::memcpy(range->seen.data() + (store.to - range->begin), store.value, store.bytes);
    }
}

void PeerMemory::load(void* to, const void* pointer, size_t bytes, unsigned device, Random& random) {
    if (!on_the_way.empty() && random.below(4) == 0) {
        // Any of them, but not before an earlier one to the same place.
        const Store& any = on_the_way[random.below(static_cast<unsigned>(on_the_way.size()))];
        auto first = std::find_if(on_the_way.begin(), on_the_way.end(), [&](const Store& store) {
            return store.to < any.to + any.bytes && any.to < store.to + store.bytes;
        });
        deliver(*first);
        on_the_way.erase(first);
    }
    const Range* range = range_of(pointer);
    const bool is_own = range == nullptr || range->device == device;
    std::memcpy(to, is_own ? pointer : range->seen.data() + (static_cast<const unsigned char*>(pointer) - range->begin), bytes);
}

void PeerMemory::store(void* pointer, const void* from, size_t bytes, unsigned device) {
    Store store = {static_cast<unsigned char*>(pointer), device, bytes, {}};
    std::memcpy(store.value, from, bytes);
    if (is_ordinary(pointer, device)) std::memcpy(pointer, from, bytes);
    on_the_way.push_back(store);
}

void PeerMemory::fence(unsigned device) {
    for (const Store& store : on_the_way)
        if (store.device == device) deliver(store);
    std::erase_if(on_the_way, [&](const Store& store) { return store.device == device; });
    for (Range& range : ranges)
        if (range.device == device) std::memcpy(range.seen.data(), range.begin, range.seen.size());
}

void PeerMemory::deliver_all() {
    for (const Store& store : on_the_way) deliver(store);
    on_the_way.clear();
}

}  // namespace warpath_emulator
