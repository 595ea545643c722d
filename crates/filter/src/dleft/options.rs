//! Options for the layout of a d-left filter.

/// Bits that a remainder can have.
///
/// With 4 bits, a full filter of four subtables lets 83 % of the absent keys pass. With 26 bits, an
/// error rate of 10^−6 needs no more cells than the keys.
pub(super) const REMAINDER_BITS: Widths = 4..=26;
/// A range of bits of a remainder.
pub(super) type Widths = core::ops::RangeInclusive<u32>;

/// Numbers of subtables that a filter can have.
pub(super) const SUBTABLES: core::ops::RangeInclusive<u32> = 2..=8;
/// Maximum number of cells of a key; then the key saturates.
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

    /// Returns the maximum number of copies of a key. A key with this number cannot be removed.
    pub const fn copies_max(self) -> u32 {
        CELLS_MAX * self.counter_max()
    }
}

/// Options for the layout of a d-left filter.
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
    /// Sets the number of subtables, and so of buckets that a lookup reads: 2 to 8, default 4.
    ///
    /// More subtables fill more evenly, but slow lookups.
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
    /// With r bits and d subtables at the planned load, about 7·d/2^r of the absent keys pass (83 %
    /// with 4 bits and four subtables). A lower error rate then needs emptier buckets.
    ///
    /// # Panics
    ///
    /// If `bits` is less than 4 or more than 26.
    pub fn remainder_bits(self, bits: u32) -> Self {
        assert!(REMAINDER_BITS.contains(&bits), "a remainder has 4 to 26 bits");
        Self { remainder_bits: Some(bits), ..self }
    }

    /// Returns the widths to choose from.
    ///
    /// That is the width that was set, or all widths with an error rate of at most 1/2 at the
    /// planned load (7·d/2^r).
    pub(super) fn widths(self) -> Widths {
        let least = (14 * self.subtables).next_power_of_two().ilog2();
        self.remainder_bits.map_or(least..=*REMAINDER_BITS.end(), |bits| bits..=bits)
    }
}
