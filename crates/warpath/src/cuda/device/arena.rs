//! The arrays of an algorithm, laid out one after another in one piece of device memory.
//!
//! A *layout* is a function that takes the arrays from an [`Arena`]. It runs twice: from address 0 for the [`Plan`], and
//! then from the address of an allocation of the size planned. So the plan is exactly the memory that is taken.

use super::slice::{DeviceSlice, room};
use crate::plan::Plan;

/// Where a layout takes its arrays from.
#[derive(Debug)]
pub(crate) struct Arena<'p> {
    plan: &'p mut Plan,
    next: u64,
}

impl<'p> Arena<'p> {
    /// Adds each array to `plan`. The arrays are nowhere.
    pub(crate) fn counting(plan: &'p mut Plan) -> Self {
        Self::at(0, plan)
    }

    /// Lays arrays out from an address on.
    pub(super) fn at(address: u64, plan: &'p mut Plan) -> Self {
        Arena { plan, next: address }
    }

    /// Takes an array. Its contents are undefined.
    pub(crate) fn take<T>(&mut self, what: impl Into<String>, length: u64) -> DeviceSlice<T> {
        let bytes = room::<T>(length);
        self.plan.device(what, bytes);
        let address = self.next;
        self.next = address.saturating_add(bytes);
        DeviceSlice::new(address, length)
    }

    /// Takes two arrays of one length.
    pub(crate) fn take_two<T>(&mut self, what: [&str; 2], length: u64) -> [DeviceSlice<T>; 2] {
        what.map(|what| self.take(what, length))
    }
}

/// What a layout takes.
pub(crate) fn plan_of<A>(layout: impl FnOnce(&mut Arena<'_>) -> A) -> Plan {
    let mut plan = Plan::new();
    layout(&mut Arena::counting(&mut plan));
    plan
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::PlanItem;

    #[test]
    fn arrays_lie_one_after_another_and_are_planned_as_they_lie() {
        let layout = |arena: &mut Arena<'_>| -> (DeviceSlice<u8>, [DeviceSlice<u64>; 2]) {
            (arena.take("bytes", 257), arena.take_two(["words", "more words"], 3))
        };
        let mut plan = Plan::new();
        let (bytes, [words, more_words]) = layout(&mut Arena::at(1 << 20, &mut plan));
        assert_eq!(
            [bytes.address(), words.address(), more_words.address()],
            [1 << 20, (1 << 20) + 512, (1 << 20) + 768]
        );
        assert_eq!([bytes.length(), words.length()], [257, 3]);
        let item = |what: &str, bytes| PlanItem { what: what.into(), bytes };
        assert_eq!(plan.device_items(), [item("bytes", 512), item("words", 256), item("more words", 256)]);
        assert_eq!(plan_of(layout), plan);
    }

    #[test]
    fn what_is_too_large_saturates() {
        let plan = plan_of(|arena| [arena.take::<u64>("much", u64::MAX / 2), arena.take("more", 1)]);
        assert_eq!(plan.device_bytes(), u64::MAX);
    }
}
