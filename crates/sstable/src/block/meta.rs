//! META blocks: named byte strings, some of which hold row filters.
//!
//! The meta index, a single root of [index entries](super::index_entry) sorted by name, maps each name to
//! its block. HBase ignores names that it does not know.

use bytes::Bytes;
use filter::{FilterKind, StoredFilter};

use super::aligned::aligned;
use crate::encoding::DamageReason;

/// The name of the META block with a filter over all rows of the file.
pub(crate) const ROW_FILTER_NAME: &str = "filter.row";

/// A META block in memory.
#[derive(Debug)]
pub(crate) struct MetaBlock {
    body: Bytes,
}

impl MetaBlock {
    /// Copies the body of a block.
    pub(super) fn new(body: &[u8]) -> Self {
        Self { body: aligned(body) }
    }

    /// The bytes written under the block's name.
    pub(crate) const fn body(&self) -> &Bytes {
        &self.body
    }

    /// The size in memory, in bytes.
    pub(crate) const fn bytes(&self) -> usize {
        size_of::<Self>() + self.body.len()
    }
}

/// A META block parsed as a filter. Clones share the bytes.
#[derive(Clone, Debug)]
pub(crate) struct FilterBlock {
    body: Bytes,
    filter: StoredFilter<Bytes>,
}

impl FilterBlock {
    /// Copies the body of a block and parses the filter in it.
    pub(super) fn new(body: &[u8]) -> Result<Self, DamageReason> {
        let body = aligned(body);
        let filter = StoredFilter::parse(body.clone()).map_err(|error| error.to_string())?;
        check_kind(filter.kind())?;
        Ok(Self { body, filter })
    }

    pub(crate) const fn filter(&self) -> &StoredFilter<Bytes> {
        &self.filter
    }

    /// Returns the unparsed block; shares the bytes.
    pub(super) fn as_meta(&self) -> MetaBlock {
        MetaBlock { body: self.body.clone() }
    }

    /// The size in memory, in bytes.
    pub(crate) const fn bytes(&self) -> usize {
        size_of::<Self>() + self.body.len()
    }
}

/// Checks that files have filters of this kind.
pub(crate) fn check_kind(kind: FilterKind) -> Result<(), String> {
    if FilterKind::IN_FILES.contains(&kind) {
        return Ok(());
    }
    let names: Vec<&str> = FilterKind::IN_FILES.iter().map(|kind| kind.name()).collect();
    Err(format!("files have no {kind} filters; the kinds are {}", names.join(", ")))
}
