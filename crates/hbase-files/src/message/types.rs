//! The messages that several files share: HBase's `HBase.proto`, `FS.proto`.

use prost::Message;

/// The message `TableName`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TableNameMessage {
    #[prost(bytes = "vec", optional, tag = "1")]
    pub(crate) namespace: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "2")]
    pub(crate) qualifier: Option<Vec<u8>>,
}

/// The message `RegionInfo`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct RegionInfoMessage {
    #[prost(uint64, optional, tag = "1")]
    pub(crate) region_id: Option<u64>,
    #[prost(message, optional, tag = "2")]
    pub(crate) table: Option<TableNameMessage>,
    #[prost(bytes = "vec", optional, tag = "3")]
    pub(crate) start_key: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "4")]
    pub(crate) end_key: Option<Vec<u8>>,
    #[prost(bool, optional, tag = "5")]
    pub(crate) offline: Option<bool>,
    #[prost(bool, optional, tag = "6")]
    pub(crate) split: Option<bool>,
    #[prost(int32, optional, tag = "7")]
    pub(crate) replica_id: Option<i32>,
    /// Newer versions write it, where the name cannot be computed.
    #[prost(string, optional, tag = "8")]
    pub(crate) encoded_name: Option<String>,
}

/// The message `TableSchema`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TableSchemaMessage {
    #[prost(message, optional, tag = "1")]
    pub(crate) table: Option<TableNameMessage>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) attributes: Vec<BytesPair>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) families: Vec<FamilySchemaMessage>,
    #[prost(message, repeated, tag = "4")]
    pub(crate) configuration: Vec<NameStringPair>,
}

/// The message `ColumnFamilySchema`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct FamilySchemaMessage {
    #[prost(bytes = "vec", optional, tag = "1")]
    pub(crate) name: Option<Vec<u8>>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) attributes: Vec<BytesPair>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) configuration: Vec<NameStringPair>,
}

/// The message `BytesBytesPair`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct BytesPair {
    #[prost(bytes = "vec", optional, tag = "1")]
    pub(crate) first: Option<Vec<u8>>,
    #[prost(bytes = "vec", optional, tag = "2")]
    pub(crate) second: Option<Vec<u8>>,
}

/// The message `NameStringPair`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct NameStringPair {
    #[prost(string, optional, tag = "1")]
    pub(crate) name: Option<String>,
    #[prost(string, optional, tag = "2")]
    pub(crate) value: Option<String>,
}
