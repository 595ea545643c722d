//! The cell codec of a log with dictionaries.
//!
//! | bytes  | field        | meaning                                                              |
//! |-------:|--------------|----------------------------------------------------------------------|
//! | varint | key length   | of the decoded key, in the form that an HFile has                    |
//! | varint | value length | of the decompressed value                                            |
//! | varint | tags length  | of the decoded tags, each with 2 bytes of length                     |
//! |        | row          | dictionary string                                                    |
//! |        | family       | dictionary string                                                    |
//! |        | qualifier    | dictionary string                                                    |
//! |      8 | timestamp    | i64 BE                                                               |
//! |      1 | type         | Put, Delete and so on                                                |
//! |        | value        | the bytes; with value compression: varint length, compressed bytes   |
//! |        | tags         | the bytes; with a tag dictionary: a dictionary string for each tag,  |
//! |        |              | which holds its type and data                                        |
//!
//! `dictionary.rs` describes dictionary strings. HBase's classes: `WALCellCodec`,
//! `CompressionContext`.

use std::io::Read;
use std::sync::Arc;

use bytes::Bytes;
use flate2::bufread::GzDecoder;
use sstable::{Cell, KeyRef, SequenceId, Timestamp};

use super::dictionary::Dictionary;
use super::error::Stop;
use super::header::LogHeader;
use super::input::Input;
use super::limits::{CELL_LEN_MAX, KEY_LEN_MAX};
use super::plain;

/// The dictionaries of one file, and buffers for the cell that is being decoded.
pub(super) struct Dictionaries {
    region: Dictionary,
    table: Dictionary,
    row: Dictionary,
    family: Dictionary,
    qualifier: Dictionary,
    /// `None` if the header says that tags are written without a dictionary.
    tags: Option<Dictionary>,
    compresses_values: bool,
    /// The bytes of the strings in all dictionaries.
    total: usize,
    /// The row, family and qualifier of the current cell, concatenated.
    parts: Vec<u8>,
    value: Vec<u8>,
    tag_bytes: Vec<u8>,
}

/// HBase's capacity of the dictionaries of regions, tables, rows and tags: `Short.MAX_VALUE`.
const MANY: usize = 0x7fff;
/// HBase's capacity of the dictionaries of families and qualifiers: `Byte.MAX_VALUE`.
const FEW: usize = 0x7f;

impl Dictionaries {
    /// Creates empty dictionaries; returns `None` if the file is written without dictionaries.
    pub(super) fn new(header: &LogHeader) -> Option<Self> {
        header.dictionaries.then(|| Self {
            region: Dictionary::new(MANY),
            table: Dictionary::new(MANY),
            row: Dictionary::new(MANY),
            family: Dictionary::new(FEW),
            qualifier: Dictionary::new(FEW),
            tags: header.tag_dictionary.then(|| Dictionary::new(MANY)),
            compresses_values: header.value_compression.is_some(),
            total: 0,
            parts: Vec::new(),
            value: Vec::new(),
            tag_bytes: Vec::new(),
        })
    }

    /// Decodes the region and the table of an entry's key, which are dictionary strings.
    pub(super) fn names(
        &mut self,
        region: Vec<u8>,
        table: Vec<u8>,
    ) -> Result<(Vec<u8>, Vec<u8>), Stop> {
        let region_name = read_name(&mut self.region, region, &mut self.total)?;
        Ok((region_name, read_name(&mut self.table, table, &mut self.total)?))
    }

    /// Reads a cell.
    pub(super) fn read_cell(
        &mut self,
        input: &mut Input,
        sequence_id: SequenceId,
    ) -> Result<Cell, Stop> {
        let key_len = input.varint_len()?;
        let value_len = input.varint_len()?;
        let tags_len = input.varint_len()?;
        if tags_len > usize::from(u16::MAX) {
            return Err(Stop::wrong("the tags of a cell are longer than 65,535 bytes"));
        }
        let wrong = || Stop::wrong("the parts of a key do not have the length of the key");
        let names_len = key_len.checked_sub(KeyRef::FIXED_LEN).ok_or_else(wrong)?;
        self.parts.clear();
        let (parts, total) = (&mut self.parts, &mut self.total);
        let row_len = self.row.read(input, names_len.min(KeyRef::ROW_LEN_MAX), total, parts)?;
        let after_row = names_len.saturating_sub(row_len);
        let family_len =
            self.family.read(input, after_row.min(KeyRef::FAMILY_LEN_MAX), total, parts)?;
        let left = after_row.saturating_sub(family_len);
        if self.qualifier.read(input, left, total, parts)? != left {
            return Err(wrong());
        }
        let timestamp = Timestamp::new(i64::from_be_bytes(input.array()?));
        let type_code = input.byte()?;
        self.read_value(input, value_len)?;
        self.read_tags(input, tags_len)?;
        let (row, rest) = self.parts.split_at_checked(row_len).ok_or_else(wrong)?;
        let (family, qualifier) = rest.split_at_checked(family_len).ok_or_else(wrong)?;
        let key = KeyRef { row, family, qualifier, timestamp, type_code };
        plain::cell(key, &self.value, &self.tag_bytes, sequence_id)
    }

    fn read_value(&mut self, input: &mut Input, len: usize) -> Result<(), Stop> {
        self.value.clear();
        self.value.shrink_to(1 << 20);
        if !self.compresses_values {
            self.value.extend_from_slice(input.take_part("a value", len, CELL_LEN_MAX)?);
            return Ok(());
        }
        let stored_len = input.varint_len()?;
        let mut stored = input.take_part("a compressed value", stored_len, CELL_LEN_MAX)?;
        // Deflate shrinks bytes by a factor of at most 1,032.
        if len > stored_len.saturating_mul(1032) {
            return Err(Stop::wrong("a compressed value is too short for its length"));
        }
        Stop::check_limit("a value", len, CELL_LEN_MAX)?;
        // One byte more than the stated length: a value that is longer is detected.
        let limit = u64::try_from(len).unwrap_or(u64::MAX).saturating_add(1);
        let mut decoder = GzDecoder::new(&mut stored).take(limit);
        decoder
            .read_to_end(&mut self.value)
            .map_err(|_| Stop::wrong("a compressed value is not a whole gzip member"))?;
        drop(decoder);
        if self.value.len() != len || !stored.is_empty() {
            return Err(Stop::wrong("a compressed value has the wrong length"));
        }
        Ok(())
    }

    fn read_tags(&mut self, input: &mut Input, len: usize) -> Result<(), Stop> {
        self.tag_bytes.clear();
        let Some(dictionary) = &mut self.tags else {
            self.tag_bytes.extend_from_slice(input.take(len)?);
            return Ok(());
        };
        let wrong = || Stop::wrong("the tags of a cell do not have the length that the cell says");
        while self.tag_bytes.len() < len {
            let at = self.tag_bytes.len();
            let left = len.saturating_sub(at).checked_sub(2).ok_or_else(wrong)?;
            self.tag_bytes.extend_from_slice(&[0, 0]);
            let read_len = dictionary.read(input, left, &mut self.total, &mut self.tag_bytes)?;
            let tag_len = u16::try_from(read_len).map_err(|_| wrong())?.to_be_bytes();
            for (byte, of_len) in self.tag_bytes.iter_mut().skip(at).zip(tag_len) {
                *byte = of_len;
            }
        }
        Ok(())
    }
}

/// Reads a name in the key of an entry: a whole field.
fn read_name(
    dictionary: &mut Dictionary,
    field: Vec<u8>,
    total: &mut usize,
) -> Result<Vec<u8>, Stop> {
    let mut input = Input::new(Arc::new(Bytes::from(field)));
    let mut name = Vec::new();
    match dictionary.read(&mut input, KEY_LEN_MAX, total, &mut name) {
        Ok(_) if input.left() == 0 => Ok(name),
        Ok(_) | Err(Stop::Ends) => {
            Err(Stop::wrong("a name in the key of an entry has the wrong length"))
        }
        Err(other) => Err(other),
    }
}
