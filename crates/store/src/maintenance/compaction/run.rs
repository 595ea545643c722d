//! One compaction: merges the cells of some files into one file, which replaces them.
//!
//! Before it reads a file, the compaction checks the checksum of the whole file against the manifest.
//! That checksum also covers bytes that no block checksum covers. Damage must not get into a new file
//! whose checksums are correct.

use std::ops::Range;
use std::sync::Arc;

use cells::error_line;
use cells::rules::{Rules, Verdict};
use sstable::{Caching, KeyRef, Timestamp};

use super::pace::Pace;
use super::progress::{CompactionProgress, Observer};
use crate::error::Result;
use crate::files::catalog::Catalog;
use crate::files::new_files::new_file::{FilePurpose, NewFile};
use crate::files::version::store_file::{FileCursor, StoreFile};
use crate::files::version::store_version::FamilyVersion;
use crate::maintenance::background::Maintenance;
use crate::maintenance::expired::expired_files;
use crate::maintenance::family_turns::FamilyTurn;
use crate::maintenance::filters::{filter_of_new, row_count};
use crate::options::CompactionOptions;
use crate::read::sources::{CellSource, StoreMerge};
use crate::telemetry::{Work, WorkSpan};

/// Which files of a family a compaction merges.
#[derive(Clone, Copy, Debug)]
enum Selection<'p> {
    All,
    /// Those that a policy selects, perhaps none.
    By(&'p CompactionOptions),
}

/// Cells between two checks of the rate.
const CELLS_PER_STEP: u64 = 4096;

impl Maintenance {
    /// Merges files of a family as asked for by hand: all of them, or those that the policy selects.
    pub(crate) fn compact(
        &self,
        catalog: &Catalog,
        family: &str,
        major: bool,
        report: &mut dyn FnMut(CompactionProgress),
    ) -> Result<()> {
        self.health.check_writable()?;
        let turn = self.turns.take_by_hand(family);
        let selection = if major { Selection::All } else { self.by_policy() };
        let result = self.compact_family(catalog, &turn, selection, report);
        let result = result.and_then(|()| turn.check_not_cancelled());
        drop(turn);
        if self.options.auto_compaction {
            self.tasks.want_compaction(); // The background has left out this family.
        }
        result?;
        self.files_changed(catalog);
        Ok(())
    }

    /// Merges files of the family whose turn it is; none if the policy selects none.
    fn compact_family(
        &self,
        catalog: &Catalog,
        turn: &FamilyTurn<'_>,
        selection: Selection<'_>,
        report: &mut dyn FnMut(CompactionProgress),
    ) -> Result<()> {
        let _watch = self.health.poison_on_panic();
        self.health.check_writable()?;
        // Not the whole version, which would keep replaced files of other families on disk.
        let family = Arc::clone(catalog.version().known_family(turn.family().as_bytes())?);
        // Oldest first.
        let files: Vec<_> = family.files.by_sequence().rev().cloned().collect();
        let selected = self.select(catalog, &files, selection);
        if selected.is_empty() {
            return Ok(());
        }
        let is_all = selected.len() == files.len();
        self.merge_files(catalog, turn, &family, &files[selected], is_all, Observer::new(report))
    }

    /// Removes expired files, and merges the files that the policy selects, until it selects none, in
    /// all families except those that another thread works on.
    pub(crate) fn compact_as_needed(&self, catalog: &Catalog) -> Result<()> {
        self.compact_selected(catalog, self.by_policy())
    }

    /// Does the same with files that are not larger than a flushed memstore, all together.
    pub(crate) fn compact_small_files(&self, catalog: &Catalog) -> Result<()> {
        let policy = &self.options.compaction;
        let size_max = policy.size_max.min(self.options.memstore_flush_bytes as u64);
        self.compact_selected(catalog, Selection::By(&policy.clone().size_max(size_max)))
    }

    fn compact_selected(&self, catalog: &Catalog, selection: Selection<'_>) -> Result<()> {
        let version = catalog.version();
        let names: Vec<_> =
            version.families.iter().map(|version| version.family.name.clone()).collect();
        drop(version);
        for name in &names {
            while !self.tasks.is_stopping() {
                let Some(turn) = self.turns.take_in_background(name) else { break };
                if !self.has_work(catalog, name, selection) {
                    break;
                }
                let result = self
                    .remove_expired_files(catalog, name)
                    .and_then(|()| self.compact_family(catalog, &turn, selection, &mut |_| {}));
                if let Err(error) = &result {
                    self.count(|counts| {
                        counts.compactions_failed += 1;
                        counts.compaction_failure = Some(error_line(error).into());
                    });
                }
                let is_cancelled = turn.is_cancelled();
                drop(turn);
                result?;
                if is_cancelled {
                    break;
                }
                self.files_changed(catalog);
                // A family map must not wait until all compactions have ended: a merge of covered
                // files covers its output without reading it.
                if self.tasks.take_cover_files() {
                    self.cover_files(catalog);
                }
            }
        }
        self.schedule_expiry(catalog);
        Ok(())
    }

    /// Returns whether a family has expired files, or files to merge; `false` if it was dropped.
    fn has_work(&self, catalog: &Catalog, name: &str, selection: Selection<'_>) -> bool {
        let version = catalog.version();
        version.family(name.as_bytes()).is_some_and(|present| {
            let files: Vec<_> = present.files.by_sequence().rev().cloned().collect();
            expired_files(catalog, present).next().is_some()
                || !self.select(catalog, &files, selection).is_empty()
        })
    }

    const fn by_policy(&self) -> Selection<'_> {
        Selection::By(&self.options.compaction)
    }

    /// Returns the range of the selected files, from the oldest to the newest.
    fn select(
        &self,
        catalog: &Catalog,
        files: &[Arc<StoreFile>],
        selection: Selection<'_>,
    ) -> Range<usize> {
        let Selection::By(policy) = selection else { return 0..files.len() };
        let sizes: Vec<_> = files.iter().map(|file| file.entry.length).collect();
        let flush_bytes = self.options.memstore_flush_bytes as u64;
        policy.select(&sizes, flush_bytes, catalog.clock.now())
    }

    /// Merges files into one. If the store closes first or the family is to be dropped, they stay.
    fn merge_files(
        &self,
        catalog: &Catalog,
        turn: &FamilyTurn<'_>,
        version: &FamilyVersion,
        files: &[Arc<StoreFile>],
        is_all: bool,
        mut observer: Observer<'_>,
    ) -> Result<()> {
        let family = &version.family;
        let sequence_max = files.iter().map(|file| file.entry.sequence_max).max();
        let is_old = |file: &&Arc<StoreFile>| files.iter().any(|old| Arc::ptr_eq(old, file));
        let others: Vec<_> =
            version.files.by_sequence().filter(|file| !is_old(file)).cloned().collect();
        // An upper bound: a row of several files is counted once per file.
        let rows_at_most = files.iter().map(|file| row_count(file)).sum();
        let purpose = FilePurpose {
            sequence_max: sequence_max.expect("a compaction has files"),
            has_tags: files.iter().any(|file| file.reader.file_info().includes_tags()),
            is_major_compaction: is_all,
            filter: filter_of_new(family, &others, || Ok(rows_at_most))?,
        };
        let _watch = WorkSpan::begin(Work::Compact);
        let pace = Pace::new(&self.tasks, turn, &self.rate_limit);
        if !check_all(files, &pace, &mut observer)? {
            return Ok(());
        }
        let newest_first = files.iter().rev();
        let sources = newest_first
            .map(|file| CellSource::File(Box::new(FileCursor::new(file, Caching::Bypass))))
            .collect();
        let mut cells = StoreMerge::new(sources, KeyRef::before_row(b""))?;
        let now = catalog.clock.now_for_expiry();
        let mut rules = if is_all {
            Rules::for_major_compaction(&family.options.retention(), earliest_put(files), now)
        } else {
            Rules::for_rewrite(&family.options.retention(), now)
        };
        let mut merged = NewFile::create(catalog, family, purpose)?;
        let mut passed = 0_u64;
        while let Some(cell) = cells.cell() {
            if passed.is_multiple_of(CELLS_PER_STEP) && !pace.goes_on(merged.written_len()) {
                return Ok(());
            }
            if passed.is_multiple_of(CELLS_PER_STEP) {
                observer.merged(passed);
            }
            passed += 1;
            if rules.judge(&cell) == Verdict::Include {
                merged.append(&cell)?;
            }
            cells.advance()?;
        }
        let merged =
            merged.finish()?.map(|entry| catalog.open_new(family, &entry, None)).transpose()?;
        catalog.replace_files(family, files, merged.as_ref())?;
        let read: u64 = files.iter().map(|file| file.entry.length).sum();
        let written = merged.as_ref().map_or(0, |file| file.entry.length);
        self.count(|counts| {
            counts.compactions += 1;
            counts.compaction_read_bytes += read;
            counts.compaction_written_bytes += written;
        });
        Ok(())
    }
}

/// Compares the checksums of the files with the manifest. Returns `false` if the compaction must end.
fn check_all(
    files: &[Arc<StoreFile>],
    pace: &Pace<'_>,
    observer: &mut Observer<'_>,
) -> Result<bool> {
    let bytes = files.iter().map(|file| file.entry.length).sum();
    let cells = files.iter().map(|file| file.reader.trailer().entry_count).sum();
    observer.set_totals(bytes, cells);
    let mut checked = 0;
    for file in files {
        let goes_on = |done| {
            observer.checked(checked + done);
            pace.goes_on(0)
        };
        if !file.check_whole(goes_on)? {
            return Ok(false);
        }
        checked += file.entry.length;
    }
    Ok(true)
}

/// Returns a lower bound of the timestamps of the puts in these files.
fn earliest_put(files: &[Arc<StoreFile>]) -> Timestamp {
    let known = files.iter().map(|file| file.reader.file_info().earliest_put());
    let known = known.map(|earliest| earliest.unwrap_or(Timestamp::OLDEST));
    known.min().expect("a compaction has files")
}
