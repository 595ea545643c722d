//! The inner loop of ribbon lookups: whether the slots of a key's equation give its fingerprint.
//!
//! | file      | idea                                                                      |
//! |-----------|---------------------------------------------------------------------------|
//! | `compare` | the columns of two blocks, and comparisons of more than one vector        |
//! | `lookup`  | the lookup around the comparison, compiled once for each instruction set  |

mod compare;
mod lookup;
#[cfg(test)]
mod tests;

pub(crate) use compare::{ColumnWindow, Columns, prefetch_columns, window};
pub(crate) use lookup::{ColumnLookup, FastPath};
pub(super) use lookup::{look_up, look_up_all};
