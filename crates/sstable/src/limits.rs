//! Limits of a reader. A file that exceeds one is rejected with an error.

/// The maximum sizes that a reader accepts. It checks them before it allocates memory.
///
/// The defaults are far above what HBase writes and far below what the fields of the format can
/// hold. Allocations are also limited by the bytes read: with the defaults, reading or verifying a
/// file of `n` bytes needs at most 64 MiB + 4 · `n`, and twice its largest decompressed block, not
/// counting the block cache. A number that contradicts the bytes takes no memory.
///
/// ```
/// use sstable::{Limits, ReaderOptions};
///
/// // A file with little more than a cell of 500 MB that compresses well.
/// let limits = Limits::default().inflate_ratio_max(100);
/// let options = ReaderOptions::default().limits(limits);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use]
pub struct Limits {
    pub(crate) block_len_max: u32,
    /// The maximum size of a cell: key, value and tags, and the fields with their lengths.
    pub(crate) cell_len_max: u32,
    pub(crate) inflate_ratio_max: u32,
    /// The maximum total size of root indexes, file info and Bloom meta blocks, stored and
    /// decompressed. These blocks stay in memory while the file is open.
    pub(crate) load_on_open_len_max: u32,
    /// The maximum size of the decompressed file info.
    pub(crate) file_info_len_max: u32,
    /// The maximum number of levels of a data index; HBase writes fewer.
    pub(crate) index_levels_max: u32,
}

impl Default for Limits {
    fn default() -> Self {
        // The writer's maximum of 1 GiB, plus 64 MiB for data that grows when compressed.
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

/// The decompressed size that is accepted in a file of any size, in bytes.
///
/// A block ends with the cell that fills it. HBase's default limit for a cell is 10 MiB, which clusters
/// raise for larger values, and bulk loads do not have.
const BLOCK_LEN_ALLOWANCE: usize = 256 << 20;

/// The decoded size that is accepted beyond the stored cells of a delta-encoded block, in bytes.
///
/// Larger than the block sizes that clusters use.
const PLAIN_LEN_ALLOWANCE: usize = 16 << 20;

impl Limits {
    /// Sets the maximum size of a block, in its stored, decompressed and decoded form.
    ///
    /// Default: 1088 MiB, slightly more than the writer's maximum.
    pub const fn block_len_max(mut self, bytes: u32) -> Self {
        self.block_len_max = bytes;
        self
    }

    /// Sets the maximum size of a decompressed or decoded block: `ratio` × file size + 256 MiB.
    ///
    /// Default: 1. The limit depends on the size of the file, not of the stored block, because
    /// compression may shrink an undamaged block a thousandfold. An undamaged file needs a higher
    /// ratio only if it has little more than one huge cell that compresses well.
    pub const fn inflate_ratio_max(mut self, ratio: u32) -> Self {
        self.inflate_ratio_max = ratio;
        self
    }

    /// Returns the maximum size of a decompressed block in a file of `file_len` bytes.
    pub(crate) fn inflated_len_max(&self, file_len: u64) -> usize {
        let file_len = usize::try_from(file_len).unwrap_or(usize::MAX);
        let ratio = usize::try_from(self.inflate_ratio_max).unwrap_or(usize::MAX);
        let limit = usize::try_from(self.block_len_max).unwrap_or(usize::MAX);
        limit.min(file_len.saturating_mul(ratio).saturating_add(BLOCK_LEN_ALLOWANCE))
    }

    /// Returns the least ratio that allows a block of `len` bytes in a file of `file_len` bytes.
    pub(crate) fn ratio_for(len: u64, file_len: u64) -> u32 {
        let allowance = u64::try_from(BLOCK_LEN_ALLOWANCE).unwrap_or(u64::MAX);
        let ratio = len.saturating_sub(allowance).div_ceil(file_len.max(1));
        u32::try_from(ratio).unwrap_or(u32::MAX).max(1)
    }

    /// Returns the maximum decoded size of the cells of a delta-encoded block of `body_len` bytes.
    ///
    /// In such a block, a value equal to the previous one takes a byte or two, so a small malicious
    /// block could decode to any size. HBase ends a block by the unencoded size of its cells. Only
    /// a cell larger than the block size makes a block exceed that size by much, and its value is
    /// in the block at full length. So the decoded size of a valid block is not far above the
    /// larger of the block size and `body_len`.
    pub(crate) fn plain_len_max(&self, body_len: usize, file_len: u64) -> usize {
        self.inflated_len_max(file_len).min(body_len.saturating_add(PLAIN_LEN_ALLOWANCE))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;
    use cells::FileName;

    use super::*;
    use crate::compression::Compression;
    use crate::encoding::DataBlockEncoding;
    use crate::error::Result;
    use crate::file::options::{Caching, ReaderOptions};
    use crate::reader::Reader;
    use crate::reader::tests::write;
    use crate::write::WriterOptions;

    /// Reads all cells of a file.
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
    fn a_file_beyond_a_limit_is_rejected_and_the_limit_is_named() {
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
            (Limits { cell_len_max: 30, ..none() }, "a cell of more than the 30 bytes allowed"),
            (Limits { load_on_open_len_max: 100, ..none() }, "a load-on-open section of"),
            (Limits { file_info_len_max: 10, ..none() }, "is longer than the limits allow"),
            (Limits { index_levels_max: 1, ..none() }, "more index levels than the limits allow"),
        ] {
            let error = read(&file, limits).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
    }

    #[test]
    fn the_maximum_inflated_size_follows_file_size_and_ratio() {
        let limits = Limits::default();
        assert_eq!(limits.inflated_len_max(0), BLOCK_LEN_ALLOWANCE);
        assert_eq!(limits.inflated_len_max(1000), BLOCK_LEN_ALLOWANCE + 1000);
        assert_eq!(limits.inflate_ratio_max(7).inflated_len_max(1000), BLOCK_LEN_ALLOWANCE + 7000);
        assert_eq!(limits.block_len_max(99).inflated_len_max(1000), 99);
        assert_eq!(limits.inflated_len_max(u64::MAX), limits.block_len_max as usize);
        // Plain cells are also limited by the size of their block.
        assert_eq!(limits.plain_len_max(10, 1000), PLAIN_LEN_ALLOWANCE + 10);
        assert_eq!(limits.plain_len_max(1 << 30, 1000), BLOCK_LEN_ALLOWANCE + 1000);
    }

    #[test]
    fn a_higher_ratio_accepts_a_highly_compressed_file() {
        let options = WriterOptions::default().compression(Compression::Gz);
        let mut writer =
            crate::write::Writer::new(Vec::new(), FileName::new("air"), options).unwrap();
        let value = vec![0; 257 << 20];
        let cell = cells::CellRef::put(b"r", b"f", b"q", cells::Timestamp::new(1), &value);
        writer.append(cell).unwrap();
        let file = Bytes::from(writer.finish().unwrap().0);
        let error = read(&file, Limits::default()).unwrap_err();
        let crate::error::Error::TooLarge { ratio, .. } = error else { panic!("{error}") };
        let error = read(&file, Limits::default().inflate_ratio_max(ratio - 1)).unwrap_err();
        assert!(error.to_string().contains("bytes of data exceed the limit of "), "{error}");
        read(&file, Limits::default().inflate_ratio_max(ratio)).unwrap();
    }
}
