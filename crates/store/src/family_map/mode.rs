//! The setting of a family that chooses its family map.

/// Whether a family has a family map: one lookup for all of its files.
///
/// Without a map, a get queries the filter of each file. A family map is a table in memory that names
/// the files which may hold a row, so the time of a get hardly grows with the number of files. Its
/// memory is part of the budget of the block cache; filters that it replaces leave memory.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum MapMode {
    /// No map: gets query the filters of the files.
    Off,
    /// A map from rows to files, of 18 to 27 bits for each row of each file.
    Files,
    /// A map from rows to files with wider entries, of 36 to 54 bits.
    ///
    /// A get of an absent row then hardly ever searches a file in vain: about once in a million gets,
    /// with [`Files`](Self::Files) about once in forty.
    Wide,
    /// The store chooses by the number of files and the budget of the block cache.
    ///
    /// A family with two files or more gets a wide map if it fits into a fourth of the budget, else
    /// a map of files if that fits, else none.
    #[default]
    Auto,
}

impl MapMode {
    /// Every mode.
    #[doc(hidden)]
    pub const ALL: [Self; 4] = [Self::Off, Self::Files, Self::Wide, Self::Auto];

    /// Returns the name in settings: `OFF`, `FILES`, `WIDE` or `AUTO`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "OFF",
            Self::Files => "FILES",
            Self::Wide => "WIDE",
            Self::Auto => "AUTO",
        }
    }
}

/// The sizes of a family map at one moment.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct MapStats {
    /// How wide its entries are: [`MapMode::Files`] or [`MapMode::Wide`].
    pub mode: MapMode,
    /// Number of store files that the map covers. The filters of the others are asked.
    pub covered_files: u64,
    /// Memory of the map, which counts against the budget of the block cache.
    pub bytes: u64,
    /// Entries in the map: one for each row of each file, and of replaced files until a sweep.
    pub entries: u64,
    /// Entries that still fit into the map before it is built anew.
    pub free_entries: u64,
}
