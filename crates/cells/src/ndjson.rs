//! Cells as lines of JSON, one cell per line, with byte strings in lower-case hex.
//!
//! ```json
//! {"row":"726f7731","family":"66","qualifier":"71","ts":1,"type":"Put","value":"76","tags":[{"type":65,"value":"00ff"}],"seq":7}
//! ```
//!
//! `tags` is omitted if there are none. Readers accept lines without `tags` or `seq`, hex digits of
//! either case and any order of the fields; an unknown field is an error. Empty lines are skipped.
//!
//! ```
//! use cells::{FileName, ndjson};
//!
//! let line = r#"{"row":"72","family":"66","qualifier":"","ts":5,"type":"Put","value":"76","seq":0}"#;
//! let cells: Vec<_> =
//!     ndjson::Reader::new(line.as_bytes(), FileName::new("cells")).collect::<Result<_, _>>()?;
//! assert_eq!(cells[0].row(), b"r");
//!
//! let mut written = Vec::new();
//! ndjson::write_cell(&mut written, &cells[0].as_ref())?;
//! assert_eq!(written, format!("{line}\n").into_bytes());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::borrow::Cow;
use std::io::{self, BufRead, Write};

use serde::Deserialize;

use crate::cell::{Cell, CellRef};
use crate::file_name::FileName;
use crate::key::CellType;
use crate::text::{parse_hex, quoted};
use crate::units::{SequenceId, Timestamp};

/// Why a line could not be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An I/O error; a retry may help.
    #[error("{file}: cannot read line {line}: {source}")]
    Io {
        /// The file.
        file: FileName,
        /// The number of the line, from 1.
        line: u64,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// The line is no cell.
    #[error("{file}: line {line}: {what}")]
    Invalid {
        /// The file.
        file: FileName,
        /// The number of the line, from 1.
        line: u64,
        /// What is wrong with it.
        what: String,
    },
}

/// Writes a cell as one line.
///
/// # Errors
///
/// If `out` fails.
pub fn write_cell(out: &mut impl Write, cell: &CellRef<'_>) -> io::Result<()> {
    let mut line = open_object(cell)?;
    writeln!(line, ",\"seq\":{}}}", cell.sequence_id)?;
    out.write_all(&line)
}

/// Writes a cell as one object without its sequence id and without a line feed.
///
/// For formats that state the sequence id of several cells once.
///
/// # Errors
///
/// If `out` fails.
pub fn write_cell_without_seq(out: &mut impl Write, cell: &CellRef<'_>) -> io::Result<()> {
    let mut object = open_object(cell)?;
    object.push(b'}');
    out.write_all(&object)
}

/// Returns the object of a cell up to its tags, without the closing brace.
fn open_object(cell: &CellRef<'_>) -> io::Result<Vec<u8>> {
    let mut line = Vec::with_capacity(96 + 2 * (cell.key().flat_len() + cell.value.len()));
    line.extend_from_slice(b"{\"row\":\"");
    write_hex(&mut line, cell.row);
    line.extend_from_slice(b"\",\"family\":\"");
    write_hex(&mut line, cell.family);
    line.extend_from_slice(b"\",\"qualifier\":\"");
    write_hex(&mut line, cell.qualifier);
    write!(line, "\",\"ts\":{}", cell.timestamp.get())?;
    write!(line, ",\"type\":\"{}\",\"value\":\"", cell.cell_type.name())?;
    write_hex(&mut line, cell.value);
    line.push(b'"');
    for (index, (tag_type, data)) in cell.tags().enumerate() {
        line.extend_from_slice(if index == 0 { b",\"tags\":[" } else { b"," });
        write!(line, "{{\"type\":{tag_type},\"value\":\"")?;
        write_hex(&mut line, data);
        line.extend_from_slice(b"\"}");
    }
    if cell.tags().next().is_some() {
        line.push(b']');
    }
    Ok(line)
}

fn write_hex(out: &mut Vec<u8>, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        out.push(DIGITS[usize::from(byte >> 4)]);
        out.push(DIGITS[usize::from(byte & 15)]);
    }
}

/// Reads cells line by line; does not check their order.
#[derive(Debug)]
pub struct Reader<R> {
    input: R,
    name: FileName,
    line: Vec<u8>,
    line_number: u64,
    failed: bool,
}

impl<R: BufRead> Reader<R> {
    /// Reads from `input`; `name` is used in error messages.
    pub const fn new(input: R, name: FileName) -> Self {
        Self { input, name, line: Vec::new(), line_number: 0, failed: false }
    }

    /// The number of the last line read, from 1.
    pub const fn line_number(&self) -> u64 {
        self.line_number
    }

    /// Skips the lines before `line` without parsing them.
    ///
    /// # Errors
    ///
    /// If they cannot be read.
    pub fn skip_to_line(&mut self, line: u64) -> Result<(), Error> {
        while self.line_number + 1 < line {
            self.line.clear();
            if self.read_line()? == 0 {
                break;
            }
        }
        Ok(())
    }

    /// Appends the next line to `self.line`.
    fn read_line(&mut self) -> Result<usize, Error> {
        self.line_number += 1;
        self.input.read_until(b'\n', &mut self.line).map_err(|source| Error::Io {
            file: self.name.clone(),
            line: self.line_number,
            source,
        })
    }

    fn read_cell(&mut self) -> Result<Option<Cell>, Error> {
        loop {
            self.line.clear();
            if self.read_line()? == 0 {
                return Ok(None);
            }
            if !self.line.trim_ascii().is_empty() {
                return parse(&self.line).map(Some).map_err(|what| Error::Invalid {
                    file: self.name.clone(),
                    line: self.line_number,
                    what,
                });
            }
        }
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Cell, Error>;

    /// Returns the next cell; `None` after an error.
    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let cell = self.read_cell().transpose();
        self.failed = matches!(cell, Some(Err(_)));
        cell
    }
}

/// The JSON object of a line. Strings without escapes are borrowed from the line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'a> {
    #[serde(borrow)]
    row: Cow<'a, str>,
    #[serde(borrow)]
    family: Cow<'a, str>,
    #[serde(borrow)]
    qualifier: Cow<'a, str>,
    ts: i64,
    #[serde(rename = "type", borrow)]
    cell_type: Cow<'a, str>,
    #[serde(borrow)]
    value: Cow<'a, str>,
    #[serde(borrow, default)]
    tags: Vec<Tag<'a>>,
    #[serde(default)]
    seq: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tag<'a> {
    #[serde(rename = "type")]
    tag_type: u8,
    #[serde(borrow)]
    value: Cow<'a, str>,
}

fn parse(text: &[u8]) -> Result<Cell, String> {
    let line: Line<'_> = serde_json::from_slice(text).map_err(|error| {
        // The parser sees a single line, so it reports "line 1"; our message has the real line
        // number.
        let message = error.to_string();
        match message.rsplit_once(" at line 1 column ") {
            Some((what, column)) => format!("{what} at column {column}"),
            None => message,
        }
    })?;
    let cell_type = CellType::ALL
        .into_iter()
        .find(|known| known.name() == line.cell_type)
        .ok_or_else(|| format!("unknown cell type {}", quoted(line.cell_type.as_bytes())))?;
    if line.seq > SequenceId::MAX.get() {
        return Err(format!("sequence id {} does not fit", line.seq));
    }
    let mut tags = Vec::new();
    for tag in &line.tags {
        let data = read_hex("tag", &tag.value)?;
        let len = u16::try_from(data.len() + 1).map_err(|_| "a tag is too long".to_owned())?;
        tags.extend_from_slice(&len.to_be_bytes());
        tags.push(tag.tag_type);
        tags.extend_from_slice(&data);
    }
    let cell = CellRef {
        row: &read_hex("row", &line.row)?,
        family: &read_hex("family", &line.family)?,
        qualifier: &read_hex("qualifier", &line.qualifier)?,
        timestamp: Timestamp::new(line.ts),
        cell_type,
        value: &read_hex("value", &line.value)?,
        tags: &tags,
        sequence_id: SequenceId::new(line.seq),
    };
    Ok(cell.to_cell())
}

fn read_hex(field: &str, text: &str) -> Result<Vec<u8>, String> {
    if !text.len().is_multiple_of(2) {
        return Err(format!("{field}: odd number of hex digits"));
    }
    parse_hex(text).ok_or_else(|| format!("{field}: not hex"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "{\"row\":\"726f7731\",\"family\":\"66\",\"qualifier\":\"71\",\
        \"ts\":1700000000000,\"type\":\"Put\",\"value\":\"76\",\
        \"tags\":[{\"type\":65,\"value\":\"00ff\"},{\"type\":66,\"value\":\"\"}],\"seq\":7}\n";

    fn read(text: &str) -> Vec<Result<Cell, Error>> {
        Reader::new(text.as_bytes(), FileName::new("x.ndjson")).collect()
    }

    #[test]
    fn a_line_round_trips() {
        let cells = read(LINE);
        let cell = cells[0].as_ref().expect("a sound line");
        let tags: Vec<_> = cell.as_ref().tags().collect();
        assert_eq!(tags, [(65, &b"\x00\xff"[..]), (66, &b""[..])]);
        let mut written = Vec::new();
        write_cell(&mut written, &cell.as_ref()).expect("memory takes it");
        assert_eq!(String::from_utf8_lossy(&written), LINE);
    }

    #[test]
    fn an_error_names_the_line_and_ends_the_iteration() {
        for (bad, message) in [
            ("{}", "x.ndjson: line 3: missing field `row` at column 2"),
            (&LINE.replace("Put", "Putt"), "x.ndjson: line 3: unknown cell type \"Putt\""),
            (&LINE.replace("\"71\"", "\"7\""), "x.ndjson: line 3: qualifier: odd number of"),
            (&LINE.replace("\"71\"", "\"zz\""), "x.ndjson: line 3: qualifier: not hex"),
            (&LINE.replace("\"seq\"", "\"sequence\""), "x.ndjson: line 3: unknown field"),
            (&LINE.replace("\"seq\":7", "\"seq\":-7"), "x.ndjson: line 3: invalid value"),
        ] {
            let cells = read(&format!("{LINE}\n{bad}\n{LINE}"));
            assert_eq!(cells.len(), 2, "{bad}");
            let error = cells[1].as_ref().expect_err(bad).to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }

    #[test]
    fn tags_and_sequence_id_may_be_missing() {
        let cells = read(&LINE.replace(",\"seq\":7", ""));
        assert_eq!(cells[0].as_ref().expect("sound").sequence_id(), SequenceId::new(0));
    }
}
