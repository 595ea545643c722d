//! The fields of the trailer, named as in HBase's `FileTrailerProto`.

use std::io::{self, Write};

use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use sstable::{BlockOffset, Trailer};

use crate::text::printable::as_line;

/// The names and values of all fields of the trailer.
pub(super) struct TrailerReport([(&'static str, Value); 15]);

impl From<&Trailer> for TrailerReport {
    fn from(trailer: &Trailer) -> Self {
        let first_block = trailer.first_data_block_offset.map(BlockOffset::get);
        let last_block = trailer.last_data_block_offset.map(BlockOffset::get);
        Self([
            ("major_version", json!(trailer.major_version)),
            ("minor_version", json!(trailer.minor_version)),
            ("file_info_offset", json!(trailer.file_info_offset.get())),
            ("load_on_open_data_offset", json!(trailer.load_on_open_data_offset.get())),
            ("uncompressed_data_index_size", json!(trailer.uncompressed_data_index_size)),
            ("total_uncompressed_bytes", json!(trailer.total_uncompressed_bytes)),
            ("data_index_count", json!(trailer.data_index_count)),
            ("meta_index_count", json!(trailer.meta_index_count)),
            ("entry_count", json!(trailer.entry_count)),
            ("num_data_index_levels", json!(trailer.num_data_index_levels)),
            // `null` in a file without cells, for which HBase writes -1.
            ("first_data_block_offset", json!(first_block)),
            ("last_data_block_offset", json!(last_block)),
            ("comparator_class_name", json!(trailer.comparator_class_name())),
            ("compression_codec", json!(trailer.compression.name())),
            // Always `null`: encrypted files cannot be read.
            ("encryption_key", Value::Null),
        ])
    }
}

impl Serialize for TrailerReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl TrailerReport {
    /// Writes a line for each field.
    pub(super) fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        self.0.iter().try_for_each(|(name, value)| {
            let value = match value {
                Value::Null => "none".to_owned(),
                Value::String(text) => as_line(text).into_owned(),
                number => number.to_string(),
            };
            writeln!(out, "  {name:<30}{value}")
        })
    }
}
