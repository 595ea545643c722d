//! The key ranges of files as a chart: one bar a file, over the rows at which files begin or end.
//!
//! The axis has no scale: rows are byte strings, so the boundaries of files are at equal distances. A get of a row
//! may have to search all files whose bars are above each other there.

use hfile_cli::charts::{escape, mark, open_table, plotted_row};

use super::report::FileRow;

/// Returns the chart as a figure. `shown` says which files it has, unless it has all.
pub(super) fn key_ranges(files: &[(String, &FileRow)], shown: &str) -> String {
    let mut bounds: Vec<&str> =
        files.iter().flat_map(|(_, file)| [&*file.first_row, &*file.last_row]).collect();
    bounds.sort_unstable();
    bounds.dedup();
    let mut overlap = 0;
    for bound in &bounds {
        let covers = files
            .iter()
            .filter(|(_, file)| *file.first_row <= **bound && **bound <= *file.last_row);
        overlap = overlap.max(covers.count());
    }
    let note = format!(
        "One bar a file, from its first to its last row; the rows where files begin or end are at equal distances. \
         At most {overlap} of {} files overlap: a get may have to search all of these.{shown}",
        files.len()
    );
    let mut out = format!(
        "<figure id=\"key-ranges\"><h3>Key ranges and overlap</h3><p>{}</p>{}<thead><tr>\
         <th scope=\"col\">file</th><td></td><th scope=\"col\">first row</th>\
         <th scope=\"col\">last row</th></tr></thead><tbody>\n",
        escape(&note),
        open_table("Key ranges", "chart")
    );
    let step = 100.0 / (bounds.len().max(2) - 1) as f64;
    for (name, file) in files {
        let [from, to] = [&file.first_row, &file.last_row]
            .map(|row| bounds.partition_point(|bound| **bound < **row) as f64 * step);
        let rows = [file.first_row.clone(), file.last_row.clone()];
        out.push_str(&plotted_row(name, &mark("bar", from, to), &rows));
    }
    out + "</tbody></table></div></figure>\n"
}
