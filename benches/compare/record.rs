//! The record of a run, written after each stage, so that an interrupted run keeps the finished
//! stages.

use std::io;
use std::path::PathBuf;
use std::time::Instant;

use workload::cpu_time::Ticks;

use crate::claims::{self, claims, conclusion};
use crate::figure::{self, Figure};
use crate::load::{Stage, warning};
use crate::page::page;
use crate::run::Run;
use crate::work_directory::put;

/// A run in progress and its output files.
pub(crate) struct Record {
    run: Run,
    json: Option<PathBuf>,
    report: Option<PathBuf>,
    begun: Instant,
    ticks: Option<Ticks>,
}

impl Record {
    /// Starts the record of a run.
    pub(crate) fn new(
        rows: u64,
        settings: Vec<String>,
        [json, report]: [Option<PathBuf>; 2],
    ) -> Self {
        for setting in &settings {
            println!("* {setting}");
        }
        println!();
        show_heading(figure::HEADING);
        let run = Run { rows, settings, ..Run::default() };
        Self { run, json, report, begun: Instant::now(), ticks: Ticks::now() }
    }

    /// Adds figures and prints them.
    pub(crate) fn add(&mut self, figures: Vec<Figure>) {
        figures.iter().filter_map(Figure::cells).for_each(|cells| show(&cells));
        self.run.figures.extend(figures);
    }

    /// Ends the current stage and writes all figures.
    pub(crate) fn end_stage(&mut self, name: &str) -> io::Result<()> {
        let total = self.begun.elapsed().as_secs_f64();
        let seconds = total - self.run.seconds;
        let before = std::mem::replace(&mut self.ticks, Ticks::now());
        let other_load = self.ticks.zip(before).and_then(|(now, before)| now.load_since(before));
        eprintln!("compare: {name}: {seconds:.1} s");
        self.run.seconds = total;
        self.run.stages.push(Stage { name: name.to_owned(), seconds, other_load });
        self.run.claims = claims(&self.run.figures, self.run.rows);
        self.write()
    }

    /// Marks the run as complete, and prints the goals and the conclusion.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.run.is_finished = true;
        self.write()?;
        println!();
        show_heading(claims::HEADING);
        self.run.claims.iter().for_each(|claim| show(&claim.cells()));
        println!("\n{}", conclusion(&self.run.claims));
        if let Some(warning) = warning(&self.run.stages) {
            println!("\nwarning: {warning}");
        }
        println!("\n{:.0} s", self.run.seconds);
        Ok(())
    }

    fn write(&self) -> io::Result<()> {
        if let Some(path) = &self.json {
            put(path, &serde_json::to_vec_pretty(&self.run)?)?;
        }
        if let Some(path) = &self.report {
            put(path, page(&self.run).as_bytes())?;
        }
        Ok(())
    }
}

/// Prints the heading of a table in Markdown.
fn show_heading(heading: &str) {
    println!("| {heading} |\n|{}", "---|".repeat(heading.split(" | ").count()));
}

fn show(cells: &[String]) {
    println!("| {} |", cells.join(" | "));
}
