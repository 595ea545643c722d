//! Cells from a file or a pipe: the cells format or CSV, gzipped or not.
//!
//! CSV has a heading line with the columns' names, in any order:
//!
//! | column      | what it holds                                             | without it     |
//! |-------------|-----------------------------------------------------------|----------------|
//! | `row`       | key text: HBase's `\xNN` escapes                          | refused        |
//! | `family`    | the same                                                  | refused        |
//! | `qualifier` | the same                                                  | empty          |
//! | `ts`        | milliseconds                                              | refused        |
//! | `type`      | `Put`, `Delete`, `DeleteColumn`, …                        | `Put`          |
//! | `value`     | the same text as keys                                     | empty          |
//! | `seq`       | sequence id                                               | 0              |
//!
//! Tags have no column: cells that carry some need the cells format.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use anyhow::Context;
use flate2::bufread::MultiGzDecoder;
use sstable::{Cell, CellRef, CellType, Error, FileName, SequenceId, Timestamp, ndjson};

/// What the input is made of.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum CellsFormat {
    /// One JSON object a line, byte strings in hex.
    Cells,
    /// Comma-separated values under a heading line.
    Csv,
}

/// Opens a file, or stdin for `-`, and unpacks it if it is gzipped.
pub(crate) fn open(path: &Path) -> anyhow::Result<Box<dyn BufRead>> {
    let name = display_name(path);
    let mut input: Box<dyn BufRead> = if path == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        let file = File::open(path).with_context(|| format!("{name}: cannot open"))?;
        Box::new(BufReader::with_capacity(1 << 16, file))
    };
    let start = input.fill_buf().with_context(|| format!("{name}: cannot read"))?;
    if start.starts_with(&[0x1f, 0x8b]) {
        input = Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(input)));
    }
    Ok(input)
}

/// How messages call an input.
pub(crate) fn display_name(path: &Path) -> String {
    if path == Path::new("-") { "stdin".to_owned() } else { path.display().to_string() }
}

/// Cells as they come.
pub(crate) type Cells = Box<dyn Iterator<Item = sstable::Result<Cell>>>;

/// The cells of an input, in its order.
pub(crate) fn cells(path: &Path, format: CellsFormat) -> anyhow::Result<Cells> {
    let (input, name) = (open(path)?, FileName::new(display_name(path)));
    Ok(match format {
        CellsFormat::Cells => Box::new(ndjson::Reader::new(input, name)),
        CellsFormat::Csv => Box::new(CsvCells::new(input, name)?),
    })
}

/// The columns there are.
const KNOWN: [&str; 7] = ["row", "family", "qualifier", "ts", "type", "value", "seq"];

/// Cells out of CSV.
struct CsvCells<R> {
    records: csv::ByteRecordsIntoIter<R>,
    columns: Columns,
    name: FileName,
}

/// Where each column stands.
struct Columns {
    row: usize,
    family: usize,
    timestamp: usize,
    qualifier: Option<usize>,
    cell_type: Option<usize>,
    value: Option<usize>,
    sequence_id: Option<usize>,
}

impl<R: io::Read> CsvCells<R> {
    fn new(input: R, name: FileName) -> sstable::Result<Self> {
        let mut reader = csv::Reader::from_reader(input);
        let heading = reader.headers().map_err(|error| csv_error(&name, error))?.clone();
        let invalid = |what| Error::Invalid { file: name.clone(), what };
        if let Some(unknown) = heading.iter().find(|title| !KNOWN.contains(title)) {
            return Err(invalid(format!(
                "line 1: unknown column {unknown:?}; columns are {}",
                KNOWN.join(", ")
            )));
        }
        let column = |title| heading.iter().position(|found| found == title);
        let needed =
            |title| column(title).ok_or_else(|| invalid(format!("line 1: no column {title:?}")));
        let columns = Columns {
            row: needed("row")?,
            family: needed("family")?,
            timestamp: needed("ts")?,
            qualifier: column("qualifier"),
            cell_type: column("type"),
            value: column("value"),
            sequence_id: column("seq"),
        };
        Ok(Self { records: reader.into_byte_records(), columns, name })
    }

    fn cell(&self, record: &csv::ByteRecord) -> Result<Cell, String> {
        let text = |at: usize| std::str::from_utf8(&record[at]).map_err(|error| error.to_string());
        let bytes =
            |at: Option<usize>| at.map_or(Ok(Vec::new()), |at| text(at).map(sstable::unescape));
        let columns = &self.columns;
        let cell_type = match columns.cell_type.map(text).transpose()? {
            None => CellType::Put,
            Some(name) => CellType::ALL
                .into_iter()
                .find(|known| known.name() == name)
                .ok_or_else(|| format!("unknown cell type {name:?}"))?,
        };
        let timestamp = text(columns.timestamp)?;
        let timestamp =
            timestamp.parse().map_err(|_| format!("ts: {timestamp:?} is not a number"))?;
        let sequence_id = match columns.sequence_id.map(text).transpose()? {
            None => 0,
            Some(id) => id
                .parse()
                .ok()
                .filter(|id| *id <= SequenceId::MAX.get())
                .ok_or_else(|| format!("seq: {id:?} is not a sequence id"))?,
        };
        let cell = CellRef {
            row: &bytes(Some(columns.row))?,
            family: &bytes(Some(columns.family))?,
            qualifier: &bytes(columns.qualifier)?,
            timestamp: Timestamp::new(timestamp),
            cell_type,
            value: &bytes(columns.value)?,
            tags: &[],
            sequence_id: SequenceId::new(sequence_id),
        };
        Ok(cell.to_cell())
    }
}

impl<R: io::Read> Iterator for CsvCells<R> {
    type Item = sstable::Result<Cell>;

    fn next(&mut self) -> Option<Self::Item> {
        let record = match self.records.next()? {
            Ok(record) => record,
            Err(error) => return Some(Err(csv_error(&self.name, error))),
        };
        Some(self.cell(&record).map_err(|what| {
            let line = record.position().map_or(0, csv::Position::line);
            Error::Invalid { file: self.name.clone(), what: format!("line {line}: {what}") }
        }))
    }
}

fn csv_error(name: &FileName, error: csv::Error) -> Error {
    let what = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(source) => {
            Error::Io { file: name.clone(), action: "read CSV".into(), source }
        }
        _ => Error::Invalid { file: name.clone(), what },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &'static str) -> Vec<sstable::Result<Cell>> {
        match CsvCells::new(text.as_bytes(), FileName::new("x.csv")) {
            Ok(cells) => cells.collect(),
            Err(error) => vec![Err(error)],
        }
    }

    #[test]
    fn csv_columns_stand_in_any_order_and_some_may_be_missing() {
        let cells = read("value,row,ts,family\n\"a,\"\"b\\x00\",r\\x001,5,f\n");
        let cell = cells[0].as_ref().expect("sound");
        assert_eq!(cell.row(), b"r\x001");
        assert_eq!(cell.value(), b"a,\"b\x00");
        assert_eq!((cell.qualifier(), cell.timestamp()), (&b""[..], Timestamp::new(5)));
        assert_eq!(cell.cell_type(), CellType::Put);
    }

    #[test]
    fn csv_errors_name_the_line() {
        for (text, message) in [
            ("row,family\n", "x.csv: line 1: no column \"ts\""),
            ("row,family,ts,tag\n", "x.csv: line 1: unknown column \"tag\""),
            ("row,family,ts\nr,f,1\nr,f,now\n", "x.csv: line 3: ts: \"now\" is not a number"),
            ("row,family,ts,type\nr,f,1,Get\n", "x.csv: line 2: unknown cell type \"Get\""),
        ] {
            let cells = read(text);
            let error = cells.last().expect("one").as_ref().expect_err(text).to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }
}
