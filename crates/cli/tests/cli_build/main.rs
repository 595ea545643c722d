//! `hfile build`: cells sorted, and cut for bulk loads. A transcript has the options of CSV.

mod build;
mod bulk_load;
#[path = "../support/command_line.rs"]
mod command_line;
mod large_csv;
mod sort;
