//! The report of a run: one HTML page with a warning, the conclusion, the machine, charts and all figures.

use std::fmt::Write;

use hfile_cli::charts::{self, Chart, Group, Row, escape, table};
use workload::Spread;

use crate::claims::{self, Claim, conclusion};
use crate::contenders::OURS;
use crate::figure::{self, CACHE_ALL, Figure};
use crate::load::{BUSY_PROCESSORS, warning};
use crate::run::Run;

/// What a ratio and a goal mean.
const RATIOS: &str = "<h2>Ratios and goals</h2>\n<p>A ratio is our figure divided by the peer's in \
    the same round, with the settings of the peer that are best for this work. At 0.5 ours takes \
    half of the peer's time (or data blocks, or bytes); at 2 it takes twice as much; at 1, the \
    vertical line, both are equal.</p>\n<p>A goal, the vertical stroke in a row, is the ratio that \
    this project wants to reach: a goal of 0.2 means at most a fifth of the peer's time. It is \
    <em>held</em> if the upper quartile is at most the goal, <em>missed</em> if the lower quartile \
    exceeds it, and <em>unresolved</em> if it lies between them. A missed goal with a ratio below \
    1 is still ahead of the peer.</p>\n";

/// Returns the whole page.
pub(crate) fn page(run: &Run) -> String {
    let mut out = String::new();
    if !run.is_finished {
        let stage = run.stages.last().map_or("the first stage", |stage| &*stage.name);
        let unfinished = format!("Unfinished: the page has the figures up to “{stage}”.");
        paragraph(&mut out, "unfinished", "warning", &unfinished);
    }
    if let Some(warning) = warning(&run.stages) {
        paragraph(&mut out, "busy", "warning", &warning);
    }
    paragraph(&mut out, "headline", "headline", &conclusion(&run.claims));
    about(&mut out, run);
    if !run.claims.is_empty() {
        out.push_str(RATIOS);
        out.push_str(&ratios(&run.claims).html());
        let rows: Vec<_> = run.claims.iter().map(Claim::cells).collect();
        details(&mut out, "All goals", claims::HEADING, &rows);
    }
    let gets = gets(&run.figures);
    if !gets.groups.is_empty() {
        out.push_str("<h2>Times</h2>\n");
        out.push_str(&gets.html());
    }
    let rows: Vec<_> = run.figures.iter().filter_map(Figure::cells).collect();
    details(&mut out, "All figures", figure::HEADING, &rows);
    charts::page("Point reads compared", &out)
}

fn paragraph(out: &mut String, id: &str, class: &str, text: &str) {
    let _ = writeln!(out, "<p id=\"{id}\" class=\"{class}\">{}</p>", escape(text));
}

fn details(out: &mut String, title: &str, head: &str, rows: &[Vec<String>]) {
    let head: Vec<String> = head.split(" | ").map(str::to_owned).collect();
    let table = table(title, &head, rows);
    let _ = writeln!(out, "<details><summary>{title}</summary>{table}</details>");
}

fn about(out: &mut String, run: &Run) {
    let machine = &run.machine;
    let _ = write!(
        out,
        "<h2>Run</h2>\n<p><code>{}</code></p><p>{}, {} processors, {:.0} GiB, Linux {}; huge pages: {}. \
         It took {:.0} s.</p><ul>",
        escape(&run.command),
        escape(&machine.processor),
        machine.processors,
        machine.memory_gib,
        escape(&machine.kernel),
        escape(&machine.transparent_huge_pages),
        run.seconds,
    );
    for setting in &run.settings {
        let _ = write!(out, "<li>{}</li>", escape(setting));
    }
    let stage = |stage: &crate::load::Stage| {
        let load = stage.other_load.map_or_else(|| "–".to_owned(), |load| format!("{load:.2}"));
        vec![stage.name.clone(), format!("{:.1}", stage.seconds), load]
    };
    let _ = writeln!(
        out,
        "</ul>\n<p>A stage is busy if others took more than {BUSY_PROCESSORS:.2} processors.</p>"
    );
    let stages: Vec<_> = run.stages.iter().map(stage).collect();
    details(out, "Stages", "stage | seconds | taken by others, processors", &stages);
}

/// Returns the chart of the ratios and their goals.
fn ratios(claims: &[Claim]) -> Chart {
    let rows = claims.iter().filter(|claim| claim.peer() != OURS).map(|claim| {
        let label = format!("{} — {}", claim.what, claim.ours);
        let limit = Some((claim.limit, claim.verdict.clone()));
        (format!("ours over {}", claim.peer()), Row { label, value: claim.ratio, limit })
    });
    Chart {
        id: "ratios",
        title: "Ours over the best settings of each peer".to_owned(),
        note: "Left of the line at 1, ours takes less. Point: median of the rounds; bar through \
               it: quartiles; vertical stroke: goal."
            .to_owned(),
        scale: "ratio; less is better".to_owned(),
        groups: grouped(rows),
        is_ratio: true,
    }
}

/// Returns the chart of the times of gets.
fn gets(figures: &[Figure]) -> Chart {
    let gets = || figures.iter().filter(|figure| figure.work == "get" && figure.threads == 1);
    let rows = gets().next().map_or(0, |figure| figure.rows);
    let rows = gets().filter(|figure| figure.rows == rows).filter_map(|figure| {
        let cache = if figure.cache == CACHE_ALL { "" } else { ", small cache" };
        let asked = figure.asked.as_deref().unwrap_or_default();
        let title = format!("{asked} get, {}{cache}", figure.shape.name());
        let (label, value) = (figure.contender.clone(), Spread::of(&figure.wall)?);
        Some((title, Row { label, value, limit: None }))
    });
    Chart {
        id: "gets",
        title: "Time of a get".to_owned(),
        note: "One thread, by the shape of the files; the cache holds everything, except where it \
               says \u{201c}small cache\u{201d}. Point: median of the rounds; bar through it: \
               quartiles."
            .to_owned(),
        scale: "ns per get; less is better".to_owned(),
        groups: grouped(rows),
        is_ratio: false,
    }
}

/// Groups rows by their titles, in the order of the first row of each.
fn grouped(rows: impl Iterator<Item = (String, Row)>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (title, row) in rows {
        match groups.iter_mut().find(|group| group.title == title) {
            Some(group) => group.rows.push(row),
            None => groups.push(Group { title, rows: vec![row] }),
        }
    }
    groups
}
