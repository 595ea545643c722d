//! The text form of the report of `hfile stats`.

use std::io::{self, Write};

use cells::time_text;

use super::columns::{COLUMNS_MAX, ColumnReport};
use super::report::StatsReport;
use crate::text::output::{Report, write_table};
use crate::text::printable::as_line;
use crate::text::size_text::{show_count, show_number, show_size};

/// The number of columns in the text; JSON has all columns that are counted separately.
const COLUMNS_SHOWN: usize = 20;
/// The characters of the longest bar of a histogram.
const BAR_LEN: u64 = 40;

impl Report for StatsReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        self.write_totals(out)?;
        self.write_lengths(out)?;
        self.write_bars(out)?;
        self.write_columns(out)?;
        self.write_parts(out)
    }
}

fn line(out: &mut dyn Write, name: &str, text: &str) -> io::Result<()> {
    writeln!(out, "{name:<18}{}", as_line(text))
}

impl StatsReport {
    fn write_totals(&self, out: &mut dyn Write) -> io::Result<()> {
        match &self.files[..] {
            [file] => line(out, "file", file)?,
            files => line(out, "files", &show_count(files.len() as u64))?,
        }
        for problem in &self.problems {
            line(
                out,
                "INCOMPLETE",
                &format!("only what precedes this is counted: {}", problem.what),
            )?;
        }
        let size = format!("{} ({} bytes)", show_size(self.size), show_count(self.size));
        line(out, "size", &size)?;
        line(out, "cells", &show_count(self.cells))?;
        let note = if self.files.len() > 1 { ", the sum of each file's rows" } else { "" };
        line(out, "rows", &format!("{}{note}", show_count(self.rows)))?;
        let present = self.types.iter().filter(|(_, count)| **count > 0);
        let types: Vec<_> =
            present.map(|(name, count)| format!("{name} {}", show_count(*count))).collect();
        line(out, "types", &types.join(", "))?;
        if let Some(times) = &self.timestamps {
            let (min, max) = (times.min, times.max);
            let dates = format!("{} to {}", time_text(min), time_text(max));
            line(out, "timestamps", &format!("{min} to {max} ({dates})"))?;
        }
        self.write_tags(out)?;
        for (name, row) in [
            ("largest row", &self.largest_row_by_bytes),
            ("row of most cells", &self.largest_row_by_cells),
        ] {
            let Some(row) = row else { continue };
            let (bytes, cells) = (show_number(row.bytes, "byte"), show_number(row.cells, "cell"));
            line(out, name, &format!("{}: {bytes}, {cells}{}", row.row, self.place(&row.file)))?;
        }
        if let Some(cell) = &self.largest_cell {
            let (bytes, place) = (show_number(cell.bytes, "byte"), self.place(&cell.file));
            line(out, "largest cell", &format!("{}: {bytes}{place}", cell.key))?;
        }
        Ok(())
    }

    /// Returns where a row or cell is, if the report is about several files.
    fn place(&self, file: &str) -> String {
        if self.files.len() > 1 { format!(", in {file}") } else { String::new() }
    }

    fn write_tags(&self, out: &mut dyn Write) -> io::Result<()> {
        let tags = &self.tags;
        if tags.cells == 0 {
            return line(out, "tags", "none");
        }
        let types: Vec<_> = tags
            .types
            .iter()
            .map(|of_type| {
                let name = of_type.name.map(|name| format!(" ({name})")).unwrap_or_default();
                format!("type {}{name}: {}", of_type.r#type, show_count(of_type.tags))
            })
            .collect();
        let (count, cells) = (show_number(tags.tags, "tag"), show_number(tags.cells, "cell"));
        let bytes = show_number(tags.bytes, "byte");
        line(out, "tags", &format!("{count} of {cells}, {bytes}; {}", types.join(", ")))
    }

    fn write_lengths(&self, out: &mut dyn Write) -> io::Result<()> {
        let rows: Vec<_> = self
            .histograms
            .named()
            .into_iter()
            .filter_map(|(name, histogram)| {
                let (min, max) = histogram.range()?;
                let at = histogram.percentiles()?;
                let mut row = vec![name.to_owned(), show_count(histogram.count()), show_count(min)];
                row.extend([at.p50, at.p75, at.p95, at.p99, at.p99_9, max].map(show_count));
                row.push(format!("{:.1}", histogram.mean()));
                Some(row)
            })
            .collect();
        if rows.is_empty() {
            return Ok(());
        }
        writeln!(out)?;
        let heading = ["", "count", "min", "50%", "75%", "95%", "99%", "99.9%", "max", "mean"];
        write_table(out, &heading, rows)
    }

    fn write_bars(&self, out: &mut dyn Write) -> io::Result<()> {
        for (name, histogram) in self.histograms.named() {
            let buckets = histogram.powers_of_two();
            // A single bucket adds nothing to the table above.
            if buckets.len() < 2 {
                continue;
            }
            writeln!(out, "\n{name}")?;
            let most = buckets.iter().map(|bucket| bucket.count).max().unwrap_or(0).max(1);
            for bucket in buckets {
                let range = format!("{} to {}", show_count(bucket.from), show_count(bucket.to));
                let scaled = u128::from(bucket.count) * u128::from(BAR_LEN);
                let len = scaled.div_ceil(u128::from(most)) as usize;
                let (count, bar) = (show_count(bucket.count), "#".repeat(len));
                writeln!(out, "{}", format!("{range:>27} {count:>15}  {bar}").trim_end())?;
            }
        }
        Ok(())
    }

    fn write_columns(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.columns.is_empty() {
            return Ok(());
        }
        writeln!(out)?;
        let shown = self.columns.iter().take(COLUMNS_SHOWN);
        let rows = shown.map(|ColumnReport { column, tally }| {
            vec![column.clone(), show_count(tally.cells), show_count(tally.bytes)]
        });
        write_table(out, &["column", "cells", "bytes"], rows)?;
        if let Some(more @ 1..) = self.columns.len().checked_sub(COLUMNS_SHOWN) {
            writeln!(out, "and {} (--json lists them)", show_number(more as u64, "column"))?;
        }
        if !self.columns_complete {
            let cells = show_number(self.other_columns.cells, "cell");
            let most = show_count(COLUMNS_MAX as u64);
            writeln!(
                out,
                "and {cells} of other columns; at most {most} columns are counted separately"
            )?;
        }
        Ok(())
    }

    fn write_parts(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out)?;
        let used = self.parts.0.iter().filter(|part| part.blocks > 0);
        let rows = used.map(|part| {
            let share = part.bytes as f64 / self.size.max(1) as f64 * 100.0;
            let mut row = vec![part.part.to_owned()];
            row.extend([part.blocks, part.bytes, part.uncompressed_bytes].map(show_count));
            row.push(format!("{share:.1}%"));
            row
        });
        write_table(out, &["part", "blocks", "bytes", "uncompressed", "share"], rows)
    }
}
