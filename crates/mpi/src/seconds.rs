//! Where the time of ranks went.

use warpath::Result;

use crate::words::{pull, push};
use crate::world::{Outcome, Traffic, World};

/// Where the time of a rank went, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RankSeconds {
    /// While it worked.
    pub compute: f64,
    /// While words were carried.
    pub exchange: f64,
    /// While it waited for others.
    pub wait: f64,
}

impl RankSeconds {
    /// Of work that took so long, in which a rank sent this.
    pub fn of(elapsed: f64, traffic: &Traffic) -> Self {
        let Traffic { exchange, wait, .. } = *traffic;
        RankSeconds { compute: (elapsed - exchange - wait).max(0.0), exchange, wait }
    }

    /// Those of all ranks, in their order.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](warpath::Error::OutOfMemory).
    pub fn of_all(self, world: &World) -> Outcome<Vec<Self>> {
        let mut words = Vec::new();
        [self.compute, self.exchange, self.wait].iter().for_each(|&seconds| push(&mut words, seconds));
        let gathered: Result<_> = world.gather(&words);
        let all = world.agree(gathered)?;
        let of_rank = |rank: usize| {
            let [compute, exchange, wait] = [0, 2, 4].map(|at| pull::<f64>(&all.of(rank)[at..]));
            RankSeconds { compute, exchange, wait }
        };
        Ok((0..world.ranks()).map(of_rank).collect())
    }
}
