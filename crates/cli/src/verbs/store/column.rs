//! A column of a row, as arguments.

use crate::arguments::key_text::KeyText;

/// A column of a row.
#[derive(clap::Args)]
pub(super) struct Column {
    /// Column family
    pub(super) family: String,
    /// Row key: text with \xNN, or hex:…
    pub(super) row: KeyText,
    /// Column qualifier: text with \xNN, or hex:…
    pub(super) qualifier: KeyText,
}
