//! A store that nobody has open, looked into without changing it: what is sound, what is damaged,
//! and another store made of what is sound.
//!
//! ```text
//! plan ─ manifest, or the directories where it is damaged ─┬ verify   each part, and what is wrong
//!                                                          └ salvage  sound parts into a new store
//! ```

mod files;
mod files_there;
mod part;
mod plan;
mod salvage;
mod verify;

pub use part::{Part, PartKind, Problem, Step};
pub use salvage::salvage;
pub use verify::verify;
