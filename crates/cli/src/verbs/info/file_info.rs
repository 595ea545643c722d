//! The entries of the file info, with the values of known keys decoded.

use std::io::{self, Write};

use cells::{escape, time_text};
use serde::Serialize;
use serde_json::{Value, json};
use sstable::{FileInfo, FileInfoValue, TimeRange};

use crate::text::times::millis_and_date;

/// Unknown values up to this length are also printed as hex.
const HEX_LEN_MAX: usize = 32;

/// An entry of the file info.
#[derive(Serialize)]
pub(super) struct EntryReport {
    /// Escaped as HBase prints keys.
    key: String,
    /// The bytes, in hex.
    value: String,
    /// The decoded value; `null` if the meaning of the key is unknown.
    decoded: Value,
    #[serde(skip)]
    text: String,
}

/// Returns all entries, by key.
pub(super) fn entries(file_info: &FileInfo) -> Vec<EntryReport> {
    file_info
        .iter()
        .map(|(key, value)| {
            let decoded = file_info.decoded(key).unwrap_or(FileInfoValue::Bytes(value));
            EntryReport {
                key: escape(key).to_string(),
                value: hex(value),
                text: text_of(&decoded),
                decoded: json_of(&decoded),
            }
        })
        .collect()
}

/// Writes a line for each entry.
pub(super) fn write_text(entries: &[EntryReport], out: &mut dyn Write) -> io::Result<()> {
    entries.iter().try_for_each(|entry| writeln!(out, "  {:<30}{}", entry.key, entry.text))
}

fn json_of(value: &FileInfoValue<'_>) -> Value {
    match value {
        FileInfoValue::Int(number) => json!(number),
        FileInfoValue::Long(number) => json!(number),
        FileInfoValue::Time(time) => json!(time.get()),
        FileInfoValue::Flag(flag) => json!(flag),
        FileInfoValue::Name(name) => json!(name),
        FileInfoValue::Key(key) => json!(key.to_string()),
        FileInfoValue::Range(TimeRange { min, max }) => json!([min.get(), max.get()]),
        FileInfoValue::Files(names) => names.iter().map(|name| escape(name).to_string()).collect(),
        // A new variant of the library is not decoded until this table knows it.
        _ => Value::Null,
    }
}

fn text_of(value: &FileInfoValue<'_>) -> String {
    match value {
        FileInfoValue::Int(number) => number.to_string(),
        FileInfoValue::Long(number) => number.to_string(),
        FileInfoValue::Time(time) => millis_and_date(time.get()),
        FileInfoValue::Flag(flag) => flag.to_string(),
        FileInfoValue::Name(name) => escape(name.as_bytes()).to_string(),
        FileInfoValue::Key(key) => key.to_string(),
        FileInfoValue::Range(TimeRange { min, max }) => {
            let (first, last) = (min.get(), max.get());
            format!("{first} to {last} ({} to {})", time_text(first), time_text(last))
        }
        FileInfoValue::Files(names) if names.is_empty() => "no files".to_owned(),
        FileInfoValue::Files(names) => {
            let escaped: Vec<_> = names.iter().map(|name| escape(name).to_string()).collect();
            escaped.join(", ")
        }
        FileInfoValue::Bytes(bytes) if bytes.len() <= HEX_LEN_MAX => {
            format!("{} (hex:{})", escape(bytes), hex(bytes))
        }
        FileInfoValue::Bytes(bytes) => escape(bytes).to_string(),
        _ => String::new(),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::with_capacity(2 * bytes.len()), |hex, byte| hex + &format!("{byte:02x}"))
}
