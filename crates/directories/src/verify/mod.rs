//! Checks a table or a snapshot: that each store file is there, complete and sound.
//!
//! `check.rs` lists the HFiles to check, each once, with the store files that use it. `file.rs` checks
//! one of them: presence, recorded length, every block and filter, and whether its rows are in the
//! region. `damage.rs` is what is reported: the file, and the rows that are lost with it.

mod check;
mod damage;
mod file;

pub use self::check::TableCheck;
pub use self::damage::TableDamage;
pub use self::file::FileCheck;
