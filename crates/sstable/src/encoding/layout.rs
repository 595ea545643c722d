//! What the decoders of cells share: what a file's cells carry, and how they say what is wrong.

use std::borrow::Cow;

use crate::Comparator;

/// What is wrong with some bytes. The caller, which knows the block, makes it a
/// [`Damage`](crate::Damage).
pub(crate) type DamageReason = Cow<'static, str>;

/// What the cells of a file carry beside key and value.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct CellLayout {
    /// Each cell has a tags field, even if it is empty.
    pub(crate) tags: bool,
    /// Each cell has a sequence id.
    pub(crate) mvcc: bool,
    /// `PREFIX`, `DIFF` and `FAST_DIFF` keep tags in a dictionary.
    pub(crate) compressed_tags: bool,
    /// The order of rows.
    pub(crate) order: Comparator,
}

/// What a cursor that checks cells came to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Step {
    /// A further cell of the row.
    SameRow,
    /// The first cell of the next row.
    NextRow,
    /// No cell: the cursor still stands on the last one.
    End,
}
