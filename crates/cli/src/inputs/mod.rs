//! The PATH arguments of the verbs that read: files and directories, as the store files to read.
//!
//! `expand.rs` replaces a directory by the store files below it, and prints what it skips.
//! `input.rs` opens a store file: an HFile, the target of a link, or the half that a reference stands
//! for. `target.rs` describes links and halves. `merged.rs` merges the cells of a directory's files.
//! `single.rs` is for verbs that take one HFile. `each_file.rs` and `parallel.rs` run a verb over many
//! files.

mod each_file;
mod expand;
mod input;
mod merged;
mod parallel;
mod single;
mod skipped;
mod target;

pub(crate) use self::each_file::{FailedFile, Outcomes};
pub(crate) use self::expand::{Inputs, UnreadDirectory};
pub(crate) use self::input::{Input, OpenInput};
pub(crate) use self::merged::MergedCells;
pub(crate) use self::parallel::in_parallel;
pub(crate) use self::single::single_hfile;
pub(crate) use self::target::{Target, add_target_column};
