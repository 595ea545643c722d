//! Expands the PATH arguments: replaces each directory by the store files below it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use hbase_files::{DirectoryKind, Listing, LocalTree, split_off_compacted, split_off_replaced};

use super::input::Input;
use super::skipped::{compacted_files_line, replaced_regions_line, summary};
use crate::failure::{Answer, Failure};
use crate::inputs::Outcomes;
use crate::text::stderr::print_message;
use crate::text::warnings::print_warnings;

/// A part of a directory that cannot be listed, so that store files may be missing.
pub(crate) struct UnreadDirectory {
    /// The directory, as the argument names it.
    pub(crate) directory: String,
    pub(crate) error: anyhow::Error,
}

/// What becomes of files whose cells are in other files: files of regions that a split or a merge replaced, and
/// inputs of compactions.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Superseded {
    LeftOut,
    Kept,
}

/// The store files to read, in the order of the arguments and of their paths.
pub(crate) struct Inputs {
    files: Vec<Input>,
    superseded: Superseded,
    /// The parts of directories that cannot be listed.
    problems: Vec<UnreadDirectory>,
}

impl Inputs {
    /// Expands the arguments to the files whose cells count: without files of regions that a split or a merge
    /// replaced, and without inputs of compactions, because other files have their cells.
    ///
    /// Prints lines on stderr for each directory with entries that it skips or leaves out.
    pub(crate) fn expand(paths: &[PathBuf]) -> Self {
        Self::new(paths, Superseded::LeftOut)
    }

    /// Expands the arguments to all store files, for a verb that treats each file by itself.
    ///
    /// Prints a line on stderr for each directory with entries that it skips.
    pub(crate) fn expand_all(paths: &[PathBuf]) -> Self {
        Self::new(paths, Superseded::Kept)
    }

    fn new(paths: &[PathBuf], superseded: Superseded) -> Self {
        let mut inputs = Self { files: Vec::new(), superseded, problems: Vec::new() };
        for path in paths {
            if path.is_dir() {
                inputs.add_directory(path);
            } else {
                inputs.files.push(Input::of_argument(path));
            }
        }
        if inputs.superseded == Superseded::LeftOut {
            inputs.leave_out_superseded();
        }
        inputs
    }

    /// Leaves out the files of replaced regions, also of those that are another argument than the regions that
    /// replaced them, as in `TABLE/*`, and then the files that compactions replaced. A reference counts for its
    /// region although a compaction has replaced it.
    fn leave_out_superseded(&mut self) {
        let mut entries = self.files.iter().filter_map(Input::entry).cloned().collect();
        let regions = split_off_replaced(&LocalTree, &mut entries);
        let compacted = split_off_compacted(&LocalTree, &mut entries);
        let lines = [replaced_regions_line(&regions), compacted_files_line(&compacted)];
        for line in lines.iter().flatten() {
            print_message(format_args!("hfile: {line}"));
        }
        let files = regions.iter().flat_map(|region| &region.files).chain(&compacted);
        let paths: BTreeSet<&Path> = files.map(|file| &*file.path).collect();
        self.files.retain(|file| file.is_argument() || !paths.contains(file.path()));
    }

    /// The store files.
    pub(crate) fn files(&self) -> &[Input] {
        &self.files
    }

    /// Takes the problems with directories. Verbs report them before the files.
    pub(crate) fn take_problems(&mut self) -> Vec<UnreadDirectory> {
        std::mem::take(&mut self.problems)
    }

    /// Returns the store files, and the problems with directories, to report them first.
    ///
    /// # Errors
    ///
    /// The problem, if it is the only one and there are no files.
    pub(crate) fn into_parts(mut self) -> anyhow::Result<(Vec<Input>, Vec<UnreadDirectory>)> {
        if self.files.is_empty() && self.problems.len() == 1 {
            return Err(self.problems.remove(0).error);
        }
        Ok((self.files, self.problems))
    }

    /// The problems with directories.
    pub(crate) fn problems(&self) -> &[UnreadDirectory] {
        &self.problems
    }

    /// Runs `work` for each store file in order, and combines the answers.
    ///
    /// If there is only one file, its failure is returned unchanged, without a count of unread files.
    pub(crate) fn for_each(
        self,
        mut work: impl FnMut(&Input) -> anyhow::Result<Answer>,
    ) -> anyhow::Result<Answer> {
        let (files, problems) = self.into_parts()?;
        if let ([file], []) = (&files[..], &problems[..]) {
            return work(file);
        }
        let count = files.len() + problems.len();
        let mut outcomes = Outcomes::default();
        for problem in problems {
            outcomes.record(Err(problem.error))?;
        }
        for file in &files {
            outcomes.record(work(file))?;
        }
        outcomes.conclude(count, "file")
    }

    fn add_directory(&mut self, directory: &Path) {
        let shown = directory.display();
        let mut listing = match Listing::read(&LocalTree, directory) {
            Ok(listing) => listing,
            Err(error) => return self.add_problem(directory, error.into()),
        };
        match self.superseded {
            Superseded::LeftOut => {
                if let Some(line) = replaced_regions_line(&listing.replaced) {
                    print_message(format_args!("hfile: {shown}: {line}"));
                }
            }
            Superseded::Kept => {
                let replaced = listing.replaced.drain(..).flat_map(|region| region.files);
                listing.entries.extend(replaced);
                listing.entries.sort_by(|one, other| one.path.cmp(&other.path));
            }
        }
        let summary_of_skipped = summary(&listing.skipped);
        if listing.entries.is_empty() && listing.problems.is_empty() {
            let skipped =
                summary_of_skipped.map(|skipped| format!(" ({skipped})")).unwrap_or_default();
            let what = format!("{shown}: no HFiles in this directory{skipped}");
            return self.add_problem(directory, Failure::NoStoreFiles(what).into());
        }
        if let Some(skipped) = summary_of_skipped {
            print_message(format_args!("hfile: {shown}: {skipped}"));
        }
        if listing.directory_kind == DirectoryKind::Store {
            print_message(format_args!(
                "hfile: {shown}: this is a store of hfile: its HFiles are read without its manifest and log; \
                 hfile store reads the store"
            ));
        }
        print_warnings(&listing.warnings);
        for problem in listing.problems {
            self.add_problem(directory, problem.into());
        }
        self.files.extend(listing.entries.into_iter().map(Input::of_entry));
    }

    fn add_problem(&mut self, directory: &Path, error: anyhow::Error) {
        self.problems.push(UnreadDirectory { directory: directory.display().to_string(), error });
    }
}
