//! Writes the cells of an input or of a store to one HFile, or to the HFiles of a table for a bulk load.

mod position;
mod regions;
mod store;
mod writing;

pub use self::regions::BulkLoadFiles;
pub use self::store::write_store;
pub use self::writing::Build;
