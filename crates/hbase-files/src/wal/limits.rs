//! The maximum lengths that the reader of write-ahead logs accepts, far above those that HBase
//! writes.
//!
//! Lengths are also checked against the bytes that the file has left, before memory is allocated.

/// The message of the header.
pub(super) const HEADER_LEN_MAX: usize = 1 << 20;

/// The message of the trailer. HBase warns above 1 MiB.
pub(super) const TRAILER_LEN_MAX: u64 = 1 << 20;

/// The key of an entry: names, scopes and cluster ids.
pub(super) const KEY_LEN_MAX: usize = 16 << 20;

/// A cell, or a compressed value. HBase's default limit of a cell is 10 MiB.
pub(super) const CELL_LEN_MAX: usize = 256 << 20;

/// The cells of an entry in memory: their bytes, and a fixed size for each.
///
/// HBase's default limit of a request is 256 MiB.
pub(super) const ENTRY_LEN_MAX: usize = 512 << 20;

/// The byte strings of all dictionaries of a file.
pub(super) const DICTIONARIES_LEN_MAX: usize = 256 << 20;
