//! How rows are found: read-ahead, cached blocks, batches, the family map, and files that are skipped.
#![expect(clippy::unwrap_used, reason = "this is a test, also outside of its test functions")]

mod block_reuse;
mod budget;
mod family_map;
mod filter_skip;
mod read_ahead;
