//! Dispatches from the type of a graph's weights to code compiled for it; this is the only place that does.

/// Evaluates an expression, a [`Result`](crate::Result), with `$lane` as the lane of the graph's weights and `$wide` as
/// `false`; if the narrow lane of unsigned weights overflows, once more with the wide one and `true`.
macro_rules! in_lanes {
    ($graph:expr, $lane:ident, $wide:ident => $body:expr) => {{
        use $crate::graph::{F32Lane, F64Lane, I32Lane, U32Narrow, U32Wide, UnitLane, WeightKind};
        #[allow(unused)]
        let $wide = false;
        match $graph.weight_kind() {
            WeightKind::Unit => {
                type $lane = UnitLane;
                $body
            }
            WeightKind::U32 => match {
                type $lane = U32Narrow;
                $body
            } {
                Err($crate::Error::DistanceOverflow { .. }) => {
                    type $lane = U32Wide;
                    #[allow(unused)]
                    let $wide = true;
                    $body
                }
                other => other,
            },
            WeightKind::I32 => {
                type $lane = I32Lane;
                $body
            }
            WeightKind::F32 => {
                type $lane = F32Lane;
                $body
            }
            WeightKind::F64 => {
                type $lane = F64Lane;
                $body
            }
        }
    }};
}
pub(super) use in_lanes;

/// The error for a lane that does not fit the graph's weights.
pub(super) fn other_weights() -> crate::Error {
    crate::Error::invalid("the graph has weights of another type")
}
