//! Options for the layout of a d-left filter.

/// Numbers of bits that a remainder can have.
///
/// The bounds are extremes: at the planned load, a filter of four subtables has an error rate of
/// 83 % with 4 bits, and less than 10^−6 with 26 bits.
pub(super) const REMAINDER_BITS: Widths = 4..=26;
/// A range of numbers of bits of a remainder.
pub(super) type Widths = core::ops::RangeInclusive<u32>;

/// Numbers of subtables that a filter can have.
pub(super) const SUBTABLES: core::ops::RangeInclusive<u32> = 2..=8;
/// Maximum number of cells of a key. Once all their counters are full, the key saturates.
const CELLS_MAX: u32 = 4;

/// The size of a cell's counter.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum CounterBits {
    /// Up to 3 copies per cell and 12 per key; for keys that rarely have copies.
    #[default]
    Two,
    /// Up to 15 copies per cell and 60 per key.
    Four,
}

impl CounterBits {
    /// Returns the number of bits of a counter.
    pub(crate) const fn get(self) -> u32 {
        match self {
            Self::Two => 2,
            Self::Four => 4,
        }
    }

    pub(super) const fn counter_max(self) -> u32 {
        (1 << self.get()) - 1
    }

    /// Returns the maximum number of copies of a key that can be counted.
    ///
    /// A key that reaches it can no longer be removed.
    pub const fn copies_max(self) -> u32 {
        CELLS_MAX * self.counter_max()
    }
}

/// Options for the layout of a d-left filter.
///
/// ```
/// use filter::{CounterBits, DLeft, DLeftOptions, Seed, Sizing};
///
/// let options = DLeftOptions::default().subtables(3).counter_bits(CounterBits::Four);
/// let filter = DLeft::with_options(options, Sizing::BitsPerKey(24.0), 1_000, Seed::random())?;
/// assert_eq!(filter.len(), 0);
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
    /// Sets the number of subtables, and so of buckets that a lookup reads: 2 to 8, default 4.
    ///
    /// More subtables make the loads of buckets more even, but slow down lookups.
    ///
    /// # Panics
    ///
    /// If `subtables` is less than 2 or more than 8.
    pub fn subtables(self, subtables: u32) -> Self {
        assert!(SUBTABLES.contains(&subtables), "a d-left filter has 2 to 8 subtables");
        Self { subtables, ..self }
    }

    /// Sets the size of counters, and so the maximum number of copies. Default:
    /// [`CounterBits::Two`].
    pub const fn counter_bits(self, counter_bits: CounterBits) -> Self {
        Self { counter_bits, ..self }
    }

    /// Sets the bits of a remainder, 4 to 26. Default: the best width for the sizing.
    ///
    /// With r bits and d subtables, the error rate at the planned load (seven of eight cells in
    /// use) is 1 − e^(−7·d/2^r), about 7·d/2^r if that is small. A lower error rate with the same
    /// width needs more buckets.
    ///
    /// # Panics
    ///
    /// If `bits` is less than 4 or more than 26.
    pub fn remainder_bits(self, bits: u32) -> Self {
        assert!(REMAINDER_BITS.contains(&bits), "a remainder has 4 to 26 bits");
        Self { remainder_bits: Some(bits), ..self }
    }

    /// Returns the widths of a remainder that the filter can choose from.
    ///
    /// These are the width that was set, or else all widths with an error rate of at most 1/2 at
    /// the planned load, estimated as 7·d/2^r.
    pub(super) fn widths(self) -> Widths {
        let least = (14 * self.subtables).next_power_of_two().ilog2();
        self.remainder_bits.map_or(least..=*REMAINDER_BITS.end(), |bits| bits..=bits)
    }
}
