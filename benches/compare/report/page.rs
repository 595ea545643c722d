//! The page: warning, conclusion, machine and settings, ratios, charts, and all figures.

use std::fmt::Write;

use hfile_cli::charts::{self, escape, number, table};
use workload::Spread;

use super::charts::{gets, ratios};
use crate::conclusion::conclusion;
use crate::figure::Figure;
use crate::other_load::{BUSY_PROCESSORS, warning};
use crate::run::Run;

/// Returns the whole page.
pub(crate) fn page(run: &Run) -> String {
    let mut out = String::new();
    if !run.is_finished {
        let stage = run.stages.last().map_or("the first stage", |stage| &*stage.name);
        let _ = writeln!(
            out,
            "<p id=\"unfinished\" class=\"warning\"><strong>Unfinished</strong>: the page has the \
             figures up to “{}”.</p>",
            escape(stage)
        );
    }
    if let Some(warning) = warning(&run.stages) {
        let _ = writeln!(
            out,
            "<p id=\"busy\" class=\"warning\"><strong>Warning.</strong> {}</p>",
            escape(&warning)
        );
    }
    conclude(&mut out, run);
    about(&mut out, run);
    if !run.claims.is_empty() {
        out.push_str(RATIOS);
        out.push_str(&ratios(run).html());
    }
    let gets = gets(run);
    if !gets.rows.groups.is_empty() {
        out.push_str("<h2>Times</h2>\n");
        out.push_str(&gets.html());
    }
    figures(&mut out, &run.figures);
    charts::page("Point reads compared", &out)
}

/// What a ratio and a goal mean.
const RATIOS: &str = "<h2>Ratios and goals</h2>\n<p>A ratio is our figure divided by the peer's in \
    the same round, with the settings of the peer that are best for this work. At 0.5 ours takes \
    half of the peer's time (or data blocks, or bytes); at 2 it takes twice as much; at 1, the \
    vertical line, both are equal.</p>\n<p>A goal, the vertical stroke in a row, is the ratio that \
    this project wants to reach: a goal of 0.2 means at most a fifth of the peer's time. It is \
    <em>held</em> if the upper quartile is at most the goal, <em>missed</em> if the lower quartile \
    exceeds it, and <em>unresolved</em> if it lies between them. A missed goal with a ratio below \
    1 is still ahead of the peer.</p>\n";

fn conclude(out: &mut String, run: &Run) {
    let conclusion = conclusion(run);
    let _ =
        writeln!(out, "<p id=\"headline\" class=\"headline\">{}</p>", escape(&conclusion.headline));
    if conclusion.peers.is_empty() {
        return;
    }
    out.push_str(
        "<p>Each line compares the best of our settings with the best of the peer's. Ahead means \
         that both quartiles of the ratio are below 1, behind that both are above 1.</p>\n\
         <ul id=\"peers\">",
    );
    for peer in &conclusion.peers {
        let (name, rest) = peer.split_once(". ").unwrap_or((peer, ""));
        let _ = write!(out, "<li><strong>{}</strong>. {}</li>", escape(name), escape(rest));
    }
    out.push_str("</ul>\n");
}

fn about(out: &mut String, run: &Run) {
    let machine = &run.machine;
    let _ = write!(
        out,
        "<h2>Run</h2>\n<p><code>{}</code></p><p>{}, {} processors, {:.0} GiB, Linux {}; load {} \
         before and {} after; huge pages: {}. It took {:.0} s.</p><ul>",
        escape(&run.command),
        escape(&machine.processor),
        machine.processors,
        machine.memory_gib,
        escape(&machine.kernel),
        machine.load_before,
        machine.load_after,
        escape(&machine.transparent_huge_pages),
        run.seconds,
    );
    for setting in &run.settings {
        let _ = write!(out, "<li>{}</li>", escape(setting));
    }
    let head = ["stage", "seconds", "other processes, processors", "taken by the host, processors"]
        .map(str::to_owned);
    let stage = |stage: &crate::other_load::Stage| {
        let load =
            |part: Option<f64>| part.map_or_else(|| "–".to_owned(), |load| format!("{load:.2}"));
        vec![
            stage.name.clone(),
            format!("{:.1}", stage.seconds),
            load(stage.other_load.map(|load| load.processes)),
            load(stage.other_load.map(|load| load.host)),
        ]
    };
    let stages: Vec<_> = run.stages.iter().map(stage).collect();
    let _ = write!(
        out,
        "</ul>\n<details><summary>Stages, their time and the load of others</summary><p>A stage is \
         busy if the last two columns together exceed {BUSY_PROCESSORS:.2} processors.</p>{}\
         </details>\n",
        table("Stages", &head, &stages)
    );
}

fn figures(out: &mut String, figures: &[Figure]) {
    let head = [
        "work",
        "shape",
        "rows",
        "files",
        "contender",
        "cache",
        "threads",
        "median",
        "quartiles",
        "CPU",
        "data blocks",
        "filters asked",
        "false positives",
        "filter bits per key",
        "memory bits per key",
    ]
    .map(str::to_owned);
    let given = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), number);
    let row = |figure: &Figure| {
        let Spread { low, median, high } = Spread::of(&figure.wall)?;
        let work = format!("{} {}", figure.work, figure.asked.as_deref().unwrap_or_default());
        Some(vec![
            work.trim_end().to_owned(),
            figure.shape.to_string(),
            number(figure.rows as f64),
            given(figure.files.map(|files| files as f64)),
            figure.contender.clone(),
            figure.cache.clone(),
            figure.threads.to_string(),
            format!("{} {}", number(median), figure.unit),
            format!("{} – {}", number(low), number(high)),
            given(Spread::of(&figure.cpu).map(|cpu| cpu.median)),
            given(figure.reads.data_blocks),
            given(figure.reads.filter_checks),
            given(figure.reads.false_positives),
            given(figure.filter_bits_per_key),
            given(figure.memory_bits_per_key),
        ])
    };
    let rows: Vec<_> = figures.iter().filter_map(row).collect();
    let _ = writeln!(
        out,
        "<details><summary>All figures</summary>{}</details>",
        table("All figures", &head, &rows)
    );
}
