//! Finds the files of a family that compactions replaced, and that would bring back deleted cells.
//!
//! HBase names the inputs of a compaction in the file that it writes (`COMPACTION_EVENT_KEY`), and leaves out
//! these files when it opens the family. Files can stay in the directory after their removal from the list, and
//! a compaction that failed at its end can leave a complete file that never was in the list.
//!
//! | a file is left out if                                        | because                                       |
//! |--------------------------------------------------------------|-----------------------------------------------|
//! | another file names it as an input                            | that file has its cells                       |
//! | another file has all its inputs, and more                    | its compaction failed, and was repeated later |
//! | its sequence id is not above that of a major compaction of   | that one had all files of its time as inputs, |
//! | this region, unless it is bulk-loaded                        | and dropped deleted cells with their markers  |
//!
//! A bulk-loaded file replaces nothing, whatever its file info says, and neither does a reference or a link.
//!
//! These rules hold for the default engine, which writes one file for each compaction. With another one, such as
//! stripes, cells of an input can be in a file that is lost, so that the caller has to decide.

use std::collections::{BTreeMap, BTreeSet};

use super::candidate::Candidate;
use super::decision::FileDecision;

/// The rules of a family, by the engine that compacts its files.
pub(super) struct CompactionRules {
    /// The engine, unless it is the default one.
    pub(super) other_engine: Option<String>,
}

impl CompactionRules {
    /// Leaves out the files that compactions replaced.
    pub(super) fn apply(&self, files: &mut [Candidate]) {
        self.apply_decisions(files, &named_inputs(files));
        self.apply_decisions(files, &repeated_compactions(files));
        self.apply_decisions(files, &older_than_major_compaction(files));
    }

    fn apply_decisions(&self, files: &mut [Candidate], decided: &BTreeMap<String, FileDecision>) {
        for file in files {
            let Some(decision) = decided.get(&file.name) else { continue };
            file.decision = match (decision, &self.other_engine) {
                (FileDecision::LeftOut(why), Some(engine)) => FileDecision::Undecided(format!(
                    "{why}; but {engine} may have written other files with its cells"
                )),
                _ => decision.clone(),
            };
        }
    }
}

/// Returns the names of the files that files of the list replaced, over any number of compactions, each with the name
/// of the file that replaced it. They need not be there.
///
/// Files that name each other replace nothing: their cells would be in no file of the list.
pub(super) fn replaced_files(files: &[Candidate]) -> BTreeMap<String, String> {
    let known: BTreeMap<&str, &Candidate> = files.iter().map(|file| (&*file.name, file)).collect();
    let taken = || files.iter().filter(|file| file.decision.is_taken());
    let named: BTreeSet<&String> = taken().flat_map(inputs).collect();
    let mut replaced = BTreeMap::new();
    let mut pending: Vec<&Candidate> = taken().filter(|file| !named.contains(&file.name)).collect();
    while let Some(file) = pending.pop() {
        for input in inputs(file) {
            if replaced.insert(input.clone(), file.name.clone()).is_none() {
                pending.extend(known.get(&**input));
            }
        }
    }
    replaced
}

/// Returns the names of the other files that a file replaced.
fn inputs(file: &Candidate) -> impl Iterator<Item = &String> {
    let inputs = file.origin.iter().flat_map(|origin| &origin.inputs);
    inputs.filter(|input| **input != file.name)
}

/// Returns the decisions about files that others name as their inputs.
fn named_inputs(files: &[Candidate]) -> BTreeMap<String, FileDecision> {
    let replaced = replaced_files(files).into_iter().map(|(input, by)| {
        let why = format!("{by} replaced it: a compaction had it as an input");
        (input, FileDecision::LeftOut(why))
    });
    let mut decided: BTreeMap<String, FileDecision> = replaced.collect();
    let taken = || files.iter().filter(|file| file.decision.is_taken());
    for name in taken().flat_map(inputs) {
        let why = "compacted files name each other as inputs".to_owned();
        decided.entry(name.clone()).or_insert(FileDecision::Undecided(why));
    }
    decided
}

/// Returns the decisions about files whose inputs are also those of another file, which is taken.
///
/// Files with the same inputs can all count: they have the same cells, or each has a part.
fn repeated_compactions(files: &[Candidate]) -> BTreeMap<String, FileDecision> {
    let mut decided = BTreeMap::new();
    for file in files {
        let Some(origin) = file.open_origin() else { continue };
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
                    "{} is of a compaction with some of the same inputs: only one of the two was in a list",
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

/// Returns the decisions about files that a major compaction must have had as inputs, by their sequence ids.
fn older_than_major_compaction(files: &[Candidate]) -> BTreeMap<String, FileDecision> {
    let major = files.iter().filter_map(|file| {
        let origin = file.taken_origin().filter(|origin| origin.is_major_compaction)?;
        Some((origin.newest_sequence?, &*file.name))
    });
    let Some((up_to, major)) = major.max() else { return BTreeMap::new() };
    let mut decided = BTreeMap::new();
    for file in files.iter().filter(|file| file.name != major) {
        let Some(origin) = file.open_origin() else { continue };
        let Some(newest) = origin.newest_sequence.filter(|newest| *newest <= up_to) else {
            continue;
        };
        // Two files of one compaction have the same sequence id and the same inputs.
        let is_its_twin = origin.is_major_compaction && newest == up_to;
        if !origin.is_bulk_loaded && !is_its_twin {
            let why = format!(
                "{major} replaced it: a major compaction of all files up to sequence id {up_to}; this file ends at {newest}"
            );
            decided.insert(file.name.clone(), FileDecision::LeftOut(why));
        }
    }
    decided
}

#[cfg(test)]
mod tests {
    use super::super::candidate::Origin;
    use super::super::decision::FileKind;
    use super::*;

    fn file(name: &str, newest: u64, inputs: &[&str]) -> Candidate {
        let origin = Origin {
            kind: FileKind::HFile,
            inputs: inputs.iter().map(|input| (*input).to_owned()).collect(),
            is_major_compaction: false,
            is_bulk_loaded: false,
            newest_sequence: Some(newest),
        };
        Candidate {
            name: name.to_owned(),
            len: 1,
            decision: FileDecision::Taken(origin.kind),
            origin: Some(origin),
        }
    }

    fn reference(mut file: Candidate) -> Candidate {
        file.origin.as_mut().expect("readable").kind = FileKind::Reference;
        file.decision = FileDecision::Taken(FileKind::Reference);
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
        CompactionRules { other_engine: other_engine.map(str::to_owned) }.apply(&mut files);
        let mark = |file: &Candidate| match file.decision {
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
            major(file("m", 5, &["gone"])),
        ];
        assert_eq!(decide(files, None), "-a -b +c +d +m");
        // Two files of the same compaction, and an older one.
        let files = vec![
            major(file("l", 3, &["x"])),
            major(file("m", 5, &["y"])),
            major(file("n", 5, &["y"])),
        ];
        assert_eq!(decide(files, None), "-l +m +n");
    }
}
