//! The fields of the trailer, named as in HBase's `FileTrailerProto`.

use std::io::{self, Write};

use serde::Serialize;
use sstable::{BlockOffset, Trailer};

use crate::text::printable::as_line;

/// All fields of the trailer.
#[derive(Serialize)]
pub(super) struct TrailerReport {
    major_version: u32,
    minor_version: u32,
    file_info_offset: u64,
    load_on_open_data_offset: u64,
    uncompressed_data_index_size: u64,
    total_uncompressed_bytes: u64,
    data_index_count: u32,
    meta_index_count: u32,
    entry_count: u64,
    num_data_index_levels: u32,
    /// `None` in a file without cells, for which HBase writes -1.
    first_data_block_offset: Option<u64>,
    last_data_block_offset: Option<u64>,
    /// The name that HBase 2 writes for the order; a file can have an older name for it.
    comparator_class_name: &'static str,
    compression_codec: &'static str,
    /// Always `None`: encrypted files cannot be read.
    encryption_key: Option<String>,
}

impl From<&Trailer> for TrailerReport {
    fn from(trailer: &Trailer) -> Self {
        Self {
            major_version: trailer.major_version,
            minor_version: trailer.minor_version,
            file_info_offset: trailer.file_info_offset.get(),
            load_on_open_data_offset: trailer.load_on_open_data_offset.get(),
            uncompressed_data_index_size: trailer.uncompressed_data_index_size,
            total_uncompressed_bytes: trailer.total_uncompressed_bytes,
            data_index_count: trailer.data_index_count,
            meta_index_count: trailer.meta_index_count,
            entry_count: trailer.entry_count,
            num_data_index_levels: trailer.num_data_index_levels,
            first_data_block_offset: trailer.first_data_block_offset.map(BlockOffset::get),
            last_data_block_offset: trailer.last_data_block_offset.map(BlockOffset::get),
            comparator_class_name: trailer.comparator.class_name(),
            compression_codec: trailer.compression.name(),
            encryption_key: None,
        }
    }
}

impl TrailerReport {
    /// Writes a line for each field.
    pub(super) fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut line = |name: &str, value: String| writeln!(out, "  {name:<30}{}", as_line(&value));
        let or_none = |offset: Option<u64>| offset.map_or("none".to_owned(), |it| it.to_string());
        line("major_version", self.major_version.to_string())?;
        line("minor_version", self.minor_version.to_string())?;
        line("file_info_offset", self.file_info_offset.to_string())?;
        line("load_on_open_data_offset", self.load_on_open_data_offset.to_string())?;
        line("uncompressed_data_index_size", self.uncompressed_data_index_size.to_string())?;
        line("total_uncompressed_bytes", self.total_uncompressed_bytes.to_string())?;
        line("data_index_count", self.data_index_count.to_string())?;
        line("meta_index_count", self.meta_index_count.to_string())?;
        line("entry_count", self.entry_count.to_string())?;
        line("num_data_index_levels", self.num_data_index_levels.to_string())?;
        line("first_data_block_offset", or_none(self.first_data_block_offset))?;
        line("last_data_block_offset", or_none(self.last_data_block_offset))?;
        line("comparator_class_name", self.comparator_class_name.to_owned())?;
        line("compression_codec", self.compression_codec.to_owned())?;
        line("encryption_key", "none".to_owned())
    }
}
