//! Compares this project's store with other engines: the same rows and gets, in one run, in alternating
//! rounds.
//!
//! ```text
//! cargo run --release -p benches --features peers --bin compare -- --quick --json out.json
//! ```
#![expect(clippy::print_stdout, reason = "the figures are the output of this program")]

mod claims;
mod comparison;
mod contenders;
mod engine;
mod engines;
mod figure;
mod goals;
mod hbase;
mod load;
mod maps;
mod page;
mod reads;
mod record;
mod run;
mod stores;
mod work_directory;

use std::fs::File;
use std::io::{self, BufReader};
use std::path::PathBuf;

use clap::Parser;
use workload::Rows;

use crate::comparison::{Comparison, FILES, Plan};
use crate::engine::Shape;
use crate::goals::MORE_ROWS;
use crate::reads::Amount;
use crate::record::Record;
use crate::run::Run;
use crate::work_directory::WorkDirectory;

/// Compare this store with other engines: blocks touched and time per get
#[derive(Debug, Parser)]
#[command(after_help = "\
RocksDB, fjall, coordinode-lsm-tree, SurrealKV, redb and LMDB take part if they are built in:
  cargo run --release -p benches --features peers --bin compare -- --quick --json out.json
compiles RocksDB's C++ once, half an hour on two cores. With `--features store-peers` instead, all
but RocksDB take part. HBase takes part with --hbase; it needs a JDK.")]
#[expect(clippy::struct_excessive_bools, reason = "independent options of the command line")]
struct Arguments {
    /// Measure less: some 6 minutes on two idle processors instead of 45
    #[arg(long)]
    quick: bool,
    /// Write all figures to this JSON file, after each stage, so that Ctrl-C keeps the finished
    /// stages
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write an HTML page with charts to this file, after each stage
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Make the page from the figures of an earlier run, without measuring
    #[arg(long, value_name = "JSON", requires = "report")]
    from: Option<PathBuf>,
    /// Keep the stores in this directory during the run [default: the directory for temporary
    /// files]
    #[arg(long, value_name = "DIRECTORY")]
    directory: Option<PathBuf>,
    /// Number of rows of the main comparison [default: 2,000,000]
    #[arg(long)]
    rows: Option<u64>,
    /// Number of rounds of each measurement, at least 5
    #[arg(long)]
    rounds: Option<usize>,
    /// Measure HBase too, in a separate JVM (see `tests/hbase-judge/README.md`)
    #[arg(long)]
    hbase: bool,
    /// Measure only these shapes of files, separated by commas
    #[arg(long, value_delimiter = ',')]
    shapes: Vec<Shape>,
    /// Measure gets with a small cache over five times the rows too, which takes some minutes with
    /// --quick
    #[arg(long)]
    more_rows: bool,
    /// Measure only what has a limit: no second thread, fewer scans
    #[arg(long)]
    limits: bool,
}

fn main() -> io::Result<()> {
    let arguments = Arguments::parse();
    if cfg!(not(feature = "peers")) {
        eprintln!(
            "compare: built without `--features peers`: not every engine takes part; see --help"
        );
    }
    if let (Some(from), Some(to)) = (&arguments.from, &arguments.report) {
        let run: Run = serde_json::from_reader(BufReader::new(File::open(from)?))?;
        return std::fs::write(to, page::page(&run));
    }
    let plan = plan(&arguments);
    let place = WorkDirectory::new(arguments.directory.as_deref())?;
    let outputs = [arguments.json, arguments.report];
    let record = Record::new(&place, plan.rows, settings(&plan), outputs);
    let mut comparison = Comparison { place: &place, plan: &plan, record };
    comparison.run()?;
    let mut record = comparison.record;
    if arguments.hbase {
        let rows = Rows::new(stores::SEED);
        record.add(hbase::measure(&place, rows, plan.rows, plan.amount.rounds)?);
        record.end_stage("HBase")?;
    }
    record.finish()
}

fn plan(arguments: &Arguments) -> Plan {
    let (quick, limits_only) = (arguments.quick, arguments.limits);
    // A full run measures more rows too.
    let is_full = !quick && !limits_only;
    let rows = arguments.rows.unwrap_or(2_000_000);
    let rounds = arguments.rounds.unwrap_or(if quick { 5 } else { 11 });
    let part = if quick { 20 } else { 10 };
    let questions = usize::try_from(rows / part).unwrap_or(usize::MAX).max(1000);
    let wanted = |shape: &Shape| arguments.shapes.is_empty() || arguments.shapes.contains(shape);
    let mut shapes = vec![Shape::ManyFiles, Shape::Levelled, Shape::OneRun];
    shapes.retain(wanted);
    Plan {
        rows,
        more_rows: (is_full || arguments.more_rows).then_some(rows * MORE_ROWS),
        limits_only,
        scanned: if quick { rows / 4 } else { rows },
        amount: Amount { rounds, gets: questions / 5, questions },
        shapes,
    }
}

/// Describes the settings that all engines share, for the report.
fn settings(plan: &Plan) -> Vec<String> {
    [
        format!(
            "{} rows in random order; keys of 16 to 24 bytes, values of 100, half of each \
             compressible",
            plan.rows
        ),
        "LZ4, data blocks of 4 KiB, 10.0 bits of filter per key in the files of every engine"
            .to_owned(),
        "ours, default: with a family map in memory, which replaces the filters of the files that \
         it covers; map off: with 10.0 bits per key in all"
            .to_owned(),
        "RocksDB's filter and kind of cache are named; the others have one kind of cache each, and \
         redb and LMDB have no filter"
            .to_owned(),
        "each put is a separate call and is in the log when it returns; none waits for the disk; \
         coordinode has no log, redb and LMDB write 250,000 rows in a transaction"
            .to_owned(),
        format!("many files: {FILES} overlapping files, never merged"),
        "levelled: memtables of 16 MiB, then as each engine's own compaction leaves the files"
            .to_owned(),
        "one run: the many files, merged to one sorted run".to_owned(),
        format!(
            "{} alternating rounds of {} gets each, with {} different keys",
            plan.amount.rounds, plan.amount.gets, plan.amount.questions
        ),
        format!("a scan reads the first {} rows in key order", plan.scanned),
    ]
    .to_vec()
}
