//! Compaction: merges files, so that reads ask fewer, and drops hidden and expired cells.
//!
//! ```text
//! policy  selects files, as HBase's exploring policy does
//! run     merges the cells of files into one file, which replaces them
//! pace    limits the rate; ends the compaction early
//! progress  tells a waiting caller how far it is
//! ```

mod pace;
mod policy;
pub(crate) mod progress;
mod run;
