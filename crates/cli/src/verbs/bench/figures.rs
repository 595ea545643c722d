//! Kind, size and expected error rate of a set of files' filters.

use sstable::{BloomType, Reader};

/// Kind, size and expected error rate of the filters of some files.
#[derive(Clone, Copy, Debug)]
pub(super) struct FilterFigures {
    /// The kind; `own` if the kinds differ, `none` without filters.
    pub(super) name: &'static str,
    /// The type of the HBase Bloom filter, of the last file that has one.
    pub(super) bloom_type: Option<&'static str>,
    /// The form of the family map, `FILES` or `WIDE`; `None` without a map.
    pub(super) map: Option<&'static str>,
    /// Filter bits per key.
    pub(super) bits_per_key: Option<f64>,
    /// The error rate of a query that follows from the filters' sizes.
    pub(super) error_rate: Option<f64>,
}

impl FilterFigures {
    /// The figures without filters.
    pub(super) const NONE: Self =
        Self { name: "none", bloom_type: None, map: None, bits_per_key: None, error_rate: None };
}

/// Returns the figures of the filters that the readers query, weighted by their keys.
///
/// Without a column in the query, filters over columns cannot answer, so the other filters alone have the error rate.
pub(super) fn figures<'r>(
    readers: impl IntoIterator<Item = &'r Reader>,
    has_column: bool,
) -> sstable::Result<FilterFigures> {
    let (mut keys, mut bits, mut asked_keys, mut errors) = (0.0, 0.0, 0.0, 0.0);
    let (mut name, mut bloom_type) = (None, None);
    for reader in readers {
        let mut can_answer = true;
        let (kind, count, bytes, rate) = if let Some(ours) = reader.filters().row_filter()? {
            (ours.kind.name(), ours.key_count, ours.byte_size, ours.error_rate)
        } else if let Some(bloom) = reader.filters().bloom() {
            bloom_type = Some(bloom.bloom_type.name());
            can_answer = has_column || bloom.bloom_type != BloomType::RowCol;
            ("hbase-bloom", bloom.key_count, bloom.byte_size, bloom.query_error_rate())
        } else {
            continue;
        };
        keys += count as f64;
        bits += bytes as f64 * 8.0;
        if can_answer {
            asked_keys += count as f64;
            errors += rate * count as f64;
        }
        name = Some(if name.is_none_or(|name| name == kind) { kind } else { "own" });
    }
    Ok(FilterFigures {
        name: name.unwrap_or("none"),
        bloom_type,
        map: None,
        bits_per_key: (keys > 0.0).then(|| bits / keys),
        error_rate: (asked_keys > 0.0).then(|| errors / asked_keys),
    })
}
