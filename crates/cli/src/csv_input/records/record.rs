//! One record, and why a line begins none.

use std::ops::Range;

use memchr::memchr;

/// Lines that a record may have.
pub(super) const LINES_MAX: u64 = 1000;
/// Fields' sizes that a record may have together, as a multiple of what one may have.
pub(super) const RECORD_FIELDS_MAX: usize = 4;
/// Where the text of a field stands.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) text: Range<usize>,
    pub(super) is_quoted: bool,
    pub(super) is_unescaped: bool,
}

/// One record.
#[derive(Clone, Copy)]
pub(crate) struct Record<'r> {
    /// The line it begins on.
    pub(crate) line: u64,
    /// All its bytes, without those that end the line.
    pub(crate) bytes: &'r [u8],
    pub(super) unescaped: &'r [u8],
    pub(super) fields: &'r [Field],
}

impl<'r> Record<'r> {
    /// The number of fields.
    pub(crate) const fn len(&self) -> usize {
        self.fields.len()
    }

    /// The text of a field, without quotes.
    pub(crate) fn field(&self, index: usize) -> &'r [u8] {
        let Field { text, is_unescaped, .. } = &self.fields[index];
        let bytes = if *is_unescaped { self.unescaped } else { self.bytes };
        &bytes[text.clone()]
    }

    /// Whether a carriage return stands in a field without quotes.
    pub(crate) fn has_lone_return(&self) -> bool {
        self.fields.iter().any(|field| {
            !field.is_quoted && memchr(b'\r', &self.bytes[field.text.clone()]).is_some()
        })
    }

    /// The texts of all fields.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &'r [u8]> + use<'r> {
        let record = *self;
        (0..self.len()).map(move |index| record.field(index))
    }
}

/// A line that begins no record.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct BadLine {
    /// The line that is passed over.
    pub(crate) line: u64,
    /// What is wrong, and on which line if it is another.
    pub(crate) what: String,
    /// The line's bytes; of one that is too long for memory the first.
    pub(crate) bytes: Vec<u8>,
}

/// A record, or why there is none on its line.
pub(crate) type ParsedRecord<'r> = Result<Record<'r>, BadLine>;

/// What is wrong with a record.
#[derive(Clone, Copy, Debug)]
pub(super) enum Problem {
    /// Lines before the quote.
    Unclosed(u64),
    /// Lines before the quote that closes, and before the one that opens.
    TextAfterQuote(u64, u64),
    /// Lines before the quote.
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
