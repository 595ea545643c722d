//! Why a new list leaves out a file of a family, or leaves the decision to the caller.
//!
//! | rule                          | case                                                        | decision  |
//! |-------------------------------|-------------------------------------------------------------|-----------|
//! | [`by_previous_list`]          | the newest readable list lacks the file, and no list may be | undecided |
//! |                               | newer: HBase left it out, or a list with it was lost        |           |
//! |                               | an unreadable list may be newer, and the file was begun     | undecided |
//! |                               | before the readable list, which lacks it                    |           |
//! |                               | the list has the file with another length                   | undecided |
//! | [`copies_of_bulk_loads`]      | no sequence id, and a file `…_SeqId_N_` has the same bytes: | left out  |
//! |                               | a bulk load copied it there, and then loaded the copy       |           |
//! |                               | the same bytes, and a sequence id in the file info: it can  | undecided |
//! |                               | be of this region, and was loaded into it once more         |           |
//! |                               | no sequence id, and no such copy: the load failed, or the   | undecided |
//! |                               | copy was compacted since                                    |           |
//! | [`named_inputs`]              | a compaction replaced it: see `history/replaced_files.rs`   | left out  |
//! |                               | files name each other as inputs                             | undecided |
//! | [`repeated_compactions`]      | another file was compacted from all its inputs and others:  | left out  |
//! |                               | its compaction failed, and was repeated later               |           |
//! |                               | another file was compacted from some of its inputs          | undecided |
//! | [`before_a_major_compaction`] | its sequence id is not above that of a major compaction,    | left out  |
//! |                               | which had all files up to its sequence id as inputs         |           |
//! |                               | so, but it was begun after it: HBase gives out sequence ids | undecided |
//! |                               | again if it opens a region whose list is gone               |           |
//! |                               | so, but it was bulk-loaded with a lower sequence id         | undecided |
//! | [`only_in_the_list`]          | not there, and replaced, or archived since an unreadable    | left out  |
//! |                               | list, which may be newer: HBase archives a file after it    |           |
//! |                               | has written a list without it                               |           |
//! |                               | otherwise not there                                         | undecided |
//!
//! The rules apply in this order, each after the decisions of those before, and the last decision counts. A file that
//! the caller has named is not decided by them. The rules about compactions pass over files that are left out already,
//! unless a file names them as an input. A major compaction says nothing about files that a current list has, files of the same compaction
//! (with the same inputs) and bulk-loaded files with its own sequence id.
//!
//! An engine other than the default one can write several files in a compaction, and one file may be lost: what a
//! compaction replaced is undecided then.

use std::collections::BTreeMap;

use super::candidate::{Candidate, FilePlace, Origin};
use super::decision::{FileDecision, FileKind};
use super::loaded_copies::is_loaded;
use crate::history::{FamilyFile, ReplacedFiles};
use crate::table::tracker::PreviousLists;

/// What is known of a family besides its files.
pub(super) struct Evidence<'f> {
    pub(super) previous: &'f PreviousLists,
    /// The engine that compacts the files, unless it is the default one.
    pub(super) other_engine: Option<String>,
}

/// By the name of the file.
type Decisions = BTreeMap<String, FileDecision>;

type Rule = fn(&Evidence<'_>, &[Candidate]) -> Decisions;

const RULES: [Rule; 6] = [
    by_previous_list,
    copies_of_bulk_loads,
    named_inputs,
    repeated_compactions,
    before_a_major_compaction,
    only_in_the_list,
];

impl Evidence<'_> {
    /// Decides about all files, except those about which the caller has decided.
    pub(super) fn decide(&self, files: &mut [Candidate]) {
        for rule in RULES {
            let mut decisions = rule(self, files);
            for file in files.iter_mut().filter(|file| !file.is_chosen) {
                if let Some(decision) = decisions.remove(&file.name) {
                    file.decision = decision;
                }
            }
        }
    }

    /// Returns the decision about a file that a compaction replaced.
    fn replaced(&self, why: String) -> FileDecision {
        match &self.other_engine {
            None => FileDecision::LeftOut(why),
            Some(engine) => FileDecision::Undecided(format!(
                "{why}; but {engine} may have written other files with its cells"
            )),
        }
    }
}

/// Returns the decisions about files, each by its own case.
fn decide_each(
    files: &[Candidate],
    decision: impl Fn(&Candidate) -> Option<FileDecision>,
) -> Decisions {
    files.iter().filter_map(|file| Some((file.name.clone(), decision(file)?))).collect()
}

fn by_previous_list(evidence: &Evidence<'_>, files: &[Candidate]) -> Decisions {
    let PreviousLists { newest: Some(list), may_be_outdated, .. } = evidence.previous else {
        return Decisions::new();
    };
    let name = list.file_name();
    let is_older = |origin: &Origin| {
        let created = origin.created.and_then(|created| u64::try_from(created.get()).ok());
        origin.is_of_family() && created.is_some_and(|created| created < list.timestamp)
    };
    decide_each(files, |file| {
        let (len, origin) = (file.len, file.taken_origin());
        let why = match (&file.listed, origin) {
            // A file without bytes may have lost them.
            (Some(listed), _) if len == 0 || origin?.kind == FileKind::HFile => {
                let differs = listed.size > 0 && listed.size != len;
                differs
                    .then(|| format!("has {len} bytes, but {} in the list {name}", listed.size))?
            }
            (None, Some(_)) if !may_be_outdated => format!(
                "is not in the list {name}, which can be read: HBase left it out, or wrote {name} after another list was lost"
            ),
            (None, Some(origin)) if is_older(origin) => format!(
                "was begun before the list {name}, which lacks it: a write that failed left it, or only an unreadable list names it"
            ),
            _ => return None,
        };
        Some(FileDecision::Undecided(why))
    })
}

fn copies_of_bulk_loads(_: &Evidence<'_>, files: &[Candidate]) -> Decisions {
    decide_each(files, |file| {
        let origin = file.origin_unless_left_out()?;
        if origin.kind != FileKind::HFile || file.listed.is_some() || is_loaded(&file.name) {
            return None;
        }
        Some(match (&file.loaded_copy, origin.newest) {
            (Some(same), None) => FileDecision::LeftOut(format!(
                "a bulk load left it there: {same} is the same file with a sequence id"
            )),
            (Some(same), Some(_)) => FileDecision::Undecided(format!(
                "is the same file as {same}: a bulk load of files of a region left it there, or it is of this region itself"
            )),
            (None, None) => FileDecision::Undecided(
                "has no sequence id: a bulk load gave it none or did not finish, or a compaction has replaced the loaded copy"
                    .to_owned(),
            ),
            (None, Some(_)) => return None,
        })
    })
}

fn named_inputs(evidence: &Evidence<'_>, files: &[Candidate]) -> Decisions {
    let family: Vec<FamilyFile> = files.iter().map(Candidate::family_file).collect();
    let mut decisions = Decisions::new();
    for input in family.iter().filter(|file| file.counts).flat_map(FamilyFile::other_inputs) {
        let why = "compacted files name each other as inputs".to_owned();
        decisions.insert(input.clone(), FileDecision::Undecided(why));
    }
    for (input, by) in ReplacedFiles::by_files(&family).by_file() {
        let why = format!("{by} replaced it: a compaction had it as an input");
        decisions.insert(input.clone(), evidence.replaced(why));
    }
    decisions
}

fn repeated_compactions(evidence: &Evidence<'_>, files: &[Candidate]) -> Decisions {
    decide_each(files, |file| {
        let inputs = &file.origin_unless_left_out()?.inputs;
        // Files with equal inputs are all kept: they are repeats, or each has a part of the cells.
        let overlapping: Vec<(&str, &Origin)> = files
            .iter()
            .filter_map(|other| Some((&*other.name, other.taken_origin()?)))
            .filter(|(_, by)| by.inputs != *inputs && !by.inputs.is_disjoint(inputs))
            .collect();
        if let Some((by, _)) = overlapping.iter().rfind(|(_, by)| inputs.is_subset(&by.inputs)) {
            let why = "its compaction had all inputs of this file, and more";
            return Some(evidence.replaced(format!("{by} replaced it: {why}")));
        }
        let (other, _) = overlapping.iter().find(|(_, by)| !by.inputs.is_subset(inputs))?;
        Some(FileDecision::Undecided(format!(
            "{other} is of a compaction with some of the same inputs: one of the two failed, and was in no list"
        )))
    })
}

fn before_a_major_compaction(evidence: &Evidence<'_>, files: &[Candidate]) -> Decisions {
    let major = files.iter().filter_map(|file| {
        let origin = file.taken_origin().filter(|origin| origin.is_major_compaction)?;
        Some((origin.newest?, origin, &file.name))
    });
    let Some((up_to, by, major)) = major.max_by_key(|(up_to, by, _)| (*up_to, by.created)) else {
        return Decisions::new();
    };
    let compaction = format!("a major compaction of all files up to sequence id {}", up_to.get());
    decide_each(files, |file| {
        let is_known_to_count = file.listed.is_some() && !evidence.previous.may_be_outdated;
        let origin = file.origin_unless_left_out()?;
        let newest = origin.newest.filter(|newest| *newest <= up_to)?;
        let is_same_compaction =
            origin.is_major_compaction && newest == up_to && origin.inputs == by.inputs;
        if file.name == *major || is_known_to_count || is_same_compaction {
            return None;
        }
        let number = newest.get();
        Some(if origin.is_bulk_loaded {
            if newest == up_to {
                return None;
            }
            FileDecision::Undecided(format!(
                "was bulk-loaded with sequence id {number}, but {major} is of {compaction}, and does not name it as an input"
            ))
        } else if origin.is_of_family() && origin.created > by.created {
            FileDecision::Undecided(format!(
                "was begun after {major}, {compaction}, and ends at {number}: HBase gave out sequence ids again, or their servers' clocks differ"
            ))
        } else {
            evidence
                .replaced(format!("{major} replaced it: {compaction}; this file ends at {number}"))
        })
    })
}

fn only_in_the_list(evidence: &Evidence<'_>, files: &[Candidate]) -> Decisions {
    let PreviousLists { newest: Some(list), may_be_outdated, .. } = evidence.previous else {
        return Decisions::new();
    };
    let name = list.file_name();
    let family: Vec<FamilyFile> = files.iter().map(Candidate::family_file).collect();
    let replaced = ReplacedFiles::by_files(&family);
    decide_each(files, |file| {
        let is_archived = match file.place {
            FilePlace::Family => return None,
            FilePlace::Archive => true,
            FilePlace::Nowhere => false,
        };
        let since = if replaced.has(&file.name) {
            Some("a compaction has replaced it since")
        } else {
            (is_archived && *may_be_outdated).then_some("HBase has archived it since")
        };
        if let Some(since) = since {
            let why = format!("is not there: {name} has it, and {since}");
            return Some(FileDecision::LeftOut(why));
        }
        let has_reference = file.listed.as_ref().is_some_and(|file| file.reference.is_some());
        Some(FileDecision::Undecided(if is_archived {
            format!(
                "is only in the archive, and the list {name} has it: restore it, or move an outdated list away"
            )
        } else if has_reference {
            format!(
                "a reference that is only in the list {name}, as newer versions of HBase keep them"
            )
        } else {
            format!("is not there, and the list {name} has it")
        }))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use sstable::{SequenceId, Timestamp};

    use super::*;

    /// Returns a file by its words: `NAME@SEQUENCE`, then `<INPUT,…` for a compaction of these files, `major`, `bulk`
    /// for a bulk-loaded file, `half` for a reference, `+TIME` for when it was begun, and `listed`.
    fn file(words: &str) -> Candidate {
        let mut rest = words.split(' ');
        let (name, newest) = rest.next().and_then(|word| word.split_once('@')).expect("a name");
        let mut origin = Origin {
            kind: FileKind::HFile,
            inputs: BTreeSet::new(),
            is_major_compaction: false,
            is_bulk_loaded: false,
            newest: newest.parse().ok().map(SequenceId::new),
            created: None,
            is_one_of_several: false,
        };
        let mut file = Candidate::new(name.to_owned(), 1, FileDecision::Taken(origin.kind));
        for word in rest {
            match word.split_at(1) {
                ("<", inputs) => origin.inputs = inputs.split(',').map(str::to_owned).collect(),
                ("+", time) => origin.created = time.parse().ok().map(Timestamp::new),
                ("m", _) => origin.is_major_compaction = true,
                ("b", _) => origin.is_bulk_loaded = true,
                ("h", _) => origin.kind = FileKind::Reference,
                _ => {
                    file.listed = Some(crate::table::TrackedFile {
                        name: name.to_owned(),
                        size: 0,
                        reference: None,
                    });
                }
            }
        }
        file.origin = Some(origin);
        file
    }

    /// Returns the files with a mark: `+` taken, `-` left out, `?` undecided.
    fn decide(files: &str, engine: Option<&str>) -> String {
        let mut candidates: Vec<Candidate> = files.split("; ").map(file).collect();
        let other_engine = engine.map(str::to_owned);
        Evidence { previous: &PreviousLists::default(), other_engine }.decide(&mut candidates);
        candidates
            .iter()
            .map(|file| match file.decision {
                FileDecision::Taken(_) => format!("+{}", file.name),
                FileDecision::LeftOut(_) => format!("-{}", file.name),
                FileDecision::Undecided(_) => format!("?{}", file.name),
            })
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn each_case_of_compactions_has_its_decision() {
        for (files, expected) in [
            ("a@1; b@2 <a,gone; c@3 <b; d@4", "-a -b +c +d"),
            ("a@3 <x.p; x.p@2 half; y.p@2 half", "+a -x.p +y.p"),
            ("m@3 <gone major; x.p@3 half; y.p@4 half", "+m -x.p +y.p"),
            ("a@1 <b; b@2 <a; c@3", "?a ?b +c"),
            ("a@1 <a", "+a"),
            ("x@2 <a,b; y@3 <a,b,c", "-x +y"),
            ("x@2 <a,b; y@3 <b,c", "?x ?y"),
            ("x@2 <a; y@2 <a", "+x +y"),
            ("x@2 <a,b; y@3 <b,c; z@4 <a,b,c", "-x -y +z"),
            ("a@4; b@5; c@6; d@3 bulk; e@5 bulk; m@5 <gone major", "-a -b +c ?d +e +m"),
            // Two files of the same compaction, and an older one.
            ("l@3 <x major; m@5 <y major; n@5 <y major", "-l +m +n"),
            // HBase continues after the sequence ids of the files that it finds, so it repeats ids if a list is gone.
            ("a@4 +9; b@4 +11; c@4; x.p@4 half +11; m@5 <gone major +10", "-a ?b -c -x.p +m"),
            // The later of two with the same sequence id.
            ("m@5 <a major +10; n@5 <l major +9; o@5 <a major +9", "+m -n +o"),
            ("a@4 +9 listed; m@5 <gone major +10", "+a +m"),
        ] {
            assert_eq!(decide(files, None), expected, "{files}");
        }
        let files = "a@1; b@2 <a,gone; c@3 <b; d@4";
        assert_eq!(decide(files, Some("org.example.StripeStoreEngine")), "?a ?b +c +d");
    }
}
