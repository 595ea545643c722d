//! What is wrong or in doubt in the directories of a table, collected while they are read.

use std::path::Path;

use cells::error_line;

use crate::error::Error;
use crate::warning::Warning;

/// The errors and the warnings that were found so far.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The errors of parts that cannot be read; see [`Table::problems`](crate::Table::problems).
    pub(crate) problems: Vec<Error>,
    /// What is in doubt; see [`Table::warnings`](crate::Table::warnings).
    pub(crate) warnings: Vec<Warning>,
}

impl Found {
    /// Adds a warning of a part that cannot be read, with what that means for reads.
    pub(crate) fn warn_of(&mut self, error: &Error, meaning: &str) {
        let (path, line) = (error.path().unwrap_or(Path::new("")), error_line(error));
        let what = line.strip_prefix(&format!("{}: ", path.display())).unwrap_or(&line);
        self.warnings.push(Warning::new(path, format!("{what}; {meaning}")));
    }
}
