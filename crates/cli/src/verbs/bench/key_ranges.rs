//! The key ranges of files as a chart: one bar a file, over the rows at which files begin or end.
//!
//! The axis has no scale: rows are byte strings, so the boundaries of files are at equal distances. A get of a row
//! may have to search all files whose bars are above each other there.

use std::fmt::Write as _;

use hfile_cli::charts::{escape, table};

use super::report::FileRow;

/// The size and the parts of a drawing.
struct Layout {
    class: &'static str,
    width: f64,
    /// Where the bars begin. With 0, a name is above its bar, not left of it.
    from: f64,
    row_height: f64,
}

const LAYOUTS: [Layout; 2] = [
    Layout { class: "wide", width: 900.0, from: 280.0, row_height: 18.0 },
    Layout { class: "narrow", width: 380.0, from: 0.0, row_height: 32.0 },
];

const HEAD: f64 = 8.0;
const BAR_HEIGHT: f64 = 6.0;

impl Layout {
    /// Writes the row of a file, whose bar is from `start` to `end`.
    fn draw(&self, out: &mut String, top: f64, name: &str, file: &FileRow, [start, end]: [f64; 2]) {
        let bar = top + if self.from > 0.0 { 6.0 } else { 18.0 };
        let (name_x, name_y, anchor) = if self.from > 0.0 {
            (self.from - 8.0, bar + BAR_HEIGHT / 2.0 + 4.0, "end")
        } else {
            (0.0, bar - 6.0, "start")
        };
        let [range_end, name, path, first, last] = [
            &format!("{:.1}", bar + BAR_HEIGHT),
            name,
            &file.file,
            &file.first_row,
            &file.last_row,
        ]
        .map(escape);
        let _ = write!(
            out,
            "<path class=\"range mark full k1\" d=\"M{start:.1} {bar:.1}H{end:.1}V{range_end}H{start:.1}Z\">\
             <title>{path}: {first} to {last}</title></path>\
             <text class=\"label\" x=\"{name_x}\" y=\"{name_y:.1}\" text-anchor=\"{anchor}\">{name}</text>",
        );
    }
}

/// Returns the chart as a figure, with the ranges as a table. `shown` says which files it has, unless it has all.
pub(super) fn key_ranges(files: &[(String, &FileRow)], shown: &str) -> String {
    let mut bounds: Vec<&str> =
        files.iter().flat_map(|(_, file)| [&*file.first_row, &*file.last_row]).collect();
    bounds.sort_unstable();
    bounds.dedup();
    let place = |row: &str| bounds.partition_point(|bound| *bound < row);
    let overlap = (0..bounds.len())
        .map(|at| {
            let covers =
                |file: &FileRow| place(&file.first_row) <= at && at <= place(&file.last_row);
            files.iter().filter(|(_, file)| covers(file)).count()
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
    for layout in &LAYOUTS {
        let Layout { class, width, from, row_height } = layout;
        let _ = write!(
            out,
            "<svg class=\"chart {class}\" viewBox=\"0 0 {width} {}\" role=\"img\" \
             aria-labelledby=\"key-ranges-{class}-title\" font-size=\"11\">\
             <title id=\"key-ranges-{class}-title\">Key ranges and overlap</title>",
            HEAD + files.len() as f64 * row_height
        );
        let step = (width - from) / (bounds.len().max(2) - 1) as f64;
        for (at, (name, file)) in files.iter().enumerate() {
            let start = from + place(&file.first_row) as f64 * step;
            // A file of one row is seen, too.
            let end = (from + place(&file.last_row) as f64 * step).max(start + 3.0);
            layout.draw(&mut out, HEAD + at as f64 * row_height, name, file, [start, end]);
        }
        out.push_str("</svg>\n");
    }
    let head = ["file", "first row", "last row"].map(str::to_owned);
    let row =
        |file: &FileRow| vec![file.file.clone(), file.first_row.clone(), file.last_row.clone()];
    let rows: Vec<_> = files.iter().map(|(_, file)| row(file)).collect();
    let _ = writeln!(
        out,
        "<details><summary>The ranges of this chart</summary>{}</details></figure>",
        table("Key ranges", &head, &rows)
    );
    out
}
