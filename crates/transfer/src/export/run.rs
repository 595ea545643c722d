//! An export: the parts of a source, on some threads, and the manifest of the complete parts.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use hbase_files::{MissingCells, OldLogCells, TableScan};
use sstable::{ReadTrace, Timestamp};
use store::Clock;

use super::form::ExportForm;
use super::manifest::{ExportedRegion, Manifest, Missing, Source};
use super::names;
use super::pace::ManifestPace;
use super::part::{ExportedPart, Job};
use super::resumable_directory::{ExportDirectory, OpenExport};
use super::sink::Sink;
use super::source::{ExportSource, Part};
use crate::error::Result;
use crate::option_problem::OptionProblem;
use crate::progress::{Extent, Observer, Warning};
use crate::unseen_columns::UnseenColumns;

/// An export to run.
pub(super) struct Export<'e> {
    pub(super) source: &'e dyn ExportSource,
    /// Which cells, and how many threads read.
    pub(super) scan: TableScan,
    pub(super) form: ExportForm,
    pub(super) output: &'e Path,
    pub(super) observer: &'e dyn Observer,
}

/// What an export did.
#[derive(Debug)]
pub struct Exported {
    /// The path of the manifest.
    pub manifest: PathBuf,
    /// The name of the table, if the source is a table or a snapshot.
    pub table: Option<String>,
    /// What a part of the source is called: "region", "row range" or "HFile".
    pub unit: &'static str,
    /// The exported parts, parts of earlier runs included.
    pub parts: u64,
    /// The exported parts that have rows.
    pub parts_with_rows: u64,
    /// Parts that an earlier run had exported.
    pub resumed: u64,
    /// The files of all parts.
    pub files: u64,
    /// Their rows.
    pub rows: u64,
    /// Their cells.
    pub cells: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What this run left out of parts because it is damaged or missing.
    pub missing: Vec<MissingCells>,
    /// What this run left out because it is in logs older than the files.
    pub old_log_cells: Vec<OldLogCells>,
    /// The counters of this run's reads.
    pub trace: ReadTrace,
    /// Whether no cells are missing, of earlier runs neither.
    pub is_whole: bool,
}

impl Export<'_> {
    /// Writes the files, or those that an earlier run did not write.
    pub(super) fn run(self) -> Result<Exported> {
        let Self { source, mut scan, form, output, observer } = self;
        let threads = std::mem::replace(&mut scan.threads, 1);
        // Before the directory is created: a wrong option leaves nothing behind.
        let missing_of_all = source.check(&scan)?;
        let new = new_manifest(source.describe(scan.with_logs), &form, &scan);
        Sink::check(&form)?;
        let OpenExport { directory, mut manifest } =
            ExportDirectory::open(output, new, form.format)?;
        check_now(scan.now, &manifest, output)?;
        scan.now = Some(Timestamp::new(manifest.now));
        manifest.missing = missing_of_all.iter().map(Into::into).collect();
        let parts = source.parts();
        let pending = pending_parts(parts, &manifest);
        let resumed = parts.len() - pending.len();
        manifest.unfinished =
            pending.iter().map(|part| names::prefix(form.format, *part, &parts[*part])).collect();
        manifest.complete = pending.is_empty() && manifest.is_whole();
        directory.write(&manifest)?;
        observer.warn(Warning::Missing(&missing_of_all));
        warn_of_missing_before(&manifest, observer);
        if pending.len() == 1 {
            scan.threads = threads;
        }
        let bytes: u64 = parts.iter().map(|part| part.bytes).sum();
        let left: u64 = pending.iter().map(|part| parts[*part].bytes).sum();
        let progress = observer.begin("exporting", Extent::Bytes(bytes));
        progress.skip(bytes - left);
        let job = Job {
            source,
            scan,
            form,
            out: directory.path(),
            missing: missing_of_all,
            is_stopped: AtomicBool::new(false),
            progress,
            observer,
        };
        let (mut missing, mut old_log_cells) = (Vec::new(), Vec::new());
        let mut unseen = UnseenColumns::new(&job.scan);
        let mut trace = ReadTrace::default();
        let mut pace = ManifestPace::new(manifest.regions.len());
        let done = export_all(&job, &pending, threads, |exported| {
            missing.extend(exported.missing);
            old_log_cells.extend(exported.old_log_cells);
            trace.add(&exported.trace);
            unseen.intersect(&exported.unseen);
            manifest.add(exported.part, exported.prefix);
            pace.add(|| directory.write(manifest.without_finished()))
        });
        drop(job);
        if done.is_err() {
            // The error that ended the export says more than one of this write.
            let _ = directory.write(manifest.without_finished());
        }
        done?;
        // The files of an earlier run may have the columns.
        if resumed == 0 {
            observer.warn(Warning::UnseenColumns(&unseen.names()));
        }
        let named = parts.iter().enumerate().map(|(place, part)| (&part.name[..], place));
        let places: HashMap<&str, usize> = named.collect();
        manifest.regions.sort_by_key(|part| places.get(&part.region[..]).copied());
        manifest.complete = manifest.is_whole();
        directory.write(manifest.without_finished())?;
        Ok(Exported {
            manifest: output.join(Manifest::NAME),
            table: manifest.source.table().map(str::to_owned),
            unit: manifest.source.unit(),
            parts: manifest.regions.len() as u64,
            parts_with_rows: manifest.regions.iter().filter(|part| part.rows > 0).count() as u64,
            resumed: resumed as u64,
            files: manifest.files().count() as u64,
            rows: manifest.rows,
            cells: manifest.cells,
            bytes: manifest.bytes,
            missing,
            old_log_cells,
            trace,
            is_whole: manifest.is_whole(),
        })
    }
}

/// Returns the parts that the manifest does not have.
fn pending_parts(parts: &[Part], manifest: &Manifest) -> Vec<usize> {
    let exported: HashSet<&str> =
        manifest.regions.iter().map(|region| &region.region[..]).collect();
    (0..parts.len()).filter(|part| !exported.contains(&parts[*part].name[..])).collect()
}

/// Warns of what earlier runs left out: the files of this export do not have it either.
fn warn_of_missing_before(manifest: &Manifest, observer: &dyn Observer) {
    for ExportedRegion { region, missing, .. } in &manifest.regions {
        for Missing { file, what, rows } in missing {
            let part = [manifest.source.unit(), region];
            observer.warn(Warning::MissingBefore { part, file, what, rows });
        }
    }
}

/// Returns the manifest of an export that begins.
fn new_manifest(source: Source, form: &ExportForm, scan: &TableScan) -> Manifest {
    Manifest {
        schema: 1,
        complete: false,
        source,
        format: form.format.name().to_owned(),
        options: form.options(scan),
        now: scan.now.unwrap_or_else(|| Clock::system().now()).get(),
        rows: 0,
        cells: 0,
        bytes: 0,
        regions: Vec::new(),
        missing: Vec::new(),
        unfinished: Vec::new(),
        finished: HashSet::new(),
    }
}

/// Checks that `now`, if it is given, is the time of the export that goes on.
fn check_now(now: Option<Timestamp>, manifest: &Manifest, output: &Path) -> Result<()> {
    if now.is_none_or(|now| now.get() == manifest.now) {
        return Ok(());
    }
    Err(OptionProblem::OtherNow { directory: output.to_owned(), now: manifest.now }.into())
}

/// Exports parts on some threads, and calls `take` for each in the order of completion.
///
/// The first error ends the work.
fn export_all(
    job: &Job<'_>,
    pending: &[usize],
    threads: usize,
    mut take: impl FnMut(ExportedPart) -> Result<()>,
) -> Result<()> {
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        // The channel closes when the last worker drops its sender.
        let (sender, receiver) = mpsc::channel();
        for _ in 0..threads.clamp(1, pending.len().max(1)) {
            let (of_worker, next_part) = (sender.clone(), &next);
            scope.spawn(move || {
                while !job.is_stopped.load(Ordering::Relaxed)
                    && let Some(index) = pending.get(next_part.fetch_add(1, Ordering::Relaxed))
                {
                    if of_worker.send(job.export(*index)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut first_error = None;
        for exported in receiver {
            if let Err(error) = exported.and_then(|exported| exported.map_or(Ok(()), &mut take)) {
                job.is_stopped.store(true, Ordering::Relaxed);
                first_error.get_or_insert(error);
            }
        }
        first_error.map_or(Ok(()), Err)
    })
}
