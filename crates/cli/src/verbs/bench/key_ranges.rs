//! The key ranges of files as a chart: one bar a file, over the rows at which files begin or end.
//!
//! The axis has no scale: rows are byte strings, so the boundaries of files are at equal distances. A get of a row
//! may have to search all files whose bars are above each other there.

use std::fmt::Write as _;

use workload::charts::{escape, table};

use super::report::FileRow;

const ROW_HEIGHT: usize = 26;
const HEAD: usize = 8;

/// Returns the chart as a figure, with the ranges as a table. `shown` says which files it has, unless it has all.
pub(super) fn key_ranges(files: &[&FileRow], shown: &str) -> String {
    let mut bounds: Vec<&str> =
        files.iter().flat_map(|file| [&*file.first_row, &*file.last_row]).collect();
    bounds.sort_unstable();
    bounds.dedup();
    let place = |row: &str| bounds.partition_point(|bound| *bound < row);
    let overlap = (0..bounds.len())
        .map(|at| {
            let covers =
                |file: &&&FileRow| place(&file.first_row) <= at && at <= place(&file.last_row);
            files.iter().filter(covers).count()
        })
        .max()
        .unwrap_or(0);
    let note = format!(
        "One bar a file, from its first to its last row; the rows where files begin or end are at equal distances. \
         At most {overlap} of {} files overlap: a get may have to search all of these.{shown}",
        files.len()
    );
    let mut out = format!(
        "<figure id=\"key-ranges\"><h3>Key ranges and overlap</h3><p>{}</p>",
        escape(&note)
    );
    for (class, width) in [("wide", 900), ("narrow", 380)] {
        let _ = write!(
            out,
            "<svg class=\"chart {class}\" viewBox=\"0 0 {width} {}\" role=\"img\" \
             aria-labelledby=\"key-ranges-{class}-title\" font-size=\"11\">\
             <title id=\"key-ranges-{class}-title\">Key ranges and overlap</title>",
            HEAD + files.len() * ROW_HEIGHT
        );
        let step = width as f64 / (bounds.len().max(2) - 1) as f64;
        for (at, file) in files.iter().enumerate() {
            let top = HEAD + at * ROW_HEIGHT;
            let from = place(&file.first_row) as f64 * step;
            // A file of one row is seen, too.
            let to = (place(&file.last_row) as f64 * step).max(from + 3.0);
            let name = file.short_name();
            let _ = write!(
                out,
                "<path class=\"range mark full k1\" d=\"M{from:.1} {}H{to:.1}V{}H{from:.1}Z\"><title>{}: {} to {}</title>\
                 </path><text class=\"label\" x=\"2\" y=\"{}\">{}</text>",
                top + 14,
                top + 20,
                escape(&file.file),
                escape(&file.first_row),
                escape(&file.last_row),
                top + 10,
                escape(&name)
            );
        }
        out.push_str("</svg>\n");
    }
    let head = ["file", "first row", "last row"].map(str::to_owned);
    let row =
        |file: &&FileRow| vec![file.file.clone(), file.first_row.clone(), file.last_row.clone()];
    let rows: Vec<_> = files.iter().map(row).collect();
    let _ = writeln!(
        out,
        "<details><summary>The ranges of this chart</summary>{}</details></figure>",
        table("Key ranges", &head, &rows)
    );
    out
}
