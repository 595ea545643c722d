//! Writes HFile v3 files from sorted cells, also by region for a bulk load, and copies files with another filter.

mod block_caching;
mod block_writer;
mod bloom;
mod buffered_sink;
mod cell_rules;
mod hbase_version;
mod index_writer;
pub(crate) mod inferred_options;
pub(crate) mod new_files;
mod option_rules;
mod options;
pub(crate) mod rebuild;
mod region_files;
mod row_filter;
mod short_key;
mod statistics;
mod writer;

pub use hbase_version::HBaseVersion;
pub use options::{FilterOptions, InvalidOptions, WriterOptions};
pub use region_files::{RegionFile, RegionFiles};
pub use writer::{FileSummary, Writer};
