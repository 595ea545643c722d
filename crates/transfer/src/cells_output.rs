//! Writes cells as text, as CSV, or as lines of JSON (the format "cells").

use std::io::{self, Write};

use cells::ndjson;
use sstable::CellRef;

/// An output format of cells.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum OutputFormat {
    /// Readable lines, as `hbase hfile -p` prints cells.
    #[default]
    Text,
    /// One JSON object per line, byte strings in hex.
    Cells,
    /// Comma-separated values with a header line, without tags.
    Csv,
}

/// Writes cells in one format.
///
/// ```
/// use sstable::{CellRef, Timestamp};
/// use transfer::{CellsOutput, OutputFormat};
///
/// let mut csv = CellsOutput::new(Vec::new(), OutputFormat::Csv)?;
/// csv.write(&CellRef::put(b"row1", b"f", b"q", Timestamp::new(5), b"value"))?;
/// let lines = String::from_utf8(csv.into_inner())?;
/// assert_eq!(lines.lines().nth(1), Some("row1,f,q,5,Put,value,0"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct CellsOutput<W: Write> {
    out: W,
    format: OutputFormat,
}

impl<W: Write> CellsOutput<W> {
    /// Creates an output to `out`. Writes the header line if the format is CSV.
    ///
    /// # Errors
    ///
    /// Errors of the output.
    pub fn new(mut out: W, format: OutputFormat) -> io::Result<Self> {
        if format == OutputFormat::Csv {
            out.write_all(b"row,family,qualifier,ts,type,value,seq\n")?;
        }
        Ok(Self { out, format })
    }

    /// Writes one cell as one line.
    ///
    /// # Errors
    ///
    /// Errors of the output.
    pub fn write(&mut self, cell: &CellRef<'_>) -> io::Result<()> {
        match self.format {
            OutputFormat::Text => self.write_text(cell),
            OutputFormat::Cells => ndjson::write_cell(&mut self.out, cell),
            OutputFormat::Csv => self.write_csv(cell),
        }
    }

    /// Flushes the output.
    ///
    /// # Errors
    ///
    /// Errors of the output.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Returns what the lines were written to.
    pub fn into_inner(self) -> W {
        self.out
    }

    /// Writes a cell as HBase prints it: `K: r/f:q/5/Put/vlen=1/seqid=7 V: v`.
    fn write_text(&mut self, cell: &CellRef<'_>) -> io::Result<()> {
        write!(self.out, "K: {cell:?} V: {}", cells::escape(cell.value))?;
        for (index, (tag_type, data)) in cell.tags().enumerate() {
            let value = cells::escape(data);
            write!(self.out, " T[{index}]: [Tag type : {tag_type}, value : {value}]")?;
        }
        writeln!(self.out)
    }

    /// Writes a cell as a line of comma-separated values, without its tags.
    fn write_csv(&mut self, cell: &CellRef<'_>) -> io::Result<()> {
        writeln!(
            self.out,
            "{},{},{},{},{},{},{}",
            csv_field(cell.row),
            csv_field(cell.family),
            csv_field(cell.qualifier),
            cell.timestamp.get(),
            cell.cell_type.name(),
            csv_field(cell.value),
            cell.sequence_id
        )
    }
}

fn csv_field(bytes: &[u8]) -> String {
    let shown = cells::escape(bytes).to_string();
    // Escaped text has no line breaks, so only commas and quotation marks require quotes.
    let plain = !shown.contains(['"', ',']);
    if plain { shown } else { format!("\"{}\"", shown.replace('"', "\"\"")) }
}

#[cfg(test)]
mod tests {
    use sstable::{CellType, SequenceId, Timestamp};

    use super::*;

    fn shown(format: OutputFormat) -> String {
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
        output.flush().expect("memory takes it");
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn text_is_what_hbase_prints() {
        assert_eq!(
            shown(OutputFormat::Text),
            "K: r\\x00,1/f:q\"/5/Put/vlen=1/seqid=7 V: v T[0]: [Tag type : 65, value : tg]\n"
        );
    }

    #[test]
    fn csv_quotes_fields_with_separators() {
        let lines = shown(OutputFormat::Csv);
        assert_eq!(lines.lines().nth(1), Some("\"r\\x00,1\",f,\"q\"\"\",5,Put,v,7"));
    }

    #[test]
    fn cells_are_one_object_a_line() {
        assert!(shown(OutputFormat::Cells).starts_with("{\"row\":\"72002c31\",\"family\":\"66\","));
    }
}
