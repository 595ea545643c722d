//! The columns of a batch: the parts of a cell, or the columns of a table with their types.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use arrow_schema::{DataType, Field, TimeUnit};
use cells::{ValueType, escape, unescape};

/// A part of a cell: a column of a batch that has one row for each cell.
///
/// | column        | Arrow's type | contents                                                          |
/// |---------------|--------------|-------------------------------------------------------------------|
/// | `row`         | Binary       | the row key                                                       |
/// | `family`      | Binary       | the column family                                                 |
/// | `qualifier`   | Binary       | the qualifier                                                     |
/// | `timestamp`   | Int64        | milliseconds since 1970, as HBase stores them                     |
/// | `type`        | Utf8         | `Put`, `Delete`, `DeleteColumn`, `DeleteFamily`, …                |
/// | `value`       | Binary       | the value                                                         |
/// | `tags`        | Binary       | the tags, each `u16 BE length, u8 type, data`; null without tags  |
/// | `sequence_id` | Int64        | the sequence id of the write; 0 if the file stores none           |
///
/// The timestamp is a number, because HBase allows timestamps that Arrow's readers cannot represent
/// as a time, such as 2^63 − 1.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum CellColumn {
    /// The row key.
    Row,
    /// The column family.
    Family,
    /// The qualifier.
    Qualifier,
    /// The timestamp.
    Timestamp,
    /// The type of the cell.
    Type,
    /// The value.
    Value,
    /// The tags.
    Tags,
    /// The sequence id.
    SequenceId,
}

impl CellColumn {
    /// All columns, in their order in a batch.
    pub const ALL: [Self; 8] = [
        Self::Row,
        Self::Family,
        Self::Qualifier,
        Self::Timestamp,
        Self::Type,
        Self::Value,
        Self::Tags,
        Self::SequenceId,
    ];

    /// Returns the name of the column.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Row => "row",
            Self::Family => "family",
            Self::Qualifier => "qualifier",
            Self::Timestamp => "timestamp",
            Self::Type => "type",
            Self::Value => "value",
            Self::Tags => "tags",
            Self::SequenceId => "sequence_id",
        }
    }

    /// Returns the column with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|column| column.name() == name)
    }

    pub(crate) fn field(self, row_type: ValueType) -> Field {
        let data_type = match self {
            Self::Row => data_type(row_type),
            Self::Family | Self::Qualifier | Self::Value | Self::Tags => DataType::Binary,
            Self::Timestamp | Self::SequenceId => DataType::Int64,
            Self::Type => DataType::Utf8,
        };
        Field::new(self.name(), data_type, self == Self::Tags)
    }
}

/// A column of a table, and the type of its values: a column of a pivoted batch.
///
/// ```
/// use hfile_arrow::PivotColumn;
/// use cells::ValueType;
///
/// let column = PivotColumn::new("info", "age").value_type(ValueType::Int64);
/// assert_eq!(column, "info:age=int64".parse()?);
/// assert_eq!(column.to_string(), "info:age");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[must_use]
pub struct PivotColumn {
    /// The family.
    pub family: Vec<u8>,
    /// The qualifier.
    pub qualifier: Vec<u8>,
    /// The type of the values. Default: [`ValueType::BinaryHex`], which is Arrow's Binary.
    pub value_type: ValueType,
}

impl PivotColumn {
    /// Returns a column of bytes.
    pub fn new(family: impl AsRef<[u8]>, qualifier: impl AsRef<[u8]>) -> Self {
        Self {
            family: family.as_ref().to_vec(),
            qualifier: qualifier.as_ref().to_vec(),
            value_type: ValueType::BinaryHex,
        }
    }

    /// Sets the type of the values.
    pub const fn value_type(mut self, value_type: ValueType) -> Self {
        self.value_type = value_type;
        self
    }
}

impl FromStr for PivotColumn {
    type Err = String;

    /// Parses `FAMILY:QUALIFIER` or `FAMILY:QUALIFIER=TYPE`, with HBase's escapes.
    fn from_str(text: &str) -> Result<Self, String> {
        let typed = text.rsplit_once('=').and_then(|(column, name)| {
            ValueType::from_name(name).ok().map(|value_type| (column, value_type))
        });
        let (column, value_type) = typed.unwrap_or((text, ValueType::BinaryHex));
        let (family, qualifier) = column
            .split_once(':')
            .ok_or_else(|| format!("{text:?} is not FAMILY:QUALIFIER or FAMILY:QUALIFIER=TYPE"))?;
        Ok(Self { family: unescape(family), qualifier: unescape(qualifier), value_type })
    }
}

impl fmt::Display for PivotColumn {
    /// Writes `FAMILY:QUALIFIER`, the name of the column in a batch.
    ///
    /// A part that is printable UTF-8 is written as it is, and any other as HBase prints it. A backslash is `\x5C`, so
    /// the name of no other column is the same, and [`FromStr`] reads the column again.
    ///
    /// ```
    /// use hfile_arrow::PivotColumn;
    ///
    /// assert_eq!(PivotColumn::new("f", "größe").to_string(), "f:größe");
    /// assert_eq!(PivotColumn::new("f", b"\xc3\x00").to_string(), r"f:\xC3\x00");
    /// ```
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", shown(&self.family), shown(&self.qualifier))
    }
}

fn shown(name: &[u8]) -> String {
    match std::str::from_utf8(name) {
        Ok(text) if text.chars().all(is_printable) => text.replace('\\', r"\x5C"),
        _ => escape(name).to_string(),
    }
}

/// Returns whether a character is printable: only others, quotes and the backslash have an escape.
fn is_printable(c: char) -> bool {
    matches!(c, '"' | '\'' | '\\') || c.escape_debug().len() == 1
}

/// Returns the name of the time zone of timestamps.
pub(crate) fn utc() -> Arc<str> {
    "UTC".into()
}

/// Returns Arrow's type of values of a type.
pub(crate) fn data_type(value_type: ValueType) -> DataType {
    match value_type {
        ValueType::String => DataType::Utf8,
        ValueType::Int8 => DataType::Int8,
        ValueType::Int16 => DataType::Int16,
        ValueType::Int32 => DataType::Int32,
        ValueType::Int64 => DataType::Int64,
        ValueType::Float32 => DataType::Float32,
        ValueType::Float64 => DataType::Float64,
        ValueType::Bool => DataType::Boolean,
        ValueType::Timestamp => DataType::Timestamp(TimeUnit::Millisecond, Some(utc())),
        ValueType::Date => DataType::Date32,
        ValueType::Decimal(decimal) => {
            DataType::Decimal128(decimal.precision(), decimal.scale().cast_signed())
        }
        ValueType::BinaryHex => DataType::Binary,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_column_has_a_name_of_its_own_from_which_it_is_read_again() {
        let names: [(&[u8], &str); 10] = [
            (b"q", "q"),
            ("ä".as_bytes(), "ä"),
            ("日本 語".as_bytes(), "日本 語"),
            (br"\xC3\xA4", r"\x5CxC3\x5CxA4"),
            (b"\xe4", r"\xE4"),
            (b"\xc3\xa4\x00", r"\xC3\xA4\x00"),
            ("\u{202e}a".as_bytes(), r"\xE2\x80\xAEa"),
            ("\u{200b}".as_bytes(), r"\xE2\x80\x8B"),
            (b"\"'", "\"'"),
            (b"a:b", "a:b"),
        ];
        for (name, shown) in names {
            let column = PivotColumn::new("f", name);
            assert_eq!(column.to_string(), format!("f:{shown}"));
            assert_eq!(column.to_string().parse(), Ok(column));
        }
    }
}
