//! The trailer: the last 4,096 bytes of a file (212 in version 2). Readers read it first.
//!
//! | at       | bytes  | field                                                                   |
//! |---------:|-------:|-------------------------------------------------------------------------|
//! |        0 |      8 | magic `TRABLK"$`                                                        |
//! |        8 | vint+n | length and protobuf message `FileTrailerProto`                          |
//! |          |        | zeros                                                                   |
//! | size − 4 |      4 | version, i32 BE: major + minor · 2^24                                   |
//!
//! A vint is HBase's variable-length integer, here of n message bytes. No checksum covers the
//! trailer, so readers check it against the rest of the file. HBase: `FixedFileTrailer`.

use std::borrow::Cow;

use cells::{BlockOffset, Comparator};
use prost::Message;

use super::hudi;
use crate::compression::Compression;
use crate::encoding::DamageReason;
use crate::error::{BlockType, Damage, DecodeError};
use crate::input::Input;

/// The trailer of a file: version, offsets, counts and codecs.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Trailer {
    /// The major version of the format: 3, or 2 in files of old HBase versions.
    pub major_version: u32,
    /// The minor version of the format: 3 in files of HBase 2.
    pub minor_version: u32,
    /// The offset of the file info block.
    pub file_info_offset: BlockOffset,
    /// The start of the load-on-open section: the blocks that are read when a file is opened.
    ///
    /// Its first block is the root of the data index.
    pub load_on_open_data_offset: BlockOffset,
    /// Uncompressed bytes of all blocks of the data index.
    pub uncompressed_data_index_size: u64,
    /// Uncompressed bytes of the trailer and the blocks, including the headers of blocks.
    ///
    /// Excludes the root and the intermediate blocks of the data index.
    pub total_uncompressed_bytes: u64,
    /// The number of entries in the root of the data index.
    pub data_index_count: u32,
    /// The number of entries of the meta index.
    pub meta_index_count: u32,
    /// The number of cells in the file.
    pub entry_count: u64,
    /// The number of levels of the data index; 1 if the root points to data blocks.
    pub num_data_index_levels: u32,
    /// The offset of the first data block; `None` in a file without cells.
    pub first_data_block_offset: Option<BlockOffset>,
    /// The offset of the last data block; `None` in a file without cells.
    pub last_data_block_offset: Option<BlockOffset>,
    /// The order of the rows; rows of `hbase:meta` have their own order.
    pub comparator: Comparator,
    /// The name of the order that the file states; HBase has renamed the classes several times.
    pub(crate) comparator_class_name: Cow<'static, str>,
    /// The codec of all blocks.
    pub compression: Compression,
}

/// The message `FileTrailerProto` of HBase's `HFile.proto`.
#[derive(Clone, PartialEq, Message)]
struct Proto {
    #[prost(uint64, optional, tag = "1")]
    file_info_offset: Option<u64>,
    #[prost(uint64, optional, tag = "2")]
    load_on_open_data_offset: Option<u64>,
    #[prost(uint64, optional, tag = "3")]
    uncompressed_data_index_size: Option<u64>,
    #[prost(uint64, optional, tag = "4")]
    total_uncompressed_bytes: Option<u64>,
    #[prost(uint32, optional, tag = "5")]
    data_index_count: Option<u32>,
    #[prost(uint32, optional, tag = "6")]
    meta_index_count: Option<u32>,
    #[prost(uint64, optional, tag = "7")]
    entry_count: Option<u64>,
    #[prost(uint32, optional, tag = "8")]
    num_data_index_levels: Option<u32>,
    #[prost(uint64, optional, tag = "9")]
    first_data_block_offset: Option<u64>,
    #[prost(uint64, optional, tag = "10")]
    last_data_block_offset: Option<u64>,
    #[prost(string, optional, tag = "11")]
    comparator_class_name: Option<String>,
    #[prost(uint32, optional, tag = "12")]
    compression_codec: Option<u32>,
    #[prost(bytes = "vec", optional, tag = "13")]
    encryption_key: Option<Vec<u8>>,
    /// This and the next field are of the key management in HBase's trunk.
    #[prost(bytes = "vec", optional, tag = "14")]
    kek_identity: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "15")]
    kek_metadata: Option<Vec<u8>>,
}

impl Proto {
    /// Returns how the file is encrypted, if it is.
    fn encryption(&self) -> Option<&'static str> {
        match self {
            Self { kek_identity: None, kek_metadata: None, encryption_key: None, .. } => None,
            Self { kek_identity: None, kek_metadata: None, .. } => Some("yes"),
            _ => Some("by a key of HBase's key management"),
        }
    }
}

impl Trailer {
    /// Bytes of a version 3 trailer.
    pub const LEN: u64 = 4096;
    /// Bytes of a version 2 trailer.
    pub(crate) const LEN_V2: u64 = 212;
    /// The stored offset of a block that does not exist: −1 as an i64.
    const NOWHERE: u64 = u64::MAX;
    /// The maximum number of levels of a data index that readers accept; HBase writes fewer.
    pub(crate) const INDEX_LEVELS_MAX: u32 = 16;

    /// Returns the size of this trailer in the file, in bytes.
    pub(crate) const fn len(&self) -> u64 {
        if self.major_version == 2 { Self::LEN_V2 } else { Self::LEN }
    }

    /// Returns the name of the order of rows, as the file states it.
    pub fn comparator_class_name(&self) -> &str {
        &self.comparator_class_name
    }

    /// Whether the order has a name of Hudi. Then keys in the indexes and the file info may be shorter.
    pub(crate) fn has_hudi_comparator(&self) -> bool {
        hudi::COMPARATORS.contains(&self.comparator_class_name())
    }

    /// Returns the offset of the trailer in a file of `file_len` bytes.
    ///
    /// `tail` is the end of the file. Its last four bytes, the version, decide the trailer's size.
    pub(crate) fn start(tail: &[u8], file_len: u64) -> Result<u64, DecodeError> {
        let corrupt = |what: &'static str| {
            DecodeError::Damage(Damage::in_block(
                BlockType::Trailer,
                BlockOffset::new(file_len),
                what,
            ))
        };
        let version = tail.last_chunk::<4>().ok_or_else(|| corrupt("the file is too short"))?;
        let (major, minor) = split_version(*version);
        let len = match (major, minor) {
            (3, _) => Self::LEN,
            (2, 3..) => Self::LEN_V2,
            // The last bytes of a truncated file can look like an old version by chance. So a file
            // is reported as old only if it also has a trailer magic where old trailers are.
            (1 | 2, _) if has_trailer_magic(tail, Self::LEN_V2) => {
                let found = format!("{major}.{minor}");
                return Err(DecodeError::Unsupported { feature: "version of HFile", found });
            }
            // Version 4 has sections of rows, each a file of version 3 with its own offsets.
            (4, _) if has_trailer_magic(tail, Self::LEN) => {
                let found = format!("{major}.{minor}");
                return Err(DecodeError::Unsupported { feature: "version of HFile", found });
            }
            _ => return Err(corrupt("does not end in a known HFile version")),
        };
        file_len.checked_sub(len).ok_or_else(|| corrupt("the file is shorter than its trailer"))
    }

    /// Parses the trailer in `bytes`, which are the end of the file from offset `start` on.
    pub(crate) fn read(bytes: &[u8], start: u64) -> Result<Self, DecodeError> {
        let at = BlockOffset::new(start);
        let corrupt = |what: &'static str| Damage::in_block(BlockType::Trailer, at, what);
        let (front, version) =
            bytes.split_last_chunk::<4>().ok_or_else(|| corrupt("ends in its version"))?;
        let (major_version, minor_version) = split_version(*version);
        let mut input = Input::new(front);
        if input.array() != Some(BlockType::Trailer.magic()) {
            return Err(corrupt("does not begin with the magic of a trailer").into());
        }
        let message = input.vint().and_then(|len| input.take(len));
        let message = message.ok_or_else(|| corrupt("its message is longer than the trailer"))?;
        let proto = Proto::decode(message).map_err(|_| corrupt("is not a protobuf message"))?;
        if let Some(found) = proto.encryption() {
            let found = found.to_owned();
            return Err(DecodeError::Unsupported { feature: "encryption", found });
        }
        let levels = proto.num_data_index_levels.unwrap_or(1);
        if !(1..=Self::INDEX_LEVELS_MAX).contains(&levels) {
            return Err(corrupt("its number of index levels is not between 1 and 16").into());
        }
        let optional_block = |offset: Option<u64>| match offset.unwrap_or(Self::NOWHERE) {
            Self::NOWHERE => Ok(None),
            offset if offset < start => Ok(Some(BlockOffset::new(offset))),
            _ => Err(corrupt("an offset in it points past its own start")),
        };
        let block =
            |offset: Option<u64>| optional_block(offset)?.ok_or_else(|| corrupt("lacks an offset"));
        let (comparator, comparator_class_name) = comparator(proto.comparator_class_name)?;
        let mut trailer = Self {
            major_version,
            minor_version,
            file_info_offset: block(proto.file_info_offset)?,
            load_on_open_data_offset: block(proto.load_on_open_data_offset)?,
            uncompressed_data_index_size: proto.uncompressed_data_index_size.unwrap_or(0),
            total_uncompressed_bytes: proto.total_uncompressed_bytes.unwrap_or(0),
            data_index_count: proto.data_index_count.unwrap_or(0),
            meta_index_count: proto.meta_index_count.unwrap_or(0),
            entry_count: proto.entry_count.unwrap_or(0),
            num_data_index_levels: levels,
            first_data_block_offset: optional_block(proto.first_data_block_offset)?,
            last_data_block_offset: optional_block(proto.last_data_block_offset)?,
            comparator,
            comparator_class_name,
            compression: compression(proto.compression_codec)?,
        };
        trailer.forget_missing_last_block();
        trailer.check(at)?;
        Ok(trailer)
    }

    /// Removes the offset 0 that HBase before 2.0 and Hudi state for the last data block of a file
    /// without cells.
    fn forget_missing_last_block(&mut self) {
        if self.entry_count == 0 && self.last_data_block_offset == Some(BlockOffset::default()) {
            self.last_data_block_offset = None;
        }
    }

    /// Checks that a version 3 trailer has only known fields, and zeros after them.
    ///
    /// Readers ignore unknown fields and the padding, and no checksum covers them, so only this
    /// check, made when a file is verified, finds damage there.
    pub(crate) fn check_bytes(bytes: &[u8]) -> Result<(), DamageReason> {
        let mut input = Input::new(bytes);
        let message = Self::message(&mut input);
        let proto = message.and_then(|message| Proto::decode(message).ok()).ok_or("is cut")?;
        if message != Some(&proto.encode_to_vec()) {
            return Err("has a field that this build does not know".into());
        }
        Ok(())
    }

    /// Checks that only zeros are between the fields and the version at the end.
    pub(crate) fn check_padding(bytes: &[u8]) -> Result<(), DamageReason> {
        let mut input = Input::new(bytes);
        if Self::message(&mut input).is_none() {
            return Ok(());
        }
        let padding = input.rest().split_last_chunk::<4>().map_or(&[][..], |(padding, _)| padding);
        match padding.iter().position(|byte| *byte != 0) {
            None => Ok(()),
            Some(at) => Err(format!("the padding is damaged: its byte {at} is not zero").into()),
        }
    }

    /// Returns the fields of a trailer, encoded.
    fn message<'b>(input: &mut Input<'b>) -> Option<&'b [u8]> {
        input.array::<8>().and_then(|_| input.vint()).and_then(|len| input.take(len))
    }

    /// Checks that the fields do not contradict each other.
    fn check(&self, at: BlockOffset) -> Result<(), Damage> {
        let corrupt = |what: &'static str| Err(Damage::in_block(BlockType::Trailer, at, what));
        if self.file_info_offset <= self.load_on_open_data_offset {
            return corrupt("the file info is not after the index");
        }
        let is_empty = self.entry_count == 0;
        if is_empty != (self.data_index_count == 0) {
            return corrupt("cells without an index, or an index without cells");
        }
        // Every HBase version writes the first data block at offset 0.
        let first = (!is_empty).then(BlockOffset::default);
        if self.first_data_block_offset != first {
            return corrupt("the first data block is not at the start of the file");
        }
        let last = self.last_data_block_offset;
        if last.is_some() == is_empty || last >= Some(self.load_on_open_data_offset) {
            return corrupt("the last data block is missing or is in the load-on-open section");
        }
        Ok(())
    }

    /// Appends the trailer to `out`.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let nowhere = |offset: Option<BlockOffset>| offset.map_or(Self::NOWHERE, BlockOffset::get);
        let message = Proto {
            file_info_offset: Some(self.file_info_offset.get()),
            load_on_open_data_offset: Some(self.load_on_open_data_offset.get()),
            uncompressed_data_index_size: Some(self.uncompressed_data_index_size),
            total_uncompressed_bytes: Some(self.total_uncompressed_bytes),
            data_index_count: Some(self.data_index_count),
            meta_index_count: Some(self.meta_index_count),
            entry_count: Some(self.entry_count),
            num_data_index_levels: Some(self.num_data_index_levels),
            first_data_block_offset: Some(nowhere(self.first_data_block_offset)),
            last_data_block_offset: Some(nowhere(self.last_data_block_offset)),
            comparator_class_name: Some(self.comparator_class_name().to_owned()),
            compression_codec: Some(self.compression.code()),
            encryption_key: None,
            kek_identity: None,
            kek_metadata: None,
        };
        let version = self.minor_version.wrapping_shl(24) | self.major_version;
        let mut bytes = BlockType::Trailer.magic().to_vec();
        bytes.extend_from_slice(&message.encode_length_delimited_to_vec());
        let padded = usize::try_from(self.len()).unwrap_or_default().saturating_sub(4);
        assert!(bytes.len() <= padded, "the trailer has room for its twelve fields");
        bytes.resize(padded, 0);
        out.extend_from_slice(&bytes);
        out.extend_from_slice(&version.to_be_bytes());
    }
}

/// Returns whether the last `len` bytes of `tail` have a trailer magic.
///
/// Trailers of the versions 1 and 2 are at most 212 bytes long.
fn has_trailer_magic(tail: &[u8], len: u64) -> bool {
    let magic = BlockType::Trailer.magic();
    let len = usize::try_from(len).unwrap_or_default();
    let start = tail.len().saturating_sub(len);
    tail.get(start..).unwrap_or_default().windows(magic.len()).any(|window| window == magic)
}

/// Returns the major and the minor version; the first byte is the minor version.
fn split_version(bytes: [u8; 4]) -> (u32, u32) {
    let [minor, major @ ..] = bytes;
    let [high, middle, low] = major;
    (u32::from_be_bytes([0, high, middle, low]), minor.into())
}

/// Returns the order of rows, and its name in the file.
fn comparator(name: Option<String>) -> Result<(Comparator, Cow<'static, str>), DecodeError> {
    let Some(name) = name else {
        let default = Comparator::default();
        return Ok((default, default.class_name().into()));
    };
    let order = if hudi::COMPARATORS.contains(&name.as_str()) {
        Some(Comparator::Bytes)
    } else {
        Comparator::from_class_name(&name)
    };
    match order {
        Some(order) => Ok((order, name.into())),
        None => Err(DecodeError::Unsupported { feature: "comparator", found: name }),
    }
}

fn compression(code: Option<u32>) -> Result<Compression, DecodeError> {
    let feature = "compression codec";
    match code.map(|code| (code, Compression::from_code(code))) {
        None => Ok(Compression::None),
        Some((_, Some(codec))) if codec.is_supported() => Ok(codec),
        Some((_, Some(codec))) => Err(DecodeError::Unsupported { feature, found: codec.refusal() }),
        Some((code, None)) => {
            Err(DecodeError::Unsupported { feature, found: format!("code {code}") })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &[u8] = include_bytes!("../../testdata/s01-default.hfile");
    const EMPTY: &[u8] = include_bytes!("../../testdata/s02-empty.hfile");

    fn read(file: &[u8]) -> Result<Trailer, DecodeError> {
        let start = Trailer::start(file, file.len() as u64)?;
        Trailer::read(&file[start as usize..], start)
    }

    fn changed(change: impl FnOnce(&mut Trailer)) -> Result<Trailer, DecodeError> {
        let mut trailer = read(FILE).unwrap();
        change(&mut trailer);
        let mut file = FILE[..FILE.len() - 4096].to_vec();
        trailer.write(&mut file);
        read(&file)
    }

    #[test]
    fn trailers_of_hbase_are_read_and_written_unchanged() {
        for file in [FILE, EMPTY] {
            let trailer = read(file).unwrap();
            let mut written = Vec::new();
            trailer.write(&mut written);
            assert_eq!(written, file[file.len() - 4096..]);
        }
        let trailer = read(EMPTY).unwrap();
        assert_eq!((trailer.entry_count, trailer.first_data_block_offset), (0, None));
    }

    #[test]
    fn a_short_file_is_damaged_and_an_old_version_is_unsupported() {
        for len in 0..4096 {
            assert!(
                matches!(read(&FILE[FILE.len() - len..]), Err(DecodeError::Damage(_))),
                "{len}"
            );
        }
        let mut old = FILE[..FILE.len() - 4096].to_vec();
        old.extend_from_slice(&BlockType::Trailer.magic());
        old.resize(FILE.len() - 4096 + 208, 0);
        old.extend_from_slice(&[2, 0, 0, 2]);
        let found = "2.2".to_owned();
        assert_eq!(
            read(&old),
            Err(DecodeError::Unsupported { feature: "version of HFile", found })
        );
    }

    #[test]
    fn version_4_is_unsupported() {
        let mut later = FILE.to_vec();
        *later.last_mut().unwrap() = 4;
        let found = "4.3".to_owned();
        let unsupported = DecodeError::Unsupported { feature: "version of HFile", found };
        assert_eq!(read(&later), Err(unsupported));
        // Without a trailer, the version is chance.
        let at = later.len() - 4096;
        later[at] ^= 1;
        assert!(matches!(read(&later), Err(DecodeError::Damage(_))));
    }

    #[test]
    fn each_field_of_encryption_is_unsupported() {
        let encrypted = |tag: u8, value: &[u8]| {
            let mut file = FILE.to_vec();
            let at = file.len() - 4096 + 8;
            let message_len = usize::from(file[at]);
            let end = at + 1 + message_len;
            let field = [&[tag << 3 | 2, value.len() as u8], value].concat();
            file[at] += field.len() as u8;
            file[end..end + field.len()].copy_from_slice(&field);
            read(&file)
        };
        let refused = |found: &str| {
            Err(DecodeError::Unsupported { feature: "encryption", found: found.to_owned() })
        };
        assert_eq!(encrypted(13, b"key"), refused("yes"));
        for tag in [14, 15] {
            for value in [&b"id"[..], b""] {
                assert_eq!(encrypted(tag, value), refused("by a key of HBase's key management"));
            }
        }
    }

    #[test]
    fn the_name_of_the_order_stays_as_the_file_has_it() {
        for name in [
            "org.apache.hadoop.hbase.KeyValue$KeyComparator",
            "org.apache.hadoop.hbase.CellComparatorImpl",
            hudi::COMPARATORS[0],
            hudi::COMPARATORS[1],
        ] {
            let renamed = changed(|trailer| trailer.comparator_class_name = name.into());
            let renamed = renamed.expect("a known name");
            assert_eq!(renamed.comparator, Comparator::Bytes);
            assert_eq!(renamed.comparator_class_name(), name);
            assert_eq!(renamed.has_hudi_comparator(), name.contains("hudi"), "{name}");
        }
    }

    /// HBase before 2.0 states the offset 0 for a last data block that does not exist.
    #[test]
    fn a_file_without_cells_has_no_last_data_block_whatever_its_offset() {
        let without_cells = |last: u64, entries: u64| {
            let mut trailer = read(EMPTY).unwrap();
            trailer.last_data_block_offset = Some(BlockOffset::new(last));
            trailer.entry_count = entries;
            let mut file = EMPTY[..EMPTY.len() - 4096].to_vec();
            trailer.write(&mut file);
            read(&file).map(|trailer| trailer.last_data_block_offset)
        };
        assert_eq!(without_cells(0, 0), Ok(None));
        assert!(matches!(without_cells(1, 0), Err(DecodeError::Damage(_))));
        assert!(matches!(without_cells(0, 1), Err(DecodeError::Damage(_))));
    }

    #[test]
    fn contradictory_fields_are_damage() {
        let damaged = |change: fn(&mut Trailer)| {
            assert!(matches!(changed(change), Err(DecodeError::Damage(_))));
        };
        damaged(|trailer| trailer.file_info_offset = BlockOffset::new(1 << 40));
        damaged(|trailer| trailer.file_info_offset = trailer.load_on_open_data_offset);
        damaged(|trailer| trailer.entry_count = 0);
        damaged(|trailer| trailer.data_index_count = 0);
        damaged(|trailer| trailer.num_data_index_levels = 0);
        damaged(|trailer| trailer.num_data_index_levels = 17);
        damaged(|trailer| trailer.first_data_block_offset = None);
        damaged(|trailer| trailer.first_data_block_offset = Some(BlockOffset::new(1)));
        damaged(|trailer| trailer.last_data_block_offset = None);
        damaged(|trailer| trailer.last_data_block_offset = Some(trailer.file_info_offset));
    }

    #[test]
    fn errors_name_an_unsupported_codec_or_comparator() {
        let feature = "compression codec";
        let lzo = changed(|trailer| trailer.compression = Compression::Lzo);
        let found = "LZO".to_owned();
        assert_eq!(lzo, Err(DecodeError::Unsupported { feature, found }));
        let zstd = changed(|trailer| trailer.compression = Compression::Zstd);
        if !cfg!(feature = "zstd") {
            let found = "ZSTD, which needs a build with the feature `zstd`".to_owned();
            assert_eq!(zstd, Err(DecodeError::Unsupported { feature, found }));
        }
        let comparator = comparator(Some("com.example.Backwards".to_owned()));
        let found = "com.example.Backwards".to_owned();
        assert_eq!(comparator, Err(DecodeError::Unsupported { feature: "comparator", found }));
    }
}
