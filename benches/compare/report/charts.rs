//! The charts of a report, from the figures of a run.

use hfile_cli::charts::{Chart, Group, Row, Rows};
use workload::Spread;

use super::contenders::{legend, mark_of};
use crate::claims::Claim;
use crate::figure::CACHE_ALL;
use crate::run::Run;

/// Returns the chart of the ratios and their goals.
pub(super) fn ratios(run: &Run) -> Chart {
    let mut groups: Vec<Group> = Vec::new();
    let claims = || run.claims.iter().filter(|claim| claim.is_with_peer());
    for claim in claims() {
        let title = format!("ours over {}", claim.peer());
        let row = ratio(claim);
        match groups.iter_mut().find(|group| group.title == title) {
            Some(group) => group.rows.push(row),
            None => groups.push(Group { title, rows: vec![row] }),
        }
    }
    let mut contenders: Vec<String> = Vec::new();
    for claim in claims() {
        if !contenders.contains(&claim.ours) {
            contenders.push(claim.ours.clone());
        }
    }
    Chart {
        id: "ratios",
        title: "Ours over the best settings of each peer".to_owned(),
        note: "Left of the line at 1, ours takes less. Marker: median of the rounds; bar through \
               it: quartiles; vertical stroke: goal."
            .to_owned(),
        legend: legend(&contenders),
        rows: Rows { scale: "ratio; less is better".to_owned(), groups, is_ratio: true },
    }
}

fn ratio(claim: &Claim) -> Row {
    Row {
        label: claim.what.clone(),
        contender: Some(claim.ours.clone()),
        mark: mark_of(&claim.ours),
        value: claim.ratio,
        limit: Some((claim.limit, claim.verdict.clone())),
    }
}

/// Returns the chart of the times of gets.
pub(super) fn gets(run: &Run) -> Chart {
    let rows =
        run.figures.iter().find(|figure| figure.work == "get").map_or(0, |figure| figure.rows);
    let selected = run.figures.iter().filter(|figure| {
        figure.work == "get"
            && figure.threads == 1
            && figure.rows == rows
            && matches!(figure.asked.as_deref(), Some("present" | "absent"))
    });
    let mut groups: Vec<Group> = Vec::new();
    for figure in selected {
        let Some(spread) = Spread::of(&figure.wall) else { continue };
        let cache = if figure.cache == CACHE_ALL { "" } else { ", small cache" };
        let asked = figure.asked.as_deref().unwrap_or_default();
        let title = format!("{asked} get, {}{cache}", figure.shape);
        let row = Row {
            label: figure.contender.clone(),
            contender: None,
            mark: mark_of(&figure.contender),
            value: spread,
            limit: None,
        };
        match groups.iter_mut().find(|group| group.title == title) {
            Some(group) => group.rows.push(row),
            None => groups.push(Group { title, rows: vec![row] }),
        }
    }
    Chart {
        id: "gets",
        title: "Time of a get".to_owned(),
        note: "One thread, by the shape of the files; the cache holds everything, except where it \
               says \u{201c}small cache\u{201d}. Marker: median of the rounds; bar through it: \
               quartiles."
            .to_owned(),
        legend: Vec::new(),
        rows: Rows { scale: "ns per get; less is better".to_owned(), groups, is_ratio: false },
    }
}
