//! Types shared by the cell decoders.

use std::borrow::Cow;

use cells::Comparator;

/// Why bytes are damaged; the caller, which knows the block, makes a [`Damage`](crate::Damage).
pub(crate) type DamageReason = Cow<'static, str>;

/// The optional fields of the cells of a file, and the row order.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct CellLayout {
    /// Each cell has a tags field, which may be empty.
    pub(crate) tags: bool,
    /// Each cell has a sequence id.
    pub(crate) mvcc: bool,
    /// `PREFIX`, `DIFF` and `FAST_DIFF` blocks have a tag dictionary.
    pub(crate) compressed_tags: bool,
    /// The order of rows.
    pub(crate) order: Comparator,
}

/// The result of moving a checking cursor.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum CursorMove {
    /// The next cell of the same row.
    SameRow,
    /// The first cell of the next row.
    NextRow,
    /// There is no next cell; the cursor stays on the last one.
    End,
}
