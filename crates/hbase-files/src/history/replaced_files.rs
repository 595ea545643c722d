//! Which files of a family a compaction has replaced: the one answer for reads, listings, checks and rebuilt lists.
//!
//! HBase keeps the inputs of a compaction in the directory of the family while scans may still read them, usually for
//! a few minutes, and longer if the server dies. Whoever merges the inputs with the output gets cells twice, and cells
//! that the compaction dropped because they were deleted. HBase leaves the inputs out when it opens a region
//! (`StoreEngine.openStoreFiles`, `HStore.replayCompactionMarker`).
//!
//! | who names a file as an input                  | the file is | because                                       |
//! |-----------------------------------------------|-------------|-----------------------------------------------|
//! | a file of the family that counts              | replaced    | the file was compacted from it                |
//! | a file that is replaced itself                | replaced    | its cells are in the last file of the chain   |
//! | a file that does not count                    | kept        | the compaction may have failed                |
//! | only files that name each other               | kept        | no other file would have their cells          |
//! | a marker of a compaction in a log             | replaced    | HBase before 2.2 names the inputs only there; |
//! |                                               |             | `wal/region_log.rs` says which markers count  |
//!
//! The users differ in what they can ask:
//!
//! | user                     | files that may name others                             | logs                          |
//! |--------------------------|--------------------------------------------------------|-------------------------------|
//! | `scan/open.rs`           | all, as for HBase                                      | `with_logs`, or               |
//! |                          |                                                        | [`only_logs_can_tell`]        |
//! | `root/compacted.rs`      | all that can be opened, except for MOB files           | none: there may be no root    |
//! | `history/file_search.rs` | all but references                                     | all, also those in `oldWALs`  |
//! | `tracker_lists`          | those that a flush or a compaction of the family wrote | none                          |

use std::collections::{BTreeMap, BTreeSet};

use sstable::SequenceId;

use crate::names::StoreFileName;
use crate::table::{FileSequence, StoreFileReader};

/// What a file of a family says of its origin.
#[derive(Clone, Debug)]
pub(crate) struct FamilyFile {
    /// The name in the directory of the family.
    pub(crate) name: String,
    /// The files that it replaced; of a bulk-loaded file that names none: empty. `None` if the file does not say.
    pub(crate) inputs: Option<Vec<String>>,
    /// The sequence id up to which it has writes; `None` if that is not known.
    pub(crate) newest: Option<SequenceId>,
    /// Whether reads count the file, unless another one replaced it.
    pub(crate) counts: bool,
}

/// The files of a family that compactions replaced. They need not be there.
#[derive(Debug, Default)]
pub(crate) struct ReplacedFiles {
    /// By name, with the file that replaced it; `None` if a log says so.
    by: BTreeMap<String, Option<String>>,
}

impl FamilyFile {
    /// Returns what an open file says; `name` is its name in the directory.
    pub(crate) fn of(name: &str, reader: &StoreFileReader) -> Self {
        let parsed: Option<StoreFileName> = name.parse().ok();
        let sequence = FileSequence::of(parsed.as_ref(), reader);
        let mut inputs = reader.whole().file_info().compaction_inputs();
        if inputs.is_none() && sequence.is_bulk_loaded {
            inputs = Some(Vec::new());
        }
        Self { name: name.to_owned(), inputs, newest: sequence.newest, counts: true }
    }

    /// Returns the names of the other files that the file replaced.
    pub(crate) fn other_inputs(&self) -> impl Iterator<Item = &String> {
        self.inputs.iter().flatten().filter(|input| **input != self.name)
    }
}

impl ReplacedFiles {
    /// Returns the files that files of a family replaced, over any number of compactions.
    pub(crate) fn by_files(files: &[FamilyFile]) -> Self {
        let known: BTreeMap<&str, &FamilyFile> =
            files.iter().map(|file| (&*file.name, file)).collect();
        let counted = files.iter().filter(|file| file.counts);
        let named: BTreeSet<&String> = counted.clone().flat_map(FamilyFile::other_inputs).collect();
        let mut pending: Vec<_> = counted.filter(|file| !named.contains(&file.name)).collect();
        let mut by = BTreeMap::new();
        while let Some(file) = pending.pop() {
            for input in file.other_inputs() {
                if by.insert(input.clone(), Some(file.name.clone())).is_none() {
                    pending.extend(known.get(&**input));
                }
            }
        }
        Self { by }
    }

    /// Adds files that markers in logs name.
    pub(crate) fn add_logged<'n>(&mut self, names: impl IntoIterator<Item = &'n String>) {
        for name in names {
            self.by.entry(name.clone()).or_insert(None);
        }
    }

    /// Returns whether a compaction replaced a file.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.by.contains_key(name)
    }

    /// Returns the files that other files replaced, each with the name of the file that replaced it.
    pub(crate) fn by_file(&self) -> impl Iterator<Item = (&String, &String)> {
        self.by.iter().filter_map(|(name, by)| Some((name, by.as_ref()?)))
    }
}

/// Returns whether only the logs can tell if a file replaced others of its family: HBase before 2.2 may have compacted it.
///
/// Such an HFile looks like the file of a flush. All its inputs have sequence ids up to its own.
pub(crate) fn only_logs_can_tell(file: &FamilyFile, family: &[FamilyFile]) -> bool {
    let is_hfile = matches!(file.name.parse(), Ok(StoreFileName::HFile(_)));
    is_hfile
        && file.inputs.is_none()
        && family.iter().any(|other| other.name != file.name && other.newest <= file.newest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, inputs: &[&str]) -> FamilyFile {
        let inputs = Some(inputs.iter().map(|input| (*input).to_owned()).collect());
        FamilyFile { name: name.to_owned(), inputs, newest: None, counts: true }
    }

    fn replaced(files: &[FamilyFile]) -> Vec<String> {
        ReplacedFiles::by_files(files).by.into_keys().collect()
    }

    #[test]
    fn inputs_are_replaced_over_any_number_of_compactions() {
        let all = [file("a", &[]), file("b", &["a", "gone"]), file("c", &["b"]), file("d", &[])];
        assert_eq!(replaced(&all), ["a", "b", "gone"]);
        let of_uncounted = |counts| {
            let middle = FamilyFile { counts: false, ..file("b", &["a"]) };
            let last = FamilyFile { counts, ..file("c", &["b"]) };
            replaced(&[file("a", &[]), middle, last])
        };
        assert_eq!(of_uncounted(true), ["a", "b"]);
        assert!(of_uncounted(false).is_empty(), "no file that counts has their cells");
    }

    #[test]
    fn files_that_name_each_other_replace_nothing() {
        assert!(replaced(&[file("a", &["b"]), file("b", &["a"]), file("c", &[])]).is_empty());
        assert!(replaced(&[file("a", &["a"])]).is_empty());
    }

    #[test]
    fn a_log_replaces_files_that_no_file_names() {
        let mut replaced = ReplacedFiles::by_files(&[file("b", &["a"])]);
        replaced.add_logged(&["a".to_owned(), "x".to_owned()]);
        assert!(replaced.has("a") && replaced.has("x") && !replaced.has("b"));
        let by_file: Vec<_> = replaced.by_file().collect();
        assert_eq!(by_file, [(&"a".to_owned(), &"b".to_owned())]);
    }
}
