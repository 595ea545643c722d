//! A set of rows as ranges, in the order of bytes.

use std::fmt;

use cells::{escape, prefix_end};

/// The rows from `start` up to `stop`, which is not among them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct RowRange {
    /// The first row; empty for the first of all.
    pub(crate) start: Vec<u8>,
    /// The row before which the range ends; `None` for no end.
    pub(crate) stop: Option<Vec<u8>>,
}

/// A set of rows: ranges that ascend and neither overlap nor touch.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct RowSet(Vec<RowRange>);

impl RowRange {
    /// Returns whether the range has rows of `start..stop`; an empty `stop` is no end.
    pub(crate) fn overlaps(&self, start: &[u8], stop: &[u8]) -> bool {
        let begins_before = stop.is_empty() || self.start[..] < *stop;
        begins_before && self.stop.as_deref().is_none_or(|own_stop| start < own_stop)
    }

    /// Returns the only row of the range, if it has just one.
    fn single_row(&self) -> Option<&[u8]> {
        let stop = self.stop.as_deref()?;
        (stop.strip_suffix(b"\0") == Some(&self.start)).then_some(&self.start)
    }

    fn is_empty(&self) -> bool {
        self.stop.as_deref().is_some_and(|stop| stop <= &self.start[..])
    }
}

impl RowSet {
    /// Returns the set of all rows.
    pub(crate) fn all() -> Self {
        Self::from(Vec::new(), None)
    }

    /// Returns the set without rows.
    pub(crate) const fn empty() -> Self {
        Self(Vec::new())
    }

    /// Returns the set of the rows of `start..stop`.
    pub(crate) fn from(start: Vec<u8>, stop: Option<Vec<u8>>) -> Self {
        let range = RowRange { start, stop };
        Self(if range.is_empty() { Vec::new() } else { vec![range] })
    }

    /// Returns the set of one row.
    pub(crate) fn row(row: &[u8]) -> Self {
        Self::from(row.to_vec(), Some(row_after(row)))
    }

    /// Returns the set of the rows that begin with `prefix`.
    pub(crate) fn prefix(prefix: &[u8]) -> Self {
        Self::from(prefix.to_vec(), prefix_end(prefix))
    }

    /// Returns the ranges, ascending.
    pub(crate) fn ranges(&self) -> &[RowRange] {
        &self.0
    }

    /// Returns whether the set has all rows.
    pub(crate) fn is_all(&self) -> bool {
        matches!(&self.0[..], [RowRange { start, stop: None }] if start.is_empty())
    }

    /// Returns the rows that are in at least one of the sets.
    pub(crate) fn union(self, other: Self) -> Self {
        let mut ranges = self.0;
        ranges.extend(other.0);
        ranges.sort_unstable_by(|one, other| one.start.cmp(&other.start));
        let mut merged: Vec<RowRange> = Vec::with_capacity(ranges.len());
        for range in ranges {
            match merged.last_mut() {
                Some(last) if last.stop.as_ref().is_none_or(|stop| range.start <= *stop) => {
                    last.stop = latest(last.stop.take(), range.stop);
                }
                _ => merged.push(range),
            }
        }
        Self(merged)
    }

    /// Returns the rows that are in both sets.
    pub(crate) fn intersection(&self, other: &Self) -> Self {
        let mut common = Vec::new();
        let (mut ours, mut theirs) = (self.0.iter().peekable(), other.0.iter().peekable());
        while let (Some(one), Some(two)) = (ours.peek(), theirs.peek()) {
            let range = RowRange {
                start: one.start.clone().max(two.start.clone()),
                stop: earliest(one.stop.clone(), two.stop.clone()),
            };
            // The range that ends first can overlap no further range.
            if range.stop == one.stop {
                ours.next();
            } else {
                theirs.next();
            }
            if !range.is_empty() {
                common.push(range);
            }
        }
        Self(common)
    }

    /// Returns the rows that are not in the set.
    pub(crate) fn complement(&self) -> Self {
        let mut others = Self::empty();
        let mut start = Some(Vec::new());
        for range in &self.0 {
            let Some(from) = start.take() else { break };
            others.0.extend(Self::from(from, Some(range.start.clone())).0);
            start.clone_from(&range.stop);
        }
        if let Some(from) = start {
            others.0.extend(Self::from(from, None).0);
        }
        others
    }

    /// Returns a set of at most `max` ranges that has all rows of this one.
    pub(crate) fn coarsened(self, max: usize) -> Self {
        if self.0.len() <= max {
            return self;
        }
        let group_len = self.0.len().div_ceil(max.max(1));
        let hull = |group: &[RowRange]| match group {
            [first, .., last] => RowRange { start: first.start.clone(), stop: last.stop.clone() },
            [only] => only.clone(),
            [] => unreachable!("chunks are not empty"),
        };
        Self(self.0.chunks(group_len).map(hull).collect())
    }
}

impl fmt::Display for RowRange {
    /// Writes `row` for a single row, or else `start..stop`, as HBase prints rows.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(row) = self.single_row() {
            return write!(f, "{}", escape(row));
        }
        write!(f, "{}..", escape(&self.start))?;
        self.stop.as_deref().map_or(Ok(()), |stop| write!(f, "{}", escape(stop)))
    }
}

/// Returns the row that follows `row`: no row is between them.
pub(crate) fn row_after(row: &[u8]) -> Vec<u8> {
    [row, b"\0"].concat()
}

/// Returns the earlier of two ends; `None` is no end.
fn earliest(one: Option<Vec<u8>>, other: Option<Vec<u8>>) -> Option<Vec<u8>> {
    [one, other].into_iter().flatten().min()
}

/// Returns the later of two ends; `None` is no end.
fn latest(one: Option<Vec<u8>>, other: Option<Vec<u8>>) -> Option<Vec<u8>> {
    one.zip(other).map(|(one, other)| one.max(other))
}
