//! Verifies a file completely, and salvages the sound blocks of a damaged one.

mod cells;
mod checked_block;
mod index_check;
mod listed_blocks;
mod lost_rows;
mod salvage;
mod stored_form;
mod unreadable;
mod verification;

pub use lost_rows::LostRows;
pub(crate) use salvage::stored_form;
pub use salvage::{LostRange, salvage};
pub(crate) use stored_form::StoredForm;
pub use verification::{PROBLEMS_MAX, Verification, verify};
