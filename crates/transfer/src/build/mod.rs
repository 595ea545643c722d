//! Cells of an input, sorted or not, as one HFile, or as the HFiles of a table for HBase's bulk load.

mod position;
mod regions;
mod writing;

pub use self::writing::{Build, BulkLoadFiles};
