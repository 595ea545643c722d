//! What a reader accepts before it calls a file damaged.

/// The largest things that a reader accepts. What is larger is an error before memory is taken.
///
/// The defaults are far above what HBase writes in practice and far below what the format's fields
/// could hold. Beside them no allocation is larger than the bytes read can justify.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use]
pub struct Limits {
    pub(crate) block_len_max: u32,
    pub(crate) load_on_open_len_max: u32,
    pub(crate) index_levels_max: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { block_len_max: 256 << 20, load_on_open_len_max: 512 << 20, index_levels_max: 16 }
    }
}

impl Limits {
    /// The largest block: as stored, decompressed, and as plain cells. A cell cannot be larger than
    /// its block, so this bounds cells too. Default: 256 MiB.
    pub const fn block_len_max(mut self, bytes: u32) -> Self {
        self.block_len_max = bytes;
        self
    }

    /// The most bytes of root indexes, file info and Bloom metas together, which stay in memory as
    /// long as the file is open. Default: 512 MiB.
    pub const fn load_on_open_len_max(mut self, bytes: u32) -> Self {
        self.load_on_open_len_max = bytes;
        self
    }

    /// The most levels of a data index. Default: 16, more than HBase makes.
    pub const fn index_levels_max(mut self, levels: u32) -> Self {
        self.index_levels_max = levels;
        self
    }
}
