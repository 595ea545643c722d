//! How a store is written: batches go to the log and then into memstores.
//!
//! ```text
//! mutation, change ─ commit: groups of batches ─┬ log       segments, and how they are read back
//!                                               └ memstores of the families
//! ```

pub(crate) mod change;
pub(crate) mod commit;
pub(crate) mod log;
pub(crate) mod mutation;
