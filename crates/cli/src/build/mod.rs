//! `hfile build`: writes one HFile from cells or CSV, or the HFiles of a table for HBase's bulk load.

mod regions;
mod verb;

pub(crate) use self::verb::Build;
