//! What a reader accepts before it calls a file damaged.

/// The largest things that a reader accepts. What is larger is an error before memory is taken.
///
/// The defaults are far above what HBase writes in practice and far below what the format's fields
/// could hold. Beside them no allocation is larger than the bytes read can justify: with the
/// defaults, reading or verifying a file of `n` bytes never holds more than 64 MiB and 4 · `n`, the
/// caller's cache aside.
///
/// ```
/// use sstable::{Limits, ReaderOptions};
///
/// // Cells of 200 MB that compress well, in a file that holds little else.
/// let limits = Limits::default().inflate_ratio_max(100);
/// let options = ReaderOptions::default().limits(limits);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use]
pub struct Limits {
    pub(crate) block_len_max: u32,
    pub(crate) cell_len_max: u32,
    pub(crate) inflate_ratio_max: u32,
    pub(crate) load_on_open_len_max: u32,
    pub(crate) file_info_len_max: u32,
    pub(crate) index_levels_max: u32,
}

impl Default for Limits {
    fn default() -> Self {
        // The writer makes blocks of up to 1 GiB; compression can make one that much larger.
        let block_len_max = (1 << 30) + (64 << 20);
        Self {
            block_len_max,
            cell_len_max: block_len_max,
            inflate_ratio_max: 1,
            load_on_open_len_max: 512 << 20,
            file_info_len_max: 1 << 20,
            index_levels_max: 16,
        }
    }
}

/// Bytes that any block may hold. HBase takes no cell of more than 10 MiB unless it is told to, and
/// cuts a block behind the cell that fills it.
const BLOCK_LEN_FREE: usize = 16 << 20;

impl Limits {
    /// The largest block: as stored, decompressed, and as plain cells. Default: 1088 MiB, a little
    /// more than the writer makes.
    pub const fn block_len_max(mut self, bytes: u32) -> Self {
        self.block_len_max = bytes;
        self
    }

    /// The largest cell: key, value, tags, and their lengths. Default: 1088 MiB, so that only the
    /// block bounds it.
    pub const fn cell_len_max(mut self, bytes: u32) -> Self {
        self.cell_len_max = bytes;
        self
    }

    /// What a block may come to, decompressed and decoded: this many times the length of its file,
    /// and 16 MiB. Default: 1.
    ///
    /// It is held against the file, not against the block as stored, because a sound block may well
    /// be a thousand times shorter when it is stored; but a sound file that comes to less than its
    /// largest block holds hardly anything but one huge cell.
    pub const fn inflate_ratio_max(mut self, ratio: u32) -> Self {
        self.inflate_ratio_max = ratio;
        self
    }

    /// The most bytes of root indexes, file info and Bloom metas together, as stored and
    /// decompressed, which stay in memory as long as the file is open. Default: 512 MiB.
    pub const fn load_on_open_len_max(mut self, bytes: u32) -> Self {
        self.load_on_open_len_max = bytes;
        self
    }

    /// The longest file info, decompressed. Default: 1 MiB.
    pub const fn file_info_len_max(mut self, bytes: u32) -> Self {
        self.file_info_len_max = bytes;
        self
    }

    /// The most levels of a data index. Default: 16, more than HBase makes.
    pub const fn index_levels_max(mut self, levels: u32) -> Self {
        self.index_levels_max = levels;
        self
    }

    /// How many bytes a block may have once decompressed, in a file of `file_len`.
    pub(crate) fn inflated_len_max(&self, file_len: u64) -> usize {
        let file_len = usize::try_from(file_len).unwrap_or(usize::MAX);
        let ratio = usize::try_from(self.inflate_ratio_max).unwrap_or(usize::MAX);
        let limit = usize::try_from(self.block_len_max).unwrap_or(usize::MAX);
        limit.min(file_len.saturating_mul(ratio).saturating_add(BLOCK_LEN_FREE))
    }

    /// How many bytes of plain cells `body_len` bytes of an encoded block may stand for, in a file
    /// of `file_len`.
    ///
    /// A repeated value takes a byte or two, so that a small block could stand for any number of
    /// cells. But HBase cuts blocks by what their cells take unencoded, and a cell larger than that
    /// stands in the block once at full length: so what is far above the one and the other is no
    /// block of HBase's.
    pub(crate) fn plain_len_max(&self, body_len: usize, file_len: u64) -> usize {
        self.inflated_len_max(file_len).min(body_len.saturating_add(BLOCK_LEN_FREE))
    }
}
