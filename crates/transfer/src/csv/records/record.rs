//! CSV records, and the reasons why a record is invalid.

use std::ops::Range;

use memchr::memchr;

use crate::record_problem::RecordProblem;

/// The maximum number of lines of a record.
pub(super) const LINES_MAX: u64 = 1000;

/// The maximum size of a record, as a multiple of the maximum size of a field.
pub(super) const RECORD_SIZE_FACTOR: usize = 4;

/// The position of a field's text in the buffers of a [`Record`].
#[derive(Clone, Debug)]
pub(super) struct Field {
    /// A range of [`Record::bytes`] or, if the field has doubled quotes, of [`Record::unescaped`].
    pub(super) text: Range<usize>,
    pub(super) is_quoted: bool,
    pub(super) has_doubled_quotes: bool,
}

impl Field {
    /// Creates an unquoted field.
    pub(super) const fn plain(text: Range<usize>) -> Self {
        Self { text, is_quoted: false, has_doubled_quotes: false }
    }
}

/// A CSV record in the buffers of its reader.
#[derive(Clone, Copy)]
pub(crate) struct Record<'r> {
    /// The line on which the record begins.
    pub(crate) line: u64,
    /// The bytes of the record, without the line end.
    pub(crate) bytes: &'r [u8],
    /// The texts of the fields with doubled quotes, each pair replaced with one quote.
    pub(super) unescaped: &'r [u8],
    pub(super) fields: &'r [Field],
}

impl<'r> Record<'r> {
    /// Returns the number of fields.
    pub(crate) const fn len(&self) -> usize {
        self.fields.len()
    }

    /// Returns the text of a field, without the enclosing quotes.
    pub(crate) fn field(&self, index: usize) -> &'r [u8] {
        let Field { text, has_doubled_quotes, .. } = &self.fields[index];
        let bytes = if *has_doubled_quotes { self.unescaped } else { self.bytes };
        &bytes[text.clone()]
    }

    /// Returns whether an unquoted field contains a carriage return.
    pub(crate) fn has_lone_return(&self) -> bool {
        self.fields.iter().any(|field| {
            !field.is_quoted && memchr(b'\r', &self.bytes[field.text.clone()]).is_some()
        })
    }

    /// Returns the texts of all fields.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &'r [u8]> + use<'r> {
        let record = *self;
        (0..self.len()).map(move |index| record.field(index))
    }
}

/// A line that does not begin a valid record.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct BadLine {
    /// The line number.
    pub(crate) line: u64,
    /// The problem, which names the line of the problem if it differs from `line`.
    pub(crate) problem: RecordProblem,
    /// The bytes of the line; if the line is too long, only those read so far.
    pub(crate) bytes: Vec<u8>,
}

/// A record, or a bad line.
pub(crate) type ParsedRecord<'r> = Result<Record<'r>, BadLine>;

/// Why a record is invalid. Lines count from the first line of the record, which is line 0.
#[derive(Clone, Copy, Debug)]
pub(super) enum InvalidRecord {
    Unclosed {
        quote_line: u64,
    },
    TextAfterQuote {
        closing_line: u64,
        opening_line: u64,
    },
    TooManyLines {
        quote_line: u64,
    },
    /// With the index of the field.
    FieldTooLarge(usize),
    RecordTooLarge,
}

impl InvalidRecord {
    /// Returns the problem of a record that begins on `line` of the file.
    pub(super) fn of_record(self, line: u64, field_size_max: usize) -> RecordProblem {
        RecordProblem::Invalid(match self {
            Self::Unclosed { quote_line } => {
                format!("the quote that opens a field on line {} is not closed", line + quote_line)
            }
            Self::TextAfterQuote { closing_line, opening_line } => format!(
                "text after the quote on line {} that closes the field opened on line {}; double a quote inside \
                 a quoted field",
                line + closing_line,
                line + opening_line
            ),
            Self::TooManyLines { quote_line } => format!(
                "a record of more than {LINES_MAX} lines; the quote that opens a field on line {} may not be \
                 closed",
                line + quote_line
            ),
            Self::FieldTooLarge(index) => {
                let column = index + 1;
                return RecordProblem::FieldTooLarge { column, size_max: field_size_max };
            }
            Self::RecordTooLarge => {
                let size_max = field_size_max.saturating_mul(RECORD_SIZE_FACTOR);
                return RecordProblem::RecordTooLarge { size_max, factor: RECORD_SIZE_FACTOR };
            }
        })
    }
}
