//! Finds the fields of one record.

use memchr::{memchr, memchr_iter, memchr2};

use super::record::{Field, InvalidRecord, LINES_MAX, RECORD_SIZE_FACTOR};

/// The bytes that give CSV its structure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dialect {
    /// The separator of fields.
    pub(crate) separator: u8,
    /// The quote around fields; `None` if fields are never quoted.
    pub(crate) quote: Option<u8>,
}

/// The state of parsing a record.
///
/// All positions are relative to the record's first byte, so that the record can move in memory while more of
/// it is read.
pub(super) struct Parser {
    dialect: Dialect,
    field_size_max: usize,
    state: State,
    at: usize,
    field_start: usize,
    /// Line feeds so far.
    pub(super) lines: u64,
    /// Line feeds before the quote that opened the current field.
    quote_line: u64,
    /// Doubled quotes in the current field.
    doubled_quotes: usize,
    /// The first field that is too large.
    too_large: Option<usize>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    /// At the first byte of a field.
    Start,
    /// In an unquoted field.
    Plain,
    /// In a quoted field.
    Quoted,
    /// After a quote in a quoted field: it closes the field, or is the first of two.
    Quote,
    /// After a quoted field and a carriage return.
    Return,
}

pub(super) enum Parsed {
    /// The bytes end inside the record, or there are none.
    Unfinished,
    /// A record, which is invalid if it has a problem.
    Record {
        text_end: usize,
        end: usize,
        problem: Option<InvalidRecord>,
    },
    EmptyLine {
        end: usize,
    },
    /// An invalid record whose end is unknown.
    Bad(InvalidRecord),
}

impl Parser {
    pub(super) const fn new(dialect: Dialect, field_size_max: usize) -> Self {
        Self {
            dialect,
            field_size_max,
            state: State::Start,
            at: 0,
            field_start: 0,
            lines: 0,
            quote_line: 0,
            doubled_quotes: 0,
            too_large: None,
        }
    }

    /// Continues to parse the bytes of a record.
    pub(super) fn parse(
        &mut self,
        bytes: &[u8],
        fields: &mut Vec<Field>,
        unescaped: &mut Vec<u8>,
    ) -> Parsed {
        let separator = self.dialect.separator;
        while let Some(&byte) = bytes.get(self.at) {
            match self.state {
                State::Start if Some(byte) == self.dialect.quote => {
                    self.state = State::Quoted;
                    self.quote_line = self.lines;
                    self.doubled_quotes = 0;
                    self.at += 1;
                    self.field_start = self.at;
                }
                State::Start | State::Plain => {
                    let end = memchr2(separator, b'\n', &bytes[self.at..]);
                    self.state = State::Plain;
                    self.at = end.map_or(bytes.len(), |end| self.at + end);
                    let scanned = &bytes[self.field_start..self.at];
                    // A carriage return before a line feed belongs to the line end.
                    let text = match bytes.get(self.at) {
                        Some(byte) if *byte == separator => scanned,
                        _ => without_return(scanned),
                    };
                    if let Some(problem) = self.size_problem(text.len(), fields.len()) {
                        return Parsed::Bad(problem);
                    }
                    let Some(byte) = bytes.get(self.at) else { break };
                    if *byte == b'\n' {
                        return self.end_of_plain(&bytes[..self.at], self.at + 1, fields);
                    }
                    fields.push(Field::plain(self.field_start..self.at));
                    self.begin_field();
                }
                State::Quoted => {
                    if let Some(problem) = self.scan_quoted(bytes, fields.len()) {
                        return Parsed::Bad(problem);
                    }
                }
                State::Quote | State::Return if byte == b'\n' => {
                    let closing = self.at - usize::from(self.state == State::Return) - 1;
                    self.push_quoted(bytes, closing, fields, unescaped);
                    return self.record(closing + 1, self.at + 1);
                }
                State::Quote if Some(byte) == self.dialect.quote => {
                    self.doubled_quotes += 1;
                    self.state = State::Quoted;
                    self.at += 1;
                }
                State::Quote if byte == separator => {
                    self.push_quoted(bytes, self.at - 1, fields, unescaped);
                    self.begin_field();
                }
                State::Quote if byte == b'\r' => {
                    self.state = State::Return;
                    self.at += 1;
                }
                State::Quote | State::Return => {
                    return Parsed::Bad(InvalidRecord::TextAfterQuote {
                        closing_line: self.lines,
                        opening_line: self.quote_line,
                    });
                }
            }
        }
        Parsed::Unfinished
    }

    /// Parses the rest at the end of the input.
    pub(super) fn finish(
        &mut self,
        bytes: &[u8],
        fields: &mut Vec<Field>,
        unescaped: &mut Vec<u8>,
    ) -> Parsed {
        match self.state {
            State::Start if fields.is_empty() => Parsed::Unfinished,
            State::Start | State::Plain => self.end_of_plain(bytes, bytes.len(), fields),
            State::Quoted => Parsed::Bad(InvalidRecord::Unclosed { quote_line: self.quote_line }),
            State::Quote | State::Return => {
                let closing = self.at - usize::from(self.state == State::Return) - 1;
                self.push_quoted(bytes, closing, fields, unescaped);
                self.record(closing + 1, bytes.len())
            }
        }
    }

    /// Ends the record with an unquoted field that ends where `text` does.
    fn end_of_plain(&self, text: &[u8], end: usize, fields: &mut Vec<Field>) -> Parsed {
        let text_end = without_return(text).len();
        if fields.is_empty() && text_end == 0 {
            return Parsed::EmptyLine { end };
        }
        fields.push(Field::plain(self.field_start..text_end));
        self.record(text_end, end)
    }

    /// Ends the record; it is invalid if a field is too large.
    fn record(&self, text_end: usize, end: usize) -> Parsed {
        Parsed::Record { text_end, end, problem: self.too_large.map(InvalidRecord::FieldTooLarge) }
    }

    /// Advances past the next quote, or to the end of the bytes.
    fn scan_quoted(&mut self, bytes: &[u8], index: usize) -> Option<InvalidRecord> {
        let rest = &bytes[self.at..];
        let quote = self.dialect.quote.and_then(|quote| memchr(quote, rest));
        let passed = &rest[..quote.unwrap_or(rest.len())];
        self.lines += memchr_iter(b'\n', passed).count() as u64;
        self.at += passed.len();
        if self.lines >= LINES_MAX {
            return Some(InvalidRecord::TooManyLines { quote_line: self.quote_line });
        }
        let len = self.at - self.field_start - self.doubled_quotes;
        let problem = self.size_problem(len, index);
        if quote.is_some() {
            self.at += 1;
            self.state = State::Quote;
        }
        problem
    }

    /// Notes a field of `len` bytes that is too large, whose record may still be well formed.
    ///
    /// Returns a problem if the record itself is too large.
    fn size_problem(&mut self, len: usize, index: usize) -> Option<InvalidRecord> {
        if len > self.field_size_max {
            self.too_large.get_or_insert(index);
        }
        let is_too_large = self.at > self.field_size_max.saturating_mul(RECORD_SIZE_FACTOR);
        let problem =
            self.too_large.map_or(InvalidRecord::RecordTooLarge, InvalidRecord::FieldTooLarge);
        is_too_large.then_some(problem)
    }

    /// Advances past the separator.
    const fn begin_field(&mut self) {
        self.at += 1;
        self.field_start = self.at;
        self.state = State::Start;
    }

    /// Adds a quoted field whose closing quote is at `closing`.
    fn push_quoted(
        &self,
        bytes: &[u8],
        closing: usize,
        fields: &mut Vec<Field>,
        unescaped: &mut Vec<u8>,
    ) {
        let text = self.field_start..closing;
        let quote = match self.dialect.quote {
            Some(quote) if self.doubled_quotes > 0 => quote,
            _ => return fields.push(Field { text, is_quoted: true, has_doubled_quotes: false }),
        };
        let start = unescaped.len();
        let mut rest = &bytes[text];
        while let Some(at) = memchr(quote, rest) {
            unescaped.extend_from_slice(&rest[..=at]);
            rest = rest.get(at + 2..).unwrap_or_default();
        }
        unescaped.extend_from_slice(rest);
        let unescaped_text = start..unescaped.len();
        fields.push(Field { text: unescaped_text, is_quoted: true, has_doubled_quotes: true });
    }
}

/// Strips a carriage return from the end of a line.
pub(super) fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}
