//! Copies a file with another row filter and the same data.
//!
//! ```text
//! same bytes, same offsets   data blocks, leaf index blocks, Bloom chunks
//! rebuilt                    META blocks of the row filter, meta index, trailer
//! moved                      other META blocks, intermediate index blocks, root of the data index,
//!                            file info, Bloom metas: same contents but for the offsets of moved
//!                            index blocks, and for changes of the file info
//! ```
//!
//! Moved blocks keep their stored bytes, so this works even with a codec that this build can only
//! read. Only their `previous` offsets change.

use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

use bytes::Bytes;
use cells::{BlockOffset, Comparator, FileName, escape};

use super::block_writer::{BlockWriter, HEADER_LEN};
use super::option_rules::is_reserved_key;
use super::row_filter::{FilterBlocks, FilterWriter};
use crate::block::filter_index::is_filter_name;
use crate::block::header::BlockHeader;
use crate::block::index_entry::{
    BlockHandle, IndexEntries, IndexEntry, LengthForm, write_index_entries,
};
use crate::compression;
use crate::encoding::DamageReason;
use crate::error::{BlockType, Damage, Error, Result};
use crate::file::file_info::FileInfo;
use crate::file::options::ReaderOptions;
use crate::file::trailer::Trailer;
use crate::input::Input;
use crate::limits::Limits;
use crate::reader::Reader;
use crate::source::ReadAt;
use crate::write::{FilterOptions, WriterOptions};

/// A change of an entry of the file info.
#[derive(Clone, Copy, Debug)]
pub struct FileInfoChange<'a> {
    /// The key.
    pub key: &'a [u8],
    /// The new value; `None` removes the entry.
    pub value: Option<&'a [u8]>,
}

/// Bytes of a copy step.
const CHUNK_LEN: usize = 1 << 20;

/// Copies the file at `source` to `sink` with another row filter; `None` is no filter.
///
/// Data blocks, leaf index blocks and the chunks of HBase's Bloom filter keep their bytes and
/// offsets. Reads all cells, and so finds damage to them. Returns the flushed sink and the length
/// of the new file.
///
/// Keeps the entries of the file info, except for `changes`. A caller that identifies files by an
/// entry must change that entry, because the new file has other bytes.
///
/// ```
/// use std::sync::Arc;
///
/// use bytes::Bytes;
/// use filter::{ErrorRate, FilterKind, Seed, Sizing};
/// use sstable::tools::rebuild_filter;
/// use sstable::{FileName, FilterOptions, Limits, Reader, ReaderOptions};
/// # let file: &'static [u8] = include_bytes!("../../testdata/s03-one-cell.hfile");
///
/// let source = Arc::new(Bytes::from_static(file));
/// let sizing = Sizing::ErrorRate(ErrorRate::new(0.001)?);
/// let filter = FilterOptions::new(FilterKind::BlockedBloom, sizing).seed(Seed::new(7));
/// let name = FileName::new("4f1c.hfile");
/// let (bytes, _) =
///     rebuild_filter(source, name.clone(), Limits::default(), Some(filter), &[], Vec::new())?;
///
/// let reader = Reader::open(Arc::new(Bytes::from(bytes)), name, ReaderOptions::default())?;
/// assert_eq!(reader.filters().row_filter()?.map(|filter| filter.key_count), Some(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If the file cannot be read or is damaged, if the filter cannot be built, if `changes` has a
/// reserved key, or if the sink fails.
pub fn rebuild_filter<W: Write>(
    source: Arc<dyn ReadAt>,
    name: FileName,
    limits: Limits,
    filter: Option<FilterOptions>,
    changes: &[FileInfoChange<'_>],
    sink: W,
) -> Result<(W, u64)> {
    let reader = Reader::open(source, name, ReaderOptions::default().limits(limits))?;
    if let Some(reserved) = changes.iter().find(|change| is_reserved_key(change.key)) {
        let what = format!("file info {} is reserved for the writer", escape(reserved.key));
        return Err(Error::Invalid { file: reader.name().clone(), what });
    }
    if let Some(Err(error)) = filter.map(|filter| filter.check()) {
        return Err(Error::Invalid { file: reader.name().clone(), what: error.to_string() });
    }
    if reader.trailer().comparator == Comparator::Meta {
        let found = reader.trailer().comparator.class_name().to_owned();
        let feature = "order of rows for a filter of ours";
        return Err(Error::Unsupported { file: reader.name().clone(), feature, found });
    }
    if reader.trailer().has_hudi_comparator() {
        let found = "Hudi, whose cells have no family".to_owned();
        let feature = "row filter in a file of";
        return Err(Error::Unsupported { file: reader.name().clone(), feature, found });
    }
    let blocks = OldBlocks::read(&reader)?;
    let (stored, _) = reader.blocks().raw_block(blocks.data_root.at, &blocks.data_root.header)?;
    let mut options = WriterOptions::default()
        .compression(reader.blocks().compression())
        .zstd_framing(compression::zstd_framing(stored.get(HEADER_LEN..).unwrap_or_default()))
        .checksum(reader.blocks().checksum_type())
        .bytes_per_checksum(blocks.data_root.header.bytes_per_checksum);
    options.filter = filter;
    let NewMetas { blocks: metas, filter_id } = build_metas(&reader, &options)?;
    let name = reader.name().clone();
    let written = BlockWriter::resume(sink, name, &options, blocks.data_end);
    let moved = HashMap::new();
    Rebuild { reader: &reader, blocks, changes, filter_id, written, moved }.run(&metas)
}

/// The offset and the header of a block of the old file.
#[derive(Clone, Copy)]
struct LocatedHeader {
    at: BlockOffset,
    header: BlockHeader,
}

/// The blocks of the old file after its data blocks.
struct OldBlocks {
    /// The end of the data blocks and of the blocks among them.
    data_end: BlockOffset,
    metas: Vec<LocatedHeader>,
    intermediates: Vec<LocatedHeader>,
    data_root: LocatedHeader,
    meta_root: LocatedHeader,
    file_info: LocatedHeader,
    /// The Bloom metas.
    blooms: Vec<LocatedHeader>,
}

impl OldBlocks {
    fn read(reader: &Reader) -> Result<Self> {
        let mut data_end = BlockOffset::default();
        let (mut metas, mut intermediates) = (Vec::new(), Vec::new());
        let (mut roots, mut file_info, mut blooms) = (Vec::new(), None, Vec::new());
        for block in reader.blocks().headers() {
            let (at, header) = block?;
            match header.block_type {
                BlockType::Data
                | BlockType::EncodedData
                | BlockType::LeafIndex
                | BlockType::BloomChunk => {
                    if at != data_end {
                        let what = "is after blocks that must follow it";
                        let damage = Damage::in_block(header.block_type, at, what);
                        return Err(damage.in_file(reader.name()));
                    }
                    data_end = at + header.len();
                }
                BlockType::Meta => metas.push(LocatedHeader { at, header }),
                BlockType::IntermediateIndex => intermediates.push(LocatedHeader { at, header }),
                BlockType::RootIndex => roots.push(LocatedHeader { at, header }),
                BlockType::FileInfo => file_info = Some(LocatedHeader { at, header }),
                _ => blooms.push(LocatedHeader { at, header }),
            }
        }
        let at = reader.trailer().load_on_open_data_offset;
        let damage = |what| Damage { at, block: None, what }.in_file(reader.name());
        let [data_root, meta_root] = <[LocatedHeader; 2]>::try_from(roots).map_err(|roots| {
            damage(format!("{} root index blocks instead of two", roots.len()).into())
        })?;
        let file_info = file_info.ok_or_else(|| damage("no file info block after it".into()))?;
        Ok(Self { data_end, metas, intermediates, data_root, meta_root, file_info, blooms })
    }
}

/// A META block to be written.
enum Meta {
    /// A new block of the row filter.
    New(Vec<u8>),
    /// A block of the old file.
    Kept(BlockHandle),
}

/// The META blocks of the new file, in the order of their names.
struct NewMetas {
    blocks: Vec<(Bytes, Meta)>,
    /// The id of the row filter, for the file info.
    filter_id: Option<Vec<u8>>,
}

/// Builds the filter, and keeps the META blocks that are not ours.
fn build_metas(reader: &Reader, options: &WriterOptions) -> Result<NewMetas> {
    let invalid = |what| Error::Invalid { file: reader.name().clone(), what };
    let mut metas: Vec<(Bytes, Meta)> = reader
        .blocks()
        .meta_handles()
        .iter()
        .filter(|(name, _)| !is_filter_name(name))
        .map(|(name, place)| (name.clone(), Meta::Kept(*place)))
        .collect();
    let mut filter = FilterWriter::new(options);
    let mut last_row: Option<Vec<u8>> = None;
    let mut scanner = reader.bulk_scanner();
    scanner.seek_to_first()?;
    while let Some(cell) = scanner.cell() {
        if last_row.as_deref() != Some(cell.row) {
            if last_row.as_deref().is_some_and(|last| last > cell.row) {
                let key = cell.key();
                return Err(invalid(format!("cell {key}: its row is less than the row before it")));
            }
            if let Some(filter) = &mut filter {
                filter.insert(cell.row).map_err(invalid)?;
            }
            last_row.get_or_insert_default().clear();
            last_row.get_or_insert_default().extend_from_slice(cell.row);
        }
        scanner.advance()?;
    }
    let mut filter_id = None;
    if let Some(filter) = filter {
        let FilterBlocks { metas: ours, id } = filter.finish().map_err(invalid)?;
        metas.extend(ours.into_iter().map(|(name, body)| (name.into(), Meta::New(body))));
        filter_id = Some(id);
    }
    metas.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(NewMetas { blocks: metas, filter_id })
}

/// A copy in progress.
struct Rebuild<'a, W> {
    reader: &'a Reader,
    blocks: OldBlocks,
    changes: &'a [FileInfoChange<'a>],
    filter_id: Option<Vec<u8>>,
    written: BlockWriter<W>,
    /// The new locations of intermediate index blocks, by their old offsets.
    moved: HashMap<BlockOffset, BlockHandle>,
}

impl<W: Write> Rebuild<'_, W> {
    fn run(mut self, metas: &[(Bytes, Meta)]) -> Result<(W, u64)> {
        self.copy_data()?;
        let mut meta_root = Vec::new();
        let mut meta_len = 0;
        for (name, meta) in metas {
            let (block, len) = match meta {
                Meta::New(body) => (self.written.write(BlockType::Meta, body)?, body.len() as u64),
                Meta::Kept(place) => {
                    let header = self.reader.blocks().read_header(place.offset)?;
                    let block = self.copy(&LocatedHeader { at: place.offset, header })?;
                    (block, header.uncompressed_size.into())
                }
            };
            IndexEntry { block, key: name }.write_root(&mut meta_root);
            meta_len += len + u64::from(BlockHeader::LEN);
        }
        for block in std::mem::take(&mut self.blocks.intermediates) {
            let body = self.reader.blocks().raw_block(block.at, &block.header)?.1;
            let place = match self.relocated_branch(&body) {
                Ok(None) => self.copy(&block)?,
                Ok(Some(body)) => {
                    self.written.write_uncounted(BlockType::IntermediateIndex, &body)?
                }
                Err(what) => return Err(self.damage(&block, what)),
            };
            self.moved.insert(block.at, place);
        }
        let data_root = self.write_data_root()?;
        self.written.write(BlockType::RootIndex, &meta_root)?;
        let (file_info, info_len) = self.write_file_info()?;
        for block in std::mem::take(&mut self.blocks.blooms) {
            self.copy(&block)?;
        }

        let old = self.reader.trailer();
        let old_metas = self.blocks.metas.iter();
        let old_meta_len: u64 = old_metas
            .map(|block| u64::from(block.header.uncompressed_size) + u64::from(BlockHeader::LEN))
            .sum();
        let old_root_len = u64::from(self.blocks.meta_root.header.uncompressed_size);
        let old_info_len = u64::from(self.blocks.file_info.header.uncompressed_size);
        let old_len = old_meta_len + old_root_len + old_info_len;
        let kept_len = old.total_uncompressed_bytes.checked_sub(old_len).ok_or_else(|| {
            let at = BlockOffset::new(self.reader.len() - old.len());
            let what = format!(
                "total_uncompressed_bytes is {}, and the META blocks, their index and the file info have {old_len}",
                old.total_uncompressed_bytes
            );
            Damage::in_block(BlockType::Trailer, at, what).in_file(self.reader.name())
        })?;
        let trailer = Trailer {
            file_info_offset: file_info.offset,
            load_on_open_data_offset: data_root.offset,
            total_uncompressed_bytes: kept_len + meta_len + meta_root.len() as u64 + info_len,
            meta_index_count: metas.len() as u32,
            ..old.clone()
        };
        let mut end = Vec::new();
        trailer.write(&mut end);
        let len = self.written.offset().get() + end.len() as u64;
        Ok((self.written.finish(&end)?, len))
    }

    /// Copies all bytes up to the end of the data blocks.
    fn copy_data(&mut self) -> Result<()> {
        let end = self.blocks.data_end.get();
        let mut at = 0;
        while at < end {
            let len = (end - at).min(CHUNK_LEN as u64);
            let bytes = self.reader.blocks().read_bytes(BlockOffset::new(at), len)?;
            self.written.write_raw(&bytes)?;
            at += len;
        }
        Ok(())
    }

    /// Copies a block to the current offset of the new file.
    fn copy(&mut self, LocatedHeader { at, header }: &LocatedHeader) -> Result<BlockHandle> {
        let (bytes, _) = self.reader.blocks().raw_block(*at, header)?;
        self.written.write_stored(header, &bytes)
    }

    /// Writes the changed file info. Returns its location and its uncompressed length.
    fn write_file_info(&mut self) -> Result<(BlockHandle, u64)> {
        let (block, old) = (self.blocks.file_info, self.reader.file_info());
        let mut new = old.clone();
        for FileInfoChange { key, value } in self.changes {
            match value {
                Some(value) => new.insert(key, *value),
                None => new.remove(key),
            }
        }
        match self.filter_id.take() {
            Some(id) => new.insert(FileInfo::ROW_FILTER_ID, id),
            None => new.remove(FileInfo::ROW_FILTER_ID),
        }
        if new == *old {
            return Ok((self.copy(&block)?, block.header.uncompressed_size.into()));
        }
        let body = new.encode();
        Ok((self.written.write(BlockType::FileInfo, &body)?, body.len() as u64))
    }

    /// Returns the body of an intermediate block with new locations; `None` if no entry has moved.
    fn relocated_branch(&self, body: &Bytes) -> Result<Option<Vec<u8>>, DamageReason> {
        let branch = IndexEntries::new(body.clone())?;
        if !branch.entries().any(|entry| self.moved.contains_key(&entry.block.offset)) {
            return Ok(None);
        }
        let entries: Vec<_> = branch.entries().map(|entry| self.relocated_entry(entry)).collect();
        let mut body = Vec::new();
        write_index_entries(&mut body, entries.into_iter());
        Ok(Some(body))
    }

    fn relocated_entry<'e>(&self, entry: IndexEntry<'e>) -> IndexEntry<'e> {
        let block = self.moved.get(&entry.block.offset).copied().unwrap_or(entry.block);
        IndexEntry { block, ..entry }
    }

    fn write_data_root(&mut self) -> Result<BlockHandle> {
        let root = self.blocks.data_root;
        if self.moved.is_empty() {
            return self.copy(&root);
        }
        let old = self.reader.blocks().raw_block(root.at, &root.header)?.1;
        let mut input = Input::new(&old);
        let mut body = Vec::with_capacity(old.len());
        for _ in 0..self.reader.trailer().data_index_count {
            let entry = IndexEntry::read_root(&mut input, LengthForm::Hvlong);
            let entry = entry.map_err(|what| self.damage(&root, what))?;
            self.relocated_entry(entry).write_root(&mut body);
        }
        // The middle entry, which points to a leaf. Leaves have not moved.
        body.extend_from_slice(input.rest());
        self.written.write_uncounted(BlockType::RootIndex, &body)
    }

    fn damage(&self, LocatedHeader { at, header }: &LocatedHeader, what: DamageReason) -> Error {
        Damage { at: *at, block: Some(header.block_type), what }.in_file(self.reader.name())
    }
}
