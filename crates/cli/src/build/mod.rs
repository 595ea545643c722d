//! `hfile build`: HFiles from cells or CSV: one, or those of a table for HBase's bulk load.

mod regions;
mod verb;

pub(crate) use self::verb::Build;
