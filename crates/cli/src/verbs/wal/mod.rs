//! `hfile wal`: HBase's write-ahead logs.
//!
//! `files.rs` finds the logs below directories, `survey.rs` reads a whole log and counts, `info.rs`,
//! `verify.rs` and `cat.rs` are the verbs.

mod cat;
mod files;
mod info;
mod survey;
mod verbs;
mod verify;

pub(crate) use self::verbs::WalVerbs;
