//! The two forms of a family map.

use crate::map_mode::MapMode;

/// What the entries of a map say about a row.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum MapForm {
    /// The file.
    Files,
    /// The file and the data block in it.
    Blocks,
}

impl MapForm {
    /// Returns the mode that always makes this form.
    pub(crate) const fn mode(self) -> MapMode {
        match self {
            Self::Files => MapMode::Files,
            Self::Blocks => MapMode::Blocks,
        }
    }
}
