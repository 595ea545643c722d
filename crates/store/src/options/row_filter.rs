//! The row filter of a family's files, without the seed of the store.

use filter::{FilterKind, Seed, Sizing};
use sstable::FilterOptions;

/// The kind and the size of the row filter in each file of a family.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RowFilter {
    pub(crate) kind: FilterKind,
    pub(crate) sizing: Sizing,
}

impl RowFilter {
    /// Returns the options of the filter in a file.
    pub(crate) const fn with_seed(self, seed: Seed) -> FilterOptions {
        let Self { kind, sizing } = self;
        FilterOptions::new(kind, sizing).seed(seed)
    }
}
