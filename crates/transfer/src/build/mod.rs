//! Cells of an input, sorted or not, as one HFile, or as the HFiles of a table for HBase's bulk load; and
//! those of a store.

mod position;
mod regions;
mod store;
mod writing;

pub use self::regions::BulkLoadFiles;
pub use self::store::write_store;
pub use self::writing::Build;
