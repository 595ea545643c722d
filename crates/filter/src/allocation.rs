//! How bits of memory are best shared out among the filters of many sets.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use crate::header::HEADER_LEN;
use crate::kinds::{FilterKind, plan};
use crate::membership::FilterStats;
use crate::sizing::Sizing;

/// Bits per key that are tried: multiples of this, up to [`BITS_MAX`].
const STEP: f64 = 0.25;
/// No set is given more: an error rate below one in ten million spares next to nothing.
const BITS_MAX: f64 = 24.0;
/// Above so many keys a filter's error rate hangs on its bits per key alone.
const KEYS_MANY: u64 = 1 << 20;

/// Returns how many bits per key the filter of each set is to have, so that an absent key who is looked
/// up in all of them is let through by as few as possible, and all filters together, headers
/// included, have no more than `budget_bits`. Nought is no filter at all.
///
/// A bit spares most where its key has few neighbours: halving the error rate of a set costs one bit
/// for each of its keys, and spares half of what it lets through, however many they are. So small
/// sets get lower error rates: with filters that need a fixed multiple of log2(1/p) bits, the sum of
/// the rates is least when
///
/// ```text
/// p_i  =  c · n_i,  at most 1          (at 1, the set has no filter)
/// ```
///
/// (Dayan, Athanassoulis, Idreos: "Monkey: Optimal Navigable Key-Value Store", SIGMOD 2017.) Kinds
/// that come in whole bits or small sets do not follow that formula. Therefore it is reached by
/// steps: of each set's sizes those on the lower convex hull of error rate over bits, and of all
/// steps from one to the next those first that spare most for a bit, until the budget is used up.
/// For sizes without gaps that is the optimum (Fox: "Discrete optimization via marginal analysis",
/// 1966); with gaps, what is left of the budget is less than the next step costs.
///
/// ```
/// use filter::{FilterKind, allocate_bits};
///
/// // A small file and a large one: 10 bits a key in all.
/// let bits = allocate_bits(&[100_000, 10_000_000], 101_000_000, FilterKind::ClassicBloom);
/// assert!(bits[0] > 17.0 && (9.8..10.0).contains(&bits[1]), "{bits:?}");
/// ```
pub fn allocate_bits(key_counts: &[u64], budget_bits: u64, kind: FilterKind) -> Vec<f64> {
    let mut hulls = BTreeMap::new();
    let mut steps = Vec::new();
    for (set, &keys) in key_counts.iter().enumerate().filter(|(_, keys)| **keys > 0) {
        let like = keys.checked_next_power_of_two().unwrap_or(keys).min(KEYS_MANY);
        let hull: &Vec<Size> = hulls.entry(like).or_insert_with(|| hull(kind, like));
        steps.extend(hull.windows(2).map(|pair| Step {
            set,
            bits: pair[1].bits,
            spared_per_bit: (pair[0].rate - pair[1].rate)
                / ((pair[1].cost - pair[0].cost) * keys as f64),
        }));
    }
    // Those of one set stay in their order: on a hull each step spares less than the one before.
    steps.sort_by(|one, other| other.spared_per_bit.total_cmp(&one.spared_per_bit));

    let mut given = vec![0.0; key_counts.len()];
    let mut costs = vec![0; key_counts.len()];
    let mut is_done = vec![false; key_counts.len()];
    let mut left = budget_bits;
    for Step { set, bits, .. } in steps {
        if is_done[set] {
            continue;
        }
        let keys = key_counts[set];
        let room = left + costs[set];
        let mut wanted = bits;
        let mut cost = cost_bits(kind, wanted, keys);
        if cost.is_none_or(|cost| cost > room) {
            // The last step of this set: as far as it goes.
            is_done[set] = true;
            let body = room.saturating_sub(HEADER_LEN as u64 * 8);
            wanted = (body as f64 / keys as f64).min(bits);
            cost = (wanted > given[set]).then(|| cost_bits(kind, wanted, keys)).flatten();
        }
        if let Some(cost) = cost.filter(|cost| *cost <= room) {
            (given[set], costs[set], left) = (wanted, cost, room - cost);
        }
    }
    given
}

/// A size that a filter can have.
#[derive(Clone, Copy, Debug)]
struct Size {
    /// Bits per key that are asked for, and what the filter then takes of them.
    bits: f64,
    cost: f64,
    rate: f64,
}

/// From one size of a set's filter to the next.
struct Step {
    set: usize,
    bits: f64,
    spared_per_bit: f64,
}

/// The sizes of a filter of so many keys that no mixture of a smaller and a larger one beats, from
/// no filter on.
fn hull(kind: FilterKind, keys: u64) -> Vec<Size> {
    let mut hull = vec![Size { bits: 0.0, cost: 0.0, rate: 1.0 }];
    let mut bits = STEP;
    while bits <= BITS_MAX {
        if let Ok(FilterStats { bytes, error_rate, .. }) =
            plan(kind, Sizing::BitsPerKey(bits), keys)
        {
            let size = Size { bits, cost: bytes as f64 * 8.0 / keys as f64, rate: error_rate };
            while let [.., before, last] = hull[..]
                && slope(before, size) >= slope(before, last)
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
        bits += STEP;
    }
    hull
}

/// How much less often the larger of two sizes errs, for each bit that it has more.
fn slope(smaller: Size, larger: Size) -> f64 {
    (smaller.rate - larger.rate) / (larger.cost - smaller.cost)
}

/// Bits that a filter takes for which so many per key are asked, its header included.
fn cost_bits(kind: FilterKind, bits_per_key: f64, keys: u64) -> Option<u64> {
    let planned = plan(kind, Sizing::BitsPerKey(bits_per_key), keys).ok()?.bytes;
    // How many keys a ribbon bumps hangs on the keys: it may take more than is foreseen, but no more
    // than it was given.
    let given =
        if kind == FilterKind::Ribbon { (bits_per_key * keys as f64 / 8.0) as u64 } else { 0 };
    planned.max(given).checked_add(HEADER_LEN as u64)?.checked_mul(8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(kind: FilterKind, bits: f64, keys: u64) -> f64 {
        if bits == 0.0 { 1.0 } else { stats(kind, bits, keys).expect("it was planned").error_rate }
    }

    fn stats(kind: FilterKind, bits: f64, keys: u64) -> Option<FilterStats> {
        plan(kind, Sizing::BitsPerKey(bits), keys).ok()
    }

    fn cost(kind: FilterKind, bits: &[f64], keys: &[u64]) -> u64 {
        let given = bits.iter().zip(keys).filter(|(bits, _)| **bits > 0.0);
        given.map(|(bits, keys)| cost_bits(kind, *bits, *keys).expect("possible")).sum()
    }

    /// The least sum of error rates, of all ways to give three sets whole bits per key.
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
    fn no_other_way_to_share_a_budget_lets_fewer_strangers_through() {
        let sets = [[1024, 4096, 16_384], [2048, 2048, 2048], [300, 5000, 60_000]];
        for &kind in FilterKind::ALL {
            for keys in sets {
                for bits_per_key in [1, 7, 12] {
                    let budget = keys.iter().sum::<u64>() * bits_per_key;
                    let bits = allocate_bits(&keys, budget, kind);
                    let sum: f64 =
                        bits.iter().zip(keys).map(|(bits, keys)| rate(kind, *bits, keys)).sum();
                    let best = brute_force(kind, keys, budget);
                    let told = format!("{kind}, {keys:?}, {bits_per_key}: {bits:?}, {sum} {best}");
                    assert!(cost(kind, &bits, &keys) <= budget, "{told}");
                    // Where sizes have gaps, less than one step is left unused.
                    let has_gaps =
                        !matches!(kind, FilterKind::ClassicBloom | FilterKind::BlockedBloom);
                    let gap = if has_gaps { 0.35 } else { 0.03 };
                    assert!(sum <= best * (1.0 + gap) + 1e-4, "{told}");
                }
            }
        }
    }

    /// As the paper has it, for a filter that needs a fixed multiple of log2(1/p).
    #[test]
    fn error_rates_are_as_the_sizes_of_the_sets() {
        let kind = FilterKind::ClassicBloom;
        let keys = [1 << 14, 1 << 16, 1 << 18, 1 << 20];
        let budget = keys.iter().sum::<u64>() * 7;
        let bits = allocate_bits(&keys, budget, kind);
        let rates: Vec<f64> =
            bits.iter().zip(keys).map(|(bits, keys)| rate(kind, *bits, keys)).collect();
        for pair in rates.windows(2) {
            assert!((3.4..4.7).contains(&(pair[1] / pair[0])), "{rates:?}");
        }
        assert!(cost(kind, &bits, &keys) > budget / 1000 * 998, "no memory is left unused");
    }

    #[test]
    fn what_cannot_pay_for_a_filter_has_none() {
        for &kind in FilterKind::ALL {
            assert!(allocate_bits(&[], 1000, kind).is_empty());
            assert_eq!(allocate_bits(&[1000, 0], 0, kind), [0.0, 0.0]);
            assert_eq!(allocate_bits(&[1 << 40], 100, kind), [0.0]);
        }
        // The large set would eat what makes the small one's filter a good one.
        let bits = allocate_bits(&[1000, 1_000_000], 40_000, FilterKind::ClassicBloom);
        assert!(bits[0] > 14.0 && bits[1] < 0.1, "{bits:?}");
    }
}
