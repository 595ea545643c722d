//! Distributes a memory budget over the filters of several key sets, such as the files of a store.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use crate::header::HEADER_LEN;
use crate::kinds::{FilterKind, plan};
use crate::membership::FilterStats;
use crate::sizing::Sizing;

/// The sizes tried are the multiples of this number of bits per key, up to [`BITS_PER_KEY_MAX`].
const BITS_PER_KEY_STEP: f64 = 0.25;
/// The largest size that is tried, in bits per key.
///
/// More bits gain next to nothing: at this size the error rate of a classic Bloom filter is 10^−5, and the error
/// rate of a ribbon filter is below 10^−7.
const BITS_PER_KEY_MAX: f64 = 24.0;
/// From this number of keys on, the error rate depends on the bits per key only.
const LARGE_SET_KEYS: u64 = 1 << 20;

/// Returns the bits per key of each set's filter that minimise the sum of the error rates.
///
/// That sum is the expected number of false positives when an absent key is looked up in all sets.
/// `key_counts` has the number of keys of each set. All filters together, headers included, take at
/// most `budget_bits`. A set whose result is zero gets no filter.
///
/// Halving the error rate of a set costs a fixed number of bits per key, so it costs less in a
/// small set, but reduces the sum as much as in a large one. Small sets therefore get lower error
/// rates. For filters that need a fixed multiple of log2(1/p) bits per key, the sum is minimal if
/// the error rate `p_i` of each set is proportional to its number of keys `n_i`:
///
/// ```text
/// p_i  =  c · n_i,  at most 1          (at 1, the set has no filter)
/// ```
///
/// (Dayan, Athanassoulis, Idreos: "Monkey: Optimal Navigable Key-Value Store", SIGMOD 2017.)
///
/// Small sets do not follow this formula, nor do kinds of filters that have only whole numbers of
/// bits per key. The allocation is therefore greedy. For each set it considers the sizes on the
/// lower convex hull of error rate over bits. Of all steps from one size to the next, it applies
/// those with the largest gain per bit first, until the budget is used up. If the sizes have no
/// gaps, the result is optimal (Fox: "Discrete optimization via marginal analysis", 1966). If they
/// have gaps, the unused part of the budget is less than the cost of the next step.
///
/// ```
/// use filter::{FilterKind, allocate_bits};
///
/// // A small file and a large one: 10 bits per key in all.
/// let bits = allocate_bits(&[100_000, 10_000_000], 101_000_000, FilterKind::ClassicBloom);
/// assert!(bits[0] > 17.0 && (9.8..10.0).contains(&bits[1]), "{bits:?}");
/// ```
pub fn allocate_bits(key_counts: &[u64], budget_bits: u64, kind: FilterKind) -> Vec<f64> {
    let mut hulls = BTreeMap::new();
    let mut steps = Vec::new();
    for (set, &keys) in key_counts.iter().enumerate().filter(|(_, keys)| **keys > 0) {
        // Sets share a hull if their numbers of keys round up to the same power of two.
        let modelled_keys = keys.checked_next_power_of_two().unwrap_or(keys).min(LARGE_SET_KEYS);
        let hull: &Vec<Size> =
            hulls.entry(modelled_keys).or_insert_with(|| hull(kind, modelled_keys));
        steps.extend(hull.windows(2).map(|pair| Step {
            set,
            bits: pair[1].bits,
            gain_per_bit: (pair[0].rate - pair[1].rate)
                / ((pair[1].cost - pair[0].cost) * keys as f64),
        }));
    }
    // Keeps the steps of each set in order: on a convex hull the gain falls from step to step.
    steps.sort_by(|one, other| other.gain_per_bit.total_cmp(&one.gain_per_bit));

    let mut bits_per_key = vec![0.0; key_counts.len()];
    let mut costs = vec![0; key_counts.len()];
    let mut is_final = vec![false; key_counts.len()];
    let mut unused = budget_bits;
    for Step { set, bits, .. } in steps {
        if is_final[set] {
            continue;
        }
        let keys = key_counts[set];
        let available = unused + costs[set];
        let mut target = bits;
        let mut cost = cost_bits(kind, target, keys);
        if cost.is_none_or(|cost| cost > available) {
            // The whole step is too large: take as much of it as the budget allows.
            is_final[set] = true;
            let body = available.saturating_sub(HEADER_LEN as u64 * 8);
            target = (body as f64 / keys as f64).min(bits);
            cost = (target > bits_per_key[set]).then(|| cost_bits(kind, target, keys)).flatten();
        }
        if let Some(cost) = cost.filter(|cost| *cost <= available) {
            (bits_per_key[set], costs[set], unused) = (target, cost, available - cost);
        }
    }
    bits_per_key
}

/// A size that a filter can have.
#[derive(Clone, Copy, Debug)]
struct Size {
    /// The bits per key requested.
    bits: f64,
    /// The bits per key that the filter takes.
    cost: f64,
    /// The error rate.
    rate: f64,
}

/// A step from one size to the next larger size of a set's filter.
struct Step {
    set: usize,
    /// The bits per key after the step.
    bits: f64,
    /// The decrease of the error rate per bit of memory.
    gain_per_bit: f64,
}

/// Returns the sizes on the lower convex hull of error rate over bits, starting with no filter.
fn hull(kind: FilterKind, keys: u64) -> Vec<Size> {
    let mut hull = vec![Size { bits: 0.0, cost: 0.0, rate: 1.0 }];
    let mut bits = BITS_PER_KEY_STEP;
    while bits <= BITS_PER_KEY_MAX {
        if let Ok(FilterStats { bytes, error_rate, .. }) =
            plan(kind, Sizing::BitsPerKey(bits), keys)
        {
            let size = Size { bits, cost: bytes as f64 * 8.0 / keys as f64, rate: error_rate };
            while let [.., previous, last] = hull[..]
                && slope(previous, size) >= slope(previous, last)
            {
                hull.pop();
            }
            if let Some(last) = hull.last()
                && size.cost > last.cost
                && size.rate < last.rate
            {
                hull.push(size);
            }
        }
        bits += BITS_PER_KEY_STEP;
    }
    hull
}

/// Returns the decrease of the error rate per bit, from a smaller size to a larger one.
fn slope(smaller: Size, larger: Size) -> f64 {
    (smaller.rate - larger.rate) / (larger.cost - smaller.cost)
}

/// Returns the bits that a filter takes, header included; `None` if the filter is not possible.
fn cost_bits(kind: FilterKind, bits_per_key: f64, keys: u64) -> Option<u64> {
    let planned = plan(kind, Sizing::BitsPerKey(bits_per_key), keys).ok()?.bytes;
    // The size of a ribbon filter also depends on how many of the keys it bumps. It can exceed the
    // planned size, but not the requested bits per key.
    let limit =
        if kind == FilterKind::Ribbon { (bits_per_key * keys as f64 / 8.0) as u64 } else { 0 };
    planned.max(limit).checked_add(HEADER_LEN as u64)?.checked_mul(8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(kind: FilterKind, bits: f64, keys: u64) -> f64 {
        if bits == 0.0 { 1.0 } else { stats(kind, bits, keys).expect("possible").error_rate }
    }

    fn stats(kind: FilterKind, bits: f64, keys: u64) -> Option<FilterStats> {
        plan(kind, Sizing::BitsPerKey(bits), keys).ok()
    }

    fn cost(kind: FilterKind, bits: &[f64], keys: &[u64]) -> u64 {
        let filters = bits.iter().zip(keys).filter(|(bits, _)| **bits > 0.0);
        filters.map(|(bits, keys)| cost_bits(kind, *bits, *keys).expect("possible")).sum()
    }

    /// Returns the minimum sum of error rates over all allocations of whole bits per key.
    fn brute_force(kind: FilterKind, keys: [u64; 3], budget: u64) -> f64 {
        let options = keys.map(|keys| {
            let sizes = (1..=24).filter_map(|bits| {
                let bits = f64::from(bits);
                Some((cost_bits(kind, bits, keys)?, rate(kind, bits, keys)))
            });
            core::iter::once((0, 1.0)).chain(sizes).collect::<Vec<_>>()
        });
        let mut best = 3.0_f64;
        for one in &options[0] {
            for two in &options[1] {
                for three in &options[2] {
                    if one.0 + two.0 + three.0 <= budget {
                        best = best.min(one.1 + two.1 + three.1);
                    }
                }
            }
        }
        best
    }

    #[test]
    fn no_allocation_of_whole_bits_has_a_lower_sum_of_error_rates() {
        let sets = [[1024, 4096, 16_384], [2048, 2048, 2048], [300, 5000, 60_000]];
        for &kind in FilterKind::ALL {
            for keys in sets {
                for bits_per_key in [1, 7, 12] {
                    let budget = keys.iter().sum::<u64>() * bits_per_key;
                    let bits = allocate_bits(&keys, budget, kind);
                    let sum: f64 =
                        bits.iter().zip(keys).map(|(bits, keys)| rate(kind, *bits, keys)).sum();
                    let best = brute_force(kind, keys, budget);
                    let context =
                        format!("{kind}, {keys:?}, {bits_per_key}: {bits:?}, {sum} {best}");
                    assert!(cost(kind, &bits, &keys) <= budget, "{context}");
                    // Where sizes have gaps, up to one step of the budget stays unused.
                    let has_gaps =
                        !matches!(kind, FilterKind::ClassicBloom | FilterKind::BlockedBloom);
                    let gap = if has_gaps { 0.35 } else { 0.03 };
                    assert!(sum <= best * (1.0 + gap) + 1e-4, "{context}");
                }
            }
        }
    }

    /// Checks `p_i = c · n_i` for a filter that needs a fixed multiple of log2(1/p) bits.
    #[test]
    fn error_rates_are_proportional_to_the_sizes_of_the_sets() {
        let kind = FilterKind::ClassicBloom;
        let keys = [1 << 14, 1 << 16, 1 << 18, 1 << 20];
        let budget = keys.iter().sum::<u64>() * 7;
        let bits = allocate_bits(&keys, budget, kind);
        let rates: Vec<f64> =
            bits.iter().zip(keys).map(|(bits, keys)| rate(kind, *bits, keys)).collect();
        for pair in rates.windows(2) {
            assert!((3.4..4.7).contains(&(pair[1] / pair[0])), "{rates:?}");
        }
        assert!(cost(kind, &bits, &keys) > budget / 1000 * 998, "memory is left unused");
    }

    #[test]
    fn a_set_whose_filter_exceeds_the_budget_gets_none() {
        for &kind in FilterKind::ALL {
            assert!(allocate_bits(&[], 1000, kind).is_empty());
            assert_eq!(allocate_bits(&[1000, 0], 0, kind), [0.0, 0.0]);
            assert_eq!(allocate_bits(&[1 << 40], 100, kind), [0.0]);
        }
        // The budget is too small for a useful filter of the large set.
        let bits = allocate_bits(&[1000, 1_000_000], 40_000, FilterKind::ClassicBloom);
        assert!(bits[0] > 14.0 && bits[1] < 0.1, "{bits:?}");
    }
}
