//! The report of a run: one HTML page with a warning, the conclusion, the machine, charts and all figures.

use std::fmt::Write;

use hfile_cli::charts::{self, Chart, Group, Row, escape, table};
use workload::Spread;

use crate::claims::{self, Claim, conclusion};
use crate::contenders::OURS;
use crate::figure::{self, Figure, number};
use crate::load::{BUSY_PROCESSORS, Stage, warning};
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
    let gets = gets(run);
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
    let settings: Vec<_> = run.settings.iter().map(|setting| escape(setting)).collect();
    let settings = settings.join("</li><li>");
    let _ = writeln!(
        out,
        "<h2>Run</h2>\n<ul><li>{settings}</li></ul>\n<p>It took {:.0} s. A stage is busy if others took \
         more than {BUSY_PROCESSORS:.2} processors.</p>",
        run.seconds,
    );
    let stage =
        |of: &Stage| vec![of.name.clone(), format!("{:.1}", of.seconds), number(of.other_load, 2)];
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
fn gets(run: &Run) -> Chart {
    let rows = run.figures.iter().filter(|figure| figure.is_get()).filter_map(|figure| {
        let (label, value) = (figure.contender.clone(), Spread::of(&figure.wall)?);
        Some((figure.title(run.rows), Row { label, value, limit: None }))
    });
    Chart {
        id: "gets",
        title: "Time of a get".to_owned(),
        note: "One thread, by the shape of the files; the cache holds everything, except where it \
               says “small cache”. Point: median of the rounds; bar through it: \
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
