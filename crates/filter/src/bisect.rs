//! Bisection: the smallest size of a filter that reaches an error rate.

/// Returns the least number above `too_few` that is enough, given one that is.
pub(crate) fn least(
    mut too_few: u64,
    mut enough: u64,
    mut is_enough: impl FnMut(u64) -> bool,
) -> u64 {
    while enough - too_few > 1 {
        let middle = too_few.midpoint(enough);
        if is_enough(middle) { enough = middle } else { too_few = middle }
    }
    enough
}
