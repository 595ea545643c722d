//! What a run has measured so far. It is written anew after each stage, so that a run that is ended
//! from outside leaves what it had by then.

use std::io;
use std::path::PathBuf;
use std::time::Instant;

use crate::claims::claims;
use crate::figure::{Figure, FilterPoint, Run, Spread, Stage};
use crate::place::Place;
use crate::process::Machine;
use crate::report;

/// A run under way, and where it is written.
pub(crate) struct Record<'a> {
    run: Run,
    /// Rows of the main comparison, which the claims are about.
    rows: u64,
    place: &'a Place,
    json: Option<PathBuf>,
    report: Option<PathBuf>,
    begun: Instant,
}

impl<'a> Record<'a> {
    /// A run that begins now.
    pub(crate) fn new(
        place: &'a Place,
        rows: u64,
        settings: Vec<String>,
        [json, report]: [Option<PathBuf>; 2],
    ) -> Self {
        println!(
            "| work | shape | rows | contender | cache | threads | median | low | high | cpu |"
        );
        println!("|---|---|--:|---|---|--:|--:|--:|--:|--:|");
        let run = Run {
            command: std::env::args().collect::<Vec<_>>().join(" "),
            machine: Machine::describe(),
            is_finished: false,
            seconds: 0.0,
            stages: Vec::new(),
            settings,
            figures: Vec::new(),
            filters: Vec::new(),
            claims: Vec::new(),
        };
        Self { run, rows, place, json, report, begun: Instant::now() }
    }

    /// Takes figures in, and shows them.
    pub(crate) fn add(&mut self, figures: Vec<Figure>) {
        figures.iter().for_each(show);
        self.run.figures.extend(figures);
    }

    /// Takes in what filters are like.
    pub(crate) fn add_filters(&mut self, filters: Vec<FilterPoint>) {
        self.run.filters = filters;
    }

    /// Ends what began with the run or where the stage before ended, and writes all there is.
    ///
    /// # Errors
    ///
    /// What the operating system says.
    pub(crate) fn end_stage(&mut self, name: &str) -> io::Result<()> {
        let seconds = self.begun.elapsed().as_secs_f64();
        let stage = Stage { name: name.to_owned(), seconds: seconds - self.run.seconds };
        eprintln!("compare: {name}: {:.1} s", stage.seconds);
        self.run.seconds = seconds;
        self.run.stages.push(stage);
        self.run.claims = claims(&self.run.figures, self.rows);
        self.write()
    }

    /// Says that all was measured that was to be.
    ///
    /// # Errors
    ///
    /// What the operating system says.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.run.machine.finish();
        self.run.is_finished = true;
        self.write()?;
        show_claims(&self.run);
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
    println!(
        "| {} {} | {} | {} | {} | {} | {} | {median:.1} {} | {low:.1} | {high:.1} | {cpu:.1} |",
        figure.work,
        figure.asked.as_deref().unwrap_or_default(),
        figure.shape,
        figure.rows,
        figure.contender,
        figure.cache,
        figure.threads,
        figure.unit,
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
