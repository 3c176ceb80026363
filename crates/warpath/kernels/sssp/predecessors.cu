// The predecessors of a shortest-path search, from its final distances. The host's side, and the rule, are in
// `src/cuda/sssp/predecessors.rs`.
//
// registers: 40
// no-sass: STL
#include "../rows.cuh"
#include "lanes.cuh"
#include "../generated/sssp/predecessors.cuh"

namespace predecessors {

/// No predecessor, and no level.
constexpr u32 none = ~0u;

/// If the arc is tight the head learns of the tail, and keeps the least. In round 0 tails must be nearer than heads; in
/// later ones they have a predecessor since the round before, and heads have none from before this one.
template <class Lane>
__device__ __forceinline__ void try_arc(const KernelArgument<Lane>& search, u32 tail, u64 arc) {
    const u32 round = search.round;
    const auto from = load_constant(&search.distances[tail]);
    if (from > search.limit || (round > 0 && load(&search.levels[tail]) != round - 1)) return;
    Arc<typename Lane::Weight> pair;
    if (search.pairs != nullptr) {
        pair = load_once(&search.pairs[arc]);
    } else {
        pair.head = load_once(&search.heads[arc]);
        pair.weight = load_once(&search.weights[arc]);
    }
    const u32 head = pair.head;
    const auto to = load_constant(&search.distances[head]);
    if (to > search.limit || Lane::extend(from, pair.weight) != to) return;
    if (round > 0) {
        if (load(&search.levels[head]) < round) return;
        store(&search.levels[head], round);
        store(search.progress, round);
    } else if (from >= to) {
        return;
    }
    if (load(&search.predecessors[head]) > tail) atomicMin(&search.predecessors[head], tail);
}

template <class Lane>
__device__ void run(const KernelArgument<Lane>& search) {
    // The round before found nothing: there is no vertex to continue from.
    if (load(search.progress) + 1 < search.round) return;
    if (search.tails != nullptr) {
        const u64 threads = static_cast<u64>(gridDim.x) * blockDim.x;
        for (u64 arc = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; arc < search.arcs; arc += threads) {
            try_arc(search, load_once(&search.tails[arc]), arc);
        }
        return;
    }
    const auto offset_at = [&search](u32 row) {
        return search.wide_offsets != 0 ? load_constant(&static_cast<const u64*>(search.offsets)[row])
                                        : load_constant(&static_cast<const u32*>(search.offsets)[row]);
    };
    for_arcs_in_shares(search.vertices, search.arcs, search.share, offset_at,
                       [&search](u32 tail, u64 arc) { try_arc(search, tail, arc); });
}

/// Raises a flag if a vertex that counts has no predecessor, and gives all vertices their level before the first round.
template <class Distance>
__device__ void look(const Distance* distances, const u32* predecessors, u32* levels, u32* flag, u64 limit, u32 vertices) {
    const u64 threads = static_cast<u64>(gridDim.x) * blockDim.x;
    for (u64 vertex = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; vertex < vertices; vertex += threads) {
        const bool has = load_constant(&predecessors[vertex]) != none;
        levels[vertex] = has ? 0 : none;
        if (!has && load_constant(&distances[vertex]) <= limit) store(flag, 1u);
    }
}

}  // namespace predecessors

#define WARPATH_PREDECESSORS(lane, Lane)                                        \
    extern "C" __global__ void __launch_bounds__(256)                           \
        sssp_predecessors_##lane(const predecessors::KernelArgument<Lane> search) {     \
        predecessors::run(search);                                              \
    }                                                                           \
    WARPATH_KERNEL(sssp_predecessors_##lane)

WARPATH_PREDECESSORS(u32_u32, LaneNarrow)
WARPATH_PREDECESSORS(u32_u64, LaneWide)
WARPATH_PREDECESSORS(i32_i64, LaneSigned)
WARPATH_PREDECESSORS(f32_f32, LaneSingle)
WARPATH_PREDECESSORS(f64_f64, LaneDouble)

#define WARPATH_LOOK(bits, Distance)                                                                  \
    extern "C" __global__ void __launch_bounds__(256)                                                              \
        sssp_predecessors_look_##bits(const Distance* distances, const u32* predecessors, u32* levels, u32* flag,  \
                                      u64 limit, u32 vertices) {                                                   \
        predecessors::look(distances, predecessors, levels, flag, limit, vertices);                                \
    }                                                                                                              \
    WARPATH_KERNEL(sssp_predecessors_look_##bits)

WARPATH_LOOK(32, u32)
WARPATH_LOOK(64, u64)
