//! What a reader has skipped after damage.

use std::fmt;

/// The bytes of a log that [`Reader::skip_damage`](super::Reader::skip_damage) skips.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SkippedBytes {
    /// The offset of the first of them, where the entry begins that cannot be read.
    pub offset: u64,
    /// How many.
    pub bytes: u64,
    /// What follows them.
    pub end: SkipEnd,
}

/// What follows skipped bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SkipEnd {
    /// Sound entries.
    Entries,
    /// Nothing: no sound entries were found up to the end of the log.
    NoEntries,
    /// Nothing: the search for sound entries was given up, because too many bytes look like entries, as in
    /// a file that is made for that.
    GivenUp,
    /// Nothing: the entries up to the end of the log need dictionaries, which the damage breaks off.
    Dictionaries,
}

/// Says that a search was given up.
pub(super) const GIVEN_UP: &str =
    "the search for sound entries was given up, because too many bytes look like entries";

impl fmt::Display for SkippedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { offset, bytes, end } = self;
        let what = match end {
            SkipEnd::Entries => "the next sound entries follow",
            SkipEnd::NoEntries => "no sound entries follow",
            SkipEnd::GivenUp => GIVEN_UP,
            SkipEnd::Dictionaries => {
                "the log ends there, because its entries need the dictionaries of those before"
            }
        };
        write!(f, "{bytes} bytes from offset {offset} on are left out; {what}")
    }
}
