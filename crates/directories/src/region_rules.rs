//! Decides which regions of a table count.
//!
//! After a split or a merge, the old regions stay until a compaction has rewritten all their cells.
//! Meanwhile the new regions have references to their files, so reading both would return cells
//! twice. `hbase:meta` and snapshots mark the parents of a split, and do not have those of a merge.
//! Without them, the key ranges decide: newer regions that together cover an older one replace it.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Bound;
use std::path::Path;

use crate::schema::TableSchema;
use crate::table::{Family, LeftOut, LeftOutReason, Region};
use crate::{Error, RegionInfo, RegionName};

/// The regions of a table, by what they count for.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    pub(crate) regions: Vec<Region>,
    pub(crate) mob: Option<Region>,
    pub(crate) left_out: Vec<LeftOut>,
}

/// Sorts the regions of a table by what they count for, by the marks in their descriptions.
pub(crate) fn split_up(
    path: &Path,
    schema: &TableSchema,
    regions: Vec<Region>,
    problems: &mut Vec<Error>,
) -> Parts {
    let mut parts = Parts::default();
    let mut seen = BTreeMap::new();
    for mut region in regions {
        let key = (region.info.encoded_name.clone(), region.info.replica_id);
        match seen.entry(key) {
            Entry::Vacant(entry) => _ = entry.insert(()),
            Entry::Occupied(_) => {
                let what = format!("the region {} is listed twice", region.name());
                problems.push(Error::damaged(path, what));
                continue;
            }
        }
        if region.info.is_mob() {
            parts.mob = Some(region);
            continue;
        }
        complete(path, schema, &mut region, problems);
        let reason = match &region.info {
            info if info.replica_id != 0 => Some(LeftOutReason::Replica),
            info if info.is_split_parent() => Some(LeftOutReason::SplitParent),
            _ => None,
        };
        match reason {
            Some(reason) => parts.left_out.push(LeftOut { region, reason }),
            None => parts.regions.push(region),
        }
    }
    parts.sort();
    parts
}

impl Parts {
    /// Leaves out the regions that `hbase:meta` marks as split parents, and those that it does not have.
    ///
    /// Returns whether `hbase:meta` decided. It does not if a region that it does not have is not
    /// covered by those that it has: then it is older than the directories, or incomplete.
    pub(crate) fn apply_meta(&mut self, meta: &BTreeMap<RegionName, RegionInfo>) -> bool {
        let counts = |region: &Region| {
            let info = meta.get(&region.info.encoded_name);
            info.is_some_and(|info| !info.is_split_parent())
        };
        let mut covered = Covered::default();
        for region in self.regions.iter().filter(|region| counts(region)) {
            covered.insert(&region.info.start_key, &region.info.end_key);
        }
        let is_covered = |region: &Region| {
            let RegionInfo { start_key, end_key, encoded_name, .. } = &region.info;
            meta.contains_key(encoded_name) || covered.covers(start_key, end_key)
        };
        if meta.is_empty() || !self.regions.iter().all(is_covered) {
            return false;
        }
        for region in std::mem::take(&mut self.regions) {
            if counts(&region) {
                self.regions.push(region);
                continue;
            }
            let is_known = meta.contains_key(&region.info.encoded_name);
            let reason =
                if is_known { LeftOutReason::SplitParent } else { LeftOutReason::NotInMeta };
            self.left_out.push(LeftOut { region, reason });
        }
        self.sort();
        true
    }

    /// Leaves out the regions that newer regions cover.
    pub(crate) fn leave_out_covered(&mut self) {
        let mut regions = std::mem::take(&mut self.regions);
        regions.sort_by(|one, other| other.info.id.cmp(&one.info.id));
        let mut covered = Covered::default();
        for region in regions {
            let (start, end) = (&region.info.start_key, &region.info.end_key);
            if covered.covers(start, end) {
                self.left_out.push(LeftOut { region, reason: LeftOutReason::Replaced });
            } else {
                covered.insert(start, end);
                self.regions.push(region);
            }
        }
        self.sort();
    }

    fn sort(&mut self) {
        let key = |region: &Region| {
            (region.info.start_key.clone(), region.info.id, region.info.encoded_name.clone())
        };
        self.regions.sort_by_cached_key(key);
        self.left_out.sort_by_cached_key(|left_out| key(&left_out.region));
    }
}

/// Gives a region each family of the schema, and removes families that the schema does not have.
fn complete(path: &Path, schema: &TableSchema, region: &mut Region, problems: &mut Vec<Error>) {
    let mut families: BTreeMap<Vec<u8>, Family> = BTreeMap::new();
    for schema in &schema.families {
        let name = schema.name.clone();
        families.insert(name.clone(), Family { name, files: Vec::new() });
    }
    for family in std::mem::take(&mut region.families) {
        match families.get_mut(&family.name) {
            Some(known) => known.files.extend(family.files),
            None => {
                let name = sstable::escape(&family.name);
                let what = format!(
                    "region {} has a family {name}, which the schema does not have",
                    region.info.encoded_name
                );
                problems.push(Error::damaged(path, what));
            }
        }
    }
    region.families = families.into_values().collect();
}

/// Key ranges that are covered, as disjoint ranges that do not touch: start → end. An empty end is
/// the end of the table.
#[derive(Debug, Default)]
struct Covered {
    ranges: BTreeMap<Vec<u8>, Vec<u8>>,
}

impl Covered {
    /// Returns whether a key range is covered as a whole.
    fn covers(&self, start: &[u8], end: &[u8]) -> bool {
        let before = self.ranges.range::<[u8], _>((Bound::Unbounded, Bound::Included(start)));
        before
            .last()
            .is_some_and(|(_, covered)| reaches(covered, end) && reaches_row(covered, start))
    }

    /// Adds a key range, and joins it with those that it touches.
    fn insert(&mut self, start: &[u8], end: &[u8]) {
        let (mut start, mut end) = (start.to_vec(), end.to_vec());
        let before = self.ranges.range::<[u8], _>((Bound::Unbounded, Bound::Included(&start[..])));
        if let Some((first, covered)) = before.last()
            && (covered.is_empty() || *covered >= start)
        {
            let first = first.clone();
            start.clone_from(&first);
            let covered = self.ranges.remove(&first).unwrap_or_default();
            if reaches(&covered, &end) {
                end = covered;
            }
        }
        while let Some((next, _)) = self.ranges.range(start.clone()..).next()
            && (end.is_empty() || *next <= end)
        {
            let next = next.clone();
            let covered = self.ranges.remove(&next).unwrap_or_default();
            if reaches(&covered, &end) {
                end = covered;
            }
        }
        self.ranges.insert(start, end);
    }
}

/// Returns whether a range that ends at `covered` reaches the end `end`.
fn reaches(covered: &[u8], end: &[u8]) -> bool {
    covered.is_empty() || (!end.is_empty() && covered >= end)
}

/// Returns whether a range that ends at `covered` has a row.
fn reaches_row(covered: &[u8], row: &[u8]) -> bool {
    covered.is_empty() || covered > row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_touch_are_joined() {
        let mut covered = Covered::default();
        assert!(!covered.covers(b"", b""));
        covered.insert(b"c", b"e");
        covered.insert(b"a", b"b");
        for (start, end, is_covered) in [
            (&b"c"[..], &b"e"[..], true),
            (b"c", b"d", true),
            (b"d", b"e", true),
            (b"a", b"e", false),
            (b"e", b"f", false),
            (b"", b"b", false),
            (b"c", b"", false),
        ] {
            assert_eq!(covered.covers(start, end), is_covered, "{start:?} {end:?}");
        }
        covered.insert(b"b", b"c");
        assert!(covered.covers(b"a", b"e"));
        assert_eq!(covered.ranges.len(), 1);
        covered.insert(b"d", b"");
        covered.insert(b"", b"a");
        assert!(covered.covers(b"", b"") && covered.covers(b"z", b""));
        assert_eq!(covered.ranges.len(), 1);
    }
}
