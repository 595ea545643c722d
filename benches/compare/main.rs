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
mod page;
mod plan;
mod reads;
mod record;
mod run;
mod stores;
mod work_directory;

use std::fs::File;
use std::io::{self, BufReader};
use std::path::PathBuf;

use clap::Parser;

use crate::comparison::Comparison;
use crate::engine::Shape;
use crate::plan::Plan;
use crate::record::Record;
use crate::run::Run;
use crate::work_directory::WorkDirectory;

/// Compare this store with other engines: blocks touched and time per get
#[derive(Debug, Parser)]
#[command(after_help = "\
RocksDB, fjall, coordinode-lsm-tree, SurrealKV, redb and LMDB take part if they are built in:
  cargo run --release -p benches --features peers --bin compare -- --quick --json out.json
compiles RocksDB's C++ once, half an hour on two cores. After `benches/with-rocksdb`, the same
command takes the compiled RocksDB of Maven Central. With `--features store-peers` instead, all but
RocksDB take part. HBase takes part with --hbase; it needs a JDK.")]
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
        let mut run: Run = serde_json::from_reader(BufReader::new(File::open(from)?))?;
        run.claims = claims::claims(&run.figures, run.rows);
        return std::fs::write(to, page::page(&run));
    }
    let plan = Plan::new(&arguments);
    let place = WorkDirectory::new(arguments.directory.as_deref())?;
    let outputs = [arguments.json, arguments.report];
    let record = Record::new(plan.rows, plan.settings(), outputs);
    let mut comparison = Comparison { place: place.path(), plan: &plan, record };
    comparison.run()?;
    let mut record = comparison.record;
    if arguments.hbase {
        record.add(hbase::measure(place.path(), &plan)?);
        record.end_stage("HBase")?;
    }
    record.finish()
}
