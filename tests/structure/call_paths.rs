//! The lists of the functions that a workload executes: `docs/src/call-paths/WORKLOAD.txt`.
//!
//! `docs/call-path --update` writes them:
//!
//! ```text
//! 1 functions in 1 files; 1 functions of one line
//!
//! crates/store/src/read/get.rs: ReadView::current
//!
//! functions of one line:
//!
//! crates/store/src/store/handle.rs: Store::get
//! ```
//!
//! `limits.txt` beside them has the maximum counts of each list, and a table in
//! `docs/src/architecture.md` quotes the counts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The functions that a workload executes.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct CallPath {
    pub(crate) functions: BTreeSet<Entry>,
    /// Functions whose body has at most one line.
    pub(crate) one_line: BTreeSet<Entry>,
}

/// A function and its file.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct Entry {
    pub(crate) file: String,
    pub(crate) function: String,
}

/// The size of a list.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Counts {
    pub(crate) functions: usize,
    /// The files of `functions`.
    pub(crate) files: usize,
    pub(crate) one_line: usize,
}

const ONE_LINE_HEADING: &str = "functions of one line:";

impl CallPath {
    pub(crate) fn counts(&self) -> Counts {
        let files: BTreeSet<&str> = self.functions.iter().map(|entry| &entry.file[..]).collect();
        Counts {
            functions: self.functions.len(),
            files: files.len(),
            one_line: self.one_line.len(),
        }
    }

    /// Parses a list.
    ///
    /// # Errors
    ///
    /// Says which line has no function, or that the first line does not have the list's counts.
    pub(crate) fn parse(list: &str) -> Result<Self, String> {
        let mut lines = (1..).zip(list.lines());
        let summary = lines.next().map_or("", |(_, line)| line);
        let mut path = Self::default();
        let mut entries = &mut path.functions;
        for (line, text) in lines.filter(|(_, text)| !text.is_empty()) {
            if text == ONE_LINE_HEADING {
                entries = &mut path.one_line;
                continue;
            }
            let (file, function) = text
                .split_once(": ")
                .ok_or_else(|| format!("line {line}: want FILE: FUNCTION, not {text}"))?;
            entries.insert(Entry { file: file.to_owned(), function: function.to_owned() });
        }
        let expected = path.counts().to_string();
        if summary != expected {
            return Err(format!("the first line is \"{summary}\"; the list has {expected}"));
        }
        Ok(path)
    }
}

impl fmt::Display for CallPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.counts())?;
        self.functions.iter().try_for_each(|entry| writeln!(f, "{entry}"))?;
        writeln!(f, "\n{ONE_LINE_HEADING}\n")?;
        self.one_line.iter().try_for_each(|entry| writeln!(f, "{entry}"))
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.function)
    }
}

impl Counts {
    /// Returns whether no count exceeds that of `limit`.
    pub(crate) const fn is_within(&self, limit: &Self) -> bool {
        self.functions <= limit.functions
            && self.files <= limit.files
            && self.one_line <= limit.one_line
    }

    /// Parses three words.
    pub(crate) fn from_words(words: &[&str]) -> Option<Self> {
        let [functions, files, one_line] = words else { return None };
        Some(Self {
            functions: functions.parse().ok()?,
            files: files.parse().ok()?,
            one_line: one_line.parse().ok()?,
        })
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { functions, files, one_line } = self;
        write!(f, "{functions} functions in {files} files; {one_line} functions of one line")
    }
}

/// Parses `limits.txt`: after a line of headings, a workload and its three counts in each line.
///
/// # Errors
///
/// Says which line is not of the form.
pub(crate) fn parse_limits(text: &str) -> Result<BTreeMap<String, Counts>, String> {
    let lines = (1..).zip(text.lines()).skip(1);
    lines
        .map(|(line, text)| {
            let words: Vec<&str> = text.split_whitespace().collect();
            let counts = words.get(1..).and_then(Counts::from_words);
            let counts = counts
                .ok_or_else(|| format!("line {line}: want WORKLOAD and 3 counts, not {text}"))?;
            Ok((words[0].to_owned(), counts))
        })
        .collect()
}
