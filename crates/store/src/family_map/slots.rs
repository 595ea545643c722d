//! A set of slot numbers.

/// The number of slots of a map, numbered from 0.
pub(super) const SLOT_COUNT: u32 = 64;

/// A set of slot numbers of one map.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Slots(u64);

impl Slots {
    pub(crate) const NONE: Self = Self(0);

    pub(super) const fn of(slot: u32) -> Self {
        Self(1 << slot)
    }

    pub(super) const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub(super) const fn bits(self) -> u64 {
        self.0
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) const fn contains(self, slot: u32) -> bool {
        self.0 >> slot & 1 == 1
    }

    pub(crate) const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the slot numbers, ascending.
    pub(super) fn iter(self) -> impl Iterator<Item = u32> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let slot = rest.trailing_zeros();
            rest &= rest.wrapping_sub(1); // Removes the lowest slot. Without a slot, `slot` is 64.
            (slot < SLOT_COUNT).then_some(slot)
        })
    }
}
