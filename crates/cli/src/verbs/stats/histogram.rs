//! A histogram of lengths and counts, in limited memory.
//!
//! Numbers below 2,048 have a bucket of their own. Above, each power of two is divided into 1,024
//! buckets, so a percentile is at most 0.1 % above the exact one. Count, sum, minimum and maximum
//! are exact.

use serde::{Serialize, Serializer};

/// Buckets per power of two.
const PER_POWER: u64 = 1 << POWER_BITS;
const POWER_BITS: u32 = 10;

/// A histogram of numbers. An empty one needs no memory for buckets.
#[derive(Clone, Debug, Default)]
pub(super) struct Histogram {
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
    /// The count of each bucket, up to the greatest bucket that has one.
    buckets: Vec<u64>,
}

/// A bucket of the printed form: the numbers from `from` to `to`, both included.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub(super) struct Bucket {
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) count: u64,
}

/// The percentiles that reports have.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub(super) struct Percentiles {
    pub(super) p50: u64,
    pub(super) p75: u64,
    pub(super) p95: u64,
    pub(super) p99: u64,
    pub(super) p99_9: u64,
}

impl Histogram {
    /// Counts a number.
    pub(super) fn add(&mut self, number: u64) {
        let index = bucket_of(number);
        if index >= self.buckets.len() {
            self.buckets.resize(index + 1, 0);
        }
        self.buckets[index] += 1;
        self.min = if self.count == 0 { number } else { self.min.min(number) };
        self.max = self.max.max(number);
        self.count += 1;
        self.sum += u128::from(number);
    }

    /// Adds the numbers of another histogram.
    pub(super) fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        if other.buckets.len() > self.buckets.len() {
            self.buckets.resize(other.buckets.len(), 0);
        }
        for (own, others) in self.buckets.iter_mut().zip(&other.buckets) {
            *own += others;
        }
        self.min = if self.count == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.count += other.count;
        self.sum += other.sum;
    }

    /// Returns how many numbers were counted.
    pub(super) const fn count(&self) -> u64 {
        self.count
    }

    /// Returns the least and the greatest number; `None` if nothing was counted.
    pub(super) fn range(&self) -> Option<(u64, u64)> {
        (self.count > 0).then_some((self.min, self.max))
    }

    /// The sum of all numbers, or the greatest u64 if it exceeds that.
    pub(super) fn sum(&self) -> u64 {
        u64::try_from(self.sum).unwrap_or(u64::MAX)
    }

    /// The arithmetic mean; 0 without numbers.
    pub(super) fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 }
    }

    /// Returns the percentiles; `None` without numbers.
    pub(super) fn percentiles(&self) -> Option<Percentiles> {
        self.range()?;
        let [p50, p75, p95, p99, p99_9] =
            [500, 750, 950, 990, 999].map(|permille| self.at_permille(permille));
        Some(Percentiles { p50, p75, p95, p99, p99_9 })
    }

    /// Returns the least number that is at least as great as `permille` thousandths of all numbers.
    fn at_permille(&self, permille: u64) -> u64 {
        let rank = (u128::from(self.count) * u128::from(permille)).div_ceil(1000).max(1);
        let mut passed = 0_u128;
        for (index, count) in self.buckets.iter().enumerate() {
            passed += u128::from(*count);
            if passed >= rank {
                return last_of_bucket(index).clamp(self.min, self.max);
            }
        }
        self.max
    }

    /// Returns the counts by powers of two: 0, 1, 2 to 3, 4 to 7 and so on, without empty ends.
    pub(super) fn powers_of_two(&self) -> Vec<Bucket> {
        let Some((min, max)) = self.range() else { return Vec::new() };
        let mut powers = Vec::new();
        for digits in binary_digits(min)..=binary_digits(max) {
            let from = digits.checked_sub(1).map_or(0, |power| 1 << power);
            powers.push(Bucket { from, to: from + from.saturating_sub(1), count: 0 });
        }
        for (index, count) in self.buckets.iter().enumerate().filter(|(_, count)| **count > 0) {
            let at = binary_digits(last_of_bucket(index)) - binary_digits(min);
            if let Some(bucket) = powers.get_mut(at as usize) {
                bucket.count += count;
            }
        }
        powers
    }
}

const fn binary_digits(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}

/// The index of a number's bucket.
fn bucket_of(number: u64) -> usize {
    let power = binary_digits(number).saturating_sub(POWER_BITS + 1);
    (u64::from(power) * PER_POWER + (number >> power)) as usize
}

/// The greatest number of a bucket.
fn last_of_bucket(index: usize) -> u64 {
    let number = index as u64;
    let power = (number / PER_POWER).saturating_sub(1);
    let first = (number - power * PER_POWER) << power;
    first + ((1 << power) - 1)
}

impl Serialize for Histogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Report {
            count: u64,
            min: Option<u64>,
            max: Option<u64>,
            mean: f64,
            sum: u64,
            percentiles: Option<Percentiles>,
            buckets: Vec<Bucket>,
        }
        let range = self.range();
        Report {
            count: self.count,
            min: range.map(|(min, _)| min),
            max: range.map(|(_, max)| max),
            mean: self.mean(),
            sum: self.sum(),
            percentiles: self.percentiles(),
            buckets: self.powers_of_two(),
        }
        .serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bucket_ends_where_the_next_begins() {
        for index in 0..50_000 {
            let last = last_of_bucket(index);
            assert_eq!(bucket_of(last), index);
            assert_eq!(bucket_of(last + 1), index + 1);
        }
        assert_eq!(last_of_bucket(bucket_of(u64::MAX)), u64::MAX);
    }

    #[test]
    fn small_numbers_are_exact_and_large_ones_within_a_thousandth() {
        let mut histogram = Histogram::default();
        for number in 1..=1000_u64 {
            histogram.add(number);
        }
        let expected = Percentiles { p50: 500, p75: 750, p95: 950, p99: 990, p99_9: 999 };
        assert_eq!(histogram.percentiles(), Some(expected));
        assert_eq!((histogram.range(), histogram.sum()), (Some((1, 1000)), 500_500));
        let mut histogram = Histogram::default();
        for number in 1..=1000_u64 {
            histogram.add(number * 1_000_000);
        }
        let median = histogram.percentiles().expect("numbers").p50;
        assert!((500_000_000..=500_500_000).contains(&median), "{median}");
    }

    #[test]
    fn a_merged_histogram_is_that_of_all_numbers() {
        let (mut left, mut right, mut all) =
            (Histogram::default(), Histogram::default(), Histogram::default());
        for number in [7, 0, 3_000_000, 12, u64::MAX] {
            right.add(number);
            all.add(number);
        }
        left.merge(&right);
        left.merge(&Histogram::default());
        for number in [1, 1] {
            left.add(number);
            all.add(number);
        }
        let [merged, expected] = [&left, &all].map(|histogram| serde_json::json!(histogram));
        assert_eq!(merged, expected);
        assert_eq!(left.sum(), u64::MAX, "the sum exceeds a u64");
    }

    #[test]
    fn powers_of_two_cover_all_numbers() {
        let mut histogram = Histogram::default();
        for number in [0, 1, 2, 3, 4, 9] {
            histogram.add(number);
        }
        let bucket = |from, to, count| Bucket { from, to, count };
        let expected = [bucket(0, 0, 1), bucket(1, 1, 1), bucket(2, 3, 2), bucket(4, 7, 1)];
        let powers = histogram.powers_of_two();
        assert_eq!(powers[..4], expected);
        assert_eq!(powers[4..], [bucket(8, 15, 1)]);
        assert!(Histogram::default().powers_of_two().is_empty());
        let mut histogram = Histogram::default();
        histogram.add(u64::MAX);
        assert_eq!(histogram.powers_of_two(), [bucket(1 << 63, u64::MAX, 1)]);
    }
}
