//! The text form of the report of `hfile info`.

use std::io::{self, Write};

use cells::time_text;
use serde::Serialize;

use super::blooms::{BloomReport, FilterReport};
use super::file_info;
use super::report::DescribedFile;
use crate::failure::Answer;
use crate::text::output::Report;
use crate::text::printable::as_line;
use crate::text::size_text::{show_count, show_number, show_size};
use crate::text::times::millis_and_date;

/// A report, and whether its text has all fields of the trailer and the file info.
#[derive(Serialize)]
pub(super) struct TextReport {
    #[serde(flatten)]
    pub(super) report: DescribedFile,
    #[serde(skip)]
    pub(super) shows_all: bool,
}

impl Report for TextReport {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let report = &self.report;
        report.write_contents(out)?;
        report.write_form(out)?;
        if self.shows_all {
            writeln!(out, "\ntrailer")?;
            report.trailer.write_text(out)?;
            writeln!(out, "\nfile info")?;
            file_info::write_text(&report.file_info, out)?;
        }
        Ok(())
    }

    fn answer(&self) -> Answer {
        self.report.answer()
    }
}

fn line(out: &mut dyn Write, name: &str, text: &str) -> io::Result<()> {
    writeln!(out, "{name:<14}{}", as_line(text))
}

impl DescribedFile {
    /// Returns a negative answer if a part cannot be read.
    pub(super) fn answer(&self) -> Answer {
        Answer::from_bool(self.problems.is_empty())
    }

    /// Writes what the file holds: cells, keys, times.
    fn write_contents(&self, out: &mut dyn Write) -> io::Result<()> {
        let (size, byte_count) = (show_size(self.size), show_count(self.size));
        line(out, "file", &self.file)?;
        if let Some(target) = self.target.text() {
            line(out, "which is", &target)?;
        }
        line(out, "size", &format!("{size} ({byte_count} bytes), HFile {}", self.version))?;
        line(out, "cells", &show_count(self.cells))?;
        if let Some(family) = &self.family {
            line(out, "family", family)?;
        }
        if let (Some(first), Some(last)) = (&self.first_row, &self.last_row) {
            line(out, "first row", first)?;
            line(out, "last row", last)?;
        }
        if let Some(key) = &self.mid_key {
            line(out, "mid-key", key)?;
        }
        // The range of a file without cells is empty: its minimum exceeds its maximum.
        if let Some([min, max]) = self.time_range.filter(|[min, max]| min <= max) {
            let dates = format!("{} to {}", time_text(min), time_text(max));
            line(out, "timestamps", &format!("{min} to {max} ({dates})"))?;
        }
        if let Some(time) = self.earliest_put {
            line(out, "earliest put", &millis_and_date(time))?;
        }
        if let Some(count) = self.delete_family_count.filter(|count| *count > 0) {
            line(out, "deletes", &format!("{} of a whole family", show_count(count)))?;
        }
        if let (Some(key), Some(value)) = (self.average_key_bytes, self.average_value_bytes) {
            line(out, "average", &format!("{key} bytes a key, {value} bytes a value"))?;
        }
        if let Some(bytes) = self.biggest_cell_bytes {
            let key = self.biggest_cell_key.as_deref().unwrap_or("unknown key");
            line(out, "biggest cell", &format!("{} bytes: {key}", show_count(bytes)))?;
        }
        line(out, "cells have", &self.included_text())
    }

    /// Writes how the file stores its cells: encoding, index, filters, origin.
    fn write_form(&self, out: &mut dyn Write) -> io::Result<()> {
        line(out, "encoding", self.encoding)?;
        line(out, "compression", self.compression)?;
        line(out, "checksum", self.checksum)?;
        let levels = show_number(self.index_levels.into(), "level");
        let entries = show_number(self.index_root_entries.into(), "entry");
        line(out, "index", &format!("{levels}, {entries} in the root"))?;
        let bloom = self.bloom.as_ref().map_or("none".to_owned(), BloomReport::text);
        line(out, "HBase Bloom", &bloom)?;
        let delete_bloom = self.delete_family_bloom.as_ref();
        line(out, "delete Bloom", &delete_bloom.map_or("none".to_owned(), BloomReport::text))?;
        let filter = self.filter.as_ref().map_or("none".to_owned(), FilterReport::text);
        line(out, "row filter", &filter)?;
        if !self.meta_blocks.is_empty() {
            line(out, "META blocks", &self.meta_blocks.join(", "))?;
        }
        for problem in &self.problems {
            line(out, "DAMAGED", problem)?;
        }
        line(out, "origin", &self.origin())
    }

    fn included_text(&self) -> String {
        let tags = if self.tags_compressed { "compressed tags" } else { "tags" };
        match (self.includes_mvcc, self.includes_tags) {
            (true, true) => format!("sequence ids, {tags}"),
            (true, false) => "sequence ids".to_owned(),
            (false, true) => tags.to_owned(),
            (false, false) => "neither sequence ids nor tags".to_owned(),
        }
    }

    fn origin(&self) -> String {
        let kind = if self.major_compaction { "major compaction" } else { "flush, load or merge" };
        let id = self.max_sequence_id.map(|id| format!(", writes up to sequence id {id}"));
        let time = self.create_time.map(|millis| format!(", at {}", millis_and_date(millis)));
        [kind, &id.unwrap_or_default(), &time.unwrap_or_default()].concat()
    }
}
