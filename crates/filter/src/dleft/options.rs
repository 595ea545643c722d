//! What users choose of a d-left filter's layout.

/// The fewest and the most bits of a remainder. With 4, a full filter of four subtables lets 83 % of absent keys pass; with
/// 26, an error rate of one in a million does not take more cells than the keys do.
pub(super) const REMAINDER_BITS: Widths = 4..=26;
/// Bits that a remainder may have, from the fewest to the most.
pub(super) type Widths = core::ops::RangeInclusive<u32>;

/// The fewest and the most subtables.
pub(super) const SUBTABLES: core::ops::RangeInclusive<u32> = 2..=8;
/// How many cells a key may fill before it saturates.
const CELLS_MAX: u32 = 4;

/// How far the counter of one cell goes.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum CounterBits {
    /// Up to 3 copies a cell, and 12 a key. Right where keys hardly ever come twice.
    #[default]
    Two,
    /// Up to 15 copies a cell, and 60 a key.
    Four,
}

impl CounterBits {
    /// Returns the number of bits.
    pub const fn get(self) -> u32 {
        match self {
            Self::Two => 2,
            Self::Four => 4,
        }
    }

    pub(super) const fn counter_max(self) -> u32 {
        (1 << self.get()) - 1
    }

    /// Returns how many copies of a key are counted. A key with as many stays in the filter for good.
    pub const fn copies_max(self) -> u32 {
        CELLS_MAX * self.counter_max()
    }
}

/// How a d-left filter is laid out.
///
/// ```
/// use filter::{CounterBits, DLeft, DLeftOptions, Sizing};
///
/// let options = DLeftOptions::default().subtables(3).counter_bits(CounterBits::Four);
/// let filter = DLeft::with_options(Sizing::BitsPerKey(24.0), 1_000, options)?;
/// assert_eq!(filter.subtable_loads().count(), 3);
/// # Ok::<(), filter::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use]
pub struct DLeftOptions {
    pub(super) subtables: u32,
    pub(super) counter_bits: CounterBits,
    remainder_bits: Option<u32>,
}

impl Default for DLeftOptions {
    fn default() -> Self {
        Self { subtables: 4, counter_bits: CounterBits::Two, remainder_bits: None }
    }
}

impl DLeftOptions {
    /// Sets the number of subtables, and so of places that a key may be at, 2 to 8. More spread the
    /// keys more evenly and make every lookup longer. Default: 4.
    ///
    /// # Panics
    ///
    /// If it is less than 2 or more than 8.
    pub fn subtables(self, subtables: u32) -> Self {
        assert!(SUBTABLES.contains(&subtables), "a d-left filter has 2 to 8 subtables");
        Self { subtables, ..self }
    }

    /// Sets how many copies of a key can be told apart. Default: [`CounterBits::Two`].
    pub const fn counter_bits(self, counter_bits: CounterBits) -> Self {
        Self { counter_bits, ..self }
    }

    /// Sets the bits of a remainder, 4 to 26, in place of those that suit the sizing best. Default: those.
    ///
    /// With r bits and d subtables of seven of eight cells in use, about 7·d in 2^r absent keys pass, and 83 %
    /// at 4 bits and four subtables. An error rate can still be had, by emptier buckets.
    ///
    /// # Panics
    ///
    /// If it is less than 4 or more than 26.
    pub fn remainder_bits(self, bits: u32) -> Self {
        assert!(REMAINDER_BITS.contains(&bits), "a remainder has 4 to 26 bits");
        Self { remainder_bits: Some(bits), ..self }
    }

    /// The remainders to choose from: the one that was set, or all with which a filter at its planned load
    /// denies at least half of the absent keys. With r bits 7·d of 2^r pass.
    pub(super) fn widths(self) -> Widths {
        let least = (14 * self.subtables).next_power_of_two().ilog2();
        self.remainder_bits.map_or(least..=*REMAINDER_BITS.end(), |bits| bits..=bits)
    }
}
