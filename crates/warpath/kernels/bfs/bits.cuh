// A level of a breadth-first search top-down, whose frontier is bits, one a vertex: `bfs/zero_copy.cu` and `bfs/partitioned.cu` have the
// loops over levels. `src/cuda/bfs/zero_copy.rs` has the essay.
#pragma once

#include "../ordered.cuh"

namespace bits {

constexpr u32 no_vertex = ~0u;

/// The arcs by tail.
template <class Offset>
struct Outgoing {
    const Offset* offsets;
    const u32* heads;
    const uint2* pieces;  // of long rows
};

/// Calls `visit(head)` for all arcs that leave the vertices of the frontier in a window: from the group `begin.x` to `end.x`, and of
/// long rows from the piece `begin.y` to `end.y`.
template <class Offset, class Visit>
__device__ __forceinline__ void top_down(const Outgoing<Offset>& outgoing, const ordered::Bits& frontier, uint2 begin_of_window,
                                         uint2 end_of_window, Visit visit) {
    const u32 lane = lane_index();
    constexpr u32 at_once = 4;
    const auto visit_piece = [&](u32, Offset begin, Offset end) {
        for (Offset first = begin; first < end; first += at_once * lanes_a_warp) {
            u32 head[at_once];
#pragma unroll
            for (u32 k = 0; k < at_once; k++) {
                const Offset arc = first + k * lanes_a_warp + lane;
                head[k] = arc < end ? load_constant(&outgoing.heads[arc]) : no_vertex;
            }
#pragma unroll
            for (u32 k = 0; k < at_once; k++) {
                if (head[k] != no_vertex) visit(head[k]);
            }
        }
    };
    ordered::for_long_rows(frontier, outgoing.pieces, begin_of_window.y, end_of_window.y, outgoing.offsets, visit_piece);
    ordered::for_vertices(frontier, begin_of_window.x, end_of_window.x, [&](bool has_row, u32 tail) {
        Offset begin = 0;
        u32 degree = 0;
        if (has_row) {
            begin = load_constant(&outgoing.offsets[tail]);
            const Offset end = load_constant(&outgoing.offsets[tail + 1]);
            if (end - begin <= ordered::piece) degree = static_cast<u32>(end - begin);
        }
        const PackedRows<Offset> rows(begin, degree);
        for (u32 base = 0; base < rows.total; base += at_once * lanes_a_warp) {
            u32 head[at_once];
#pragma unroll
            for (u32 k = 0; k < at_once; k++) {
                const u32 place = min(base + k * lanes_a_warp + lane, rows.total - 1);
                const Offset arc = rows.arc_at(place, rows.lane_of(place));
                head[k] = load_constant(&outgoing.heads[arc]);
            }
#pragma unroll
            for (u32 k = 0; k < at_once; k++) {
                if (base + k * lanes_a_warp + lane < rows.total) visit(head[k]);
            }
        }
    });
}

}  // namespace bits
