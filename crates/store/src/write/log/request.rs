//! A request to commit one batch.

use crate::options::Durability;

/// A batch with its durability: a `WriteBatch` in the queue, and then an `AcceptedBatch`.
#[derive(Debug)]
pub(super) struct Request<Batch> {
    /// The number of the request in the queue.
    pub(super) ticket: u64,
    pub(super) batch: Batch,
    pub(super) durability: Durability,
    /// Whether the cells [replace](crate::write::replace) older versions in the memstore.
    pub(super) replaces: bool,
}
