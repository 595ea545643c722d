//! This project's store beside RocksDB, fjall, redb and HBase: the same rows, the same questions,
//! in one run, in turns.
//!
//! ```text
//! cargo run --release -p benches --features peers --bin compare -- --quick --json out.json
//! ```
#![expect(clippy::print_stdout, reason = "the figures are what this program is for")]

mod claims;
mod comparison;
mod contenders;
mod engine;
mod engines;
mod figure;
mod filters;
mod hbase;
mod place;
mod process;
mod reads;
mod record;
mod report;
mod rounds;
mod stores;

use std::fs::File;
use std::io::{self, BufReader};
use std::path::PathBuf;

use clap::Parser;
use workload::{Asked, Rows};

use crate::comparison::{Comparison, Plan};
use crate::engine::Shape;
use crate::figure::Run;
use crate::place::Place;
use crate::reads::Amount;
use crate::record::Record;

/// Compare this store with RocksDB, fjall, redb and HBase: what a get touches and how long it takes.
#[derive(Debug, Parser)]
#[command(after_help = "\
RocksDB, fjall and redb take part if they are built in:
  cargo run --release -p benches --features peers --bin compare -- --quick --json out.json
compiles RocksDB's C++ once, half an hour on two cores. With `--features store-peers` instead, fjall
and redb take part, which are Rust. HBase takes part with --hbase; it needs a JDK.")]
struct Arguments {
    /// Measure less: within five minutes on two idle processors, instead of within forty.
    #[arg(long)]
    quick: bool,
    /// Write all figures here, as JSON; anew after each stage, so that Ctrl-C leaves those so far.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write a page with charts here, as HTML; after each stage, too.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Make the page of figures that an earlier run wrote, and measure nothing.
    #[arg(long, value_name = "JSON", requires = "report")]
    from: Option<PathBuf>,
    /// Keep the stores here while they are compared [default: where the system has temporary files].
    #[arg(long, value_name = "DIRECTORY")]
    directory: Option<PathBuf>,
    /// Rows of the main comparison [default: two million].
    #[arg(long)]
    rows: Option<u64>,
    /// Rounds of each measurement; at least five, or no spread is known.
    #[arg(long)]
    rounds: Option<usize>,
    /// Ask HBase too, in its own JVM (see `tests/hbase-judge/README.md`).
    #[arg(long)]
    hbase: bool,
    /// Only these shapes: many, levelled, compacted.
    #[arg(long, value_delimiter = ',')]
    shapes: Vec<String>,
    /// Leave out how costs grow with files and rows.
    #[arg(long)]
    no_growth: bool,
}

fn main() -> io::Result<()> {
    let arguments = Arguments::parse();
    if cfg!(not(feature = "peers")) {
        eprintln!(
            "compare: built without RocksDB{}; `cargo run --release -p benches --features peers \
             --bin compare` has all (and compiles C++ for half an hour, once)",
            if cfg!(feature = "store-peers") { "" } else { ", fjall and redb: ours runs alone" }
        );
    }
    if let (Some(from), Some(to)) = (&arguments.from, &arguments.report) {
        let run: Run = serde_json::from_reader(BufReader::new(File::open(from)?))?;
        return std::fs::write(to, report::page(&run));
    }
    let plan = plan(&arguments);
    let place = Place::new(arguments.directory.as_deref())?;
    let outputs = [arguments.json, arguments.report];
    let mut record = Record::new(&place, plan.rows, settings(&plan), outputs);
    record.add_filters(filters::points());
    record.end_stage("filters")?;
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
    let quick = arguments.quick;
    let rows = arguments.rows.unwrap_or(2_000_000);
    let rounds = arguments.rounds.unwrap_or(if quick { 5 } else { 11 });
    let part = if quick { 20 } else { 10 };
    let questions = usize::try_from(rows / part).unwrap_or(usize::MAX).max(1000);
    let wanted = |shape: &Shape| {
        arguments.shapes.is_empty() || arguments.shapes.iter().any(|it| it == shape.name())
    };
    let mut shapes = vec![Shape::Many, Shape::Levelled, Shape::Compacted];
    shapes.retain(wanted);
    Plan {
        rows,
        more_rows: (!quick).then_some(rows * 5),
        growth: if arguments.no_growth { Vec::new() } else { vec![rows / 20, rows / 5] },
        // Fewer would leave a filter of one cache line nothing to be wrong about.
        rows_per_file: (rows / if quick { 400 } else { 100 }).max(50),
        files_max: if arguments.no_growth { 0 } else { 64 },
        scanned: if quick { rows / 4 } else { rows },
        amount: Amount { rounds, gets: questions / 5, questions },
        asked: if quick { vec![Asked::Present, Asked::Absent] } else { Asked::ALL.to_vec() },
        shapes,
        equal_error_rate: !quick,
    }
}

/// What all engines were given, for who reads the figures.
fn settings(plan: &Plan) -> Vec<String> {
    [
        format!(
            "{} rows in random order; keys of 16 to 24 bytes, values of 100, half of which can be \
             compressed away",
            plan.rows
        ),
        "LZ4, data blocks of 4 KiB, 10.0 bits of filter a key, in every engine".to_owned(),
        "RocksDB's filter and kind of cache are named; the others have one kind of cache each, and \
         redb has no filter"
            .to_owned(),
        "each put is a call of its own and is in the log when it returns; none waits for the disk"
            .to_owned(),
        format!("many: {} files that overlap, no compaction", comparison::FILES),
        "levelled: memtables of 16 MiB, else each engine's own compaction".to_owned(),
        format!(
            "{} rounds in turns, {} gets each, of {} different questions",
            plan.amount.rounds, plan.amount.gets, plan.amount.questions
        ),
        format!("a scan sees {} rows, the first by their keys", plan.scanned),
    ]
    .to_vec()
}
