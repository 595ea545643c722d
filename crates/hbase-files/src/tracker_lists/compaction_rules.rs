//! Finds the files of a family that compactions replaced, and that would bring back deleted cells.
//!
//! HBase names the inputs of a compaction in the file that it writes (`COMPACTION_EVENT_KEY`), and leaves out
//! these files when it opens the family. Files can stay in the directory after their removal from the list, and
//! a compaction that failed at its end can leave a complete file that never was in the list.
//!
//! | a file is left out if                                       | because                                         |
//! |-------------------------------------------------------------|-------------------------------------------------|
//! | another file names it as an input                           | that file has its cells                         |
//! | another file was compacted from all its inputs, and more    | its compaction failed, and was repeated later   |
//! | its sequence id is not above that of a major compaction of  | a major compaction reads all files up to its    |
//! | this region                                                 | sequence id, and drops delete markers           |
//!
//! A bulk-loaded file, a reference and a link replace nothing, whatever their file info says: it comes from another
//! region. The third rule leaves these files alone, or undecided:
//!
//! | a file up to the sequence id of a major compaction | is        | because                                           |
//! |----------------------------------------------------|-----------|---------------------------------------------------|
//! | that the newest list has, and no list may be newer | taken     | HBase reads it                                    |
//! | of the same compaction: with the same inputs       | taken     | each can have a part of the cells                 |
//! | bulk-loaded, with the same sequence id             | taken     | a bulk load can get the id of the flush before it |
//! | bulk-loaded, with a lower one                      | undecided | the compaction should have had it as an input     |
//! | begun after the major compaction                   | undecided | HBase gives out sequence ids again if it opens a  |
//! |                                                    |           | region whose list is gone                         |
//!
//! These rules hold for the default engine, which writes one file for each compaction. Other engines, such as
//! stripes, write several. One of them may be lost, so that the caller has to decide.

use std::collections::BTreeMap;

use super::candidate::{Candidate, Origin};
use super::decision::FileDecision;
use crate::history::{FamilyFile, ReplacedFiles};

/// The rules of a family.
pub(super) struct CompactionRules {
    /// The engine that compacts the files, unless it is the default one.
    pub(super) other_engine: Option<String>,
    /// Whether HBase wrote no list after the newest readable one.
    pub(super) is_list_current: bool,
}

impl CompactionRules {
    /// Leaves out the files that compactions replaced.
    pub(super) fn apply(&self, files: &mut [Candidate]) {
        self.apply_decisions(files, &named_inputs(files));
        self.apply_decisions(files, &repeated_compactions(files));
        self.apply_decisions(files, &self.older_than_major_compaction(files));
    }

    fn apply_decisions(&self, files: &mut [Candidate], decided: &BTreeMap<String, FileDecision>) {
        for file in files {
            let Some(decision) = decided.get(&file.name) else { continue };
            file.decide(match (decision, &self.other_engine) {
                (FileDecision::LeftOut(why), Some(engine)) => FileDecision::Undecided(format!(
                    "{why}; but {engine} may have written other files with its cells"
                )),
                _ => decision.clone(),
            });
        }
    }

    /// Returns the decisions about files that a major compaction must have had as inputs, by their sequence ids.
    fn older_than_major_compaction(&self, files: &[Candidate]) -> BTreeMap<String, FileDecision> {
        let major = files.iter().filter_map(|file| {
            let origin = file.taken_origin().filter(|origin| origin.is_major_compaction)?;
            Some(MajorCompaction { file: &file.name, up_to: origin.newest_sequence?, origin })
        });
        let Some(major) = major.max_by_key(|major| (major.up_to, major.origin.created)) else {
            return BTreeMap::new();
        };
        let others = files
            .iter()
            .filter(|file| file.name != major.file && !(file.is_listed && self.is_list_current));
        others.filter_map(|file| Some((file.name.clone(), major.decision(file)?))).collect()
    }
}

/// The file of a major compaction.
struct MajorCompaction<'f> {
    file: &'f str,
    /// The sequence id of the newest write in it.
    up_to: u64,
    origin: &'f Origin,
}

impl MajorCompaction<'_> {
    /// Returns the decision about another file; `None` if the compaction tells nothing about it.
    fn decision(&self, file: &Candidate) -> Option<FileDecision> {
        let Self { file: major, up_to, origin: by } = self;
        let origin = file.origin_unless_left_out()?;
        let newest = origin.newest_sequence.filter(|newest| newest <= up_to)?;
        let compaction = format!("a major compaction of all files up to sequence id {up_to}");
        if origin.is_bulk_loaded {
            return (newest < *up_to).then(|| {
                FileDecision::Undecided(format!(
                    "was bulk-loaded with sequence id {newest}, but {major} is of {compaction}, and does not name it as an input"
                ))
            });
        }
        let is_same_compaction =
            origin.is_major_compaction && newest == *up_to && origin.inputs == by.inputs;
        if is_same_compaction {
            return None;
        }
        Some(if origin.is_of_family() && origin.created > by.created {
            FileDecision::Undecided(format!(
                "was begun after {major}, {compaction}, and ends at {newest}: HBase gave out sequence ids again, or their servers' clocks differ"
            ))
        } else {
            FileDecision::LeftOut(format!(
                "{major} replaced it: {compaction}; this file ends at {newest}"
            ))
        })
    }
}

/// Returns the decisions about files that others name as their inputs.
fn named_inputs(files: &[Candidate]) -> BTreeMap<String, FileDecision> {
    let files: Vec<FamilyFile> = files.iter().map(Candidate::family_file).collect();
    let replaced = ReplacedFiles::by_files(&files);
    let mut decided = BTreeMap::new();
    for (input, by) in replaced.by_file() {
        let why = format!("{by} replaced it: a compaction had it as an input");
        decided.insert(input.clone(), FileDecision::LeftOut(why));
    }
    let counted = files.iter().filter(|file| file.counts);
    for name in counted.flat_map(FamilyFile::other_inputs) {
        let why = "compacted files name each other as inputs".to_owned();
        decided.entry(name.clone()).or_insert(FileDecision::Undecided(why));
    }
    decided
}

/// Returns the decisions about files whose inputs are also those of another file, which is taken.
///
/// Files with equal inputs are all kept: they are repeats, or each has a part of the cells.
fn repeated_compactions(files: &[Candidate]) -> BTreeMap<String, FileDecision> {
    let mut decided = BTreeMap::new();
    for file in files {
        let Some(origin) = file.origin_unless_left_out() else { continue };
        for other in files {
            let Some(by) = other.taken_origin() else { continue };
            if by.inputs == origin.inputs || by.inputs.is_disjoint(&origin.inputs) {
                continue;
            }
            let decision = if origin.inputs.is_subset(&by.inputs) {
                FileDecision::LeftOut(format!(
                    "{} replaced it: its compaction had all inputs of this file, and more",
                    other.name
                ))
            } else if by.inputs.is_subset(&origin.inputs) {
                continue;
            } else {
                FileDecision::Undecided(format!(
                    "{} is of a compaction with some of the same inputs: one of the two failed, and was in no list",
                    other.name
                ))
            };
            // That a file is left out for sure counts before a doubt.
            if matches!(decision, FileDecision::LeftOut(_)) || !decided.contains_key(&file.name) {
                decided.insert(file.name.clone(), decision);
            }
        }
    }
    decided
}

#[cfg(test)]
mod tests {
    use sstable::Timestamp;

    use super::super::decision::FileKind;
    use super::*;

    fn file(name: &str, newest: u64, inputs: &[&str]) -> Candidate {
        let origin = Origin {
            kind: FileKind::HFile,
            inputs: inputs.iter().map(|input| (*input).to_owned()).collect(),
            is_major_compaction: false,
            is_bulk_loaded: false,
            newest_sequence: Some(newest),
            created: None,
            is_one_of_several: false,
        };
        let decision = FileDecision::Taken(origin.kind);
        let mut file = Candidate::new(name.to_owned(), 1, decision);
        file.origin = Some(origin);
        file
    }

    fn reference(mut file: Candidate) -> Candidate {
        file.origin.as_mut().expect("readable").kind = FileKind::Reference;
        file
    }

    fn major(mut file: Candidate) -> Candidate {
        file.origin.as_mut().expect("an HFile").is_major_compaction = true;
        file
    }

    fn bulk_loaded(mut file: Candidate) -> Candidate {
        file.origin.as_mut().expect("an HFile").is_bulk_loaded = true;
        file
    }

    /// Returns the files with a mark: `+` taken, `-` left out, `?` undecided.
    fn decide(files: Vec<Candidate>, other_engine: Option<&str>) -> String {
        let mut files = files;
        let other_engine = other_engine.map(str::to_owned);
        CompactionRules { other_engine, is_list_current: true }.apply(&mut files);
        let mark = |file: &Candidate| match file.decision() {
            FileDecision::Taken(_) => '+',
            FileDecision::LeftOut(_) => '-',
            FileDecision::Undecided(_) => '?',
        };
        files
            .iter()
            .map(|file| format!("{}{}", mark(file), file.name))
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn inputs_of_compactions_are_left_out_over_any_number_of_compactions() {
        let files = || {
            vec![
                file("a", 1, &[]),
                file("b", 2, &["a", "gone"]),
                file("c", 3, &["b"]),
                file("d", 4, &[]),
            ]
        };
        assert_eq!(decide(files(), None), "-a -b +c +d");
        let others = "?a ?b +c +d";
        assert_eq!(decide(files(), Some("org.example.StripeStoreEngine")), others);
    }

    #[test]
    fn references_are_replaced_as_other_files() {
        let files = vec![
            file("a", 3, &["x.parent"]),
            reference(file("x.parent", 2, &[])),
            reference(file("y.parent", 2, &[])),
        ];
        assert_eq!(decide(files, None), "+a -x.parent +y.parent");
        let files = vec![
            major(file("m", 3, &["gone"])),
            reference(file("x.parent", 3, &[])),
            reference(file("y.parent", 4, &[])),
        ];
        assert_eq!(decide(files, None), "+m -x.parent +y.parent");
    }

    #[test]
    fn files_that_name_each_other_replace_nothing() {
        assert_eq!(
            decide(vec![file("a", 1, &["b"]), file("b", 2, &["a"]), file("c", 3, &[])], None),
            "?a ?b +c"
        );
        assert_eq!(decide(vec![file("a", 1, &["a"])], None), "+a");
    }

    #[test]
    fn of_compactions_with_common_inputs_the_larger_one_counts() {
        assert_eq!(
            decide(vec![file("x", 2, &["a", "b"]), file("y", 3, &["a", "b", "c"])], None),
            "-x +y"
        );
        assert_eq!(
            decide(vec![file("x", 2, &["a", "b"]), file("y", 3, &["b", "c"])], None),
            "?x ?y"
        );
        assert_eq!(decide(vec![file("x", 2, &["a"]), file("y", 2, &["a"])], None), "+x +y");
        let three = vec![
            file("x", 2, &["a", "b"]),
            file("y", 3, &["b", "c"]),
            file("z", 4, &["a", "b", "c"]),
        ];
        assert_eq!(decide(three, None), "-x -y +z");
    }

    #[test]
    fn a_major_compaction_replaced_all_files_up_to_its_sequence_id() {
        let files = vec![
            file("a", 4, &[]),
            file("b", 5, &[]),
            file("c", 6, &[]),
            bulk_loaded(file("d", 3, &[])),
            bulk_loaded(file("e", 5, &[])),
            major(file("m", 5, &["gone"])),
        ];
        assert_eq!(decide(files, None), "-a -b +c ?d +e +m");
        // Two files of the same compaction, and an older one.
        let files = vec![
            major(file("l", 3, &["x"])),
            major(file("m", 5, &["y"])),
            major(file("n", 5, &["y"])),
        ];
        assert_eq!(decide(files, None), "-l +m +n");
    }
    fn begun(mut file: Candidate, time: i64) -> Candidate {
        file.origin.as_mut().expect("an HFile").created = Some(Timestamp::new(time));
        file
    }

    /// HBase gives out sequence ids from those of the files that it finds, so again if a list is gone.
    #[test]
    fn a_major_compaction_did_not_replace_what_was_written_after_it() {
        let files = vec![
            begun(file("a", 4, &[]), 9),
            begun(file("b", 4, &[]), 11),
            file("c", 4, &[]),
            begun(reference(file("x.parent", 4, &[])), 11),
            begun(major(file("m", 5, &["gone"])), 10),
        ];
        assert_eq!(decide(files, None), "-a ?b -c -x.parent +m");
        // The later of two with the same sequence id, one of which was an input over a compaction that is gone.
        let files = vec![
            begun(major(file("m", 5, &["a"])), 10),
            begun(major(file("n", 5, &["l"])), 9),
            begun(major(file("o", 5, &["a"])), 9),
        ];
        assert_eq!(decide(files, None), "+m -n +o");
        let mut listed = begun(file("a", 4, &[]), 9);
        listed.is_listed = true;
        let files = vec![listed, begun(major(file("m", 5, &["gone"])), 10)];
        assert_eq!(decide(files, None), "+a +m");
    }
}
