//! The options of stores, families and compactions.
//!
//! A method sets each setting, and returns the options. The fields are private, but for those of
//! [`FamilyOptions`]: a store returns them, so they are read as well as set.

mod compaction_options;
mod durability;
mod family_options;
mod store_options;

pub use compaction_options::CompactionOptions;
pub(crate) use compaction_options::OffPeak;
pub use durability::Durability;
pub use family_options::FamilyOptions;
pub use store_options::StoreOptions;
