//! How a store is written: a batch is checked, goes to the log, and then into memstores.
//!
//! ```text
//! mutation ─┬─ prepare ─ log ─ memstores of the families
//! read_modify_write ─┘
//! ```

pub(crate) mod log;
pub(crate) mod mutation;
pub(crate) mod prepare;
pub(crate) mod read_modify_write;
