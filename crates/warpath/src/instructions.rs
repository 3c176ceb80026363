//! Which vector instructions this processor has, found at run time.
//!
//! *Invariants.* A function compiled for more instructions is called only where the processor was asked for them.

/// The vector instructions that loops are compiled for. A value other than `Portable` is proof that the processor has
/// been asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InstructionSet {
    /// Whatever the target always has.
    Portable,
    /// x86-64 with AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// x86-64 with AVX-512 F, BW, VL and DQ.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl InstructionSet {
    /// Those that this processor has, the widest last.
    pub(crate) fn available() -> impl DoubleEndedIterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let wide = {
            let avx2 = is_x86_feature_detected!("avx2");
            let avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512dq");
            [avx2.then_some(Self::Avx2), avx512.then_some(Self::Avx512)].into_iter().flatten()
        };
        #[cfg(not(target_arch = "x86_64"))]
        let wide = std::iter::empty();
        std::iter::once(Self::Portable).chain(wide)
    }

    /// The widest that this processor has.
    pub(crate) fn detect() -> Self {
        Self::available().next_back().unwrap_or(Self::Portable)
    }
}

/// Compiles a function for every instruction set, and calls it for the widest that this processor has. The first list has the
/// function's generic parameters with their bounds, the second their names alone; arguments have their values behind `=`. What the
/// body calls has to be inlined, or it is compiled for the target alone.
macro_rules! with_widest_instructions {
    ([$($bound:tt)*] [$($generic:tt)*] ($($argument:ident: $type:ty = $value:expr),* $(,)?) -> $result:ty $body:block) => {{
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
        fn avx512<$($bound)*>($($argument: $type),*) -> $result $body
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2")]
        fn avx2<$($bound)*>($($argument: $type),*) -> $result $body
        fn portable<$($bound)*>($($argument: $type),*) -> $result $body
        match $crate::instructions::InstructionSet::detect() {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this processor has these instructions.
            $crate::instructions::InstructionSet::Avx512 => unsafe { avx512::<$($generic)*>($($value),*) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this processor has these instructions.
            $crate::instructions::InstructionSet::Avx2 => unsafe { avx2::<$($generic)*>($($value),*) },
            $crate::instructions::InstructionSet::Portable => portable::<$($generic)*>($($value),*),
        }
    }};
}
pub(crate) use with_widest_instructions;
