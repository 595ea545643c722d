//! Checks a table or a snapshot: that each store file is there, complete and sound.
//!
//! `table_check.rs` lists the HFiles to check, each once, with the store files that use it. `file_check.rs`
//! checks one of them: presence, recorded length, every block and filter, and whether its rows are in the
//! region. `mob.rs` follows the references of its cells to MOB files. The module `history` finds
//! store files that are gone. `damage.rs` has the report: the file, and the rows that may be lost with it.

mod damage;
mod file_check;
mod file_use;
mod mob;
mod table_check;

pub use self::damage::TableDamage;
pub use self::file_check::FileCheck;
pub use self::table_check::TableCheck;
