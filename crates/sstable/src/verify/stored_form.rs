//! How the cells of a data block are stored: as the file info says, or as the block itself shows.
//!
//! A reader refuses a block that contradicts the file info, as HBase does. Salvage takes the form
//! that the block shows: its type and its first two bytes name the encoding, and of the optional
//! fields of cells, only the right ones let all bytes of the block be cells.

use crate::block::decoded::DecodedBlock;
use crate::block::index::BlockHandle;
use crate::block::origin::BlockOrigin;
use crate::block::row_index::RowIndexKind;
use crate::buffers::{Body, Buffers};
use crate::encoding::{CellLayout, DamageReason};
use crate::file::block_reader::BlockReader;
use crate::file::raw_blocks::RawBlock;
use crate::{BlockOffset, BlockType, DataBlockEncoding};

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
    /// The error is that of the file's form, with the encoding of the block.
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
        let mut found: Vec<Self> = others.filter_map(Result::ok).collect();
        // Bytes that are cells in several ways say nothing.
        match (found.pop(), found.is_empty()) {
            (Some(only), true) => Ok(only),
            _ => Err(damage),
        }
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
        let origin = BlockOrigin::new(BlockHandle { offset: at, len }, &raw.header);
        let body = Body::from(raw.body.to_vec());
        let block = blocks.encoded_block_as(self.encoding, self.layout, origin, body)?;
        let block = block.decode(RowIndexKind::ByOrder, &mut Buffers::default())?;
        Ok(FoundBlock { block, form: self })
    }

    /// Returns the forms with other optional fields.
    fn other_layouts(self) -> impl Iterator<Item = Self> {
        use DataBlockEncoding::{Diff, FastDiff, Prefix};

        let is_delta = matches!(self.encoding, Prefix | Diff | FastDiff);
        let fields = [(false, false), (true, false), (true, true)];
        let layouts = fields.into_iter().flat_map(move |(tags, compressed_tags)| {
            let order = self.layout.order;
            [false, true].map(|mvcc| CellLayout { tags, mvcc, compressed_tags, order })
        });
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
