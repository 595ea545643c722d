//! The column chunks of a Parquet file, page by page, for the reader of record batches.
//!
//! The crate `parquet` decompresses ZSTD only through a C library. So it reads pages of ZSTD as if they were not
//! compressed, and this module decompresses them with `ruzstd`.

use std::fs::File;
use std::io::Read as _;
use std::sync::Arc;

use parquet::arrow::arrow_reader::RowGroups;
use parquet::basic::Compression;
use parquet::column::page::{Page, PageIterator, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};
use parquet::file::serialized_reader::SerializedPageReader;
use ruzstd::decoding::StreamingDecoder;

/// All column chunks of a file.
#[derive(Clone)]
pub(crate) struct Chunks {
    file: Arc<File>,
    metadata: Arc<ParquetMetaData>,
}

impl Chunks {
    pub(crate) fn new(file: File, metadata: Arc<ParquetMetaData>) -> Self {
        Self { file: Arc::new(file), metadata }
    }

    /// Returns the pages of a column chunk, decompressed.
    pub(crate) fn pages(&self, group: usize, column: usize) -> Result<Box<dyn PageReader>> {
        let row_group = self.metadata.row_group(group);
        let rows = usize::try_from(row_group.num_rows())?;
        let (file, chunk) = (Arc::clone(&self.file), row_group.column(column));
        if !matches!(chunk.compression(), Compression::ZSTD(_)) {
            return Ok(Box::new(SerializedPageReader::new(file, chunk, rows, None)?));
        }
        let as_stored = chunk.clone().into_builder().set_compression(Compression::UNCOMPRESSED);
        let pages = SerializedPageReader::new(file, &as_stored.build()?, rows, None)?;
        Ok(Box::new(ZstdPages { pages, len_max: len_max(chunk) }))
    }
}

impl RowGroups for Chunks {
    fn num_rows(&self) -> usize {
        self.row_groups().map(|group| usize::try_from(group.num_rows()).unwrap_or(0)).sum()
    }

    fn column_chunks(&self, column: usize) -> Result<Box<dyn PageIterator>> {
        Ok(Box::new(ColumnPages { chunks: self.clone(), column, group: 0 }))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(self.metadata.row_groups().iter())
    }

    fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }
}

/// The chunks of one column, from the first row group to the last.
struct ColumnPages {
    chunks: Chunks,
    column: usize,
    group: usize,
}

impl Iterator for ColumnPages {
    type Item = Result<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        let group = self.group;
        self.group += 1;
        let has_group = group < self.chunks.metadata.num_row_groups();
        has_group.then(|| self.chunks.pages(group, self.column))
    }
}

impl PageIterator for ColumnPages {}

/// Decompresses the pages of a chunk.
struct ZstdPages {
    pages: SerializedPageReader<File>,
    /// The maximum length of a decompressed page, in bytes.
    len_max: u64,
}

impl PageReader for ZstdPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let Some(mut page) = self.pages.get_next_page()? else { return Ok(None) };
        // Pages of version 2 begin with levels, which are not compressed.
        let levels_len = match &page {
            Page::DataPageV2 { is_compressed: false, .. } => return Ok(Some(page)),
            Page::DataPageV2 { def_levels_byte_len, rep_levels_byte_len, .. } => {
                usize::try_from(u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len))?
            }
            Page::DataPage { .. } | Page::DictionaryPage { .. } => 0,
        };
        let (Page::DataPage { buf, .. }
        | Page::DataPageV2 { buf, .. }
        | Page::DictionaryPage { buf, .. }) = &mut page;
        let Some((levels, stored)) = buf.split_at_checked(levels_len) else {
            return Err(damaged("its levels are longer than the page"));
        };
        let mut data = levels.to_vec();
        decompress(stored, self.len_max, &mut data)?;
        *buf = data.into();
        Ok(Some(page))
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.pages.at_record_boundary()
    }
}

impl Iterator for ZstdPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

/// Returns how many bytes the chunk states for all of its pages.
fn len_max(chunk: &ColumnChunkMetaData) -> u64 {
    u64::try_from(chunk.uncompressed_size()).unwrap_or(0)
}

/// Appends the data of ZSTD frames.
fn decompress(mut stored: &[u8], len_max: u64, out: &mut Vec<u8>) -> Result<()> {
    while !stored.is_empty() {
        let mut frame = StreamingDecoder::new(&mut stored).map_err(damaged)?;
        let before = out.len();
        let read = (&mut frame).take(len_max.saturating_add(1)).read_to_end(out);
        read.map_err(damaged)?;
        if u64::try_from(out.len() - before)? > len_max {
            return Err(damaged(format!("it has more than the {len_max} bytes stated")));
        }
        let decoder = frame.into_frame_decoder();
        let stated = decoder.get_checksum_from_data();
        if stated.is_some() && decoder.get_calculated_checksum() != stated {
            return Err(damaged("checksum mismatch"));
        }
    }
    Ok(())
}

fn damaged(what: impl std::fmt::Display) -> ParquetError {
    ParquetError::General(format!("damaged page of ZSTD: {what}"))
}
