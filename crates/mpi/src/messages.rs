//! What carries messages.

/// What carries messages between ranks that search on GPUs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RankMessages {
    /// MPI from GPU to GPU if it is CUDA-aware on all ranks; or else NCCL for searches by weights on GPUs of one host, if it is predicted to save more than it
    /// takes to join; or else MPI through the memory of the hosts.
    #[default]
    Auto,
    /// MPI, through the memory of the hosts.
    Mpi,
    /// MPI, from GPU to GPU: it takes addresses of their memory.
    CudaAware,
    /// NCCL, from GPU to GPU. Each rank has to find it, and to have a GPU for itself.
    Nccl,
}

impl RankMessages {
    /// Its name in options of the command line and in answers, and `auto`.
    pub fn name(self) -> &'static str {
        match self {
            RankMessages::Auto => "auto",
            RankMessages::Mpi => "mpi",
            RankMessages::CudaAware => "cuda-aware",
            RankMessages::Nccl => "nccl",
        }
    }
}
