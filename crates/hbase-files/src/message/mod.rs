//! HBase's protobuf messages: how files keep them, and the types that several files share.
//!
//! `fields.rs` iterates over the fields of a long message without decoding it as a whole. `file.rs`
//! reads a file into memory up to a limit. `types.rs` has the messages.

pub(crate) mod fields;
pub(crate) mod file;
pub(crate) mod types;
