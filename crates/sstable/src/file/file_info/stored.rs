//! The body of the file info block.
//!
//! | bytes | field       | meaning                                                              |
//! |------:|-------------|----------------------------------------------------------------------|
//! |     4 | magic       | `PBUF`                                                               |
//! |  vint | length      | of the message                                                       |
//! |       | message     | `FileInfoProto`: pairs of key and value, both bytes, sorted by key   |
//!
//! Old files have no magic. They start with a count (i32 BE); each pair is an hvlong, the key, an
//! unused byte, an hvlong, the value. HBase: `HFileInfo`.

use prost::Message;

use super::entries::FileInfo;
use crate::encoding::DamageReason;
use crate::input::Input;

impl FileInfo {
    pub(crate) const MAGIC: &'static [u8; 4] = b"PBUF";

    /// Encodes the body of the file info block.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let map_entry = self
            .entries
            .iter()
            .map(|(key, value)| Pair { first: Some(key.clone()), second: Some(value.clone()) });
        let message = Proto { map_entry: map_entry.collect() };
        let mut body = Self::MAGIC.to_vec();
        body.extend_from_slice(&message.encode_length_delimited_to_vec());
        body
    }

    /// Decodes the body of the file info block.
    pub(crate) fn decode(body: &[u8]) -> Result<Self, DamageReason> {
        let mut input = Input::new(body);
        let mut file_info = Self::default();
        if input.array().as_ref() == Some(Self::MAGIC) {
            let message = input.vint().and_then(|len| input.take(len));
            let message = message.ok_or("the message extends past the block")?;
            let proto = Proto::decode(message).map_err(|_| "not a protobuf message")?;
            for pair in proto.map_entry {
                let key = pair.first.ok_or("an entry without a key")?;
                let value = pair.second.ok_or("an entry without a value")?;
                file_info.entries.insert(key, value);
            }
            return Ok(file_info);
        }
        let mut input = Input::new(body);
        let count = input.len_i32().ok_or("neither protobuf nor a count of entries")?;
        for _ in 0..count {
            let key = bytes_with_hvlong(&mut input).ok_or("an entry extends past the block")?;
            input.u8().ok_or("an entry extends past the block")?;
            let value = bytes_with_hvlong(&mut input).ok_or("an entry extends past the block")?;
            file_info.insert(key, value);
        }
        Ok(file_info)
    }
}

fn bytes_with_hvlong<'a>(input: &mut Input<'a>) -> Option<&'a [u8]> {
    let len = usize::try_from(input.hvlong()?).ok()?;
    input.take(len)
}

/// `FileInfoProto` of HBase's `HFile.proto`.
#[derive(Clone, PartialEq, Message)]
struct Proto {
    #[prost(message, repeated, tag = "1")]
    map_entry: Vec<Pair>,
}

/// `BytesBytesPair` of HBase's `HBase.proto`, whose fields are required.
///
/// Optional fields here are written even if empty, and their absence is detected.
#[derive(Clone, PartialEq, Message)]
struct Pair {
    #[prost(bytes = "vec", optional, tag = "1")]
    first: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "2")]
    second: Option<Vec<u8>>,
}
