//! `hfile build`: cells and CSV in, sorted, and cut for bulk loads.

mod build;
mod bulk_load;
#[path = "../support/command_line.rs"]
mod command_line;
mod csv;
#[path = "../support/csv_build.rs"]
mod csv_build;
mod csv_rules;
mod large_csv;
mod sort;
