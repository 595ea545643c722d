//! `hfile info`: what the metadata of a file says.
//!
//! `report` is the JSON form, `text` the form for people; `file_info` and `trailer` are the parts
//! that `--all` adds to the text. `list` is the table of `--list`.

mod blooms;
mod file_info;
mod list;
mod report;
mod text;
mod trailer;
mod verb;

pub(crate) use verb::Info;
