//! Stores after power cuts, failed system calls and full disks, and copies that fail.
#![expect(clippy::unwrap_used, reason = "this is a test, also outside of its test functions")]

mod busy_checkpoint;
mod copies;
mod durability;
mod full_disk;
mod key_value_model;
mod poisoned;
mod power_cut;
mod two_shortages;
