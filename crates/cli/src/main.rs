//! `hfile`: a command-line tool for Apache HBase's store files that needs no JVM.
//!
//! Each verb (subcommand) is a module with a struct that clap fills and a method `run` that does
//! the work. Results go to stdout, everything else to stderr (`stderr.rs`). `failure.rs` defines
//! the exit statuses.
// `eprintln!` panics if stderr cannot be written; `stderr::print_message` does not.
#![warn(clippy::print_stderr)]

mod bench;
mod build;
mod bulk_load;
mod cat;
mod cells_input;
mod cells_output;
mod counters;
mod csv_input;
mod diff;
mod dry_run;
mod each_file;
mod failure;
mod family_name;
mod filter;
mod find;
mod get;
mod info;
mod input_file;
mod inputs;
mod key_text;
mod keys;
mod layout;
mod lost_rows;
mod output;
mod progress;
mod reading_options;
mod recompress;
mod salvage;
mod size_text;
mod sizing;
mod sorted;
mod stderr;
mod store;
mod temporary;
mod times;
mod verify;
mod writing_options;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use failure::Answer;
use reading_options::ReadingOptions;

/// Read, write, query and measure Apache HBase store files (HFile v3), without a JVM.
#[derive(Parser)]
#[command(
    name = "hfile",
    version,
    disable_help_subcommand = true,
    after_help = "\
Examples:
  hfile bench                          measure how many files filters skip
  hfile info region/cf                 show size, key range, codec and filters of each file
  hfile verify data/default/users      check every block, the index and the filters of a table

hfile VERB --help describes a verb.
A PATH is an HFile or a directory: of HBase (family, region, table, namespace or root), or any other with HFiles.
Keys are written as HBase prints them (row\\x00), or as hex:726f7700.
Exit status: 0 success, 1 negative answer (damaged, different or not found), 2 wrong usage,
3 could not read or write."
)]
struct Hfile {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    reading: ReadingOptions,
}

#[derive(Subcommand)]
enum Verb {
    Bench(bench::Bench),
    Info(info::Info),
    Layout(layout::Layout),
    Verify(verify::Verify),
    Cat(cat::Cat),
    Get(get::Get),
    Find(find::Find),
    Diff(diff::Diff),
    Build(Box<build::Build>),
    Recompress(recompress::Recompress),
    Salvage(salvage::Salvage),
    Filter(filter::FilterVerbs),
    Store(store::StoreVerbs),
}

impl Verb {
    fn run(self) -> anyhow::Result<Answer> {
        match self {
            Self::Bench(verb) => verb.run(),
            Self::Info(verb) => verb.run(),
            Self::Layout(verb) => verb.run(),
            Self::Verify(verb) => verb.run(),
            Self::Cat(verb) => verb.run(),
            Self::Get(verb) => verb.run(),
            Self::Find(verb) => verb.run(),
            Self::Diff(verb) => verb.run(),
            Self::Build(verb) => verb.run(),
            Self::Recompress(verb) => verb.run(),
            Self::Salvage(verb) => verb.run(),
            Self::Filter(verb) => verb.run(),
            Self::Store(verb) => verb.run(),
        }
    }
}

fn main() -> ExitCode {
    let Hfile { verb, reading } = Hfile::parse();
    reading.apply();
    failure::exit_code(verb.run())
}
