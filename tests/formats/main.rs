//! The bytes of files: those that HBase wrote, those of earlier versions, and our own.

mod golden;
mod golden_write;
mod hudi;
mod old_formats;
#[cfg(feature = "parquet")]
mod parquet;
mod round_trip;
