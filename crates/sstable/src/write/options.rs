//! Options of a writer.

use std::collections::BTreeMap;

use cells::{Comparator, SequenceId, Timestamp};
use filter::hbase::HashType;
use filter::{ErrorRate, FilterKind, Seed, Sizing};

use crate::block::BloomType;
use crate::block::meta::check_kind;
use crate::checksum::ChecksumType;
use crate::compression::{Compression, ZstdFraming};
use crate::encoding::DataBlockEncoding;
use crate::file::file_info::FileInfo;
use crate::write::HBaseVersion;

/// Options of a writer. The defaults are those of an HBase column family.
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
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate setting, set by name")]
pub struct WriterOptions {
    /// The bytes of cells, encoded or not, that end a data block.
    pub(crate) block_size: u32,
    /// The encoding of data blocks.
    pub(crate) data_block_encoding: DataBlockEncoding,
    /// The codec of all blocks.
    pub(crate) compression: Compression,
    /// The framing of ZSTD blocks.
    pub(crate) zstd_framing: ZstdFraming,
    /// The checksum algorithm.
    pub(crate) checksum: ChecksumType,
    /// The bytes for each checksum.
    pub(crate) bytes_per_checksum: u32,
    /// The bytes of entries that end an index block.
    pub(crate) index_block_size: u32,
    /// The entries that a root may have before a level is added.
    pub(crate) index_min_entries: u32,
    /// Whether cells keep their sequence ids.
    pub(crate) includes_mvcc: bool,
    /// Whether cells keep their tags.
    pub(crate) includes_tags: bool,
    /// Whether each block stores equal tags only once.
    pub(crate) compress_tags: bool,
    /// The keys of HBase's Bloom filter.
    pub(crate) bloom_type: BloomType,
    /// The hash of HBase's Bloom filters.
    pub(crate) bloom_hash: HashType,
    /// The error rate of HBase's Bloom filters.
    pub(crate) bloom_error_rate: ErrorRate,
    /// The bytes of a Bloom chunk before folding.
    pub(crate) bloom_block_size: u32,
    /// How often a Bloom chunk can be folded in half.
    pub(crate) bloom_max_fold: u32,
    /// Whether to write a Bloom filter over rows with family deletes.
    pub(crate) delete_family_bloom: bool,
    /// The row filter.
    pub(crate) filter: Option<FilterOptions>,
    /// Whether a file whose row filter cannot be built is written without it.
    pub(crate) filter_is_optional: bool,
    /// The bytes above which the row filter is partitioned by key range.
    pub(crate) filter_block_size: u32,
    /// The order of rows.
    pub(crate) comparator: Comparator,
    /// The greatest sequence id of the file's writes.
    pub(crate) max_sequence_id: Option<SequenceId>,
    /// Whether the file is marked as the result of a major compaction.
    pub(crate) major_compaction: bool,
    /// The create time; `None` for the time when the file is finished.
    pub(crate) create_time: Option<Timestamp>,
    /// The HBase whose bytes are written.
    pub(crate) hbase_version: HBaseVersion,
    /// Further entries of the file info.
    pub(crate) file_info: BTreeMap<Vec<u8>, Vec<u8>>,
}

/// A row filter: a filter over the rows of a file, stored in META blocks.
///
/// HBase ignores it. Our reader asks it instead of HBase's Bloom filter.
///
/// ```
/// use std::sync::Arc;
///
/// use bytes::Bytes;
/// use filter::{ErrorRate, FilterKind, Seed, Sizing};
/// use sstable::{
///     BloomType, CellRef, FileName, FilterOptions, Reader, ReaderOptions, RowProbe, Timestamp,
///     Writer, WriterOptions,
/// };
///
/// let (kind, seed) = (FilterKind::Ribbon, Seed::random());
/// let filter = FilterOptions::new(kind, Sizing::ErrorRate(ErrorRate::new(0.01)?)).seed(seed);
/// // No filter of HBase's beside it; keep it if HBase is to read the file.
/// let options = WriterOptions::default().filter(filter).bloom_type(BloomType::None);
/// let name = FileName::new("users.hfile");
/// let mut writer = Writer::new(Vec::new(), name.clone(), options)?;
/// for row in ["row1", "row2", "row3"] {
///     writer.append(CellRef::put(row.as_bytes(), b"f", b"q", Timestamp::new(1), b"value"))?;
/// }
/// let (bytes, _) = writer.finish()?;
///
/// let reader = Reader::open(Arc::new(Bytes::from(bytes)), name, ReaderOptions::default())?;
/// let summary = reader.filters().row_filter()?.expect("written above");
/// assert_eq!((summary.kind, summary.key_count), (FilterKind::Ribbon, 3));
/// // A probe with the seed of the filter hashes its row once, also for many files.
/// let found = reader.look_up(&RowProbe::new(b"row2", seed))?;
/// assert!(found.cell().is_some());
/// assert_eq!(found.trace().filter_checks, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
pub struct FilterOptions {
    pub(crate) kind: FilterKind,
    pub(crate) sizing: Sizing,
    pub(crate) seed: Seed,
}

impl FilterOptions {
    /// Makes the options of a filter of this kind and size.
    pub const fn new(kind: FilterKind, sizing: Sizing) -> Self {
        Self { kind, sizing, seed: Seed::new(0) }
    }

    /// Sets the hash seed. Default: 0, so that the same cells give the same bytes.
    ///
    /// The filters of many files should share one seed: a [`RowProbe`](crate::RowProbe) with this seed then hashes its
    /// row once for all of them. A random seed protects filters against keys that are chosen to collide.
    pub const fn seed(self, seed: Seed) -> Self {
        Self { seed, ..self }
    }

    /// Checks that files can have this filter, before the number of rows is known.
    ///
    /// Writers check this, too.
    ///
    /// # Errors
    ///
    /// [`InvalidOptions`] for a kind that [files do not have](FilterKind::IN_FILES), or for a
    /// [sizing that the kind cannot have](FilterKind::check_sizing).
    pub fn check(&self) -> Result<(), InvalidOptions> {
        check_kind(self.kind).map_err(InvalidOptions)?;
        self.kind.check_sizing(self.sizing).map_err(|unusable| InvalidOptions(unusable.to_string()))
    }
}

/// A setting of a writer is outside of its range. Prints the setting and the range.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidOptions(pub(super) String);

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
            filter_is_optional: false,
            filter_block_size: Self::FILTER_BLOCK_SIZE,
            comparator: Comparator::Bytes,
            max_sequence_id: None,
            major_compaction: false,
            create_time: None,
            hbase_version: HBaseVersion::V2_5,
            file_info: BTreeMap::new(),
        }
    }
}

/// Generates a method for each setting, which sets the field with its name.
macro_rules! setters {
    ($($(#[$doc:meta])* $field:ident($argument:ident: $type:ty) = $value:expr;)*) => {
        impl WriterOptions {
            $(
                $(#[$doc])*
                pub const fn $field(mut self, $argument: $type) -> Self {
                    self.$field = $value;
                    self
                }
            )*
        }
    };
}

setters! {
    /// Sets the bytes of cells, encoded or not, that end a data block, at most 1 GiB. Default: 64
    /// KiB.
    block_size(bytes: u32) = bytes;

    /// Sets the encoding of data blocks. Default: none.
    data_block_encoding(encoding: DataBlockEncoding) = encoding;

    /// Sets the codec of all blocks. Default: none.
    compression(codec: Compression) = codec;

    /// Sets the framing of ZSTD blocks. Default: a bare frame, for HBase's default codec class.
    ///
    /// It must fit the codec class that `hbase.io.compress.zstd.codec` names on the cluster.
    zstd_framing(framing: ZstdFraming) = framing;

    /// Sets the checksum algorithm. Default: CRC-32C.
    checksum(algorithm: ChecksumType) = algorithm;

    /// Sets the bytes for each checksum, at least 33. Default: 16 KiB.
    bytes_per_checksum(bytes: u32) = bytes;

    /// Sets the bytes of entries that end an index block. Default: 128 KiB.
    index_block_size(bytes: u32) = bytes;

    /// Sets the entries that a root may have before a level is added, at least 2. Default: 16.
    index_min_entries(entries: u32) = entries;

    /// Sets whether cells keep their sequence ids. Default: yes.
    includes_mvcc(keep: bool) = keep;

    /// Sets whether cells keep their tags. If not, a cell with tags is an error. Default: no.
    includes_tags(keep: bool) = keep;

    /// Sets whether each block stores equal tags only once. Default: no.
    ///
    /// Has an effect only with an encoding other than `ROW_INDEX_V1`. HBase 2.5 writes such files,
    /// but fails to scan them backwards.
    compress_tags(compress: bool) = compress;

    /// Sets the keys of HBase's Bloom filter. Default: rows.
    bloom_type(bloom_type: BloomType) = bloom_type;

    /// Sets the hash of HBase's Bloom filters. Default: Murmur.
    bloom_hash(hash: HashType) = hash;

    /// Sets the error rate of HBase's Bloom filters. Default: 1 %.
    bloom_error_rate(rate: ErrorRate) = rate;

    /// Sets the bytes of a Bloom chunk before folding. Default: 128 KiB.
    bloom_block_size(bytes: u32) = bytes;

    /// Sets how often a Bloom chunk can be folded in half. Default: 7.
    ///
    /// The chunk size is a multiple of that power of two.
    bloom_max_fold(times: u32) = times;

    /// Sets whether to write a Bloom filter over rows with family deletes. Default: yes.
    ///
    /// A file with a `ROWCOL` filter needs none and gets none.
    delete_family_bloom(wanted: bool) = wanted;

    /// Sets the row filter, beside HBase's Bloom filter. Default: none.
    filter(filter: FilterOptions) = Some(filter);

    /// Sets whether a file whose row filter cannot be built is written without it. Default: no,
    /// such a file is an error.
    ///
    /// The number of rows, which is known at the end, can make a filter of the requested size
    /// impossible. [`FileSummary::filter_omission`](crate::FileSummary::filter_omission) then has
    /// the reason.
    filter_is_optional(is_optional: bool) = is_optional;

    /// Sets the bytes above which the row filter is partitioned by key range. Default: 1 MiB.
    ///
    /// Each partition is a block. A filter with a budget in bytes is never partitioned.
    filter_block_size(bytes: u32) = bytes;

    /// Sets the order of rows. Default: byte order, as in all tables but `hbase:meta`.
    comparator(comparator: Comparator) = comparator;

    /// Sets the greatest sequence id of the file's writes (`MAX_SEQ_ID_KEY`). Default: none.
    ///
    /// A store orders its files by it. A file for bulk load has none.
    max_sequence_id(id: SequenceId) = Some(id);

    /// Sets whether the file is marked as the result of a major compaction. Default: no.
    major_compaction(major: bool) = major;

    /// Sets the create time. Default: the time when the file is finished.
    create_time(time: Timestamp) = Some(time);

    /// Sets the HBase whose bytes are written for the cells. Default: 2.5.
    ///
    /// Every version is read by all of them.
    hbase_version(version: HBaseVersion) = version;
}

impl WriterOptions {
    /// The maximum of [`block_size`](Self::block_size): HBase's readers cannot address more.
    pub const BLOCK_SIZE_MAX: u32 = 1 << 30;

    /// The default of [`filter_block_size`](Self::filter_block_size).
    pub const FILTER_BLOCK_SIZE: u32 = 1024 * 1024;

    /// Marks the file as prepared for HBase's bulk load at `time`. Default: no.
    ///
    /// Leaves out sequence ids, because HBase assigns one to the file when it loads the file.
    pub fn bulk_load(self, time: Timestamp) -> Self {
        let time = time.get().to_be_bytes();
        self.includes_mvcc(false).file_info(FileInfo::BULKLOAD_TIMESTAMP, time)
    }

    /// Sets an entry of the file info, also in place of one that the writer would add.
    ///
    /// Keys that begin with `hfile.`, and some others, are reserved. The writer rejects them.
    pub fn file_info(mut self, key: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) -> Self {
        self.file_info.insert(key.into(), value.into());
        self
    }
}
