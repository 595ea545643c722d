//! What is decided about each file of a family.

use std::fmt;

/// A file of a family, and whether a new list has it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DecidedFile {
    /// The name.
    pub name: String,
    /// The length in bytes; zero if there is no such file.
    pub len: u64,
    /// The decision.
    pub decision: FileDecision,
}

/// What is decided about a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum FileDecision {
    /// The list has the file.
    Taken(FileKind),
    /// The list does not have the file; the text says why.
    LeftOut(String),
    /// Taking the file could bring back deleted cells, and leaving it out could lose cells; the text says why. The
    /// list cannot be written until the caller decides.
    Undecided(String),
}

impl FileDecision {
    pub(super) fn undecided(why: &str) -> Self {
        Self::Undecided(why.to_owned())
    }
}

/// The kind of a file in a list.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum FileKind {
    /// An HFile whose trailer and file info can be read.
    HFile,
    /// A reference to a half of a file that can be read in the same way.
    Reference,
    /// A link to a file that can be read in the same way.
    Link,
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::HFile => "HFile",
            Self::Reference => "reference",
            Self::Link => "link",
        })
    }
}

impl FileDecision {
    /// Returns whether the list has the file.
    pub const fn is_taken(&self) -> bool {
        matches!(self, Self::Taken(_))
    }
}
