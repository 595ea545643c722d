//! META blocks: bytes under a name, among them filters of our own.
//!
//! A META block's body is whatever was written under its name; the meta index, one root of
//! [index entries](super::index) in the order of the names, says where it is. HBase passes over
//! names that it does not know.
#![allow(clippy::arithmetic_side_effects, reason = "bytes in memory")]

use bytes::Bytes;
use filter::StoredFilter;

use super::aligned::aligned;
use crate::encoding::DamageReason;

/// The name of the META block that holds a filter over the rows of its file.
pub(crate) const ROW_FILTER_NAME: &str = "filter.row";

/// A META block as it is kept in memory.
#[derive(Debug)]
pub(crate) struct MetaBlock {
    body: Bytes,
}

impl MetaBlock {
    /// Copies the body of a block.
    pub(super) fn new(body: &[u8]) -> Self {
        Self { body: aligned(body) }
    }

    /// The bytes that were written under its name.
    pub(crate) const fn body(&self) -> &Bytes {
        &self.body
    }

    /// Bytes it takes in memory.
    pub(crate) const fn bytes(&self) -> usize {
        size_of::<Self>() + self.body.len()
    }
}

/// A META block that holds a filter of ours.
#[derive(Debug)]
pub(crate) struct FilterBlock {
    body: Bytes,
    filter: StoredFilter<Bytes>,
}

impl FilterBlock {
    /// Copies and parses the body of a block.
    pub(super) fn new(body: &[u8]) -> Result<Self, DamageReason> {
        let body = aligned(body);
        let filter = StoredFilter::parse(body.clone()).map_err(|error| error.to_string())?;
        Ok(Self { body, filter })
    }

    /// The filter.
    #[inline]
    pub(crate) const fn filter(&self) -> &StoredFilter<Bytes> {
        &self.filter
    }

    /// The same block as bytes.
    pub(super) fn as_meta(&self) -> MetaBlock {
        MetaBlock { body: self.body.clone() }
    }

    /// Bytes it takes in memory.
    #[inline]
    pub(crate) const fn bytes(&self) -> usize {
        size_of::<Self>() + self.body.len()
    }
}
