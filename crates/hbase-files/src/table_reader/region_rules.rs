//! Decides which regions of a table count.
//!
//! After a split or a merge, the old regions stay until a compaction has rewritten all their cells.
//! Meanwhile the new regions have references to the files of the old ones, so reading both would
//! return cells twice. `hbase:meta` and snapshots mark the parents of a split, and do not list the parents of a
//! merge. Without them, the key ranges decide: newer regions that together cover an older one replace it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::ops::Bound;
use std::path::Path;

use cells::RowsBetween;

use crate::error::Error;
use crate::names::{RegionName, StoreFileName};
use crate::table::schema::TableSchema;
use crate::table::{Family, LeftOut, LeftOutReason, Region, RegionInfo};
use crate::table_reader::found::Found;
use crate::table_reader::meta::MetaRegions;
use crate::warning::Warning;

/// The regions of a table: regions that count, the region of MOB files, and regions that do not count.
#[derive(Debug, Default)]
pub(crate) struct TableRegions {
    pub(crate) regions: Vec<Region>,
    pub(crate) mob: Option<Region>,
    pub(crate) left_out: Vec<LeftOut>,
}

impl TableRegions {
    /// Divides the regions of a table, by the marks in their descriptions.
    pub(crate) fn by_marks(
        path: &Path,
        schema: &TableSchema,
        regions: Vec<Region>,
        found: &mut Found,
    ) -> Self {
        let mut parts = Self::default();
        let mut seen = BTreeSet::new();
        for mut region in regions {
            let key = (region.info.encoded_name.clone(), region.info.replica_id);
            if !seen.insert(key) {
                let what = format!("the region {} is listed twice", region.name());
                found.problems.push(Error::damaged(path, what));
                continue;
            }
            if region.info.is_mob() {
                parts.mob = Some(region);
                continue;
            }
            complete(path, schema, &mut region, found);
            if region.info.replica_id != 0 {
                parts.left_out.push(LeftOut { region, reason: LeftOutReason::Replica });
            } else if region.info.is_split_parent() {
                parts.left_out.push(LeftOut { region, reason: LeftOutReason::SplitParent });
            } else {
                parts.regions.push(region);
            }
        }
        parts.sort();
        parts
    }

    /// Leaves out the regions that `hbase:meta` marks as split parents, and those that it does not have.
    ///
    /// Returns whether `hbase:meta` decided:
    ///
    /// * with a log of `hbase:meta`: unless it has no region of the table;
    /// * without: unless the directories are newer. A directory that `hbase:meta` lacks shows that, if
    ///   it is newer than a region of `hbase:meta` with some of its rows, or has rows that no region of
    ///   `hbase:meta` has.
    ///
    /// A region whose row has no readable description counts unless other regions cover all its rows.
    pub(crate) fn apply_meta(&mut self, meta: &MetaRegions) -> bool {
        let mut live: Vec<&RegionInfo> = self
            .regions
            .iter()
            .filter(|region| meta.is_live(region.name()))
            .map(|region| &region.info)
            .collect();
        let mut covered = Covered::default();
        for info in &live {
            covered.insert(&info.start_key, &info.end_key);
        }
        let undescribed: Vec<&RegionInfo> = self
            .regions
            .iter()
            .filter(|region| {
                meta.has(region.name())
                    && meta.description(region.name()).is_none()
                    && !meta.is_parent(region.name())
                    && !covered.covers(&region.info.start_key, &region.info.end_key)
            })
            .map(|region| &region.info)
            .collect();
        for info in &undescribed {
            covered.insert(&info.start_key, &info.end_key);
        }
        live.extend(undescribed);
        live.sort_by(|one, other| one.start_key.cmp(&other.start_key));
        if meta.is_empty()
            || !(meta.has_log
                || self.regions.iter().all(|Region { info, .. }| {
                    meta.has(&info.encoded_name)
                        || (covered.covers(&info.start_key, &info.end_key)
                            && overlapping(&live, info).all(|live| live.id >= info.id))
                }))
        {
            return false;
        }
        let counts: BTreeSet<RegionName> =
            live.into_iter().map(|info| info.encoded_name.clone()).collect();
        for region in std::mem::take(&mut self.regions) {
            if counts.contains(region.name()) {
                self.regions.push(region);
                continue;
            }
            let reason = if !meta.has(region.name()) {
                LeftOutReason::NotInMeta
            } else if meta.is_parent(region.name()) {
                LeftOutReason::SplitParent
            } else {
                LeftOutReason::Replaced
            };
            self.left_out.push(LeftOut { region, reason });
        }
        self.sort();
        true
    }

    /// Returns the regions that `hbase:meta` lacks, and that are not the parents of a region that it has.
    pub(crate) fn unexplained(&self, meta: &MetaRegions) -> impl Iterator<Item = &Region> {
        let referred =
            self.regions.iter().flat_map(Region::files).filter_map(|file| match &file.name {
                StoreFileName::Reference(name) => Some(&name.region),
                _ => None,
            });
        let parents: BTreeSet<&RegionName> = referred.collect();
        let left_out =
            self.left_out.iter().filter(|region| region.reason == LeftOutReason::NotInMeta);
        left_out.map(|left_out| &left_out.region).filter(move |region| {
            !meta.is_parent(region.name()) && !parents.contains(region.name())
        })
    }

    /// Leaves out the regions that newer regions cover.
    pub(crate) fn leave_out_covered(&mut self) {
        let mut regions = std::mem::take(&mut self.regions);
        regions.sort_by_key(|region| Reverse(region.info.id));
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

    /// Drops the problems of regions that do not count.
    pub(crate) fn drop_problems_of_left_out(&self, table: &Path, problems: &mut Vec<Error>) {
        let listed = self.left_out.iter().map(|left_out| left_out.region.name().as_str());
        let names: BTreeSet<&str> = listed.collect();
        problems.retain(|problem| {
            !problem.path().is_some_and(|path| {
                let name = path.strip_prefix(table).ok().and_then(|below| below.iter().next());
                name.and_then(OsStr::to_str).is_some_and(|name| names.contains(name))
            })
        });
    }

    /// Reports rows that are in no region, or in two.
    pub(crate) fn check_key_ranges(&self, path: &Path, problems: &mut Vec<Error>) {
        let mut report = |what: String, from: &[u8], to: &[u8]| {
            let [first, last] =
                [from, to].map(|key| if key.is_empty() { None } else { Some(key.to_vec()) });
            let rows = Box::new(RowsBetween { first, last });
            problems.push(Error::KeyRanges { path: path.to_owned(), what, rows });
        };
        // The end of the regions so far, and the last of them; `None` at the end of the table.
        let (mut end, mut before) = (Some(&[][..]), None::<&RegionName>);
        for Region { info, .. } in &self.regions {
            let RegionInfo { start_key, end_key, encoded_name, .. } = info;
            let is_start = before.is_none();
            match end {
                Some(end) if start_key[..] > *end => {
                    report("no region has these rows".to_owned(), end, start_key);
                }
                Some(end) if is_start || start_key[..] == *end => {}
                end => {
                    let last = before.map(ToString::to_string).unwrap_or_default();
                    let what = format!("the regions {last} and {encoded_name} overlap");
                    report(
                        what,
                        start_key,
                        end.filter(|end| !reaches(end, end_key)).unwrap_or(end_key),
                    );
                }
            }
            if end.is_some_and(|end| !reaches(end, end_key) || is_start) {
                (end, before) =
                    (Some(&end_key[..]).filter(|end| !end.is_empty()), Some(encoded_name));
            }
        }
        if let Some(end) = end {
            report("no region has these rows".to_owned(), end, b"");
        }
    }

    fn sort(&mut self) {
        let key = |region: &Region| {
            (region.info.start_key.clone(), region.info.id, region.info.encoded_name.clone())
        };
        self.regions.sort_by_cached_key(key);
        self.left_out.sort_by_cached_key(|left_out| key(&left_out.region));
    }
}

/// Returns the regions that overlap a region, of regions by ascending start key.
fn overlapping<'r>(
    regions: &'r [&'r RegionInfo],
    info: &'r RegionInfo,
) -> impl Iterator<Item = &'r RegionInfo> {
    let after = regions.partition_point(|region| region.start_key <= info.start_key);
    let candidates = regions.get(after.saturating_sub(1)..).unwrap_or_default();
    candidates
        .iter()
        .take_while(|region| info.end_key.is_empty() || region.start_key < info.end_key)
        .copied()
}

/// Gives a region each family of the schema, and removes families that the schema does not have.
fn complete(path: &Path, schema: &TableSchema, region: &mut Region, found: &mut Found) {
    let mut families: BTreeMap<Vec<u8>, Family> = BTreeMap::new();
    for schema in &schema.families {
        let name = schema.name.clone();
        let (files, recovered_hfiles) = (Vec::new(), Vec::new());
        families.insert(name.clone(), Family { name, files, recovered_hfiles });
    }
    let mut seen = BTreeSet::new();
    for mut family in std::mem::take(&mut region.families) {
        if !seen.insert(family.name.clone()) {
            let name = cells::escape(&family.name);
            let what = format!("region {} lists the family {name} twice", region.info.encoded_name);
            found.problems.push(Error::damaged(path, what));
        }
        if let Some(known) = families.get_mut(&family.name) {
            known.files.append(&mut family.files);
            continue;
        }
        let name = cells::escape(&family.name);
        let what = format!(
            "region {} has a family {name}, which the schema does not have; left out",
            region.info.encoded_name
        );
        found.warnings.push(Warning::new(path, what));
    }
    region.families = families.into_values().collect();
    region
        .families
        .iter_mut()
        .for_each(|family| keep_one_of_each(path, family, &mut found.problems));
}

/// Removes the store files that a list names a second time, and reports them.
fn keep_one_of_each(path: &Path, family: &mut Family, problems: &mut Vec<Error>) {
    let mut seen = BTreeSet::new();
    family.files.retain(|file| {
        let is_first = seen.insert(file.name.clone());
        if !is_first {
            let what = format!("the store file {} is listed twice", file.short_path());
            problems.push(Error::damaged(path, what));
        }
        is_first
    });
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
    fn insert(&mut self, first_row: &[u8], end_row: &[u8]) {
        let (mut start, mut end) = (first_row.to_vec(), end_row.to_vec());
        let before = self.ranges.range::<[u8], _>((Bound::Unbounded, Bound::Included(&start[..])));
        if let Some((first, covered)) = before.last()
            && (covered.is_empty() || *covered >= start)
        {
            start.clone_from(first);
            let joined = self.ranges.remove(&start).expect(LISTED);
            if reaches(&joined, &end) {
                end = joined;
            }
        }
        while let Some((next, _)) = self.ranges.range(start.clone()..).next()
            && (end.is_empty() || *next <= end)
        {
            let key = next.clone();
            let joined = self.ranges.remove(&key).expect(LISTED);
            if reaches(&joined, &end) {
                end = joined;
            }
        }
        self.ranges.insert(start, end);
    }
}

const LISTED: &str = "a range that was found is in the map";

/// Returns whether a range that ends at `covered` reaches the end `end`.
fn reaches(covered: &[u8], end: &[u8]) -> bool {
    covered.is_empty() || (!end.is_empty() && covered >= end)
}

/// Returns whether a range that ends at `covered` has a row.
fn reaches_row(covered: &[u8], row: &[u8]) -> bool {
    covered.is_empty() || covered > row
}

#[cfg(test)]
#[path = "region_rules_tests.rs"]
mod cases;

#[cfg(test)]
mod tests {
    use super::*;

    fn region(start: &str, end: &str) -> Region {
        let (start_key, end_key) = (start.as_bytes().to_vec(), end.as_bytes().to_vec());
        let info = RegionInfo {
            table: "t".parse().expect("a name"),
            id: 1,
            start_key,
            end_key,
            offline: false,
            split: false,
            replica_id: 0,
            encoded_name: "1".parse().expect("a name"),
        };
        Region { info, families: Vec::new(), recovered_edits: Vec::new(), last_opened: None }
    }

    #[test]
    fn gaps_and_overlaps_are_reported_with_their_rows() {
        let check = |ranges: &[(&str, &str)]| {
            let regions = ranges.iter().map(|(start, end)| region(start, end)).collect();
            let parts = TableRegions { regions, ..TableRegions::default() };
            let mut problems = Vec::new();
            parts.check_key_ranges(Path::new("t"), &mut problems);
            problems.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let none: [&str; 0] = [];
        assert_eq!(check(&[("", "")]), none);
        assert_eq!(check(&[("", "b"), ("b", "c"), ("c", "")]), none);
        assert_eq!(check(&[]), ["t: no region has these rows: all rows"]);
        assert_eq!(
            check(&[("a", "b"), ("c", "d")]),
            [
                "t: no region has these rows: rows from the start to a",
                "t: no region has these rows: rows from b to c",
                "t: no region has these rows: rows from d to the end"
            ]
        );
        assert_eq!(
            check(&[("", "c"), ("b", "")]),
            ["t: the regions 1 and 1 overlap: rows from b to c"]
        );
        assert_eq!(
            check(&[("", ""), ("b", "d")]),
            ["t: the regions 1 and 1 overlap: rows from b to d"]
        );
        assert_eq!(
            check(&[("", "e"), ("b", "d"), ("e", "")]),
            ["t: the regions 1 and 1 overlap: rows from b to d"]
        );
    }

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
