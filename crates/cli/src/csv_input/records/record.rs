//! Records, and the problems of invalid ones.

use std::ops::Range;

use memchr::memchr;

/// The maximum number of lines of a record.
pub(super) const LINES_MAX: u64 = 1000;
/// The maximum size of a record, as a multiple of the maximum size of a field.
pub(super) const RECORD_FIELDS_MAX: usize = 4;
/// The position of a field's text.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) text: Range<usize>,
    pub(super) is_quoted: bool,
    pub(super) is_unescaped: bool,
}

/// A record.
#[derive(Clone, Copy)]
pub(crate) struct Record<'r> {
    /// The line on which the record begins.
    pub(crate) line: u64,
    /// The bytes of the record, without the line end.
    pub(crate) bytes: &'r [u8],
    pub(super) unescaped: &'r [u8],
    pub(super) fields: &'r [Field],
}

impl<'r> Record<'r> {
    /// Returns the number of fields.
    pub(crate) const fn len(&self) -> usize {
        self.fields.len()
    }

    /// Returns the text of a field, without quotes.
    pub(crate) fn field(&self, index: usize) -> &'r [u8] {
        let Field { text, is_unescaped, .. } = &self.fields[index];
        let bytes = if *is_unescaped { self.unescaped } else { self.bytes };
        &bytes[text.clone()]
    }

    /// Whether an unquoted field contains a carriage return.
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
    /// The problem, with its line if that is another.
    pub(crate) what: String,
    /// The bytes of the line; only the buffered ones of a line that is too long.
    pub(crate) bytes: Vec<u8>,
}

/// A record, or a bad line.
pub(crate) type ParsedRecord<'r> = Result<Record<'r>, BadLine>;

/// A problem of a record.
#[derive(Clone, Copy, Debug)]
pub(super) enum Problem {
    /// Lines of the record before the quote.
    Unclosed(u64),
    /// Lines of the record before the closing quote, and before the opening quote.
    TextAfterQuote(u64, u64),
    /// Lines of the record before the quote.
    TooManyLines(u64),
    FieldTooLarge(usize),
    RecordTooLarge,
}

impl Problem {
    pub(super) fn message(self, line: u64, field_size_max: usize) -> String {
        match self {
            Self::Unclosed(quote) => {
                format!("the quote that opens a field on line {} is not closed", line + quote)
            }
            Self::TextAfterQuote(closing, opening) => format!(
                "text after the quote on line {} that closes the field opened on line {}; double a quote inside \
                 a quoted field",
                line + closing,
                line + opening
            ),
            Self::TooManyLines(quote) => format!(
                "a record of more than {LINES_MAX} lines; the quote that opens a field on line {} may not be \
                 closed",
                line + quote
            ),
            Self::FieldTooLarge(index) => format!(
                "column {}: a field of more than {field_size_max} bytes; raise --field-size-max for larger fields",
                index + 1
            ),
            Self::RecordTooLarge => format!(
                "a record of more than {} bytes, {RECORD_FIELDS_MAX} times --field-size-max",
                field_size_max.saturating_mul(RECORD_FIELDS_MAX)
            ),
        }
    }
}
