//! The record of a run, written after each stage, so that an interrupted run keeps the finished
//! stages.

use std::io;
use std::path::PathBuf;
use std::time::Instant;

use workload::Spread;

use crate::claims::claims;
use crate::conclusion::{Conclusion, conclusion};
use crate::figure::Figure;
use crate::limits;
use crate::other_load::Stage;
use crate::other_load::{self, LoadMeter};
use crate::process::Machine;
use crate::report;
use crate::run::Run;
use crate::work_directory::WorkDirectory;

/// A run in progress and its output files.
pub(crate) struct Record<'a> {
    run: Run,
    /// Rows of the main comparison, which the claims are about.
    rows: u64,
    place: &'a WorkDirectory,
    json: Option<PathBuf>,
    report: Option<PathBuf>,
    begun: Instant,
    load: LoadMeter,
}

impl<'a> Record<'a> {
    /// Starts the record of a run.
    pub(crate) fn new(
        place: &'a WorkDirectory,
        rows: u64,
        settings: Vec<String>,
        [json, report]: [Option<PathBuf>; 2],
    ) -> Self {
        println!(
            "| work | shape | rows | files | contender | cache | threads | median | low | high | cpu | \
             data blocks | bits of memory a key |"
        );
        println!("|---|---|--:|--:|---|---|--:|--:|--:|--:|--:|--:|--:|");
        let run = Run {
            command: std::env::args().collect::<Vec<_>>().join(" "),
            machine: Machine::describe(),
            is_finished: false,
            seconds: 0.0,
            stages: Vec::new(),
            settings,
            figures: Vec::new(),
            claims: Vec::new(),
        };
        Self { run, rows, place, json, report, begun: Instant::now(), load: LoadMeter::start() }
    }

    /// Adds figures and prints them.
    pub(crate) fn add(&mut self, figures: Vec<Figure>) {
        figures.iter().for_each(show);
        self.run.figures.extend(figures);
    }

    /// Ends the current stage and writes all figures.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub(crate) fn end_stage(&mut self, name: &str) -> io::Result<()> {
        let seconds = self.begun.elapsed().as_secs_f64();
        let stage = Stage {
            name: name.to_owned(),
            seconds: seconds - self.run.seconds,
            other_load: self.load.lap(),
        };
        eprintln!("compare: {name}: {:.1} s", stage.seconds);
        self.run.seconds = seconds;
        self.run.stages.push(stage);
        self.run.claims = claims(&self.run.figures, self.rows);
        self.write()
    }

    /// Marks the run as complete.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.run.machine.finish();
        self.run.is_finished = true;
        self.write()?;
        show_claims(&self.run);
        println!("\n{}", limits::table(&self.run.claims));
        show_conclusion(&self.run);
        println!("\n{:.0} s", self.run.seconds);
        Ok(())
    }

    fn write(&self) -> io::Result<()> {
        if let Some(path) = &self.json {
            self.place.put(path, &serde_json::to_vec_pretty(&self.run)?)?;
        }
        if let Some(path) = &self.report {
            self.place.put(path, report::page(&self.run).as_bytes())?;
        }
        Ok(())
    }
}

fn show(figure: &Figure) {
    let spread = Spread::of(&figure.wall);
    let Some(Spread { low, median, high }) = spread else { return };
    let cpu = Spread::of(&figure.cpu).map_or(f64::NAN, |cpu| cpu.median);
    let given = |number: Option<f64>, digits| {
        number.map_or("–".to_owned(), |number| format!("{number:.digits$}"))
    };
    println!(
        "| {} {} | {} | {} | {} | {} | {} | {} | {median:.1} {} | {low:.1} | {high:.1} | {cpu:.1} | \
         {} | {} |",
        figure.work,
        figure.asked.as_deref().unwrap_or_default(),
        figure.shape,
        figure.rows,
        given(figure.files.map(|files| files as f64), 0),
        figure.contender,
        figure.cache,
        figure.threads,
        figure.unit,
        given(figure.reads.data_blocks, 4),
        given(figure.memory_bits_per_key, 1),
    );
}

fn show_claims(run: &Run) {
    println!("\n| what | cache | ours | theirs | ratio | low | high | limit | |");
    println!("|---|---|---|---|--:|--:|--:|--:|---|");
    for claim in &run.claims {
        let Spread { low, median, high } = claim.ratio;
        println!(
            "| {} | {} | {} | {} | {median:.3} | {low:.3} | {high:.3} | {} | {} |",
            claim.what, claim.cache, claim.ours, claim.theirs, claim.limit, claim.verdict
        );
    }
}

/// Prints the conclusion, and a warning if the machine was busy.
fn show_conclusion(run: &Run) {
    let Conclusion { headline, peers } = conclusion(run);
    println!("\n{headline}");
    for peer in peers {
        println!("\n{peer}");
    }
    if let Some(warning) = other_load::warning(&run.stages) {
        println!("\nwarning: {warning}");
    }
}
