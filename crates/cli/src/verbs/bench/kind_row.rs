//! What a kind of filter would do for existing files, and which kind suits them.

use serde::Serialize;

use crate::text::output::or_dash;
use crate::text::rounded::{show_nanos, show_percent};
use crate::text::size_text::{show_count, show_size};

/// What a kind of filter would do for the files.
#[derive(Clone, Debug, Serialize)]
pub(super) struct KindRow {
    pub(super) filter: &'static str,
    /// `None` without a filter.
    pub(super) bits_per_key: Option<f64>,
    /// Of the filters of all files.
    pub(super) filter_bytes: u64,
    pub(super) error_rate_promised: Option<f64>,
    /// `None` without a lookup.
    pub(super) error_rate_measured: Option<f64>,
    /// The number of absent keys that the filters were asked for.
    pub(super) lookups: u64,
    /// Files per absent get whose key range has the row; without a filter, a get searches them all.
    pub(super) files_in_range_per_get: f64,
    /// Files per absent get that are searched in vain.
    pub(super) false_files_per_get: f64,
    /// The mean time of a lookup in a filter, in the cache of the processor as far as it fits.
    pub(super) ns_per_lookup: Option<f64>,
}

pub(super) const HEADING: [&str; 7] =
    ["filter", "bits/key", "promised", "measured", "in range", "in vain", "lookup"];

impl KindRow {
    pub(super) fn cells(&self) -> Vec<String> {
        vec![
            self.filter.to_owned(),
            or_dash(self.bits_per_key, |bits| format!("{bits:.2}")),
            or_dash(self.error_rate_promised, show_percent),
            or_dash(self.error_rate_measured, show_percent),
            format!("{:.2}", self.files_in_range_per_get),
            format!("{:.4}", self.false_files_per_get),
            or_dash(self.ns_per_lookup, show_nanos),
        ]
    }
}

/// With fewer lookups, a measured error rate says little.
const LOOKUPS_MIN: u64 = 100;

/// Returns the line that recommends a filter, or why none is recommended; `None` if nothing was compared.
///
/// Recommends the smallest kind whose measured error rate is at most 2 %, or at most twice the error rate of the
/// best kind if that is more.
pub(super) fn recommendation(kinds: &[KindRow]) -> Option<String> {
    let with_filter = kinds.iter().filter(|kind| kind.bits_per_key.is_some());
    let lookups = with_filter.clone().map(|kind| kind.lookups).min()?;
    if lookups < LOOKUPS_MIN {
        return Some(format!(
            "No filter is recommended: only {} absent keys are in the key ranges of the files, and at least \
             {LOOKUPS_MIN} are needed; ask for more with --gets",
            show_count(lookups)
        ));
    }
    let rates = with_filter.clone().filter_map(|kind| kind.error_rate_measured);
    let limit = (rates.reduce(f64::min)? * 2.0).max(0.02);
    let smallest = with_filter
        .clone()
        .filter(|kind| kind.error_rate_measured.is_some_and(|rate| rate <= limit))
        .min_by_key(|kind| (kind.filter_bytes, kind.filter))?;
    let in_range = smallest.files_in_range_per_get;
    let skipped = in_range - smallest.false_files_per_get;
    let bloom = with_filter.clone().find(|kind| kind.filter == "hbase-bloom");
    let of_hbase = bloom.filter(|hbase| hbase.filter != smallest.filter).map(|hbase| {
        format!(
            ". HBase reads only hbase-bloom, which takes {:.2} bits and skips {:.2}: hfile filter rebuild --bloom-type ROW \
             writes it",
            hbase.bits_per_key.unwrap_or_default(),
            in_range - hbase.false_files_per_get
        )
    });
    Some(format!(
        "Recommended: {}, the smallest with an error rate of at most {}: with {:.2} bits a row ({} for all files), an absent get skips {skipped:.2} of {in_range:.2} \
         files in range{}",
        smallest.filter,
        show_percent(limit),
        smallest.bits_per_key.unwrap_or_default(),
        show_size(smallest.filter_bytes),
        of_hbase.unwrap_or_default()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(filter: &'static str, bits: f64, measured: f64) -> KindRow {
        KindRow {
            filter,
            bits_per_key: Some(bits),
            filter_bytes: (bits * 125.0) as u64,
            error_rate_promised: Some(0.01),
            error_rate_measured: Some(measured),
            lookups: 1_000,
            files_in_range_per_get: 10.0,
            false_files_per_get: measured * 10.0,
            ns_per_lookup: Some(10.0),
        }
    }

    #[test]
    fn the_smallest_filter_with_a_good_error_rate_is_recommended() {
        let kinds =
            [kind("hbase-bloom", 9.6, 0.01), kind("ribbon", 6.8, 0.01), kind("cuckoo", 4.0, 0.3)];
        let line = recommendation(&kinds).expect("a line");
        assert_eq!(
            line,
            "Recommended: ribbon, the smallest with an error rate of at most 2.00%: with 6.80 bits a row (850 B for all \
             files), an absent get skips 9.90 of 10.00 files in range. HBase reads only hbase-bloom, which takes 9.60 \
             bits and skips 9.90: hfile filter rebuild --bloom-type ROW writes it"
        );
        assert_eq!(recommendation(&kinds[..0]), None);
        let unmeasured = kinds.map(|kind| KindRow { lookups: 99, ..kind });
        let line = recommendation(&unmeasured).expect("a line");
        assert!(line.starts_with("No filter is recommended: only 99 absent keys"), "{line}");
    }
}
