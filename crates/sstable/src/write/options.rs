//! How a file is written.

use std::collections::BTreeMap;

use filter::bloom::hbase::HashType;
use filter::{ErrorRate, FilterKind, Seed, Sizing};

use crate::{
    BloomType, ChecksumType, Comparator, Compression, DataBlockEncoding, FileInfo, SequenceId,
    Timestamp, ZstdFraming,
};

/// How a file is written. The defaults are those of an HBase column family.
///
/// ```
/// use sstable::{BloomType, Compression, DataBlockEncoding, WriterOptions};
///
/// let options = WriterOptions::default()
///     .compression(Compression::Lz4)
///     .data_block_encoding(DataBlockEncoding::FastDiff)
///     .bloom_type(BloomType::RowCol);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own, set by name")]
pub struct WriterOptions {
    pub(crate) block_size: u32,
    pub(crate) data_block_encoding: DataBlockEncoding,
    pub(crate) compression: Compression,
    pub(crate) zstd_framing: ZstdFraming,
    pub(crate) checksum: ChecksumType,
    pub(crate) bytes_per_checksum: u32,
    pub(crate) index_block_size: u32,
    pub(crate) index_min_entries: u32,
    pub(crate) includes_mvcc: bool,
    pub(crate) includes_tags: bool,
    pub(crate) compress_tags: bool,
    pub(crate) bloom_type: BloomType,
    pub(crate) bloom_hash: HashType,
    pub(crate) bloom_error_rate: ErrorRate,
    pub(crate) bloom_block_size: u32,
    pub(crate) bloom_max_fold: u32,
    pub(crate) delete_family_bloom: bool,
    pub(crate) filter: Option<FilterOptions>,
    pub(crate) filter_block_size: u32,
    pub(crate) comparator: Comparator,
    pub(crate) max_sequence_id: Option<SequenceId>,
    pub(crate) major_compaction: bool,
    pub(crate) create_time: Option<Timestamp>,
    pub(crate) file_info: BTreeMap<Vec<u8>, Vec<u8>>,
}

/// A filter of our own, written into a META block beside HBase's Bloom filter.
///
/// It answers for rows. HBase passes it over; our reader asks it before HBase's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FilterOptions {
    /// Which filter.
    pub kind: FilterKind,
    /// How large it is to be.
    pub sizing: Sizing,
    /// The seed of its hashes: one a store, so that one hash of a key serves all files.
    pub seed: Seed,
}

impl Default for WriterOptions {
    fn default() -> Self {
        Self {
            block_size: 64 * 1024,
            data_block_encoding: DataBlockEncoding::None,
            compression: Compression::None,
            zstd_framing: ZstdFraming::Frame,
            checksum: ChecksumType::Crc32c,
            bytes_per_checksum: 16 * 1024,
            index_block_size: 128 * 1024,
            index_min_entries: 16,
            includes_mvcc: true,
            includes_tags: false,
            compress_tags: false,
            bloom_type: BloomType::Row,
            bloom_hash: HashType::Murmur,
            bloom_error_rate: ErrorRate::HBASE,
            bloom_block_size: 128 * 1024,
            bloom_max_fold: 7,
            delete_family_bloom: true,
            filter: None,
            filter_block_size: Self::FILTER_BLOCK_SIZE,
            comparator: Comparator::Bytes,
            max_sequence_id: None,
            major_compaction: false,
            create_time: None,
            file_info: BTreeMap::new(),
        }
    }
}

impl WriterOptions {
    /// Bytes of a filter of our own above which it is cut into partitions, unless said otherwise.
    pub const FILTER_BLOCK_SIZE: u32 = 1024 * 1024;

    /// Bytes of cells, encoded or not, after which a data block is cut. Default: 64 KiB.
    pub const fn block_size(mut self, bytes: u32) -> Self {
        self.block_size = bytes;
        self
    }

    /// How cells are stored. Default: as they are.
    pub const fn data_block_encoding(mut self, encoding: DataBlockEncoding) -> Self {
        self.data_block_encoding = encoding;
        self
    }

    /// The codec of all blocks. Default: none.
    pub const fn compression(mut self, codec: Compression) -> Self {
        self.compression = codec;
        self
    }

    /// How ZSTD blocks are laid out: as the codec class of the cluster wants them, which is the one
    /// that `hbase.io.compress.zstd.codec` names there. Default: a bare frame, for HBase's default.
    pub const fn zstd_framing(mut self, framing: ZstdFraming) -> Self {
        self.zstd_framing = framing;
        self
    }

    /// The algorithm that guards blocks. Default: CRC-32C.
    pub const fn checksum(mut self, algorithm: ChecksumType) -> Self {
        self.checksum = algorithm;
        self
    }

    /// Bytes that share one checksum, 33 at least. Default: 16 KiB.
    pub const fn bytes_per_checksum(mut self, bytes: u32) -> Self {
        self.bytes_per_checksum = bytes;
        self
    }

    /// Bytes after which an index block is cut. Default: 128 KiB.
    pub const fn index_block_size(mut self, bytes: u32) -> Self {
        self.index_block_size = bytes;
        self
    }

    /// Entries, two at least, that a root index may have before a level is put under it.
    /// Default: 16.
    pub const fn index_min_entries(mut self, entries: u32) -> Self {
        self.index_min_entries = entries;
        self
    }

    /// Whether cells keep their sequence ids. Default: yes.
    pub const fn includes_mvcc(mut self, keep: bool) -> Self {
        self.includes_mvcc = keep;
        self
    }

    /// Whether cells keep their tags; without it a cell that has some is refused. Default: no.
    pub const fn includes_tags(mut self, keep: bool) -> Self {
        self.includes_tags = keep;
        self
    }

    /// Whether tags are stored once a block; only under an encoding, and not under
    /// `ROW_INDEX_V1`. Such files HBase 2.5 writes too, and yet fails to scan backwards.
    /// Default: no.
    pub const fn compress_tags(mut self, compress: bool) -> Self {
        self.compress_tags = compress;
        self
    }

    /// What HBase's Bloom filter is asked about. Default: rows.
    pub const fn bloom_type(mut self, bloom_type: BloomType) -> Self {
        self.bloom_type = bloom_type;
        self
    }

    /// The hash of HBase's Bloom filters. Default: Murmur.
    pub const fn bloom_hash(mut self, hash: HashType) -> Self {
        self.bloom_hash = hash;
        self
    }

    /// How often HBase's Bloom filters may be wrong. Default: 1 %.
    pub const fn bloom_error_rate(mut self, rate: ErrorRate) -> Self {
        self.bloom_error_rate = rate;
        self
    }

    /// Bytes of a Bloom chunk before it is folded. Default: 128 KiB.
    pub const fn bloom_block_size(mut self, bytes: u32) -> Self {
        self.bloom_block_size = bytes;
        self
    }

    /// How often a Bloom chunk can be folded in half for certain: its size is a multiple of that
    /// power of two. Default: 7.
    pub const fn bloom_max_fold(mut self, times: u32) -> Self {
        self.bloom_max_fold = times;
        self
    }

    /// Whether rows with family deletes get a Bloom filter of their own, which a `ROWCOL` filter
    /// makes needless. Default: yes.
    pub const fn delete_family_bloom(mut self, wanted: bool) -> Self {
        self.delete_family_bloom = wanted;
        self
    }

    /// A filter of our own beside HBase's. Default: none.
    pub const fn filter(mut self, filter: FilterOptions) -> Self {
        self.filter = Some(filter);
        self
    }

    /// Bytes of a filter of our own above which it is cut into partitions by key range, each a
    /// block. One with a budget in bytes is never cut. Default: 1 MiB.
    pub const fn filter_block_size(mut self, bytes: u32) -> Self {
        self.filter_block_size = bytes;
        self
    }

    /// The order of rows. Default: by their bytes, as in all tables but `hbase:meta`.
    pub const fn comparator(mut self, comparator: Comparator) -> Self {
        self.comparator = comparator;
        self
    }

    /// The newest write in the file (`MAX_SEQ_ID_KEY`), by which a store orders its files. A file
    /// for bulk load has none. Default: none.
    pub const fn max_sequence_id(mut self, id: SequenceId) -> Self {
        self.max_sequence_id = Some(id);
        self
    }

    /// Whether the file calls itself the result of a major compaction. Default: no.
    pub const fn major_compaction(mut self, major: bool) -> Self {
        self.major_compaction = major;
        self
    }

    /// When the file was made. Default: the time when it is finished.
    pub const fn create_time(mut self, time: Timestamp) -> Self {
        self.create_time = Some(time);
        self
    }

    /// A file for HBase's bulk load, prepared at `time`: marked as one, and without sequence ids, for
    /// HBase gives its cells an age when it takes them in. Default: no.
    pub fn bulk_load(self, time: Timestamp) -> Self {
        let time = time.get().to_be_bytes();
        self.includes_mvcc(false).file_info(FileInfo::BULKLOAD_TIMESTAMP, time)
    }

    /// A further entry of the file info; the last of a key wins, also over what the writer would
    /// say itself. Keys that begin with `hfile.` are the writer's, and it will refuse them.
    pub fn file_info(mut self, key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) -> Self {
        self.file_info.insert(key.into(), value.into());
        self
    }
}
