//! META blocks: bytes under a name, among them filters of our own.
//!
//! A META block's body is whatever was written under its name; the meta index, one root of
//! [index entries](super::index) in the order of the names, says where it is. HBase passes over
//! names that it does not know.

use bytes::Bytes;
use filter::StoredFilter;

/// The name of the META block that holds a filter over the rows of its file.
pub(crate) const ROW_FILTER_NAME: &str = "filter.row";

/// A META block as it is kept in memory.
#[derive(Debug)]
pub(crate) struct MetaBlock {
    pub(crate) body: Bytes,
    /// The same bytes as a filter, where they were read as one.
    pub(crate) filter: Option<StoredFilter<Bytes>>,
}
