//! What a source holds: an open file, a table or a store, and how a scan of it begins.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use cells::show_number;
use hbase_files::{
    LocalTree, MissingCells, Region, RegionsBy, StoreFileReader, Table, Warning, identify,
};
use hfile_arrow::{BatchSplit, Batches};
use sstable::tools::OwnProcess;
use sstable::{Comparator, FileName, KeyRef, ReaderOptions, RowProbe};

use crate::failure::{Failure, FailureKind};
use crate::request::Request;

/// What is scanned.
pub(crate) enum Contents {
    HFile(Box<OpenFile>),
    Table(Box<Table>),
    Store {
        store: Closable<store::Store>,
        /// The names of the families.
        families: Vec<String>,
    },
    /// A part of a scan of another process. Only a [`Scan`](crate::scan::Scan) has it.
    Split(Box<BatchSplit>),
}

/// An open HFile.
pub(crate) struct OpenFile {
    reader: Closable<StoreFileReader>,
    /// The absolute path: a program can change its directory.
    pub(crate) path: PathBuf,
    process: OwnProcess,
    /// The reader of a fork.
    of_fork: OnceLock<StoreFileReader>,
}

impl OpenFile {
    /// Keeps a reader that this process has opened.
    pub(crate) fn new(reader: StoreFileReader, path: PathBuf) -> Self {
        let (process, of_fork) = (OwnProcess::current(), OnceLock::new());
        Self { reader: Closable::new(reader), path, process, of_fork }
    }

    /// Returns the reader.
    ///
    /// A fork opens its own: another thread of the parent can have held a lock of the parent's reader.
    ///
    /// # Errors
    ///
    /// If it was closed, or a fork cannot open the file.
    pub(crate) fn reader(&self) -> Result<StoreFileReader, Failure> {
        if self.process.is_current() {
            return self.reader.get();
        }
        let reader = match self.of_fork.get() {
            Some(reader) => reader.clone(),
            None => open_reader(&self.path)?,
        };
        Ok(self.of_fork.get_or_init(|| reader).clone())
    }

    /// Closes the file.
    pub(crate) fn close(&self) {
        self.reader.close();
    }
}

/// Opens an HFile, a reference to the half of one, or a link to one.
///
/// # Errors
///
/// If there is none, or it cannot be read.
pub(crate) fn open_reader(path: &Path) -> Result<StoreFileReader, Failure> {
    let location = identify(&LocalTree, path)?.locate(&LocalTree)?;
    let name = FileName::new(path.display().to_string());
    Ok(StoreFileReader::open(&LocalTree, &location, name, ReaderOptions::default())?)
}

/// What a source holds open until it is closed.
pub(crate) struct Closable<T>(Mutex<Option<T>>);

impl<T: Clone> Closable<T> {
    pub(crate) fn new(open: T) -> Self {
        Self(Mutex::new(Some(open)))
    }

    /// Returns what is open.
    ///
    /// # Errors
    ///
    /// If it was closed.
    pub(crate) fn get(&self) -> Result<T, Failure> {
        let open = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        open.ok_or_else(|| Failure::invalid("read of a closed source"))
    }

    /// Closes it; streams that are open keep what they read.
    pub(crate) fn close(&self) {
        drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

impl Contents {
    /// Begins a scan.
    ///
    /// # Errors
    ///
    /// If the source does not have what is asked for, or cannot be read.
    pub(crate) fn batches(&self, request: &Request) -> Result<Batches, Failure> {
        self.check(request)?;
        Ok(match self {
            Self::HFile(file) => request.scan.store_file(&file.reader()?)?,
            Self::Table(table) => request.scan.table(table, &request.reading)?,
            Self::Store { store, .. } => request.scan.store(&store.get()?)?,
            Self::Split(split) => split.open()?,
        })
    }

    /// Returns the warnings of a scan that are new: the warnings of the table were issued when it was opened.
    pub(crate) fn new_warnings(&self, request: &Request, warnings: &[Warning]) -> Vec<Warning> {
        let known = match self {
            Self::Table(table) => table.warnings.len(),
            Self::Split(split) => split.cells().table_warnings(),
            Self::HFile(_) | Self::Store { .. } => 0,
        };
        let mut new = self.unread_logs(request);
        new.extend_from_slice(warnings.get(known..).unwrap_or_default());
        new
    }

    /// Returns the warnings of a scan that begins: the new ones, and the store files and logs that are gone.
    ///
    /// With `skip_damaged`, the program has asked for the list `missing`, which has these files too.
    pub(crate) fn first_warnings(&self, request: &Request, batches: &Batches) -> Vec<Warning> {
        let mut warnings = self.new_warnings(request, &batches.warnings());
        if !request.reading.skip_damaged {
            warnings.extend(batches.missing().iter().map(MissingCells::to_warning));
        }
        warnings
    }

    /// Returns a warning of logs that a scan of a table does not read, though they may have cells.
    pub(crate) fn unread_logs(&self, request: &Request) -> Vec<Warning> {
        let Self::Table(table) = self else { return Vec::new() };
        if request.reading.with_logs {
            return Vec::new();
        }
        let recovered = table.regions.iter().flat_map(|region| &region.recovered_edits);
        let logs = table.logs.len() + recovered.count();
        let hfiles = table.regions.iter().flat_map(Region::recovered_hfiles).count();
        let count_of =
            |count: usize, what: &str| (count > 0).then(|| show_number(count as u64, what));
        let counts = [count_of(logs, "write-ahead log"), count_of(hfiles, "recovered HFile")];
        let counts: Vec<_> = counts.into_iter().flatten().collect();
        if counts.is_empty() {
            return table.log_warnings.clone();
        }
        let counts = counts.join(" and ");
        let what =
            format!("{counts} may have cells that are in no store file; with_wal reads them too");
        vec![Warning { path: table.path.clone(), what }]
    }

    /// Checks that the source has what is asked for. A scan of a table checks families itself.
    ///
    /// # Errors
    ///
    /// If it does not have a family, or a way of reading.
    pub(crate) fn check(&self, request: &Request) -> Result<(), Failure> {
        match self {
            Self::Split(_) => Ok(()),
            Self::HFile(file) => {
                request.check_is_not_of_tables("an HFile")?;
                let reader = file.reader()?;
                request.check_rows(reader.whole().trailer().comparator)?;
                let key = reader.whole().index().first_key().and_then(KeyRef::parse);
                // A file without cells does not say which family it is of.
                key.map_or(Ok(()), |key| request.check_families("file", &[key.family]))
            }
            Self::Table(table) => {
                if request.reading.with_logs && table.regions_by == RegionsBy::Snapshot {
                    let what = "with_wal is for tables, not a snapshot, which has no logs";
                    return Err(Failure::invalid(what));
                }
                request.check_rows(table.row_order())
            }
            Self::Store { store, families } => {
                store.get()?;
                request.check_is_not_of_tables("a store")?;
                request.check_rows(Comparator::Bytes)?;
                if request.has_now {
                    return Err(Failure::invalid("a store has its own clock: leave out now"));
                }
                let names: Vec<_> = families.iter().map(String::as_bytes).collect();
                request.check_families("store", &names)
            }
        }
    }

    /// Returns whether the filters of the source say that a row is absent.
    ///
    /// Tables and stores ask their filters themselves.
    pub(crate) fn is_absent(&self, row: &[u8]) -> Result<bool, Failure> {
        let Self::HFile(file) = self else { return Ok(false) };
        let probe = RowProbe::new(row, filter::Seed::new(0));
        Ok(file.reader()?.look_up(&probe)?.cell().is_none())
    }
}

impl Request {
    fn check_is_not_of_tables(&self, source: &str) -> Result<(), Failure> {
        match self.of_tables {
            Some(name) => {
                Err(Failure::invalid(format!("{name} is for tables and snapshots, not {source}")))
            }
            None => Ok(()),
        }
    }

    fn check_families(&self, source: &str, known: &[&[u8]]) -> Result<(), Failure> {
        let Some(family) = self.families.iter().find(|family| !known.contains(&&family[..])) else {
            return Ok(());
        };
        let known: Vec<_> = known.iter().map(|name| cells::escape(name).to_string()).collect();
        let (family, known) = (cells::escape(family), known.join(", "));
        let what = format!("the {source} has no family {family}; it has {known}");
        Err(Failure::new(FailureKind::NotFound, what))
    }
}
