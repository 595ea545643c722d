//! What logs and store files say about the files of a family: which were written, and which replaced.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use sstable::SequenceId;

use super::replaced_files::{FamilyFile, ReplacedFiles};

/// What is known about the files of a family of a region.
#[derive(Debug, Default)]
pub(super) struct FileHistory {
    /// The files that the family got, by name.
    pub(super) written: BTreeMap<String, FileOrigin>,
    compactions: Vec<Compaction>,
    /// The inputs of the compactions.
    replaced: ReplacedFiles,
    openings: Vec<Opening>,
}

/// How a family got a file.
#[derive(Clone, Debug)]
pub(super) struct FileOrigin {
    /// As in "a flush wrote it".
    pub(super) how: &'static str,
    /// The log or the back reference that says so.
    pub(super) source: PathBuf,
    /// When; `None` if that is not known.
    pub(super) at: Option<EntryTime>,
}

/// The time and the sequence id of an entry of a log.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntryTime {
    pub(super) time: u64,
    pub(super) sequence: u64,
}

#[derive(Debug)]
struct Compaction {
    inputs: Vec<String>,
    outputs: Vec<String>,
}

#[derive(Debug)]
struct Opening {
    at: EntryTime,
    files: BTreeSet<String>,
}

impl FileHistory {
    pub(super) fn add_compaction(&mut self, inputs: Vec<String>, outputs: Vec<String>) {
        self.replaced.add_logged(&inputs);
        self.compactions.push(Compaction { inputs, outputs });
    }

    /// Adds that the region was opened with these files.
    pub(super) fn add_opening(&mut self, at: EntryTime, files: Vec<String>) {
        self.openings.push(Opening { at, files: files.into_iter().collect() });
    }

    /// Returns whether the logs explain that a file is gone: a compaction replaced it, or HBase has since
    /// opened the region without it.
    pub(super) fn explains(&self, name: &str, origin: &FileOrigin) -> bool {
        if self.replaced.has(name) {
            return true;
        }
        let Some(written) = origin.at else { return false };
        // Sequence ids go back in restore_snapshot, and the clocks of servers differ, so that either
        // counts. After a restore, an opening before the file was written can explain it as well:
        // a loss may go unnoticed, but a sound table is not called damaged.
        self.openings.iter().any(|opening| {
            let is_later = opening.at.time > written.time || opening.at.sequence > written.sequence;
            is_later && !opening.files.contains(name)
        })
    }

    /// Returns whether a current file may have the cells of one that is gone, and that no file names as an input.
    ///
    /// Assume that it may, unless it is older than the lost file, or all its inputs are known: the logs that named the
    /// inputs of its inputs may be deleted.
    pub(super) fn may_have_cells_of(&self, current: &FamilyFile, origin: &FileOrigin) -> bool {
        let newest = current.newest.map(SequenceId::get);
        let is_older = newest.zip(origin.at).is_some_and(|(newest, at)| newest < at.sequence);
        !is_older && !self.knows_inputs_of(current)
    }

    /// Returns whether all that went into a file is known, over any number of compactions.
    fn knows_inputs_of(&self, current: &FamilyFile) -> bool {
        let known = self.known_files();
        known.contains(&*current.name)
            || current
                .inputs
                .as_ref()
                .is_some_and(|inputs| inputs.iter().all(|input| known.contains(&**input)))
    }

    /// Returns the files whose contents the logs name completely.
    fn known_files(&self) -> BTreeSet<&str> {
        // A file that only a back reference names may be of a compaction.
        let by_logs = self.written.iter().filter(|(_, origin)| origin.at.is_some());
        let mut known: BTreeSet<&str> = by_logs.map(|(name, _)| &**name).collect();
        let mut rest: Vec<&Compaction> = self.compactions.iter().collect();
        loop {
            let (complete, unknown): (Vec<_>, Vec<_>) = rest
                .into_iter()
                .partition(|change| change.inputs.iter().all(|input| known.contains(&**input)));
            if complete.is_empty() {
                return known;
            }
            known.extend(complete.iter().flat_map(|change| &change.outputs).map(|name| &**name));
            rest = unknown;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EARLY: EntryTime = EntryTime { time: 1000, sequence: 10 };
    const LATE: EntryTime = EntryTime { time: 2000, sequence: 20 };

    fn flushed(at: EntryTime) -> FileOrigin {
        FileOrigin { how: "a flush wrote it", source: PathBuf::new(), at: Some(at) }
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    /// Returns a history with flushes that wrote `a` and `b`.
    fn history() -> FileHistory {
        let mut history = FileHistory::default();
        for name in ["a", "b"] {
            history.written.insert(name.to_owned(), flushed(EARLY));
        }
        history
    }

    #[test]
    fn a_compaction_and_a_later_opening_explain_that_a_file_is_gone() {
        let mut history = history();
        assert!(!history.explains("a", &flushed(EARLY)));
        history.add_compaction(names(&["a"]), names(&["c"]));
        assert!(history.explains("a", &flushed(EARLY)));
        assert!(!history.explains("b", &flushed(EARLY)));
        history.add_opening(LATE, names(&["b"]));
        assert!(!history.explains("b", &flushed(EARLY)), "it was there at the opening");
        history.add_opening(LATE, names(&["c"]));
        assert!(history.explains("b", &flushed(EARLY)));
        assert!(!history.explains("b", &flushed(EntryTime { time: 3000, sequence: 30 })));
        let restored = EntryTime { time: 1500, sequence: 30 };
        assert!(history.explains("b", &flushed(restored)), "sequence ids went back");
    }

    #[test]
    fn a_compacted_file_may_have_the_cells_of_a_file_unless_all_its_inputs_are_known() {
        let mut history = history();
        let may = |history: &FileHistory, inputs: Option<&[&str]>, newest: Option<u64>| {
            let current = FamilyFile {
                name: "c".to_owned(),
                inputs: inputs.map(names),
                newest: newest.map(SequenceId::new),
                counts: true,
            };
            history.may_have_cells_of(&current, &flushed(EARLY))
        };
        assert!(!may(&history, Some(&[]), Some(30)), "a flush wrote it");
        assert!(!may(&history, Some(&["b"]), Some(30)), "only a flushed file went into it");
        assert!(may(&history, Some(&["b", "x"]), Some(30)), "the inputs of x are not known");
        assert!(may(&history, Some(&["x"]), None));
        let linked = FileOrigin { at: None, ..flushed(EARLY) };
        history.written.insert("x".to_owned(), linked);
        assert!(may(&history, Some(&["x"]), Some(30)), "a back reference does not know the inputs");
        assert!(!may(&history, Some(&["x"]), Some(9)), "it is older");
        assert!(may(&history, None, Some(10)), "it does not say what went into it");
        assert!(!may(&history, None, Some(9)));
        history.add_compaction(names(&["x"]), names(&["c"]));
        history.add_compaction(names(&["b"]), names(&["x"]));
        assert!(!may(&history, Some(&["x"]), Some(30)), "all that went into it is known");
    }
}
