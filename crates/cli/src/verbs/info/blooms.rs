//! The filters of a file, as `hfile info` reports them.

use serde::Serialize;
use sstable::{BloomSummary, BloomType, FilterSummary};

use crate::text::rounded::show_percent;
use crate::text::size_text::{show_number, show_size};

/// A Bloom filter of HBase.
#[derive(Serialize)]
pub(super) struct BloomReport {
    r#type: &'static str,
    prefix_length: Option<u16>,
    hash: &'static str,
    hash_count: u32,
    /// Whether the chunks are ribbon filters, as HBase's development branch writes them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    ribbon: bool,
    chunks: usize,
    keys: u64,
    /// The number of keys for which the chunks were sized.
    max_keys: u64,
    bytes: u64,
    bits_per_key: f64,
    error_rate: f64,
}

impl From<BloomSummary> for BloomReport {
    fn from(bloom: BloomSummary) -> Self {
        Self {
            r#type: bloom.bloom_type.name(),
            prefix_length: match bloom.bloom_type {
                BloomType::RowPrefixFixedLength(bytes) => Some(bytes),
                _ => None,
            },
            hash: bloom.hash_type.name(),
            hash_count: bloom.hash_count,
            ribbon: bloom.ribbon_error_rate.is_some(),
            chunks: bloom.chunk_count,
            keys: bloom.key_count,
            max_keys: bloom.max_keys,
            bytes: bloom.byte_size,
            bits_per_key: bloom.bits_per_key(),
            error_rate: bloom.error_rate(),
        }
    }
}

impl BloomReport {
    pub(super) fn text(&self) -> String {
        let prefix = self.prefix_length.map(|bytes| format!(" of {bytes}")).unwrap_or_default();
        let hashes = if self.ribbon {
            format!("ribbon over {}", self.hash)
        } else {
            format!("{} × {}", self.hash_count, self.hash)
        };
        format!(
            "{}{prefix}, {hashes}, {} in {} ({}), {:.2} bits a key, error rate {}",
            self.r#type,
            show_number(self.keys, "key"),
            show_number(self.chunks as u64, "chunk"),
            show_size(self.bytes),
            self.bits_per_key,
            show_percent(self.error_rate)
        )
    }
}

/// A row filter of this project, in contrast to HBase's Bloom filter.
#[derive(Serialize)]
pub(super) struct FilterReport {
    kind: &'static str,
    keys: u64,
    bytes: u64,
    bits_per_key: f64,
    error_rate: f64,
}

impl From<FilterSummary> for FilterReport {
    fn from(filter: FilterSummary) -> Self {
        Self {
            kind: filter.kind.name(),
            keys: filter.key_count,
            bytes: filter.byte_size,
            bits_per_key: filter.bits_per_key,
            error_rate: filter.error_rate,
        }
    }
}

impl FilterReport {
    pub(super) fn text(&self) -> String {
        format!(
            "{}, {} in {}, {:.2} bits a key, error rate {}",
            self.kind,
            show_number(self.keys, "key"),
            show_size(self.bytes),
            self.bits_per_key,
            show_percent(self.error_rate)
        )
    }
}
