//! The files to inspect: from the manifest, or from the directories if it is damaged.

use std::path::Path;

use super::file_report::{FileKind, FileReport};
use crate::error::{Error, Result};
use crate::files::manifest::{FamilyEntry, FileEntry, Manifest};
use crate::files::names::identity::is_store_file_name;
use crate::files::names::segment_number::SegmentNumber;
use crate::files::names::{LOCK_NAME, UNFINISHED_NAME, WAL_DIRECTORY, check_family_name};
use crate::options::{FamilyOptions, StoreOptions};
use crate::vfs::Vfs;
use crate::write::log::{self, LogExtent};

/// The files of a store, before they are read.
pub(super) struct InspectionPlan {
    /// The manifest; `None` if it is damaged or missing.
    pub(super) manifest: Option<Manifest>,
    /// The report about the manifest.
    pub(super) report: FileReport,
    pub(super) families: Vec<PlannedFamily>,
    /// Whether the log's directory exists.
    pub(super) has_log: bool,
    /// Names in the store's directory that do not belong to the store.
    pub(super) left_over: Vec<String>,
    /// The maximum length of a log segment.
    segment_len_max: u64,
}

/// A family, with its store files and other files.
pub(super) struct PlannedFamily {
    pub(super) name: String,
    pub(super) options: FamilyOptions,
    pub(super) files: Vec<PlannedFile>,
    /// Names in the family's directory that the manifest does not list; without a manifest, those that
    /// are no names of store files.
    pub(super) left_over: Vec<String>,
}

/// A store file of the manifest, or an existing one if the manifest cannot be read.
pub(super) struct PlannedFile {
    pub(super) name: String,
    pub(super) entry: Option<FileEntry>,
}

impl InspectionPlan {
    /// Lists the files of the store in a directory.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] if names is no manifest, no log and no file of an unfinished salvage.
    pub(super) fn make(options: &StoreOptions, directory: &Path) -> Result<Self> {
        let vfs = &*options.vfs;
        let mut report = FileReport::new(directory.join(Manifest::NAME), FileKind::Manifest);
        let loaded = Manifest::load(vfs, directory);
        let has_manifest = !matches!(loaded, Ok(None));
        let manifest = match loaded {
            Ok(Some(manifest)) => Some(manifest),
            Ok(None) => {
                report.add_problem("missing");
                None
            }
            Err(Error::Corrupt { at, what, .. }) => {
                report.add_problem(what);
                report.problems[0].at = at;
                None
            }
            Err(error) => {
                report.add_error(&error);
                None
            }
        };
        let entries = match vfs.list(directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(Error::io(directory, "list")(error)),
        };
        let directories: Vec<&str> =
            entries.iter().filter(|entry| entry.is_directory()).map(|entry| &*entry.name).collect();
        let is_unfinished = entries.iter().any(|entry| entry.name == UNFINISHED_NAME);
        if is_unfinished {
            report.add_problem(Error::Unfinished { path: directory.to_path_buf() }.to_string());
        } else if !has_manifest && !directories.contains(&WAL_DIRECTORY) {
            return Err(Error::Missing { path: directory.to_path_buf() });
        }
        let sources: Vec<_> = match &manifest {
            Some(manifest) => manifest.families.iter().map(FamilySource::of).collect(),
            None => directories
                .iter()
                .filter(|name| check_family_name(name).is_ok())
                .map(|name| FamilySource::of_directory(name))
                .collect(),
        };
        let has_log = directories.contains(&WAL_DIRECTORY);
        if !has_log {
            report.add_problem("the directory wal of the log is missing");
        }
        let mut families = Vec::new();
        for source in sources {
            let has_directory = directories.contains(&source.name.as_str());
            if !has_directory {
                let name = &source.name;
                report.add_problem(format!("the directory of family {name} is missing"));
            }
            families.push(PlannedFamily::plan(vfs, directory, source, has_directory)?);
        }
        let known = [LOCK_NAME, Manifest::NAME, WAL_DIRECTORY, UNFINISHED_NAME];
        let is_known = |name: &str| {
            known.contains(&name)
                || families.iter().any(|family: &PlannedFamily| family.name == name)
        };
        let left_over =
            entries.iter().map(|entry| entry.name.clone()).filter(|name| !is_known(name)).collect();
        let segment_len_max = log::segment_len_max(options.wal_segment_bytes);
        Ok(Self { manifest, report, families, has_log, left_over, segment_len_max })
    }

    /// Returns which segments must be in the log's directory.
    pub(super) fn log_extent<'a>(&self, directory: &'a Path) -> LogExtent<'a> {
        let manifest = self.manifest.as_ref();
        let first = manifest.map_or(SegmentNumber::FIRST, |manifest| manifest.first_segment);
        LogExtent {
            directory,
            store: manifest.map(|manifest| manifest.store),
            first,
            end: manifest.map_or(first, |manifest| manifest.log_end),
            segment_len_max: self.segment_len_max,
        }
    }
}

/// A family of the manifest, or the name of a directory.
struct FamilySource<'m> {
    name: String,
    options: FamilyOptions,
    /// The files in the manifest; `None` without a manifest.
    files: Option<&'m [FileEntry]>,
}

impl<'m> FamilySource<'m> {
    fn of(entry: &'m FamilyEntry) -> Self {
        let FamilyEntry { name, options, files, .. } = entry;
        Self { name: name.clone(), options: options.clone(), files: Some(files) }
    }

    fn of_directory(name: &str) -> Self {
        Self { name: name.to_owned(), options: FamilyOptions::default(), files: None }
    }
}

impl PlannedFamily {
    fn plan(
        vfs: &dyn Vfs,
        store: &Path,
        family: FamilySource<'_>,
        has_directory: bool,
    ) -> Result<Self> {
        let FamilySource { name, options, files: in_manifest } = family;
        let directory = store.join(&name);
        let mut names = Vec::new();
        if has_directory {
            let entries = vfs.list(&directory).map_err(Error::io(&directory, "list"))?;
            names.extend(entries.into_iter().map(|entry| entry.name));
        }
        names.sort();
        let (files, left_over) = if let Some(in_manifest) = in_manifest {
            names.retain(|name| in_manifest.iter().all(|entry| entry.name != *name));
            let planned = |entry: &FileEntry| PlannedFile {
                name: entry.name.clone(),
                entry: Some(entry.clone()),
            };
            (in_manifest.iter().map(planned).collect(), names)
        } else {
            let (ours, others): (Vec<_>, Vec<_>) =
                names.into_iter().partition(|name| is_store_file_name(name));
            let planned = |name| PlannedFile { name, entry: None };
            (ours.into_iter().map(planned).collect(), others)
        };
        Ok(Self { name, options, files, left_over })
    }
}
