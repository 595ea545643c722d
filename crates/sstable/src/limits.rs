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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;

    use super::*;
    use crate::reader::tests::write;
    use crate::{
        Caching, Compression, DataBlockEncoding, FileName, Reader, ReaderOptions, Result,
        WriterOptions,
    };

    /// What reading all cells of a file comes to.
    fn read(file: &Bytes, limits: Limits) -> Result<()> {
        let options = ReaderOptions::default().limits(limits);
        let reader = Reader::open(Arc::new(file.clone()), FileName::new("limited"), options)?;
        let mut scanner = reader.scanner(Caching::Bypass);
        scanner.seek_to_first()?;
        while scanner.cell().is_some() {
            scanner.advance()?;
        }
        Ok(())
    }

    #[test]
    fn a_file_that_needs_more_than_a_limit_is_refused_and_says_which() {
        let options = WriterOptions::default()
            .data_block_encoding(DataBlockEncoding::FastDiff)
            .block_size(2000)
            .index_block_size(600)
            .index_min_entries(4);
        let file = Bytes::from(write(options));
        read(&file, Limits::default()).unwrap();
        let none = Limits::default;
        for (limits, what) in [
            (
                none().block_len_max(100),
                "makes the load-on-open section larger than the limits allow",
            ),
            (none().cell_len_max(30), "a cell of more than the 30 bytes allowed"),
            (none().load_on_open_len_max(100), "a load-on-open section of"),
            (none().file_info_len_max(10), "is longer than the limits allow"),
            (none().index_levels_max(1), "more index levels than the limits allow"),
        ] {
            let error = read(&file, limits).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
    }

    #[test]
    fn what_a_block_may_inflate_to_follows_the_file_and_the_ratio() {
        let limits = Limits::default();
        assert_eq!(limits.inflated_len_max(0), BLOCK_LEN_FREE);
        assert_eq!(limits.inflated_len_max(1000), BLOCK_LEN_FREE + 1000);
        assert_eq!(limits.inflate_ratio_max(7).inflated_len_max(1000), BLOCK_LEN_FREE + 7000);
        assert_eq!(limits.block_len_max(99).inflated_len_max(1000), 99);
        assert_eq!(limits.inflated_len_max(u64::MAX), limits.block_len_max as usize);
        // Plain cells are held against their own block too.
        assert_eq!(limits.plain_len_max(10, 1000), BLOCK_LEN_FREE + 10);
        assert_eq!(limits.plain_len_max(5000, 1000), BLOCK_LEN_FREE + 1000);
    }

    #[test]
    fn a_higher_ratio_lets_a_file_of_air_in() {
        let options = WriterOptions::default().compression(Compression::Gz);
        let mut writer = crate::Writer::new(Vec::new(), FileName::new("air"), options).unwrap();
        let value = vec![0; 17 << 20];
        let cell = crate::CellRef::put(b"r", b"f", b"q", crate::Timestamp::new(1), &value);
        writer.append(cell).unwrap();
        let file = Bytes::from(writer.finish().unwrap().0);
        let error = read(&file, Limits::default()).unwrap_err().to_string();
        assert!(error.contains("more than the limits allow in such a file"), "{error}");
        read(&file, Limits::default().inflate_ratio_max(100)).unwrap();
    }
}
