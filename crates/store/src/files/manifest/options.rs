//! The options of a family in a manifest.
//!
//! | bytes | field           | encoding and meaning                                            |
//! |------:|-----------------|-----------------------------------------------------------------|
//! |     3 | `bloom type`    | u8: 0 none, 1 row, 2 row and column, 3 prefix; u16 BE its length|
//! |   4+4 | `versions`      | u32 BE maximum, u32 BE minimum                                  |
//! |   1+8 | `ttl`           | u8 whether present; u64 BE milliseconds                         |
//! |     1 | `keep deleted`  | u8: 0 no, 1 yes, 2 until the TTL has passed                     |
//! |     4 | `block size`    | u32 BE                                                          |
//! |     2 | `encoding`      | u16 BE; the id in encoded blocks                                |
//! |     4 | `compression`   | u32 BE; the code in a file's trailer                            |
//! |     1 | `flags`         | u8: 1 in memory; 2, 4, 6 family map off, of files, wide;        |
//! |       |                 | 8 key-value family; 16 `flushed` is present                     |
//! |   1+n | `filter`        | u8 length and name of the filter kind; empty for none           |
//! |   1+8 | `filter sizing` | u8: 0 error rate, 1 bits per key, 2 bytes; f64 or u64 BE        |
//! |     8 | `flushed`       | u64 BE a sequence id, if the flag is set; see [`list`](super::list) |
//!
//! A manifest with settings with which no file can be written is damaged.

use std::io;
use std::time::Duration;

use byteorder::{BigEndian, ReadBytesExt, WriteBytesExt};
use cells::KeepDeletedCells;
use filter::{ErrorRate, FilterKind, Sizing};
use sstable::{BloomType, Compression, DataBlockEncoding, SequenceId, WriterOptions};

use super::bytes::{Invalid, read_flag, read_short_bytes, write_short_bytes};
use crate::error::Result;
use crate::family_map::mode::MapMode;
use crate::files::names::sequence;
use crate::options::{FamilyOptions, RowFilter};

/// The flag of a family of keys and values.
const KEY_VALUE: u8 = 8;
/// The flag of a family whose options are followed by `flushed`.
const HAS_FLUSHED: u8 = 16;

/// Appends the options of a family.
pub(super) fn write(
    out: &mut Vec<u8>,
    options: &FamilyOptions,
    flushed: Option<SequenceId>,
) -> io::Result<()> {
    let (bloom, prefix) = match options.bloom_type {
        BloomType::None => (0, 0),
        BloomType::Row => (1, 0),
        BloomType::RowCol => (2, 0),
        BloomType::RowPrefixFixedLength(len) => (3, len),
    };
    out.write_u8(bloom)?;
    out.write_u16::<BigEndian>(prefix)?;
    out.write_u32::<BigEndian>(options.versions)?;
    out.write_u32::<BigEndian>(options.min_versions)?;
    let ttl = options.ttl.map(|ttl| u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX));
    out.write_u8(ttl.is_some().into())?;
    out.write_u64::<BigEndian>(ttl.unwrap_or_default())?;
    out.write_u8(match options.keep_deleted_cells {
        KeepDeletedCells::False => 0,
        KeepDeletedCells::True => 1,
        KeepDeletedCells::Ttl => 2,
    })?;
    out.write_u32::<BigEndian>(options.block_size)?;
    out.write_u16::<BigEndian>(options.data_block_encoding.id())?;
    out.write_u32::<BigEndian>(options.compression.code())?;
    let map = match options.family_map {
        MapMode::Auto => 0,
        MapMode::Off => 2,
        MapMode::Files => 4,
        MapMode::Wide => 6,
    };
    let key_value = if options.key_value { KEY_VALUE } else { 0 };
    let has_flushed = if flushed.is_some() { HAS_FLUSHED } else { 0 };
    out.write_u8(u8::from(options.in_memory) | map | key_value | has_flushed)?;
    let name = options.filter.map_or("", |filter| filter.kind.name());
    write_short_bytes(out, name.as_bytes())?;
    let (tag, number) = match options.filter.map(|filter| filter.sizing) {
        None => (0, 0),
        Some(Sizing::ErrorRate(rate)) => (0, rate.get().to_bits()),
        Some(Sizing::BitsPerKey(bits)) => (1, bits.to_bits()),
        Some(Sizing::Bytes(bytes)) => (2, bytes),
    };
    out.write_u8(tag)?;
    out.write_u64::<BigEndian>(number)?;
    flushed.map_or(Ok(()), |flushed| out.write_u64::<BigEndian>(flushed.get()))
}

/// The options of a family, and its `flushed` if present.
type StoredOptions = (FamilyOptions, Option<SequenceId>);

/// Reads the options of a family, and the sequence id that may follow them.
pub(super) fn read(bytes: &mut &[u8]) -> Result<StoredOptions, Invalid> {
    let (bloom, prefix) = (bytes.read_u8()?, bytes.read_u16::<BigEndian>()?);
    let bloom_type = match bloom {
        0 => BloomType::None,
        1 => BloomType::Row,
        2 => BloomType::RowCol,
        3 if (1..=i16::MAX.cast_unsigned()).contains(&prefix) => {
            BloomType::RowPrefixFixedLength(prefix)
        }
        _ => return Err(Invalid("an unknown Bloom type")),
    };
    let (versions, min_versions) = (bytes.read_u32::<BigEndian>()?, bytes.read_u32::<BigEndian>()?);
    let has_ttl = read_flag(bytes)?;
    let ttl = Duration::from_millis(bytes.read_u64::<BigEndian>()?);
    let keep_deleted_cells = match bytes.read_u8()? {
        0 => KeepDeletedCells::False,
        1 => KeepDeletedCells::True,
        2 => KeepDeletedCells::Ttl,
        _ => return Err(Invalid("unknown rule for deleted cells")),
    };
    let block_size = bytes.read_u32::<BigEndian>()?;
    let encoding = DataBlockEncoding::from_id(bytes.read_u16::<BigEndian>()?);
    let compression = Compression::from_code(bytes.read_u32::<BigEndian>()?);
    let flags = bytes.read_u8()?;
    let in_memory = flags & 1 == 1;
    let key_value = flags & KEY_VALUE != 0;
    let family_map = match flags & !(1 | KEY_VALUE | HAS_FLUSHED) {
        0 => MapMode::Auto,
        2 => MapMode::Off,
        4 => MapMode::Files,
        6 => MapMode::Wide,
        _ => return Err(Invalid("unknown flags of a family")),
    };
    let name = read_short_bytes(bytes)?;
    let (tag, number) = (bytes.read_u8()?, bytes.read_u64::<BigEndian>()?);
    let filter = if name.is_empty() {
        None
    } else {
        let kind = str::from_utf8(&name).ok().and_then(|name| name.parse::<FilterKind>().ok());
        let kind = kind.filter(|kind| FilterKind::IN_FILES.contains(kind));
        let kind = kind.ok_or(Invalid("unknown filter kind"))?;
        Some(RowFilter { kind, sizing: read_sizing(tag, number)? })
    };
    let flushed = if flags & HAS_FLUSHED == 0 {
        None
    } else {
        let flushed = SequenceId::new(bytes.read_u64::<BigEndian>()?);
        sequence::check(flushed).map_err(Invalid)?;
        Some(flushed)
    };
    if versions == 0 || block_size > WriterOptions::BLOCK_SIZE_MAX {
        return Err(Invalid("a family without versions, or with blocks that are too large"));
    }
    let options = FamilyOptions {
        bloom_type,
        versions,
        min_versions,
        ttl: has_ttl.then_some(ttl),
        keep_deleted_cells,
        block_size,
        data_block_encoding: encoding.ok_or(Invalid("unknown data block encoding"))?,
        compression: compression.ok_or(Invalid("unknown compression codec"))?,
        in_memory,
        filter,
        family_map,
        key_value,
    };
    Ok((options, flushed))
}

fn read_sizing(tag: u8, number: u64) -> Result<Sizing, Invalid> {
    let float = f64::from_bits(number);
    match tag {
        0 => ErrorRate::new(float)
            .map(Sizing::ErrorRate)
            .map_err(|_| Invalid("filter error rate outside 0 to 1")),
        1 if float.is_finite() => Ok(Sizing::BitsPerKey(float)),
        2 => Ok(Sizing::Bytes(number)),
        _ => Err(Invalid("an unknown filter sizing")),
    }
}
