//! HBase's write-ahead logs: read, damaged, hostile, and searched after damage.

mod files;
mod hostile;
mod reading;
mod skipping;
mod writer;
