//! Input whose lines have a maximum length, so that a line without end does not fill the memory.

use std::io::{self, BufRead, Read};

use memchr::memrchr;

use crate::record_problem::RecordProblem;

/// An input that fails in a line that is too long.
///
/// Bounds the memory of a line: the limit plus one buffer.
pub(super) struct LimitedLines<R> {
    input: R,
    len_max: u64,
    /// Returns what is wrong with a line that is longer.
    problem: fn(u64) -> RecordProblem,
    /// The bytes of the current line so far.
    len: u64,
}

impl<R: BufRead> LimitedLines<R> {
    pub(super) const fn new(input: R, len_max: u64, problem: fn(u64) -> RecordProblem) -> Self {
        Self { input, len_max, problem, len: 0 }
    }
}

impl<R: BufRead> BufRead for LimitedLines<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.len > self.len_max {
            let problem = (self.problem)(self.len_max);
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        self.input.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        // The bytes to consume are those that the last call returned: this one reads none.
        let filled = self.input.fill_buf().unwrap_or_default();
        let bytes = filled.get(..count).unwrap_or_default();
        self.len = match memrchr(b'\n', bytes) {
            Some(end) => (bytes.len() - end - 1) as u64,
            None => self.len + bytes.len() as u64,
        };
        self.input.consume(count);
    }
}

impl<R: BufRead> Read for LimitedLines<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let len = self.fill_buf()?.read(out)?;
        self.consume(len);
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_in_the_limit_plus_one_buffer_or_is_refused() {
        let read = |text: &str, buffer: usize| -> io::Result<Vec<String>> {
            let input = io::BufReader::with_capacity(buffer, text.as_bytes());
            LimitedLines::new(input, 8, |max| format!("more than {max}").into()).lines().collect()
        };
        for buffer in [1, 2, 3, 100] {
            let lines = read("1234567\n\n1234567\n12", buffer).expect("short lines");
            assert_eq!(lines, ["1234567", "", "1234567", "12"]);
        }
        for buffer in [1, 2, 3] {
            let error = read("1\n12345678901234\n", buffer).expect_err("a long line");
            assert_eq!(error.to_string(), "more than 8");
        }
        // The buffer has the end of the line.
        let lines = read("1\n12345678901234\n", 100).expect("lines in one buffer");
        assert_eq!(lines, ["1", "12345678901234"]);
    }
}
