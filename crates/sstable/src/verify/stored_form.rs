//! How the cells of a data block are stored: as the file info says, or as the block itself shows.
//!
//! A reader refuses a block that contradicts the file info, as HBase does. Salvage takes the form
//! that the block shows: its type and its first two bytes name the encoding. The optional fields of
//! cells are found by trial: with wrong ones, the bytes of a block are rarely all cells.

use cells::BlockOffset;

use crate::block::decoded::DecodedBlock;
use crate::block::index_entry::BlockHandle;
use crate::block::origin::BlockIdentity;
use crate::block::row_index::RowIndexKind;
use crate::buffers::{Body, Buffers};
use crate::encoding::{CellLayout, DamageReason, DataBlockEncoding};
use crate::error::BlockType;
use crate::file::load_block::BlockReader;
use crate::file::raw_block::RawBlock;

/// The form of the cells of a block.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct StoredForm {
    pub(crate) encoding: DataBlockEncoding,
    pub(crate) layout: CellLayout,
}

/// A decoded data block, and the form that it has in the file.
pub(super) struct FoundBlock {
    pub(super) block: DecodedBlock,
    pub(super) form: StoredForm,
}

impl FoundBlock {
    /// Decodes and checks the data block at `at`, in the form of the file info or in its own.
    ///
    /// If no form fits, returns the error of the layout that the file info states.
    pub(super) fn decode(
        blocks: &BlockReader,
        at: BlockOffset,
        raw: &RawBlock,
    ) -> Result<Self, DamageReason> {
        let stated = StoredForm {
            encoding: encoding_of(raw).unwrap_or(blocks.encoding),
            layout: blocks.layout,
        };
        let as_stated = stated.decode(blocks, at, raw);
        let Err(damage) = as_stated else { return as_stated };
        let others = stated.other_layouts().map(|form| form.decode(blocks, at, raw));
        let found: Vec<Self> = others.filter_map(Result::ok).collect();
        // Bytes that are cells in several ways say nothing.
        let Ok([only]) = <[Self; 1]>::try_from(found) else { return Err(damage) };
        Ok(only)
    }
}

impl StoredForm {
    fn decode(
        self,
        blocks: &BlockReader,
        at: BlockOffset,
        raw: &RawBlock,
    ) -> Result<FoundBlock, DamageReason> {
        let len = u32::try_from(raw.header.len()).unwrap_or(u32::MAX);
        let origin = BlockIdentity::new(BlockHandle { offset: at, len }, &raw.header);
        let body = Body::from(raw.body.to_vec());
        let block = blocks.encoded_block_as(self.encoding, self.layout, origin, body)?;
        let block = block.decode(RowIndexKind::ByOrder, &mut Buffers::default())?;
        Ok(FoundBlock { block, form: self })
    }

    /// Returns the forms with other optional fields.
    fn other_layouts(self) -> impl Iterator<Item = Self> {
        use DataBlockEncoding::{Diff, FastDiff, Prefix};

        let is_delta = matches!(self.encoding, Prefix | Diff | FastDiff);
        let without_tags = CellLayout { tags: false, compressed_tags: false, ..self.layout };
        let with_tags = CellLayout { tags: true, ..without_tags };
        let with_compressed_tags = CellLayout { compressed_tags: true, ..with_tags };
        let layouts = [without_tags, with_tags, with_compressed_tags].into_iter();
        let layouts =
            layouts.flat_map(|layout| [false, true].map(|mvcc| CellLayout { mvcc, ..layout }));
        // Only these encodings compress tags.
        let layouts = layouts.filter(move |layout| is_delta || !layout.compressed_tags);
        let known = self.layout;
        let layouts = layouts.filter(move |layout| *layout != known);
        layouts.map(move |layout| Self { layout, ..self })
    }
}

/// Returns the encoding that a data block names.
fn encoding_of(raw: &RawBlock) -> Option<DataBlockEncoding> {
    if raw.header.block_type == BlockType::Data {
        return Some(DataBlockEncoding::None);
    }
    let id = raw.body.first_chunk().map(|id| u16::from_be_bytes(*id))?;
    DataBlockEncoding::from_id(id).filter(|encoding| *encoding != DataBlockEncoding::None)
}
