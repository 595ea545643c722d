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
        // The writer makes blocks of up to 1 GiB; compression can make one that much larger.
        let block_len_max = (1 << 30) + (64 << 20);
        Self { block_len_max, load_on_open_len_max: 512 << 20, index_levels_max: 16 }
    }
}

impl Limits {
    /// The largest block: as stored, decompressed, and as plain cells. A cell cannot be larger than
    /// its block, so this bounds cells too. Default: 1088 MiB, a little more than the writer makes.
    pub const fn block_len_max(mut self, bytes: u32) -> Self {
        self.block_len_max = bytes;
        self
    }

    /// How many bytes of plain cells `body_len` bytes of an encoded block may stand for.
    ///
    /// A repeated value takes a byte or two, so that a small block could stand for any number of
    /// cells. But HBase cuts blocks by what their cells take unencoded, and a cell larger than that
    /// stands in the block once at full length: so what is far above the one and the other is no
    /// block of HBase's.
    pub(crate) fn plain_len_max(&self, body_len: usize) -> usize {
        const BLOCK_SIZE_MAX: usize = 32 << 20;
        let limit = usize::try_from(self.block_len_max).unwrap_or(usize::MAX);
        limit.min(body_len.saturating_add(BLOCK_SIZE_MAX))
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
