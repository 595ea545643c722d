//! How a store is written: a batch is checked, goes to the log, and then into memstores.
//!
//! ```text
//! mutation ─┬─ prepare ─ log ─ memstores of the families
//! change   ─┘  change: batches that depend on what is there
//! ```

pub(crate) mod change;
pub(crate) mod log;
pub(crate) mod mutation;
pub(crate) mod prepare;
