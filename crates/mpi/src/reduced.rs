//! Numbers that ranks reduce.
//!
//! MPICH 4.0 takes unsigned numbers for signed ones where it looks for the least or the greatest. So these go as signed numbers in the same
//! order, which every MPI compares rightly.

use mpi::datatype::Equivalence;

/// A number that ranks reduce.
pub(crate) trait Reduced: Equivalence + Copy {
    /// A type that MPI compares as these numbers are compared.
    type Ordered: Equivalence + Copy;

    /// The number in that type; a greater one for a greater one.
    fn ordered(self) -> Self::Ordered;

    /// The number that this stands for.
    fn of_ordered(ordered: Self::Ordered) -> Self;
}

impl Reduced for u32 {
    type Ordered = i32;

    fn ordered(self) -> i32 {
        (self ^ 1 << 31) as i32
    }

    fn of_ordered(ordered: i32) -> Self {
        ordered as u32 ^ 1 << 31
    }
}

impl Reduced for u64 {
    type Ordered = i64;

    fn ordered(self) -> i64 {
        (self ^ 1 << 63) as i64
    }

    fn of_ordered(ordered: i64) -> Self {
        ordered as u64 ^ 1 << 63
    }
}

impl Reduced for i64 {
    type Ordered = i64;

    fn ordered(self) -> i64 {
        self
    }

    fn of_ordered(ordered: i64) -> Self {
        ordered
    }
}

impl Reduced for f64 {
    type Ordered = f64;

    fn ordered(self) -> f64 {
        self
    }

    fn of_ordered(ordered: f64) -> Self {
        ordered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_stays() {
        let numbers = [0_u64, 1, 5, i64::MAX as u64, 1 << 63, u64::MAX];
        assert!(numbers.map(Reduced::ordered).is_sorted());
        assert_eq!(numbers.map(|number| u64::of_ordered(number.ordered())), numbers);
        let numbers = [0_u32, 1, 5, i32::MAX as u32, 1 << 31, u32::MAX];
        assert!(numbers.map(Reduced::ordered).is_sorted());
        assert_eq!(numbers.map(|number| u32::of_ordered(number.ordered())), numbers);
    }
}
