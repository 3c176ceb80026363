//! Which vector instructions this processor has, found at run time.

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
