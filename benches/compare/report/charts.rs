//! The charts of a report, from the figures of a run.

use super::svg::{Axis, Chart, Point, Series};
use crate::comparison::FILES;
use crate::figure::{CACHE_ALL, Figure, Run, Spread};

/// Returns all charts; a run may lack the figures of some.
pub(super) fn charts(run: &Run) -> Vec<Chart> {
    let all = [
        amplification(run),
        gets(run),
        filters(run),
        growth(run, "rows-present", "rows", "present"),
        growth(run, "rows-absent", "rows", "absent"),
        growth(run, "files-present", "files", "present"),
        growth(run, "files-absent", "files", "absent"),
    ];
    all.into_iter().filter(|chart| chart.series.iter().any(|it| !it.points.is_empty())).collect()
}

/// Returns one series per contender, in the order of the figures.
fn by_contender(figures: &[&Figure], point: impl Fn(&Figure) -> Option<Point>) -> Vec<Series> {
    let mut names: Vec<&str> = Vec::new();
    for figure in figures {
        if !names.contains(&&*figure.contender) {
            names.push(&figure.contender);
        }
    }
    let series = names.into_iter().map(|name| Series {
        name: name.to_owned(),
        points: figures
            .iter()
            .filter(|figure| figure.contender == name)
            .filter_map(|figure| point(figure))
            .collect(),
        line: true,
        bound: false,
    });
    series.filter(|series| !series.points.is_empty()).collect()
}

fn timed(x: f64, figure: &Figure) -> Option<Point> {
    let Spread { low, median, high } = Spread::of(&figure.wall)?;
    Some(Point { x, y: median, spread: Some((low, high)) })
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
        let y = figure.reads.data_blocks.filter(|blocks| *blocks > 0.0)?;
        Some(Point { x: files(figure)?, y, spread: None })
    };
    Chart {
        id: "amplification",
        title: "Data blocks touched by an absent get".to_owned(),
        note: "By number of overlapping files and kind of filter; 10 bits per key. fjall does not \
               count, and where no block was touched there is no point."
            .to_owned(),
        x: Axis::log("files"),
        y: Axis::log("data blocks per get"),
        series: by_contender(&grown, point),
    }
}

fn gets(run: &Run) -> Chart {
    let mut columns: Vec<(String, String)> = Vec::new();
    let rows = run.figures.iter().find(|it| it.work == "get").map_or(0, |it| it.rows);
    let selected: Vec<_> = run
        .figures
        .iter()
        .filter(|it| it.work == "get" && it.threads == 1 && it.rows == rows)
        .filter(|it| matches!(it.asked.as_deref(), Some("present" | "absent")))
        .collect();
    let column = |figure: &Figure| {
        let cache = if figure.cache == CACHE_ALL { "" } else { ", small cache" };
        (format!("{}{cache}", figure.shape), figure.asked.clone().unwrap_or_default())
    };
    for figure in &selected {
        if !columns.contains(&column(figure)) {
            columns.push(column(figure));
        }
    }
    let point = |figure: &Figure| {
        let at = columns.iter().position(|it| *it == column(figure))?;
        timed(at as f64, figure)
    };
    let mut series = by_contender(&selected, point);
    for series in &mut series {
        series.line = false;
    }
    let names = columns.into_iter().map(|(shape, asked)| format!("{asked}, {shape}")).collect();
    Chart {
        id: "gets",
        title: "Nanoseconds per get".to_owned(),
        note: "Median and quartiles of the rounds, by the shape of the files; one thread."
            .to_owned(),
        x: Axis::of_names(names),
        y: Axis::log("ns per get"),
        series,
    }
}

fn filters(run: &Run) -> Chart {
    let mut series: Vec<Series> = Vec::new();
    for filter in run.filters.iter().filter(|it| it.error_rate > 0.0) {
        let point = Point { x: filter.bits_per_key, y: filter.error_rate, spread: None };
        match series.iter_mut().find(|series| series.name == filter.name) {
            Some(series) => series.points.push(point),
            None => series.push(Series {
                name: filter.name.clone(),
                points: vec![point],
                line: true,
                bound: false,
            }),
        }
    }
    if !series.is_empty() {
        let bound = |tenth: i32| {
            let y = 10_f64.powf(-f64::from(tenth) / 10.0);
            Point { x: -y.log2(), y, spread: None }
        };
        series.push(Series {
            name: "lower bound: log2(1 / error rate)".to_owned(),
            points: (5..=45).map(bound).collect(),
            line: true,
            bound: true,
        });
    }
    Chart {
        id: "filters",
        title: "Bits per key and error rate".to_owned(),
        note:
            "Each kind of filter of this project at several sizes, 100 000 keys, header included."
                .to_owned(),
        x: Axis::linear("bits per key"),
        y: Axis::log("error rate"),
        series,
    }
}

fn growth(run: &Run, id: &'static str, of: &str, asked: &str) -> Chart {
    let work = format!("get as {of} grow");
    let is_grown = |it: &&Figure| it.work == work;
    // The main comparison is the last point of this series.
    let is_main = |it: &&Figure| {
        of == "rows" && it.work == "get" && it.shape == "many" && it.cache == CACHE_ALL
    };
    let mut figures: Vec<_> = run.figures.iter().filter(is_grown).collect();
    if !figures.is_empty() {
        figures.extend(run.figures.iter().filter(is_main));
    }
    figures.retain(|it| {
        it.asked.as_deref() == Some(asked)
            && it.threads == 1
            && it.engine != "HBase"
            && !it.contender.contains(" at 1 %")
    });
    let rows = of == "rows";
    let point =
        |figure: &Figure| timed(if rows { figure.rows as f64 } else { files(figure)? }, figure);
    let note = if rows {
        format!("In {FILES} overlapping files, all in the cache.")
    } else {
        "Overlapping files with equal numbers of rows, all in the cache. fjall blocks writes at 30."
            .to_owned()
    };
    Chart {
        id,
        title: format!("Nanoseconds per get of {asked} rows, by number of {of}"),
        note,
        x: Axis::log(of),
        y: Axis::log("ns per get"),
        series: by_contender(&figures, point),
    }
}
