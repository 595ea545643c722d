//! Processes that write to a store are killed.
#![expect(clippy::unwrap_used, reason = "this is a test, also outside of its test functions")]

mod acknowledged_puts;
mod kill_chains;
