//! Writes cells as text, as CSV, or as lines of JSON (the format "cells").

use std::io::{self, Write};

use sstable::{CellRef, ndjson};

/// An output format of cells.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, clap::ValueEnum)]
pub(crate) enum Format {
    /// Readable lines, as `hbase hfile -p` prints cells.
    #[default]
    Text,
    /// One JSON object per line, byte strings in hex.
    Cells,
    /// Comma-separated values with a header line, without tags.
    Csv,
}

/// The options that choose the format of printed cells.
#[derive(clap::Args)]
pub(crate) struct FormatOptions {
    /// Choose the output format
    #[arg(long, value_enum, ignore_case = true, default_value_t)]
    format: Format,
    /// Print one JSON object per line, byte strings in hex; the same as --format cells
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

impl FormatOptions {
    /// Returns the chosen format.
    pub(crate) const fn get(&self) -> Format {
        if self.json { Format::Cells } else { self.format }
    }
}

/// Writes cells in one format.
pub(crate) struct CellsOutput<W: Write> {
    out: W,
    format: Format,
}

impl<W: Write> CellsOutput<W> {
    /// Creates an output to `out`. Writes the header line if the format is CSV.
    pub(crate) fn new(mut out: W, format: Format) -> io::Result<Self> {
        if format == Format::Csv {
            out.write_all(b"row,family,qualifier,ts,type,value,seq\n")?;
        }
        Ok(Self { out, format })
    }

    /// Writes one cell as one line.
    pub(crate) fn write(&mut self, cell: &CellRef<'_>) -> io::Result<()> {
        match self.format {
            Format::Text => self.write_text(cell),
            Format::Cells => ndjson::write_cell(&mut self.out, cell),
            Format::Csv => self.write_csv(cell),
        }
    }

    /// Flushes the output.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Returns what the lines were written to.
    pub(crate) fn into_inner(self) -> W {
        self.out
    }

    /// Flushes and closes the output.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.flush()
    }

    /// Writes a cell as HBase prints it: `K: r/f:q/5/Put/vlen=1/seqid=7 V: v`.
    fn write_text(&mut self, cell: &CellRef<'_>) -> io::Result<()> {
        write!(self.out, "K: {cell:?} V: {}", sstable::escape(cell.value))?;
        for (index, (tag_type, data)) in cell.tags().enumerate() {
            let data = sstable::escape(data);
            write!(self.out, " T[{index}]: [Tag type : {tag_type}, value : {data}]")?;
        }
        writeln!(self.out)
    }

    /// Writes a cell as a line of comma-separated values, without its tags.
    fn write_csv(&mut self, cell: &CellRef<'_>) -> io::Result<()> {
        let text = |bytes| {
            let shown = sstable::escape(bytes).to_string();
            // Escaped text has no line breaks, so only commas and quotation marks require quotes.
            let plain = !shown.contains(['"', ',']);
            if plain { shown } else { format!("\"{}\"", shown.replace('"', "\"\"")) }
        };
        writeln!(
            self.out,
            "{},{},{},{},{},{},{}",
            text(cell.row),
            text(cell.family),
            text(cell.qualifier),
            cell.timestamp.get(),
            cell.cell_type.name(),
            text(cell.value),
            cell.sequence_id
        )
    }
}

#[cfg(test)]
mod tests {
    use sstable::{CellType, SequenceId, Timestamp};

    use super::*;

    fn shown(format: Format) -> String {
        let mut bytes = Vec::new();
        let mut output = CellsOutput::new(&mut bytes, format).expect("memory takes it");
        let cell = CellRef {
            row: b"r\x00,1",
            family: b"f",
            qualifier: b"q\"",
            timestamp: Timestamp::new(5),
            cell_type: CellType::Put,
            value: b"v",
            tags: b"\x00\x03\x41tg",
            sequence_id: SequenceId::new(7),
        };
        output.write(&cell).expect("memory takes it");
        output.finish().expect("memory takes it");
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn text_is_what_hbase_prints() {
        assert_eq!(
            shown(Format::Text),
            "K: r\\x00,1/f:q\"/5/Put/vlen=1/seqid=7 V: v T[0]: [Tag type : 65, value : tg]\n"
        );
    }

    #[test]
    fn csv_quotes_fields_with_separators() {
        let lines = shown(Format::Csv);
        assert_eq!(lines.lines().nth(1), Some("\"r\\x00,1\",f,\"q\"\"\",5,Put,v,7"));
    }

    #[test]
    fn cells_are_one_object_a_line() {
        assert!(shown(Format::Cells).starts_with("{\"row\":\"72002c31\",\"family\":\"66\","));
    }
}
