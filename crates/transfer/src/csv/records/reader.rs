//! Reads CSV records, and continues after a bad line.

use std::io::{self, Read};
use std::ops::Range;

use memchr::memchr;

use super::parser::{Dialect, Parsed, Parser, without_return};
use super::record::{BadLine, Field, InvalidRecord, ParsedRecord, Record};

/// The initial size of the buffer.
const BUFFER_LEN: usize = 1 << 18;

/// A reader of CSV records. Its buffer holds the current record and the input read after it.
pub(crate) struct Records<R> {
    input: R,
    dialect: Dialect,
    field_size_max: usize,
    buffer: Vec<u8>,
    /// The range of the buffer that holds input, from the start of the current record on.
    filled: Range<usize>,
    /// The line on which the current record begins; the first line is 1.
    line: u64,
    /// The bytes and lines of the record returned last, which the next read skips.
    consumed: (usize, u64),
    fields: Vec<Field>,
    /// The texts of the fields with doubled quotes, each pair replaced with one quote.
    unescaped: Vec<u8>,
    has_started: bool,
    /// Set by `peek`: the next record is returned without being consumed.
    is_peeking: bool,
}

impl<R: Read> Records<R> {
    /// Reads from the beginning of `input`.
    pub(crate) fn new(input: R, dialect: Dialect, field_size_max: usize) -> Self {
        Self {
            input,
            dialect,
            field_size_max,
            buffer: vec![0; BUFFER_LEN],
            filled: 0..0,
            line: 1,
            consumed: (0, 0),
            fields: Vec::new(),
            unescaped: Vec::new(),
            has_started: false,
            is_peeking: false,
        }
    }

    /// Reads the next record like [`read`](Self::read), but does not consume it.
    pub(crate) fn peek(&mut self) -> io::Result<Option<ParsedRecord<'_>>> {
        self.is_peeking = true;
        self.read()
    }

    /// Reads the next record, skipping empty lines; returns `None` at the end of the input.
    pub(crate) fn read(&mut self) -> io::Result<Option<ParsedRecord<'_>>> {
        if !std::mem::replace(&mut self.has_started, true) {
            self.skip_byte_order_mark()?;
        }
        loop {
            self.filled.start += self.consumed.0;
            self.line += self.consumed.1;
            self.consumed = (0, 0);
            let mut parser = Parser::new(self.dialect, self.field_size_max);
            self.fields.clear();
            self.unescaped.clear();
            let found = loop {
                let bytes = &self.buffer[self.filled.clone()];
                match parser.parse(bytes, &mut self.fields, &mut self.unescaped) {
                    Parsed::Unfinished => {}
                    found => break found,
                }
                if !self.fill()? {
                    let bytes = &self.buffer[self.filled.clone()];
                    break parser.finish(bytes, &mut self.fields, &mut self.unescaped);
                }
            };
            match found {
                Parsed::Unfinished => return Ok(None),
                Parsed::EmptyLine { end } => self.consumed = (end, 1),
                Parsed::Record { text_end, end, problem } => {
                    if problem.is_some() || !std::mem::take(&mut self.is_peeking) {
                        self.consumed = (end, parser.lines + 1);
                    }
                    let bytes = &self.buffer[self.filled.start..self.filled.start + text_end];
                    let (line, unescaped, fields) = (self.line, &*self.unescaped, &*self.fields);
                    return Ok(Some(match problem {
                        None => Ok(Record { line, bytes, unescaped, fields }),
                        Some(problem) => Err(BadLine {
                            line,
                            problem: problem.of_record(line, self.field_size_max),
                            bytes: bytes.to_vec(),
                        }),
                    }));
                }
                Parsed::Bad(problem) => return self.skip_line(&problem).map(|bad| Some(Err(bad))),
            }
        }
    }

    /// Skips the byte order mark with which some programs begin UTF-8 files.
    fn skip_byte_order_mark(&mut self) -> io::Result<()> {
        const MARK: [u8; 3] = *b"\xef\xbb\xbf";
        loop {
            let unread = &self.buffer[self.filled.clone()];
            if unread.starts_with(&MARK) {
                self.filled.start += MARK.len();
                return Ok(());
            }
            if !MARK.starts_with(unread) || !self.fill()? {
                return Ok(());
            }
        }
    }

    /// Skips the first line of an invalid record whose end is unknown, and returns that line.
    ///
    /// The next read parses from the following line, so that an unclosed quote costs only one line.
    fn skip_line(&mut self, problem: &InvalidRecord) -> io::Result<BadLine> {
        let unread = &self.buffer[self.filled.clone()];
        let end = memchr(b'\n', unread);
        let bad = BadLine {
            line: self.line,
            problem: problem.of_record(self.line, self.field_size_max),
            bytes: without_return(&unread[..end.unwrap_or(unread.len())]).to_vec(),
        };
        self.line += 1;
        if let Some(end) = end {
            self.filled.start += end + 1;
            return Ok(bad);
        }
        // The line is longer than the buffered input: read and discard the rest of the line.
        loop {
            self.filled.start = self.filled.end;
            if !self.fill()? {
                return Ok(bad);
            }
            if let Some(end) = memchr(b'\n', &self.buffer[self.filled.clone()]) {
                self.filled.start += end + 1;
                return Ok(bad);
            }
        }
    }

    /// Reads more input into the buffer; returns `false` at the end of the input.
    fn fill(&mut self) -> io::Result<bool> {
        if self.filled.is_empty() {
            self.filled = 0..0;
        }
        if self.filled.end == self.buffer.len() {
            if self.filled.start > self.buffer.len() / 2 {
                self.buffer.copy_within(self.filled.clone(), 0);
                self.filled = 0..self.filled.len();
            } else {
                self.buffer.resize(self.buffer.len() * 2, 0);
            }
        }
        loop {
            match self.input.read(&mut self.buffer[self.filled.end..]) {
                Ok(len) => {
                    self.filled.end += len;
                    return Ok(len > 0);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMAS: Dialect = Dialect { separator: b',', quote: Some(b'"') };

    /// A reader that returns one to three bytes per call, so that input ends in each parser state.
    struct ShortReads<'b>(&'b [u8], usize);

    impl Read for ShortReads<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            self.1 = self.1 % 3 + 1;
            let len = self.1.min(self.0.len()).min(out.len());
            out[..len].copy_from_slice(&self.0[..len]);
            self.0 = &self.0[len..];
            Ok(len)
        }
    }

    /// Reads all records: the line of each, and its fields joined by `|` or its error message.
    ///
    /// Checks that short reads give the same records.
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
                    Err(bad) => (bad.line, Err(bad.problem.to_string())),
                });
            }
            all
        }
        let all_at_once = collect(Records::new(text, dialect, size_max));
        let mut short = Records::new(ShortReads(text, 0), dialect, size_max);
        short.buffer.truncate(1);
        assert_eq!(collect(short), all_at_once, "{}", String::from_utf8_lossy(text));
        all_at_once
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
    fn an_unclosed_quote_costs_one_line() {
        let all = read_all(b"a,b\nc,\"d\ne,f\n", COMMAS, 100);
        assert_eq!(all[0], (1, Ok("a|b".to_owned())));
        let what = "the quote that opens a field on line 2 is not closed";
        assert_eq!(all[1], (2, Err(what.to_owned())));
        assert_eq!(all[2], (3, Ok("e|f".to_owned())));

        let all = read_all(b"a,\"b\nc,\"d\",e\nf\n", COMMAS, 100);
        let what = "text after the quote on line 2 that closes the field opened on line 1";
        assert!(all[0].1.as_ref().is_err_and(|error| error.starts_with(what)), "{all:?}");
        assert_eq!(all[1..], [(2, Ok("c|d|e".to_owned())), (3, Ok("f".to_owned()))]);
        assert!(read_all(b"\"a\"b\n", COMMAS, 100)[0].1.is_err());
        assert!(read_all(b"\"a\"\rb\n", COMMAS, 100)[0].1.is_err());
    }

    #[test]
    fn fields_records_and_lines_are_limited() {
        let lines = |count: usize| format!("a,\"{}\"\nb\n", "\n".repeat(count));
        assert_eq!(read_all(lines(999).as_bytes(), COMMAS, 2000).len(), 2);
        let all = read_all(lines(1000).as_bytes(), COMMAS, 2000);
        assert!(all[0].1.as_ref().is_err_and(|what| what.contains("more than 1000 lines")));
        assert!(all[0].1.as_ref().is_err_and(|what| what.contains("on line 1 may not be")));

        for (field, is_sound) in [
            ("1234567890", true),
            ("\"1234567890\"", true),
            ("12345678901", false),
            // A carriage return before a separator is part of the field.
            ("1234567890\r", false),
        ] {
            let all = read_all(format!("a,{field},b\nc\n").as_bytes(), COMMAS, 10);
            assert_eq!(all[0].1.is_ok(), is_sound, "{all:?}");
            assert_eq!(all[1], (2, Ok("c".to_owned())), "{all:?}");
        }
        // Enclosing quotes and line ends do not count towards the size of a field, and a doubled
        // quote counts as one byte.
        for text in ["1234567890\r\n", "\"12345678\"\"9\"\n", "a,1234567890\r\n"] {
            assert!(read_all(text.as_bytes(), COMMAS, 10)[0].1.is_ok(), "{text}");
        }
        let all = read_all(b"a,\"1234\n6789\n12\",b\nc\n", COMMAS, 10);
        assert!(all[0].1.as_ref().is_err_and(|what| what.starts_with("column 2: a field of")));
        assert_eq!(all[1..], [(4, Ok("c".to_owned()))], "skipped as a whole");
        let all = read_all(&[b'x'; 3000], COMMAS, 10);
        let what = "column 1: a field of more than 10 bytes";
        assert_eq!(all, [(1, Err(what.to_owned()))]);
        let all = read_all(b"12345,12345,12345,12345,12345,12345,12345,12345\na\n", COMMAS, 10);
        assert_eq!(
            all[0].1,
            Err("a record of more than 40 bytes, 4 times the maximum of a field".into())
        );
        assert_eq!(all[1], (2, Ok("a".to_owned())));
    }
}
