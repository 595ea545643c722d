//! Every check of a file that there is, and what can be saved of a damaged one.

mod cells;
mod index;
mod lost_rows;
mod resume;
mod salvage;
mod verification;

pub use lost_rows::LostRows;
pub use salvage::{Lost, salvage};
pub use verification::{PROBLEMS_MAX, Verification, verify};
