//! What carries messages.

/// What carries messages between ranks that search on GPUs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RankMessages {
    /// MPI, through the memory of the hosts.
    #[default]
    Mpi,
    /// NCCL, from GPU to GPU. Each rank has to find it, and to have a GPU for itself.
    Nccl,
}
