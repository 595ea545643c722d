//! Verifies and salvages a store without opening or changing it.
//!
//! ```text
//! plan ─ manifest, or the directories if it is damaged ─┬ verify   each file and its problems
//!                                                       └ salvage  copies sound cells into a new store
//! ```

mod files;
mod files_on_disk;
mod part;
mod plan;
mod salvage;
mod verify;

pub use part::{Part, PartKind, Problem, Step};
pub use salvage::salvage;
pub use verify::verify;
