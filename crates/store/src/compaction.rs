//! Fewer files from many: reads have less to ask, and what is hidden or expired goes.
//!
//! Which files are merged is decided as by HBase's exploring policy (`ExploringCompactionPolicy`):
//! of all runs of neighbours in age that are long enough, and in which no file is much larger than
//! the others together, the longest; of those equally long, the smallest.

use std::sync::Arc;

use sstable::{Caching, KeyRef, Timestamp};

use crate::error::Result;
use crate::merge::{Merge, Source};
use crate::new_file::{FilePurpose, NewFile};
use crate::rules::{Rules, Verdict};
use crate::store::Inner;
use crate::store_file::{FileCursor, StoreFile};
use crate::sync::lock;
use crate::version::{Family, FamilyVersion};

/// Fewer files than this are not worth a compaction (`hbase.hstore.compaction.min`).
const FILES_MIN: usize = 3;
/// More than this are not merged at once (`hbase.hstore.compaction.max`).
const FILES_MAX: usize = 10;
/// A file may be this many fifths of the others together (`hbase.hstore.compaction.ratio` 1.2).
const RATIO_FIFTHS: u64 = 6;

impl Inner {
    /// Merges files of a family: all, or those that the policy selects.
    pub(crate) fn compact(&self, family: &str, major: bool) -> Result<()> {
        let _one_at_a_time = lock(&self.compaction_turn);
        self.commit.check()?;
        let view = self.view();
        let family = view.family(family.as_bytes())?;
        // The oldest first.
        let files: Vec<_> = family.files.by_sequence().rev().cloned().collect();
        let selected = if major { 0..files.len() } else { select(&sizes(&files)) };
        if selected.is_empty() {
            return Ok(());
        }
        let is_all = selected.len() == files.len();
        self.merge_files(family, &files[selected], is_all)
    }

    /// Merges what the policy selects, in all families, until it selects nothing more.
    pub(crate) fn compact_as_needed(&self) -> Result<()> {
        for family in &self.version().families {
            while !self.background.is_stopping() {
                let files = self.view().family(family.family.name.as_bytes())?.files.clone();
                let files: Vec<_> = files.by_sequence().rev().cloned().collect();
                if select(&sizes(&files)).is_empty() {
                    break;
                }
                self.compact(&family.family.name, false)?;
            }
        }
        Ok(())
    }

    fn merge_files(
        &self,
        version: &FamilyVersion,
        files: &[Arc<StoreFile>],
        is_all: bool,
    ) -> Result<()> {
        let family = &version.family;
        let sequence_max = files.iter().map(|file| file.entry.sequence_max).max();
        let purpose = FilePurpose {
            sequence_max: sequence_max.unwrap_or_default(),
            has_tags: files.iter().any(|file| file.reader.file_info().includes_tags()),
            is_major_compaction: is_all,
        };
        let newest_first = files.iter().rev();
        let sources = newest_first
            .map(|file| Source::File(Box::new(FileCursor::new(file, Caching::Bypass))))
            .collect();
        let mut cells = Merge::new(sources, KeyRef::before_row(b""))?;
        let now = self.clock.now();
        let mut rules = if is_all {
            Rules::for_rewrite_of_all(&family.options, earliest_put(files), now)
        } else {
            Rules::for_rewrite(&family.options, now)
        };
        let mut merged = NewFile::create(self, family, purpose)?;
        while let Some(cell) = cells.cell() {
            if rules.judge(&cell) == Verdict::Include {
                merged.append(&cell)?;
            }
            cells.advance()?;
        }
        let merged = merged.finish()?.map(|entry| self.open_file(family, &entry)).transpose()?;
        self.install_merged(family, files, merged.as_ref())
    }

    fn install_merged(
        &self,
        family: &Family,
        old: &[Arc<StoreFile>],
        merged: Option<&Arc<StoreFile>>,
    ) -> Result<()> {
        let mut manifest = self.manifest();
        self.change(&mut manifest, |manifest| {
            let files = &mut manifest.family_mut(family.id).files;
            files.retain(|entry| !old.iter().any(|file| file.entry.name == entry.name));
            files.extend(merged.map(|file| file.entry.clone()));
        })?;
        self.replace_version(|version| {
            version.map(|known| {
                if known.family.id != family.id {
                    return Arc::clone(known);
                }
                let mut changed = FamilyVersion::clone(known);
                changed.files = known.files.replace(old, merged);
                Arc::new(changed)
            })
        });
        for file in old {
            file.retire();
        }
        self.count(|counts| counts.compactions += 1);
        Ok(())
    }
}

/// No put of these files is older than this.
fn earliest_put(files: &[Arc<StoreFile>]) -> Timestamp {
    let known = files.iter().map(|file| file.reader.file_info().earliest_put());
    known.map(|earliest| earliest.unwrap_or(Timestamp::OLDEST)).min().unwrap_or(Timestamp::OLDEST)
}

fn sizes(files: &[Arc<StoreFile>]) -> Vec<u64> {
    files.iter().map(|file| file.entry.length).collect()
}

/// The files to merge, given the sizes of all from the oldest to the newest.
fn select(sizes: &[u64]) -> std::ops::Range<usize> {
    let mut best = 0..0;
    let mut best_size = 0;
    for start in 0..sizes.len() {
        for end in start + FILES_MIN..=sizes.len().min(start + FILES_MAX) {
            let run = &sizes[start..end];
            let size: u64 = run.iter().sum();
            let is_even = run.iter().all(|one| one * 5 <= (size - one) * RATIO_FIFTHS);
            let is_better = run.len() > best.len() || run.len() == best.len() && size < best_size;
            if is_even && is_better {
                best = start..end;
                best_size = size;
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::select;

    #[test]
    fn the_longest_run_of_even_files_is_merged_and_of_two_the_smaller() {
        assert_eq!(select(&[]), 0..0);
        assert_eq!(select(&[10, 10]), 0..0);
        assert_eq!(select(&[10, 10, 10]), 0..3);
        assert_eq!(select(&[1000, 10, 10, 10]), 1..4);
        assert_eq!(select(&[1000, 30, 20, 10]), 1..4);
        assert_eq!(select(&[1000, 100, 10, 1]), 0..0);
        assert_eq!(select(&[20, 20, 20, 500, 10, 10, 10]), 4..7);
        assert_eq!(select(&[5; 30]).len(), 10);
    }
}
