//! Verifies a file completely, and salvages the sound blocks of a damaged one.
#![allow(
    clippy::indexing_slicing,
    clippy::as_conversions,
    clippy::arithmetic_side_effects,
    reason = "counters, and offsets within the file"
)]

mod cells;
mod index;
mod lost_rows;
mod salvage;
mod unreadable;
mod verification;

pub use lost_rows::LostRows;
pub use salvage::{LostRange, salvage};
pub use verification::{PROBLEMS_MAX, Verification, verify};
