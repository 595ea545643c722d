//! The verbs of `hfile` that read and rewrite files, and what all verbs share.

mod bench;
mod bench_report;
mod cat;
#[path = "../support/command_line.rs"]
mod command_line;
mod export_files;
mod filter;
mod find_and_diff;
mod hbase_printer;
mod help;
mod info;
mod long_lines;
mod names;
mod progress;
mod reading;
mod recompress;
mod salvage;
mod setup;
mod stats;
mod unfinished_outputs;
mod unwritable_stderr;
