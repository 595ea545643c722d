//! `hfile`: a command-line tool for Apache HBase's store files that needs no JVM.
//!
//! Each verb (subcommand) is a module of `verbs` with a struct that clap fills and a method `run` that
//! does the work. Results go to stdout, everything else to stderr (`text/stderr.rs`). `failure.rs`
//! and `answer.rs` define the exit statuses.
// `eprintln!` panics if stderr cannot be written; `stderr::print_message` does not.
#![warn(clippy::print_stderr)]

mod answer;
mod arguments;
mod failure;
mod inputs;
mod text;
mod verbs;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser};

use arguments::reading_options::WithReadingOptions;
use text::{destination, help, running, version};
use verbs::group::verbs;
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
  hfile table verify --root hbase                check every table of a copied root directory
  hfile build --from csv users.csv --row id --family f --sort --output users.hfile
  hfile bench --hfiles region/cf --filters hbase-bloom,ribbon    recommend a filter; --report FILE.html: charts

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

verbs! {
    enum Verb {
        Info(WithReadingOptions<info::Info>).applied().run(),
        Layout(WithReadingOptions<layout::Layout>).applied().run(),
        Stats(WithReadingOptions<stats::Stats>).applied().run(),
        Verify(WithReadingOptions<verify::Verify>).applied().run(),
        Cat(WithReadingOptions<cat::Cat>).applied().run(),
        Export(Box<WithReadingOptions<export::ExportFiles>>).applied().run(),
        Get(WithReadingOptions<get::Get>).applied().run(),
        Find(WithReadingOptions<find::Find>).applied().run(),
        Diff(WithReadingOptions<diff::Diff>).applied().run(),
        Build(Box<build::Build>).run(),
        Recompress(WithReadingOptions<recompress::Recompress>).applied().run(),
        Salvage(WithReadingOptions<salvage::Salvage>).applied().run(),
        Bench(bench::Bench).run(),
        #[command(subcommand)]
        Filter(filter::FilterVerbs).run(),
        #[command(subcommand)]
        Snapshot(Box<tables::SnapshotVerbs>).run(),
        #[command(subcommand)]
        Table(Box<tables::TableVerbs>).run(),
        #[command(subcommand)]
        Wal(wal::WalVerbs).run(),
        #[command(subcommand)]
        Store(store::StoreVerbs).run(),
        Completions(completions::Completions).run(Hfile::command()),
        Man(man::Man).run(Hfile::command()),
    }
}

fn main() -> ExitCode {
    sstable::tools::raise_descriptors_max();
    transfer::before_unfinished(destination::handle_ctrl_c);
    let parsed = help::with_groups(Hfile::command()).try_get_matches();
    let matches = parsed.unwrap_or_else(|error| failure::exit_of_arguments(&error));
    running::set_verb(&matches);
    let Hfile { verb } = Hfile::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    failure::exit_code(verb.run())
}
