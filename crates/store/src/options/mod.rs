//! The options of stores, families and compactions.
//!
//! A method sets each setting, and returns the options. The fields are private to the crate.

mod compaction_options;
mod durability;
mod family_options;
mod row_filter;
mod store_options;

pub use compaction_options::CompactionOptions;
pub(crate) use compaction_options::OffPeak;
pub use durability::Durability;
pub use family_options::FamilyOptions;
pub(crate) use row_filter::RowFilter;
pub use store_options::StoreOptions;
