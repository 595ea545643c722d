//! The charts of a report, from the figures of a run.

use workload::harness::Spread;

use super::axis::Axis;
use super::chart::{Chart, Drawing, Key};
use super::drawing::Value;
use super::lines::{Lines, Point, Series};
use super::marks::Mark;
use super::rows::{Group, Row, Rows};
use crate::claims::Claim;
use crate::engine::Shape;
use crate::figure::{CACHE_ALL, Figure};
use crate::plan::FILES;
use crate::run::Run;

/// Returns the charts of the figures; a run may lack the figures of some.
pub(super) fn charts(run: &Run) -> Vec<Chart> {
    let all = [
        gets(run),
        amplification(run),
        growth(run, "files-absent", "files", "absent"),
        growth(run, "files-present", "files", "present"),
        growth(run, "rows-absent", "rows", "absent"),
        growth(run, "rows-present", "rows", "present"),
        filters(run),
    ];
    all.into_iter().filter(|chart| !chart.is_empty()).collect()
}

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
    let mut contenders: Vec<&str> = Vec::new();
    for claim in claims() {
        if !contenders.contains(&&*claim.ours) {
            contenders.push(&claim.ours);
        }
    }
    Chart {
        id: "ratios",
        title: "Ours over the best settings of each peer".to_owned(),
        note: "Left of the line at 1, ours takes less. Marker: median of the rounds; bar through \
               it: quartiles; vertical stroke: goal."
            .to_owned(),
        legend: legend(contenders.into_iter()),
        drawing: Drawing::Rows(Rows {
            scale: "ratio; less is better".to_owned(),
            groups,
            is_ratio: true,
        }),
    }
}

fn ratio(claim: &Claim) -> Row {
    Row {
        label: claim.what.clone(),
        contender: Some(claim.ours.clone()),
        mark: Mark::of_contender(&claim.ours),
        value: value(claim.ratio),
        limit: Some((claim.limit, claim.verdict.clone())),
    }
}

fn legend<'a>(contenders: impl Iterator<Item = &'a str>) -> Vec<Key> {
    let key = |name: &str| Key { name: name.to_owned(), mark: Some(Mark::of_contender(name)) };
    contenders.map(key).collect()
}

fn value(Spread { low, median, high }: Spread) -> Value {
    Value { median, quartiles: Some((low, high)) }
}

fn gets(run: &Run) -> Chart {
    let rows = run.figures.iter().find(|it| it.work == "get").map_or(0, |it| it.rows);
    let selected = run.figures.iter().filter(|it| {
        it.work == "get"
            && it.threads == 1
            && it.rows == rows
            && matches!(it.asked.as_deref(), Some("present" | "absent"))
            && !is_at_equal_error_rate(it)
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
            mark: Mark::of_contender(&figure.contender),
            value: value(spread),
            limit: None,
        };
        match groups.iter_mut().find(|group| group.title == title) {
            // A full run measures fjall again beside other sizes of filters.
            Some(group) if group.rows.iter().any(|known| known.label == row.label) => {}
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
        drawing: Drawing::Rows(Rows {
            scale: "ns per get; less is better".to_owned(),
            groups,
            is_ratio: false,
        }),
    }
}

/// Whether the settings are those of the comparison at equal error rates.
fn is_at_equal_error_rate(figure: &Figure) -> bool {
    figure.engine != "HBase" && figure.contender.contains(" at 1 %")
}

/// Returns one series per contender, in the order of the figures.
fn by_contender(figures: &[&Figure], point: impl Fn(&Figure) -> Option<Point>) -> Vec<Series> {
    let mut series: Vec<Series> = Vec::new();
    for figure in figures {
        let Some(point) = point(figure) else { continue };
        match series.iter_mut().find(|series| series.name == figure.contender) {
            Some(series) if series.points.iter().any(|it| it.x.total_cmp(&point.x).is_eq()) => {}
            Some(series) => series.points.push(point),
            None => series.push(Series {
                name: figure.contender.clone(),
                mark: Some(Mark::of_contender(&figure.contender)),
                points: vec![point],
            }),
        }
    }
    series
}

/// How to read a chart with lines.
const LINES: &str = "Markers that would cover each other are moved aside; a thin line leads to \
                     their place.";

fn line_chart(id: &'static str, title: String, note: &str, lines: Lines) -> Chart {
    let key = |series: &Series| Key { name: series.name.clone(), mark: series.mark };
    let legend = lines.series.iter().map(key).collect();
    Chart { id, title, note: format!("{note} {LINES}"), legend, drawing: Drawing::Lines(lines) }
}

fn files(figure: &Figure) -> Option<f64> {
    figure.files.map(|files| files as f64)
}

fn amplification(run: &Run) -> Chart {
    let grown: Vec<_> = run
        .figures
        .iter()
        .filter(|it| it.work == "get as files grow" && it.asked.as_deref() == Some("absent"))
        .collect();
    let point = |figure: &Figure| {
        let median = figure.reads.data_blocks.filter(|blocks| *blocks > 0.0)?;
        Some(Point { x: files(figure)?, y: Value { median, quartiles: None } })
    };
    line_chart(
        "amplification",
        "Data blocks per absent get, by number of files".to_owned(),
        "Overlapping files; 10 bits of filter per key. fjall does not count, and where no block \
         was touched there is no marker. Less is better.",
        Lines {
            x: Axis::log("files"),
            y: Axis::log("data blocks per get"),
            series: by_contender(&grown, point),
            ticks_at_points: true,
        },
    )
}

fn filters(run: &Run) -> Chart {
    let mut series: Vec<Series> = Vec::new();
    for filter in run.filters.iter().filter(|it| it.error_rate > 0.0) {
        let y = Value { median: filter.error_rate * 100.0, quartiles: None };
        let point = Point { x: filter.bits_per_key, y };
        let mark = Some(Mark::of_series(series.len()));
        match series.iter_mut().find(|series| series.name == filter.name) {
            Some(series) => series.points.push(point),
            None => series.push(Series { name: filter.name.clone(), mark, points: vec![point] }),
        }
    }
    if !series.is_empty() {
        let bound = |tenth: i32| {
            let rate = 10_f64.powf(-f64::from(tenth) / 10.0);
            Point { x: -rate.log2(), y: Value { median: rate * 100.0, quartiles: None } }
        };
        series.push(Series {
            name: "fewest bits possible: log2(1 / error rate)".to_owned(),
            mark: None,
            points: (5..=45).map(bound).collect(),
        });
    }
    line_chart(
        "filters",
        "Bits per key and error rate of this project's filters".to_owned(),
        "Each kind of filter at several sizes, 100 000 keys, header included. Here a marker is a \
         kind of filter, not an engine. Further left and lower is better; no filter can be left \
         of the dashed line.",
        Lines {
            x: Axis::linear("bits per key"),
            y: Axis::log("error rate in percent"),
            series,
            ticks_at_points: false,
        },
    )
}

fn growth(run: &Run, id: &'static str, of: &str, asked: &str) -> Chart {
    let work = format!("get as {of} grow");
    let is_grown = |it: &&Figure| it.work == work;
    // The main comparison is the last point of this series.
    let is_main = |it: &&Figure| {
        of == "rows" && it.work == "get" && it.shape == Shape::ManyFiles && it.cache == CACHE_ALL
    };
    let mut figures: Vec<_> = run.figures.iter().filter(is_grown).collect();
    if !figures.is_empty() {
        figures.extend(run.figures.iter().filter(is_main));
    }
    figures.retain(|it| {
        it.asked.as_deref() == Some(asked)
            && it.threads == 1
            && it.engine != "HBase"
            && !is_at_equal_error_rate(it)
    });
    let rows = of == "rows";
    let point = |figure: &Figure| {
        let x = if rows { figure.rows as f64 } else { files(figure)? };
        Some(Point { x, y: value(Spread::of(&figure.wall)?) })
    };
    let note = if rows {
        format!("In {FILES} overlapping files, all in the cache. Less is better.")
    } else {
        "Overlapping files with equal numbers of rows, all in the cache. fjall blocks writes at 30 \
         files. Less is better."
            .to_owned()
    };
    let article = if asked == "absent" { "an" } else { "a" };
    line_chart(
        id,
        format!("Time of {article} {asked} get, by number of {of}"),
        &note,
        Lines {
            x: Axis::log(of),
            y: Axis::log("ns per get"),
            series: by_contender(&figures, point),
            ticks_at_points: true,
        },
    )
}
