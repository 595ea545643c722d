//! The names of files in HBase's directories.
//!
//! | name                                         | type                | what                                |
//! |----------------------------------------------|---------------------|-------------------------------------|
//! | `HEX`, `HEX_SeqId_N_`, `HEX_del`             | [`HFileName`]       | an HFile                            |
//! | `MD5` `YYYYMMDD` `UUID`, then `_REGION`      | [`MobFileName`]     | an HFile of large values            |
//! | `[NS=]TABLE=REGION-FILE`                     | [`HFileLink`]       | an empty file, a link to an HFile   |
//! | `NAME.REGION`                                | [`ReferenceName`]   | a reference to a half of an HFile   |
//!
//! [`StoreFileName`] is any of these. All other names are in `skip_reason.rs`.

mod hfile;
mod invalid;
mod link;
mod mob;
mod reference;
mod region;
pub(crate) mod skip_reason;
mod store_file;

pub use self::hfile::HFileName;
pub use self::invalid::InvalidName;
pub use self::link::{DataFileName, HFileLink, TableName};
pub use self::mob::MobFileName;
pub use self::reference::{ReferenceName, ReferredName};
pub use self::region::RegionName;
pub use self::store_file::StoreFileName;
