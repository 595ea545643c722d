//! The header of a write-ahead log, which says how the entries are encoded.
//!
//! | bytes  | field     | meaning                                                                     |
//! |-------:|-----------|-----------------------------------------------------------------------------|
//! |      4 | magic     | `PWAL`                                                                      |
//! | varint | length    | of the message                                                              |
//! |        | `WALHeader` | compression (1), encryption key (2), tag compression (3), writer (4), cell codec (5), value compression (6) and its codec (7) |
//!
//! The numbers in parentheses are the numbers of the protobuf fields.

use prost::Message;

use super::error::Stop;
use super::input::Input;
use super::limits::HEADER_LEN_MAX;

/// The first bytes of a write-ahead log.
pub(super) const MAGIC: &[u8; 4] = b"PWAL";

/// HBase's cell codec; a log uses it with or without dictionaries.
const CODEC: &str = "org.apache.hadoop.hbase.regionserver.wal.WALCellCodec";

/// Phoenix's cell codec, which is read without dictionaries only: with them it encodes other bytes.
const PHOENIX_CODEC: &str = "org.apache.hadoop.hbase.regionserver.wal.IndexedWALEditCodec";

/// The writers that HBase names in headers of logs that are not encrypted.
const WRITERS: [&str; 2] = ["ProtobufLogWriter", "AsyncProtobufLogWriter"];

/// The header of a log: its writer, its cell codec and its compression.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LogHeader {
    /// The class of HBase that wrote the file, such as `ProtobufLogWriter`, if the header names it.
    pub writer: Option<String>,
    /// The class of HBase that encoded the cells, if the header names it.
    ///
    /// For example `org.apache.hadoop.hbase.regionserver.wal.WALCellCodec`.
    pub cell_codec: Option<String>,
    /// Whether regions, tables, rows, families and qualifiers are dictionary strings.
    pub dictionaries: bool,
    /// Whether tags are dictionary strings.
    pub tag_dictionary: bool,
    /// The compression of each value; `None` if values are not compressed.
    pub value_compression: Option<ValueCompression>,
}

/// The compression of the values of a log.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ValueCompression {
    /// Each value is a gzip member.
    Gz,
}

impl ValueCompression {
    /// Returns HBase's name of the codec, such as `GZ`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gz => "GZ",
        }
    }

    /// HBase's names of codecs, by the number in the header.
    const NAMES: [&str; 9] =
        ["LZO", "GZ", "NONE", "SNAPPY", "LZ4", "BZIP2", "ZSTD", "LZMA", "BROTLI"];

    fn from_number(number: u32) -> Result<Self, Stop> {
        let index = usize::try_from(number).unwrap_or(usize::MAX);
        match Self::NAMES.get(index) {
            Some(&"GZ") => Ok(Self::Gz),
            Some(name) => Err(Stop::Unsupported(format!("values compressed by {name}"))),
            None => {
                Err(Stop::Unsupported(format!("values compressed by the unknown codec {number}")))
            }
        }
    }
}

/// The message `WALHeader` of HBase's `WAL.proto`.
#[derive(Clone, PartialEq, Message)]
struct HeaderMessage {
    #[prost(bool, optional, tag = "1")]
    has_compression: Option<bool>,
    #[prost(bytes = "vec", optional, tag = "2")]
    encryption_key: Option<Vec<u8>>,
    #[prost(bool, optional, tag = "3")]
    has_tag_compression: Option<bool>,
    #[prost(string, optional, tag = "4")]
    writer: Option<String>,
    #[prost(string, optional, tag = "5")]
    cell_codec: Option<String>,
    #[prost(bool, optional, tag = "6")]
    has_value_compression: Option<bool>,
    #[prost(uint32, optional, tag = "7")]
    value_compression: Option<u32>,
}

impl LogHeader {
    /// Reads the length and the message, which follow the magic.
    pub(super) fn read(input: &mut Input) -> Result<Self, Stop> {
        let len = input.varint_len()?;
        if len > HEADER_LEN_MAX {
            return Err(Stop::wrong(format!("the header has {len} bytes")));
        }
        let message = HeaderMessage::decode(input.take(len)?)
            .map_err(|_| Stop::wrong("the header cannot be parsed"))?;
        Self::check_support(&message)?;
        let dictionaries = message.has_compression.unwrap_or_default();
        // Without dictionaries, HBase ignores tag compression and value compression.
        let compresses_values = dictionaries && message.has_value_compression.unwrap_or_default();
        let value_compression = if compresses_values {
            let stated = message.value_compression;
            let number = stated
                .ok_or_else(|| Stop::wrong("the header does not name the codec of values"))?;
            Some(ValueCompression::from_number(number)?)
        } else {
            None
        };
        Ok(Self {
            writer: message.writer,
            cell_codec: message.cell_codec,
            dictionaries,
            tag_dictionary: dictionaries && message.has_tag_compression.unwrap_or_default(),
            value_compression,
        })
    }

    /// Refuses encrypted logs, and writers and codecs that this crate does not know.
    fn check_support(message: &HeaderMessage) -> Result<(), Stop> {
        let named = [&message.writer, &message.cell_codec];
        let secure = named.into_iter().flatten().find(|name| name.contains("Secure"));
        if message.encryption_key.is_some() || secure.is_some() {
            let name = secure.map(|name| format!(" (written by {name:?})")).unwrap_or_default();
            return Err(Stop::Unsupported(format!("an encrypted log{name}")));
        }
        if let Some(writer) = message.writer.as_deref()
            && !WRITERS.contains(&writer)
        {
            return Err(Stop::Unsupported(format!("the writer {writer:?}")));
        }
        let has_dictionaries = message.has_compression.unwrap_or_default();
        match message.cell_codec.as_deref() {
            None | Some(CODEC) => Ok(()),
            Some(PHOENIX_CODEC) if !has_dictionaries => Ok(()),
            Some(codec) => {
                let with = if has_dictionaries { " with dictionaries" } else { "" };
                Err(Stop::Unsupported(format!("the cell codec {codec:?}{with}")))
            }
        }
    }

    /// Returns whether Phoenix's codec has written the cells.
    pub(super) fn is_phoenix(&self) -> bool {
        self.cell_codec.as_deref() == Some(PHOENIX_CODEC)
    }
}
