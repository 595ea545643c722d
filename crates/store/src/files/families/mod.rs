//! Changes of the set of families: families are created, altered and dropped.

mod changes;
pub(crate) mod dropped;
