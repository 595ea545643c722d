//! The two forms of a family map.

use crate::family_map::mode::MapMode;

/// How many bits of a row's hash the entries of a map have.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum MapForm {
    /// 10 bits.
    Narrow,
    /// 26 bits, in twice the memory.
    Wide,
}

impl MapForm {
    /// Returns the mode that always makes this form.
    pub(crate) const fn mode(self) -> MapMode {
        match self {
            Self::Narrow => MapMode::Files,
            Self::Wide => MapMode::Wide,
        }
    }
}
