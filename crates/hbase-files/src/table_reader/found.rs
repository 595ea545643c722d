//! What is wrong or in doubt in the directories of a table, collected while they are read.

use crate::{Error, Warning};

/// The errors and the warnings that were found so far.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The errors of parts that cannot be read; see [`Table::problems`](crate::Table::problems).
    pub(crate) problems: Vec<Error>,
    /// What is in doubt; see [`Table::warnings`](crate::Table::warnings).
    pub(crate) warnings: Vec<Warning>,
}
