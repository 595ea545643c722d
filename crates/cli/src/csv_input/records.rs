//! Records of CSV: fields between separators, quoted or not, over one or more lines.
//!
//! ```text
//! 1,plain,"quoted, with a separator","with a ""quote""","over
//! two lines",last
//! ```
//!
//! A record ends at a line feed outside quotes; a carriage return before it is dropped. A quote opens a quoted
//! field only at the field's first byte, and elsewhere stands for itself. Behind the quote that closes a field
//! there is a separator or the end of the line. Empty lines are passed over.
//!
//! The crate `csv` takes a quote that is never closed for one that is closed at the end of the input. Here it
//! is an error, and so is a record that such a quote makes too long. The next record then begins on the line after
//! the bad record's *first* line: a stray quote costs one line and not what follows. Only a record whose quotes are
//! sound, and of which a field is too large, is skipped as a whole.

use std::io::{self, Read};
use std::ops::Range;

use memchr::{memchr, memchr_iter, memchr2};

/// Lines that a record may have.
const LINES_MAX: u64 = 1000;
/// Fields' sizes that a record may have together, as a multiple of what one may have.
const RECORD_FIELDS_MAX: usize = 4;
/// Bytes that the buffer has at first.
const BUFFER_LEN: usize = 1 << 18;

/// The bytes that give CSV its structure.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dialect {
    /// Stands between fields.
    pub(super) separator: u8,
    /// Stands around fields; `None` if no byte does.
    pub(super) quote: Option<u8>,
}

/// Reads records one after the other. Memory holds one record, and what was read behind it.
pub(super) struct Records<R> {
    input: R,
    dialect: Dialect,
    field_size_max: usize,
    buffer: Vec<u8>,
    /// What the buffer holds from the current record on.
    held: Range<usize>,
    /// The line on which the current record begins, from 1.
    line: u64,
    /// Bytes and lines of the record that was returned last, to be passed over.
    done: (usize, u64),
    fields: Vec<Field>,
    /// The texts of fields in which quotes were doubled.
    unescaped: Vec<u8>,
    has_begun: bool,
    /// Whether the record that is read next is to be read again.
    is_peeking: bool,
}

/// Where the text of a field stands.
#[derive(Clone, Debug)]
struct Field {
    text: Range<usize>,
    is_quoted: bool,
    is_unescaped: bool,
}

/// One record.
#[derive(Clone, Copy)]
pub(super) struct Record<'r> {
    /// The line it begins on.
    pub(super) line: u64,
    /// All its bytes, without those that end the line.
    pub(super) bytes: &'r [u8],
    unescaped: &'r [u8],
    fields: &'r [Field],
}

impl<'r> Record<'r> {
    /// The number of fields.
    pub(super) const fn len(&self) -> usize {
        self.fields.len()
    }

    /// The text of a field, without quotes.
    pub(super) fn field(&self, index: usize) -> &'r [u8] {
        let Field { text, is_unescaped, .. } = &self.fields[index];
        let bytes = if *is_unescaped { self.unescaped } else { self.bytes };
        &bytes[text.clone()]
    }

    /// Whether a carriage return stands in a field without quotes.
    pub(super) fn has_lone_return(&self) -> bool {
        self.fields.iter().any(|field| {
            !field.is_quoted && memchr(b'\r', &self.bytes[field.text.clone()]).is_some()
        })
    }

    /// The texts of all fields.
    pub(super) fn fields(&self) -> impl Iterator<Item = &'r [u8]> + use<'r> {
        let record = *self;
        (0..self.len()).map(move |index| record.field(index))
    }
}

/// A line that begins no record.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct BadLine {
    /// The line that is passed over.
    pub(super) line: u64,
    /// What is wrong, and on which line if it is another.
    pub(super) what: String,
    /// The line's bytes; of one that is too long for memory the first.
    pub(super) bytes: Vec<u8>,
}

/// A record, or why there is none on its line.
pub(super) type Found<'r> = Result<Record<'r>, BadLine>;

impl<R: Read> Records<R> {
    /// Reads from the beginning of `input`.
    pub(super) fn new(input: R, dialect: Dialect, field_size_max: usize) -> Self {
        Self {
            input,
            dialect,
            field_size_max,
            buffer: vec![0; BUFFER_LEN],
            held: 0..0,
            line: 1,
            done: (0, 0),
            fields: Vec::new(),
            unescaped: Vec::new(),
            has_begun: false,
            is_peeking: false,
        }
    }

    /// As [`read`](Self::read), which will return the same record.
    pub(super) fn peek(&mut self) -> io::Result<Option<Found<'_>>> {
        self.is_peeking = true;
        self.read()
    }

    /// The next record that is not an empty line; `None` at the end.
    pub(super) fn read(&mut self) -> io::Result<Option<Found<'_>>> {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.pass_byte_order_mark()?;
        }
        loop {
            self.held.start += self.done.0;
            self.line += self.done.1;
            self.done = (0, 0);
            let mut parser = Parser::new(self.dialect, self.field_size_max);
            self.fields.clear();
            self.unescaped.clear();
            let found = loop {
                let bytes = &self.buffer[self.held.clone()];
                match parser.parse(bytes, &mut self.fields, &mut self.unescaped) {
                    Parsed::Unfinished => {}
                    found => break found,
                }
                if !self.fill()? {
                    let bytes = &self.buffer[self.held.clone()];
                    break parser.finish(bytes, &mut self.fields, &mut self.unescaped);
                }
            };
            match found {
                Parsed::Unfinished => return Ok(None),
                Parsed::EmptyLine { end } => self.done = (end, 1),
                Parsed::Record { text_end, end } => {
                    if !std::mem::take(&mut self.is_peeking) {
                        self.done = (end, parser.lines + 1);
                    }
                    let bytes = &self.buffer[self.held.start..self.held.start + text_end];
                    let (line, unescaped, fields) = (self.line, &*self.unescaped, &*self.fields);
                    return Ok(Some(Ok(Record { line, bytes, unescaped, fields })));
                }
                Parsed::BadRecord { problem, text_end, end } => {
                    let bytes = self.buffer[self.held.start..self.held.start + text_end].to_vec();
                    let what = problem.told(self.line, self.field_size_max);
                    self.done = (end, parser.lines + 1);
                    return Ok(Some(Err(BadLine { line: self.line, what, bytes })));
                }
                Parsed::Bad(problem) => return self.pass_over(&problem).map(|bad| Some(Err(bad))),
            }
        }
    }

    /// Passes over the mark that some programs put before UTF-8.
    fn pass_byte_order_mark(&mut self) -> io::Result<()> {
        const MARK: [u8; 3] = *b"\xef\xbb\xbf";
        loop {
            let held = &self.buffer[self.held.clone()];
            if held.starts_with(&MARK) {
                self.held.start += MARK.len();
                return Ok(());
            }
            if !MARK.starts_with(held) || !self.fill()? {
                return Ok(());
            }
        }
    }

    /// Passes over the first line of what is no record.
    fn pass_over(&mut self, problem: &Problem) -> io::Result<BadLine> {
        let what = problem.told(self.line, self.field_size_max);
        let held = &self.buffer[self.held.clone()];
        let end = memchr(b'\n', held);
        let bytes = without_return(&held[..end.unwrap_or(held.len())]).to_vec();
        let bad = BadLine { line: self.line, what, bytes };
        self.line += 1;
        if let Some(end) = end {
            self.held.start += end + 1;
            return Ok(bad);
        }
        // The rest of the line is not in memory.
        loop {
            self.held.start = self.held.end;
            if !self.fill()? {
                return Ok(bad);
            }
            if let Some(end) = memchr(b'\n', &self.buffer[self.held.clone()]) {
                self.held.start += end + 1;
                return Ok(bad);
            }
        }
    }

    /// Reads on behind what is held; `false` at the end of the input.
    fn fill(&mut self) -> io::Result<bool> {
        if self.held.is_empty() {
            self.held = 0..0;
        }
        if self.held.end == self.buffer.len() {
            if self.held.start > self.buffer.len() / 2 {
                self.buffer.copy_within(self.held.clone(), 0);
                self.held = 0..self.held.len();
            } else {
                self.buffer.resize(self.buffer.len() * 2, 0);
            }
        }
        loop {
            match self.input.read(&mut self.buffer[self.held.end..]) {
                Ok(len) => {
                    self.held.end += len;
                    return Ok(len > 0);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// Where the parser of a record stands. All places are counted from the record's first byte, so that a record can
/// be moved in memory and more of it be read.
struct Parser {
    dialect: Dialect,
    field_size_max: usize,
    state: State,
    at: usize,
    field_start: usize,
    /// Line feeds passed.
    lines: u64,
    /// Those before the quote that opened the current field.
    quote_lines: u64,
    /// Quotes of the current field that stand for one of two.
    doubled_quotes: usize,
    /// The first field that is too large.
    too_large: Option<usize>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    /// On the first byte of a field.
    Start,
    /// In a field without quotes.
    Plain,
    /// Between quotes.
    Quoted,
    /// Behind a quote between quotes: it closes the field, or is the first of two.
    Quote,
    /// Behind a quoted field and a carriage return.
    Return,
}

enum Parsed {
    /// The bytes end in the record; or there are none.
    Unfinished,
    Record {
        text_end: usize,
        end: usize,
    },
    EmptyLine {
        end: usize,
    },
    /// A record that ends where a record can, and is none all the same.
    BadRecord {
        problem: Problem,
        text_end: usize,
        end: usize,
    },
    /// Nobody knows where the record ends.
    Bad(Problem),
}

#[derive(Clone, Copy, Debug)]
enum Problem {
    /// Lines before the quote.
    Unclosed(u64),
    /// Lines before the quote that closes, and before the one that opens.
    TextBehindQuote(u64, u64),
    /// Lines before the quote.
    TooManyLines(u64),
    FieldTooLarge(usize),
    RecordTooLarge,
}

impl Problem {
    fn told(self, line: u64, field_size_max: usize) -> String {
        match self {
            Self::Unclosed(quote) => {
                format!("the quote that opens a field on line {} is not closed", line + quote)
            }
            Self::TextBehindQuote(closing, opening) => format!(
                "text behind the quote on line {} that closes the field opened on line {}; a quote in a quoted \
                 field is doubled",
                line + closing,
                line + opening
            ),
            Self::TooManyLines(quote) => format!(
                "a record of more than {LINES_MAX} lines; the quote that opens a field on line {} is perhaps not \
                 closed",
                line + quote
            ),
            Self::FieldTooLarge(index) => format!(
                "column {}: a field of more than {field_size_max} bytes; --field-size-max allows larger ones",
                index + 1
            ),
            Self::RecordTooLarge => format!(
                "a record of more than {} bytes, {RECORD_FIELDS_MAX} times --field-size-max",
                field_size_max.saturating_mul(RECORD_FIELDS_MAX)
            ),
        }
    }
}

impl Parser {
    const fn new(dialect: Dialect, field_size_max: usize) -> Self {
        Self {
            dialect,
            field_size_max,
            state: State::Start,
            at: 0,
            field_start: 0,
            lines: 0,
            quote_lines: 0,
            doubled_quotes: 0,
            too_large: None,
        }
    }

    /// Goes on in the bytes of a record, from where it stands.
    fn parse(&mut self, bytes: &[u8], fields: &mut Vec<Field>, unescaped: &mut Vec<u8>) -> Parsed {
        let separator = self.dialect.separator;
        while let Some(&byte) = bytes.get(self.at) {
            match self.state {
                State::Start if Some(byte) == self.dialect.quote => {
                    self.state = State::Quoted;
                    self.quote_lines = self.lines;
                    self.doubled_quotes = 0;
                    self.at += 1;
                    self.field_start = self.at;
                }
                State::Start | State::Plain => {
                    let end = memchr2(separator, b'\n', &bytes[self.at..]);
                    self.state = State::Plain;
                    self.at = end.map_or(bytes.len(), |end| self.at + end);
                    let text = &bytes[self.field_start..self.at];
                    // A carriage return before the end of a line is not of the field.
                    let text = match bytes.get(self.at) {
                        Some(byte) if *byte == separator => text,
                        _ => without_return(text),
                    };
                    if let Some(problem) = self.size_problem(text.len(), fields.len()) {
                        return Parsed::Bad(problem);
                    }
                    let Some(byte) = bytes.get(self.at) else { break };
                    if *byte == b'\n' {
                        return self.end_of_plain(&bytes[..self.at], self.at + 1, fields);
                    }
                    let text = self.field_start..self.at;
                    fields.push(Field { text, is_quoted: false, is_unescaped: false });
                    self.begin_field();
                }
                State::Quoted => {
                    if let Some(problem) = self.pass_quoted(bytes, fields.len()) {
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
                    return Parsed::Bad(Problem::TextBehindQuote(self.lines, self.quote_lines));
                }
            }
        }
        Parsed::Unfinished
    }

    /// The input ends behind `bytes`.
    fn finish(&mut self, bytes: &[u8], fields: &mut Vec<Field>, unescaped: &mut Vec<u8>) -> Parsed {
        match self.state {
            State::Start if fields.is_empty() => Parsed::Unfinished,
            State::Start | State::Plain => self.end_of_plain(bytes, bytes.len(), fields),
            State::Quoted => Parsed::Bad(Problem::Unclosed(self.quote_lines)),
            State::Quote | State::Return => {
                let closing = self.at - usize::from(self.state == State::Return) - 1;
                self.push_quoted(bytes, closing, fields, unescaped);
                self.record(closing + 1, bytes.len())
            }
        }
    }

    /// The record ends with a field without quotes, which ends where `text` does.
    fn end_of_plain(&self, text: &[u8], end: usize, fields: &mut Vec<Field>) -> Parsed {
        let text_end = without_return(text).len();
        if fields.is_empty() && text_end == 0 {
            return Parsed::EmptyLine { end };
        }
        let text = self.field_start..text_end;
        fields.push(Field { text, is_quoted: false, is_unescaped: false });
        self.record(text_end, end)
    }

    /// A record that ends here, if no field of it was too large.
    fn record(&self, text_end: usize, end: usize) -> Parsed {
        match self.too_large.map(Problem::FieldTooLarge) {
            Some(problem) => Parsed::BadRecord { problem, text_end, end },
            None => Parsed::Record { text_end, end },
        }
    }

    /// Goes behind the next quote, or to the end of the bytes.
    fn pass_quoted(&mut self, bytes: &[u8], index: usize) -> Option<Problem> {
        let rest = &bytes[self.at..];
        let quote = self.dialect.quote.and_then(|quote| memchr(quote, rest));
        let passed = &rest[..quote.unwrap_or(rest.len())];
        self.lines += memchr_iter(b'\n', passed).count() as u64;
        self.at += passed.len();
        if self.lines >= LINES_MAX {
            return Some(Problem::TooManyLines(self.quote_lines));
        }
        let len = self.at - self.field_start - self.doubled_quotes;
        let problem = self.size_problem(len, index);
        if quote.is_some() {
            self.at += 1;
            self.state = State::Quote;
        }
        problem
    }

    /// Notes a field of `len` bytes that is too large, whose record may still be well formed; returns what is wrong
    /// with a record that is too large itself.
    fn size_problem(&mut self, len: usize, index: usize) -> Option<Problem> {
        if len > self.field_size_max {
            self.too_large.get_or_insert(index);
        }
        let is_too_large = self.at > self.field_size_max.saturating_mul(RECORD_FIELDS_MAX);
        let problem = self.too_large.map_or(Problem::RecordTooLarge, Problem::FieldTooLarge);
        is_too_large.then_some(problem)
    }

    /// Goes behind the separator that it stands on.
    const fn begin_field(&mut self) {
        self.at += 1;
        self.field_start = self.at;
        self.state = State::Start;
    }

    /// Adds a quoted field, whose last quote stands at `closing`.
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
            _ => return fields.push(Field { text, is_quoted: true, is_unescaped: false }),
        };
        let start = unescaped.len();
        let mut rest = &bytes[text];
        while let Some(at) = memchr(quote, rest) {
            unescaped.extend_from_slice(&rest[..=at]);
            rest = rest.get(at + 2..).unwrap_or_default();
        }
        unescaped.extend_from_slice(rest);
        let text = start..unescaped.len();
        fields.push(Field { text, is_quoted: true, is_unescaped: true });
    }
}

/// A line without the carriage return at its end.
fn without_return(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMAS: Dialect = Dialect { separator: b',', quote: Some(b'"') };

    /// Hands over one to three bytes at a time, so that records end in every place of the parser.
    struct Drops<'b>(&'b [u8], usize);

    impl Read for Drops<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            self.1 = self.1 % 3 + 1;
            let len = self.1.min(self.0.len()).min(out.len());
            out[..len].copy_from_slice(&self.0[..len]);
            self.0 = &self.0[len..];
            Ok(len)
        }
    }

    /// Records as lists of texts and bad lines as their messages, each with its line; read at once and in drops.
    fn read_all(
        text: &[u8],
        dialect: Dialect,
        size_max: usize,
    ) -> Vec<(u64, Result<String, String>)> {
        fn collect(mut records: Records<impl Read>) -> Vec<(u64, Result<String, String>)> {
            let mut all = Vec::new();
            while let Some(record) = records.read().expect("memory can be read") {
                all.push(match record {
                    Ok(record) => {
                        let texts: Vec<_> = record.fields().map(String::from_utf8_lossy).collect();
                        (record.line, Ok(texts.join("|")))
                    }
                    Err(bad) => (bad.line, Err(bad.what)),
                });
            }
            all
        }
        let whole = collect(Records::new(text, dialect, size_max));
        let mut drops = Records::new(Drops(text, 0), dialect, size_max);
        drops.buffer.truncate(1);
        assert_eq!(collect(drops), whole, "{}", String::from_utf8_lossy(text));
        whole
    }

    fn texts(text: &str) -> Vec<String> {
        let all = read_all(text.as_bytes(), COMMAS, 100);
        all.into_iter().map(|(_, record)| record.expect("sound")).collect()
    }

    #[test]
    fn fields_are_plain_or_quoted() {
        assert_eq!(texts("a,b\nc,d"), ["a|b", "c|d"]);
        assert_eq!(texts("a,\"b,c\"\r\n\"d\",e\r\n"), ["a|b,c", "d|e"]);
        assert_eq!(texts("\"a\"\"b\",\"\"\"\",\"\"\n"), ["a\"b|\"|"]);
        assert_eq!(texts("5\" disk,x\"y\"\n"), ["5\" disk|x\"y\""]);
        assert_eq!(texts("\"a\nb\",c\n,\n"), ["a\nb|c", "|"]);
        assert_eq!(texts("\"a\"\r"), ["a"]);
        assert_eq!(texts("a,\r\n\r\n\n\nb,"), ["a|", "b|"]);
        assert_eq!(texts(""), [""; 0]);
        assert_eq!(texts("\n\r\n"), [""; 0]);
        assert_eq!(texts("\"\"\n"), [""]);
        assert_eq!(texts("\u{feff}\"a\",b"), ["a|b"]);
        assert_eq!(texts("\u{feff}"), [""; 0]);
        let tabs = Dialect { separator: b'\t', quote: None };
        assert_eq!(read_all(b"\"a\t,\"\n", tabs, 9), [(1, Ok("\"a|,\"".to_owned()))]);
    }

    #[test]
    fn lines_are_counted_through_records_and_empty_lines() {
        let all = read_all(b"a\n\n\"b\nb\nb\"\nc\n", COMMAS, 100);
        let lines: Vec<u64> = all.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [1, 3, 6]);
    }

    #[test]
    fn a_quote_that_is_not_closed_costs_its_line() {
        let all = read_all(b"a,b\nc,\"d\ne,f\n", COMMAS, 100);
        assert_eq!(all[0], (1, Ok("a|b".to_owned())));
        let what = "the quote that opens a field on line 2 is not closed";
        assert_eq!(all[1], (2, Err(what.to_owned())));
        assert_eq!(all[2], (3, Ok("e|f".to_owned())));

        let all = read_all(b"a,\"b\nc,\"d\",e\nf\n", COMMAS, 100);
        let what = "text behind the quote on line 2 that closes the field opened on line 1";
        assert!(all[0].1.as_ref().is_err_and(|error| error.starts_with(what)), "{all:?}");
        assert_eq!(all[1..], [(2, Ok("c|d|e".to_owned())), (3, Ok("f".to_owned()))]);
        assert!(read_all(b"\"a\"b\n", COMMAS, 100)[0].1.is_err());
        assert!(read_all(b"\"a\"\rb\n", COMMAS, 100)[0].1.is_err());
    }

    #[test]
    fn fields_records_and_lines_have_a_greatest_number() {
        let lines = |count: usize| format!("a,\"{}\"\nb\n", "\n".repeat(count));
        assert_eq!(read_all(lines(999).as_bytes(), COMMAS, 2000).len(), 2);
        let all = read_all(lines(1000).as_bytes(), COMMAS, 2000);
        assert!(all[0].1.as_ref().is_err_and(|what| what.contains("more than 1000 lines")));
        assert!(all[0].1.as_ref().is_err_and(|what| what.contains("on line 1 is perhaps")));

        for (field, is_sound) in
            [("1234567890", true), ("\"1234567890\"", true), ("12345678901", false)]
        {
            let all = read_all(format!("a,{field},b\nc\n").as_bytes(), COMMAS, 10);
            assert_eq!(all[0].1.is_ok(), is_sound, "{all:?}");
            assert_eq!(all[1], (2, Ok("c".to_owned())), "{all:?}");
        }
        // A field's size is that of its own bytes; a record's, that of all of them.
        for text in ["1234567890\r\n", "\"12345678\"\"9\"\n", "a,1234567890\r\n"] {
            assert!(read_all(text.as_bytes(), COMMAS, 10)[0].1.is_ok(), "{text}");
        }
        let all = read_all(b"a,\"1234\n6789\n12\",b\nc\n", COMMAS, 10);
        assert!(all[0].1.as_ref().is_err_and(|what| what.starts_with("column 2: a field of")));
        assert_eq!(all[1..], [(4, Ok("c".to_owned()))], "skipped as a whole");
        let all = read_all(&[b'x'; 3000], COMMAS, 10);
        let what = "column 1: a field of more than 10 bytes; --field-size-max allows larger ones";
        assert_eq!(all, [(1, Err(what.to_owned()))]);
        let all = read_all(b"12345,12345,12345,12345,12345,12345,12345,12345\na\n", COMMAS, 10);
        assert_eq!(
            all[0].1,
            Err("a record of more than 40 bytes, 4 times --field-size-max".into())
        );
        assert_eq!(all[1], (2, Ok("a".to_owned())));
    }
}
