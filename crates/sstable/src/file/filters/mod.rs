//! The filters of an open file: ours in META blocks, and HBase's chunked Bloom filters.

pub(crate) mod chunked_bloom;
pub(crate) mod file_filter;
pub(crate) mod filter_answer;
pub(crate) mod lazy_block;
pub(crate) mod row_filter;
