//! The filters of an open file: ours in META blocks, and HBase's chunked Bloom filters.

#[allow(
    clippy::indexing_slicing,
    clippy::as_conversions,
    clippy::arithmetic_side_effects,
    reason = "indexes below the number of chunks"
)]
pub(crate) mod chunked_bloom;
#[allow(clippy::arithmetic_side_effects, reason = "counters")]
pub(crate) mod file_filter;
pub(crate) mod filter_answer;
#[allow(
    clippy::indexing_slicing,
    clippy::as_conversions,
    reason = "indexes below the number of parts"
)]
pub(crate) mod lazy_block;
#[allow(
    clippy::indexing_slicing,
    clippy::as_conversions,
    clippy::arithmetic_side_effects,
    reason = "indexes below the number of partitions"
)]
pub(crate) mod row_filter;
