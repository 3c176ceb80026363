//! What the searches by neighborhoods, `multi-hop` in [`bfs`](super::bfs) and [`sssp`](super::sssp), have in common.

use super::kernel_header::kernel_header;

kernel_header! {
    path: "multi_hop";
    namespace: multi_hop;
    constants {
        /// Neighborhoods begin at multiples of so many entries, and are filled up with `none`.
        pub(in crate::cuda) const UNIT: u32 = 8;
        /// The most vertices that a neighborhood can have, the one in the middle included.
        pub(in crate::cuda) const MOST: u32 = 512;
        /// The most blocks, each of which has a part of every queue.
        pub(in crate::cuda) const PARTS: u32 = 128;
        /// The binary logarithm of the size of a table.
        const TABLE_BITS: u32 = 10;
        /// Slots of the table of a neighborhood: twice as many as there can be vertices.
        pub(in crate::cuda) const TABLE_SIZE: u32 = 1 << TABLE_BITS;
    }
}
