//! The CSV that `hfile cat` prints: one cell per record.
//!
//! | column      | content                                                   | default        |
//! |-------------|-----------------------------------------------------------|----------------|
//! | `row`       | text with HBase's `\xNN` escapes                          | required       |
//! | `family`    | text with escapes                                         | required       |
//! | `qualifier` | text with escapes                                         | empty          |
//! | `ts`        | milliseconds since 1970                                   | required       |
//! | `type`      | `Put`, `Delete`, `DeleteColumn`, …                        | `Put`          |
//! | `value`     | text with escapes                                         | empty          |
//! | `seq`       | sequence id                                               | 0              |
//!
//! Without the required columns, a CSV file has another form, and options map its columns. There is
//! no column for tags: cells with tags need the cells format.

use std::borrow::Cow;

use cells::{check_family_name, quoted, unescape};
use memchr::memchr;
use sstable::{Cell, CellRef, CellType, SequenceId, Timestamp};

use super::layout::check_width;
use super::records::Record;
use crate::columns::{check_row, in_column};
use crate::record_problem::RecordProblem;

/// All columns of the form.
const COLUMNS: [&str; 7] = ["row", "family", "qualifier", "ts", "type", "value", "seq"];

/// The columns of a CSV file in this form, by index in a record.
pub(super) struct CatForm {
    names: Vec<String>,
    row: usize,
    family: usize,
    timestamp: usize,
    qualifier: Option<usize>,
    cell_type: Option<usize>,
    value: Option<usize>,
    sequence_id: Option<usize>,
}

impl CatForm {
    /// Returns the form if the columns `row`, `family` and `ts` are present.
    ///
    /// # Errors
    ///
    /// Fails if the required columns are present and another column is unknown.
    pub(super) fn recognise(names: &[String]) -> Result<Option<Self>, RecordProblem> {
        let column = |name: &str| names.iter().position(|found| found == name);
        let (Some(row), Some(family), Some(timestamp)) =
            (column("row"), column("family"), column("ts"))
        else {
            return Ok(None);
        };
        if let Some(unknown) = names.iter().find(|name| !COLUMNS.contains(&name.as_str())) {
            let (name, known) = (unknown.clone(), COLUMNS.join(", "));
            return Err(RecordProblem::NotOfCells { name, known });
        }
        Ok(Some(Self {
            names: names.to_vec(),
            row,
            family,
            timestamp,
            qualifier: column("qualifier"),
            cell_type: column("type"),
            value: column("value"),
            sequence_id: column("seq"),
        }))
    }

    /// Returns the cell of a record.
    pub(super) fn cell(&self, record: &Record<'_>) -> Result<Cell, String> {
        check_width(record, &self.names)?;
        let family = bytes("family", record, Some(self.family))?;
        check_family_name(&family).map_err(|problem| in_column("family", problem))?;
        let row = bytes("row", record, Some(self.row))?;
        check_row(&row).map_err(|problem| in_column("row", problem))?;
        let time = text("ts", record, self.timestamp)?;
        let timestamp = match time.parse() {
            Ok(millis @ 0..) => Timestamp::new(millis),
            Ok(_) => return Err(in_column("ts", "a negative timestamp, which HBase cannot read")),
            Err(_) => {
                return Err(in_column(
                    "ts",
                    format!("{} is not a number", quoted(time.as_bytes())),
                ));
            }
        };
        let cell = CellRef {
            row: &row,
            family: &family,
            qualifier: &bytes("qualifier", record, self.qualifier)?,
            timestamp,
            cell_type: self.cell_type(record)?,
            value: &bytes("value", record, self.value)?,
            tags: &[],
            sequence_id: self.sequence_id(record)?,
        };
        Ok(cell.to_cell())
    }

    fn cell_type(&self, record: &Record<'_>) -> Result<CellType, String> {
        let Some(at) = self.cell_type else { return Ok(CellType::Put) };
        let name = text("type", record, at)?;
        let known = CellType::ALL.into_iter().find(|known| known.name() == name);
        known.ok_or_else(|| {
            in_column("type", format!("unknown cell type {}", quoted(name.as_bytes())))
        })
    }

    fn sequence_id(&self, record: &Record<'_>) -> Result<SequenceId, String> {
        let Some(at) = self.sequence_id else { return Ok(SequenceId::new(0)) };
        let id = text("seq", record, at)?;
        let parsed = id.parse().ok().filter(|id| *id <= SequenceId::MAX.get());
        parsed.map(SequenceId::new).ok_or_else(|| {
            in_column("seq", format!("{} is not a sequence id", quoted(id.as_bytes())))
        })
    }
}

fn text<'r>(column: &str, record: &Record<'r>, at: usize) -> Result<&'r str, String> {
    std::str::from_utf8(record.field(at)).map_err(|error| {
        let first = error.valid_up_to() + 1;
        in_column(
            column,
            format!("not UTF-8 from byte {first} of the field on; write other bytes as \\xNN"),
        )
    })
}

/// Returns the unescaped bytes of a field; empty if the file does not have the column.
fn bytes<'r>(
    column: &str,
    record: &Record<'r>,
    at: Option<usize>,
) -> Result<Cow<'r, [u8]>, String> {
    let Some(at) = at else { return Ok(Cow::Borrowed(b"")) };
    let text = text(column, record, at)?;
    Ok(match memchr(b'\\', text.as_bytes()) {
        None => Cow::Borrowed(text.as_bytes()),
        Some(_) => Cow::Owned(unescape(text)),
    })
}
