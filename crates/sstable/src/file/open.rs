//! Opens a file: reads the trailer and the load-on-open section.
//!
//! The load-on-open section has the blocks that stay in memory while the file is open: the roots of
//! the data index and the meta index, the file info and the Bloom metas. No checksum covers the
//! trailer, so its fields are checked against the blocks to which they point.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use cells::{BlockOffset, Comparator, FileName, KeyRef};

use super::data_index::DataIndex;
use super::filters::chunked_bloom::ChunkedBloom;
use super::filters::file_filter::Filters;
use super::filters::row_filter::RowFilter;
use super::hudi;
use super::load_block::BlockReader;
use super::open_file::{OpenFile, Rows};
use super::options::{FilterUse, ReaderOptions};
use super::raw_block::RawBlock;
use crate::block::BloomType;
use crate::block::bloom::BloomMeta;
use crate::block::header::BlockHeader;
use crate::block::index_block::IndexBlock;
use crate::block::index_entry::{
    IndexEntries, IndexEntry, LengthForm, MetaIndex, MiddleEntry, write_index_entries,
};
use crate::cache::next_file_id;
use crate::compression::Compression;
use crate::encoding::{CellLayout, DamageReason, DataBlockEncoding};
use crate::error::{BlockType, Damage, DecodeError, Error, Result};
use crate::file::file_info::FileInfo;
use crate::file::trailer::Trailer;
use crate::input::Input;
use crate::source::ReadAt;

/// Bytes at the end of a file that the first read fetches.
///
/// They include the trailer and, in most files, the load-on-open section, which saves a read.
const TAIL_LEN: u64 = 32 << 10;

/// Reads the trailer and the load-on-open section, and builds the open file.
pub(crate) fn open(
    source: Arc<dyn ReadAt>,
    name: FileName,
    options: ReaderOptions,
) -> Result<OpenFile> {
    let file_len = source.len();
    let mut blocks = BlockReader {
        name,
        source,
        file_id: options.file_id.unwrap_or_else(next_file_id),
        cache: options.cache,
        limits: options.limits,
        pin_filters: options.pin_filters,
        in_memory: options.in_memory,
        compression: Compression::None,
        checksum_type: None,
        encoding: DataBlockEncoding::None,
        layout: CellLayout::default(),
        has_hudi_comparator: false,
        blocks_end: 0,
    };
    let name = &blocks.name.clone();
    let tail_at = file_len.saturating_sub(TAIL_LEN);
    let tail = blocks.read_bytes(BlockOffset::new(tail_at), file_len.saturating_sub(tail_at))?;
    let refused = |refusal: DecodeError| refusal.in_file(name);
    let trailer_at = Trailer::start(&tail, file_len).map_err(refused)?;
    let trailer_bytes = tail_from(&tail, tail_at, trailer_at);
    let trailer = Trailer::read(&trailer_bytes, trailer_at).map_err(refused)?;
    check_supported(&trailer, &blocks).map_err(refused)?;

    blocks.compression = trailer.compression;
    blocks.has_hudi_comparator = trailer.has_hudi_comparator();
    let loaded_at = trailer.load_on_open_data_offset.get();
    let loaded_len = trailer_at.saturating_sub(loaded_at);
    if loaded_len > blocks.limits.load_on_open_len_max.into() {
        let what =
            format!("a load-on-open section of {loaded_len} bytes is more than the limits allow");
        let damage =
            Damage { at: trailer.load_on_open_data_offset, block: None, what: what.into() };
        return Err(damage.in_file(name));
    }
    let loaded = if loaded_at >= tail_at {
        let loaded = tail_from(&tail, tail_at, loaded_at);
        loaded.slice(..usize::try_from(loaded_len).unwrap_or(0).min(loaded.len()))
    } else {
        blocks.read_bytes(trailer.load_on_open_data_offset, loaded_len)?
    };
    let sections = LoadOnOpen::read(&mut blocks, &loaded, &trailer)?;
    blocks.blocks_end = loaded_at;
    assemble(blocks, trailer, sections, options.filter_use)
}

/// Returns the bytes of `tail` from file offset `at` on.
///
/// `tail` is the end of the file, from offset `tail_at` on.
fn tail_from(tail: &Bytes, tail_at: u64, at: u64) -> Bytes {
    let start = usize::try_from(at.saturating_sub(tail_at)).unwrap_or(usize::MAX);
    tail.slice(start.min(tail.len())..)
}

fn check_supported(trailer: &Trailer, blocks: &BlockReader) -> Result<(), DecodeError> {
    if trailer.num_data_index_levels > blocks.limits.index_levels_max {
        let what = "more index levels than the limits allow";
        return Err(Damage::in_block(BlockType::Trailer, BlockOffset::default(), what).into());
    }
    Ok(())
}

/// The blocks of the load-on-open section, in file order.
struct LoadOnOpen {
    data_root: (BlockOffset, RawBlock),
    meta_root: (BlockOffset, RawBlock),
    file_info: (BlockOffset, RawBlock),
    /// The Bloom metas, or their damage: a file can be read without its Bloom filters.
    blooms: Vec<(BlockOffset, BlockType, Result<RawBlock, Damage>)>,
}

impl LoadOnOpen {
    fn read(blocks: &mut BlockReader, loaded: &Bytes, trailer: &Trailer) -> Result<Self> {
        let name = blocks.name.clone();
        let mut rest = loaded.clone();
        let mut at = trailer.load_on_open_data_offset;
        let mut inflated = 0_u64;
        let mut next = |blocks: &BlockReader, wanted: Option<BlockType>| {
            let header = BlockHeader::read(&rest, at)?;
            let damaged = |what| Damage::in_block(header.block_type, at, what);
            if wanted.is_some_and(|wanted| wanted != header.block_type) {
                return Err(damaged("is not the block type that every file has here"));
            }
            let len = usize::try_from(header.len()).unwrap_or(usize::MAX);
            if len > rest.len() {
                return Err(damaged("extends past the trailer"));
            }
            inflated = inflated.saturating_add(header.uncompressed_size.into());
            check_loaded(blocks, &header, inflated).map_err(damaged)?;
            let bytes = rest.split_to(len);
            let block = blocks.parse(&bytes, at).map_err(|error| match error {
                DecodeError::Damage(damage) => damage,
                // `check_loaded` has checked the size.
                _ => damaged("is larger than the limits allow"),
            });
            let place = at;
            at = at.plus(header.len());
            Ok((place, header.block_type, block, rest.is_empty()))
        };
        let mut needed = |blocks: &BlockReader, wanted| {
            let (at, _, block, is_last) = next(blocks, Some(wanted))?;
            block.map(|block| (at, block, is_last))
        };
        let in_file = |damage: Damage| damage.in_file(&name);
        let (root_at, root, _) = needed(blocks, BlockType::RootIndex).map_err(in_file)?;
        blocks.checksum_type = Some(root.header.checksum_type);
        let (meta_at, meta, _) = needed(blocks, BlockType::RootIndex).map_err(in_file)?;
        let (info_at, info, mut done) = needed(blocks, BlockType::FileInfo).map_err(in_file)?;
        if info_at != trailer.file_info_offset {
            let what = "the file info is not where the trailer says";
            return Err(in_file(Damage::in_block(BlockType::FileInfo, info_at, what)));
        }
        let mut blooms = Vec::new();
        while !done {
            let (at, block_type, block, is_last) = next(blocks, None).map_err(in_file)?;
            let is_bloom = matches!(
                block_type,
                BlockType::GeneralBloomMeta | BlockType::DeleteFamilyBloomMeta
            );
            let known = blooms.iter().any(|(_, known, _)| *known == block_type);
            if !is_bloom || known {
                let what = "is a block type that no file has here";
                return Err(in_file(Damage::in_block(block_type, at, what)));
            }
            blooms.push((at, block_type, block));
            done = is_last;
        }
        Ok(Self {
            data_root: (root_at, root),
            meta_root: (meta_at, meta),
            file_info: (info_at, info),
            blooms,
        })
    }
}

/// Checks a block of the load-on-open section, and the section so far, against the limits.
///
/// `inflated` is the sum of the uncompressed sizes of the section's blocks up to this block.
fn check_loaded(
    blocks: &BlockReader,
    header: &BlockHeader,
    inflated: u64,
) -> Result<(), &'static str> {
    let limits = &blocks.limits;
    if header.block_type == BlockType::FileInfo
        && header.uncompressed_size > limits.file_info_len_max
    {
        return Err("is longer than the limits allow");
    }
    let all_max = usize::try_from(limits.load_on_open_len_max).unwrap_or(usize::MAX);
    let all_max = all_max.min(limits.inflated_len_max(blocks.source.len()));
    if usize::try_from(inflated).unwrap_or(usize::MAX) > all_max {
        return Err("makes the load-on-open section larger than the limits allow");
    }
    Ok(())
}

/// Returns the maximum number of blocks before offset `end`: each has at least a header.
///
/// Limits what is allocated for the entries that a damaged index claims to have.
pub(crate) fn blocks_max(end: u64) -> usize {
    usize::try_from(end.div_ceil(BlockHeader::LEN.into())).unwrap_or(usize::MAX)
}

/// Builds the open file from the trailer and the blocks of the load-on-open section.
fn assemble(
    mut blocks: BlockReader,
    trailer: Trailer,
    sections: LoadOnOpen,
    filter_use: FilterUse,
) -> Result<OpenFile> {
    let name = blocks.name.clone();
    let damaged = |block, at| {
        let name = name.clone();
        move |what: DamageReason| Damage { at, block: Some(block), what }.in_file(&name)
    };
    let (info_at, info) = sections.file_info;
    let info_damaged = damaged(BlockType::FileInfo, info_at);
    let file_info = FileInfo::decode(&info.body).map_err(&info_damaged)?;
    file_info.check(trailer.entry_count > 0).map_err(&info_damaged)?;
    let unsupported = |feature, found| Error::Unsupported { file: name.clone(), feature, found };
    blocks.encoding = file_info
        .data_block_encoding()
        .map_err(|found| unsupported("data block encoding", found))?;
    if let Some(found) = file_info.index_block_encoding() {
        return Err(unsupported("index block encoding", found));
    }
    blocks.layout = CellLayout {
        tags: file_info.includes_tags(),
        mvcc: file_info.includes_mvcc(),
        compressed_tags: file_info.compresses_tags(),
        order: trailer.comparator,
    };

    let (root_at, root) = sections.data_root;
    let root_damaged = damaged(BlockType::RootIndex, root_at);
    let (index, middle) = read_data_root(&root.body, &trailer).map_err(&root_damaged)?;
    let (meta_at, meta_root) = sections.meta_root;
    let metas = read_meta_root(&meta_root.body, &trailer)
        .map_err(damaged(BlockType::RootIndex, meta_at))?;
    let last_key = last_key(&trailer, &file_info);
    let rows = match &index {
        None => None,
        Some(index) => {
            let first = index.root.entry(0).and_then(|entry| KeyRef::parse(entry.key));
            let last = KeyRef::parse(&last_key)
                .ok_or_else(|| info_damaged("the last key is not a key".into()))?;
            let is_before = |first: &KeyRef<'_>| trailer.comparator.compare(first, &last).is_le();
            let first = first.filter(is_before);
            let first = first
                .ok_or_else(|| info_damaged("the last key is less than the first key".into()))?;
            Some(Rows { first: first.row.into(), last: last.row.into() })
        }
    };
    let mut filters = match trailer.comparator {
        Comparator::Bytes => {
            read_blooms(sections.blooms, &file_info, blocks_max(blocks.blocks_end))
        }
        // Bloom filters of hbase:meta are not used: HBase searches their chunks in byte order, but
        // the rows of hbase:meta have another order.
        Comparator::Meta => Filters::default(),
    };
    let first_row = rows.as_ref().map_or(&[][..], |rows| &rows.first);
    filters.row_filter =
        file_info.row_filter_id().and_then(|id| RowFilter::find(&metas, first_row, id));
    filters.choose(filter_use);
    if blocks.pin_filters {
        filters.load(&blocks);
    }
    Ok(OpenFile {
        blocks,
        trailer,
        file_info,
        index,
        middle,
        metas,
        rows,
        last_key,
        is_filter_over_columns: filters.are_over_columns(),
        filters: Mutex::new(Arc::new(filters)),
    })
}

/// Returns the flat key of the last cell, as the file info states it.
fn last_key(trailer: &Trailer, file_info: &FileInfo) -> Vec<u8> {
    let stated = file_info.value(FileInfo::LAST_KEY).unwrap_or_default();
    match (trailer.has_hudi_comparator(), trailer.entry_count) {
        (false, _) => stated.to_vec(),
        // A file of Hudi without cells states an empty row.
        (true, 0) => Vec::new(),
        (true, _) => hudi::complete_key(stated).into_owned(),
    }
}

/// Parses the root of the data index and, in an index of several levels, its middle entry.
///
/// The middle entry locates the middle of the file. The index is `None` in a file without cells.
fn read_data_root(
    body: &Bytes,
    trailer: &Trailer,
) -> Result<(Option<DataIndex>, Option<MiddleEntry>), DamageReason> {
    let mut input = Input::new(body);
    let middle_len = if trailer.num_data_index_levels > 1 { MiddleEntry::LEN } else { 0 };
    let entries_len = body.len().saturating_sub(middle_len);
    let entries = read_root_entries(&mut input, trailer.data_index_count, entries_len, trailer)?;
    let mut middle = None;
    if trailer.num_data_index_levels > 1 {
        middle = Some(
            MiddleEntry::read(&mut input)
                .ok_or("the root index lacks the entry for the middle of the file")?,
        );
    }
    if !input.is_empty() {
        return Err("bytes after the index entries".into());
    }
    if entries.is_empty() {
        return Ok((None, None));
    }
    if trailer.num_data_index_levels == 1
        && entries.first().map(|first| first.block.offset.get()) != Some(0)
    {
        return Err("the first index entry does not point to the first data block".into());
    }
    // The root is stored in another format than the lower levels. Here it is converted to theirs,
    // so that one search serves all levels.
    let mut branch = Vec::with_capacity(body.len());
    if trailer.has_hudi_comparator() {
        let keys: Vec<_> = entries.iter().map(|entry| hudi::complete_key(entry.key)).collect();
        let whole = entries.iter().zip(&keys).map(|(entry, key)| IndexEntry { key, ..*entry });
        write_index_entries(&mut branch, whole);
    } else {
        write_index_entries(&mut branch, entries.into_iter());
    }
    let root = IndexBlock::new(IndexEntries::new(branch.into())?, trailer.comparator)?;
    Ok((Some(DataIndex::new(root, trailer.num_data_index_levels)), middle))
}

/// Parses the meta index, which has only a root: names and locations of META blocks, by name.
fn read_meta_root(body: &Bytes, trailer: &Trailer) -> Result<MetaIndex, DamageReason> {
    let mut input = Input::new(body);
    let mut entries = read_root_entries(&mut input, trailer.meta_index_count, body.len(), trailer)?;
    if !input.is_empty() {
        return Err("bytes after the meta index".into());
    }
    if trailer.has_hudi_comparator() {
        entries.sort_by(|left, right| left.key.cmp(right.key));
    }
    if !entries.is_sorted_by(|left, right| left.key < right.key) {
        return Err("META block names out of order".into());
    }
    Ok(entries.into_iter().map(|entry| (body.slice_ref(entry.key), entry.block)).collect())
}

/// Reads `count` entries of a root, which take `entries_len` bytes.
fn read_root_entries<'a>(
    input: &mut Input<'a>,
    count: u32,
    entries_len: usize,
    trailer: &Trailer,
) -> Result<Vec<IndexEntry<'a>>, DamageReason> {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    if count > input.len() / IndexEntry::ROOT_LEN_MIN {
        return Err(format!("{count} index entries in {} bytes", input.len()).into());
    }
    let blocks_max = blocks_max(trailer.load_on_open_data_offset.get());
    if count > blocks_max {
        return Err(format!("{count} index entries where {blocks_max} blocks have room").into());
    }
    let lengths = if trailer.has_hudi_comparator() {
        hudi::length_form(input.rest(), count, entries_len)?
    } else {
        LengthForm::Hvlong
    };
    (0..count).map(|_| IndexEntry::read_root(input, lengths)).collect()
}

/// Parses the Bloom metas, and creates the filters.
///
/// Damage is recorded, and does not prevent the file from being read. A damaged filter is not used.
/// If a Bloom meta cannot be decoded, neither filter is used.
fn read_blooms(
    blooms: Vec<(BlockOffset, BlockType, Result<RawBlock, Damage>)>,
    file_info: &FileInfo,
    chunks_max: usize,
) -> Filters {
    let mut filters = Filters::default();
    let (mut metas, mut chain) = (Vec::new(), Vec::new());
    for (at, block_type, block) in blooms {
        let damaged = |what: DamageReason| Damage { at, block: Some(block_type), what };
        match block.and_then(|block| BloomMeta::read(&block.body, chunks_max).map_err(damaged)) {
            Ok(meta) => {
                chain.extend(meta.chunks.iter().map(|chunk| chunk.block.offset));
                metas.push((at, block_type, meta));
            }
            Err(damage) => filters.problem = filters.problem.take().or(Some(damage)),
        }
    }
    // The header of a chunk gives the offset of the chunk before it, of either filter. So chunks
    // can be checked only if both metas are known.
    if filters.problem.is_some() {
        return filters;
    }
    chain.sort_unstable();
    for (at, block_type, meta) in metas {
        let bloom = match block_type {
            BlockType::GeneralBloomMeta => match file_info.bloom_type() {
                // HBase ignores a filter if the file info does not state its type. A type of another
                // release is no damage: the file is read without the filter.
                Ok(BloomType::None) | Err(_) => Ok(None),
                Ok(bloom_type) => ChunkedBloom::new(meta, bloom_type, file_info, &chain).map(Some),
            },
            _ => ChunkedBloom::over_delete_families(meta, &chain).map(Some),
        };
        match bloom {
            Ok(bloom) if block_type == BlockType::GeneralBloomMeta => filters.bloom = bloom,
            Ok(bloom) => filters.delete_family_bloom = bloom,
            Err(what) => {
                let damage = Damage { at, block: Some(block_type), what: what.into() };
                filters.problem = filters.problem.take().or(Some(damage));
            }
        }
    }
    filters
}
