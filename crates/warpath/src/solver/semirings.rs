//! Runs code in the semiring of a graph's weights.

/// Evaluates an expression, a [`Result`](crate::Result), with `$semiring` as the semiring of the graph's weights and
/// `$wide` as `false`; if distances overflow and the weights have a wide semiring, once more in that one and with
/// `true`.
macro_rules! in_semiring {
    ($graph:expr, $semiring:ident, $wide:ident => $body:expr) => {{
        let kind = $graph.weight_kind();
        let mut $wide = false;
        loop {
            match $crate::graph::with_min_plus!(kind, $wide, $semiring => $body) {
                Err($crate::Error::DistanceOverflow { .. })
                    if !$wide && $crate::graph::semirings_of(kind).len() > 1 =>
                {
                    $wide = true
                }
                result => break result,
            }
        }
    }};
}
pub(super) use in_semiring;

/// The error for a semiring that does not fit the graph's weights.
pub(super) fn other_weights() -> crate::Error {
    crate::Error::invalid("the graph has weights of another type")
}
