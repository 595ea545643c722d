//! `hfile`: a command-line tool for Apache HBase's store files that needs no JVM.
//!
//! Each verb (subcommand) is a module of `verbs` with a struct that clap fills and a method `run` that
//! does the work. Results go to stdout, everything else to stderr (`text/stderr.rs`). `failure.rs`
//! defines the exit statuses.
// `eprintln!` panics if stderr cannot be written; `stderr::print_message` does not.
#![warn(clippy::print_stderr)]

mod arguments;
mod failure;
mod inputs;
mod text;
mod verbs;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use arguments::reading_options::WithReadingOptions;
use failure::Answer;
use text::{destination, help, version};
use verbs::{
    bench, build, cat, completions, diff, export, filter, find, get, info, layout, man, recompress,
    salvage, stats, store, tables, verify, wal,
};

/// Read, write, query and measure Apache HBase store files (HFile v3), without a JVM.
#[derive(Parser)]
#[command(
    name = "hfile",
    version,
    long_version = version::LONG,
    disable_help_subcommand = true,
    after_help = "\
Examples:
  hfile info region/cf                           show size, key range, codec and filters of each file
  hfile cat --limit 10 4f1c.hfile                print the first cells
  hfile get --explain region/cf row1             find a row, and show which files its filters skip
  hfile verify data/default/users                check every block, the index and the filters of a table
  hfile build --from csv users.csv --row id --family f --sort --output users.hfile
  hfile bench --rows 100000                      measure how many files filters skip, in seconds

hfile VERB -h lists the common options of a verb; hfile VERB --help describes everything.
A PATH is an HFile or a directory: of HBase (family, region, table, namespace or root), or any other with HFiles.
Keys are written as HBase prints them (row\\x00), or as hex:726f7700. Inputs may be gzip or Zstandard.
Exit status: 0 success, 1 negative answer (damaged, different or not found), 2 wrong usage,
3 could not read or write."
)]
struct Hfile {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Info(WithReadingOptions<info::Info>),
    Layout(WithReadingOptions<layout::Layout>),
    Stats(WithReadingOptions<stats::Stats>),
    Verify(WithReadingOptions<verify::Verify>),
    Cat(WithReadingOptions<cat::Cat>),
    Export(Box<WithReadingOptions<export::ExportFiles>>),
    Get(WithReadingOptions<get::Get>),
    Find(WithReadingOptions<find::Find>),
    Diff(WithReadingOptions<diff::Diff>),
    Build(Box<build::Build>),
    Recompress(WithReadingOptions<recompress::Recompress>),
    Salvage(WithReadingOptions<salvage::Salvage>),
    Bench(bench::Bench),
    Filter(filter::FilterVerbs),
    Snapshot(Box<tables::SnapshotVerbs>),
    Table(Box<tables::TableVerbs>),
    Wal(wal::WalVerbs),
    Store(store::StoreVerbs),
    Completions(completions::Completions),
    Man(man::Man),
}

impl Verb {
    fn run(self) -> anyhow::Result<Answer> {
        match self {
            Self::Info(verb) => verb.applied().run(),
            Self::Layout(verb) => verb.applied().run(),
            Self::Stats(verb) => verb.applied().run(),
            Self::Verify(verb) => verb.applied().run(),
            Self::Cat(verb) => verb.applied().run(),
            Self::Export(verb) => verb.applied().run(),
            Self::Get(verb) => verb.applied().run(),
            Self::Find(verb) => verb.applied().run(),
            Self::Diff(verb) => verb.applied().run(),
            Self::Build(verb) => verb.run(),
            Self::Recompress(verb) => verb.applied().run(),
            Self::Salvage(verb) => verb.applied().run(),
            Self::Bench(verb) => verb.run(),
            Self::Filter(verb) => verb.run(),
            Self::Snapshot(verb) => verb.run(),
            Self::Table(verb) => verb.run(),
            Self::Wal(verb) => verb.run(),
            Self::Store(verb) => verb.run(),
            Self::Completions(verb) => verb.run(Hfile::command()),
            Self::Man(verb) => verb.run(Hfile::command()),
        }
    }
}

fn main() -> ExitCode {
    transfer::before_unfinished(destination::handle_ctrl_c);
    let matches = help::with_groups(Hfile::command()).get_matches();
    let Hfile { verb } = Hfile::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    failure::exit_code(verb.run())
}
