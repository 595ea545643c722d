//! Reads the values of cells that are in MOB files.
//!
//! A family with `IS_MOB` keeps large values in files of their own. Its store files have a
//! reference in place of such a cell: the same key, two more tags, and as value
//!
//! | bytes | field  | meaning                                  |
//! |------:|--------|------------------------------------------|
//! |     4 | length | i32 BE, of the real value                |
//! |       | file   | the name of the MOB file                 |
//!
//! Tag 5 marks the reference, tag 6 names the table whose MOB file it is: a cloned table has
//! references to files of the original. HBase: `HMobStore.resolve`, `MobUtils.createMobRefCell`.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cells::{RowsBetween, error_line};
use sstable::{
    BlockCache, BlockOffset, Caching, Cell, CellRef, CellType, Damage, FileName, ReadTrace, Reader,
    ReaderOptions,
};

use super::damage::{Losses, MissingCells};
use crate::error::{Error, Result};
use crate::names::{MobFileName, TableName};
use crate::scan::TableScan;
use crate::table::{Table, locate_mob};
use crate::tree::FileTree;

/// The tag that marks a reference.
const REFERENCE_TAG: u8 = 5;
/// The tag with the name of the table that has the MOB file.
const TABLE_TAG: u8 = 6;
/// Bytes of the blocks of MOB files in memory.
const CACHE_LEN: u64 = 32 << 20;
/// MOB files that are open at a time.
const OPEN_MAX: usize = 64;

/// The MOB files of a table. Threads share them.
pub(super) struct MobFiles {
    table: TableName,
    path: PathBuf,
    root: PathBuf,
    options: ReaderOptions,
    /// The open files, those opened last at the end.
    open: Mutex<VecDeque<(MobKey, Reader)>>,
}

/// A MOB file: its table, its family and its name.
type MobKey = (TableName, Vec<u8>, MobFileName);

/// Returns whether a cell is a reference to a MOB file.
///
/// Delete markers can have the tag of a reference, but have no value: HBase 2.0 to 2.4 kept the tags of a cell in the
/// markers that its compaction of MOB files wrote.
pub(crate) fn is_reference(cell: &CellRef<'_>) -> bool {
    cell.cell_type == CellType::Put
        && !cell.tags.is_empty()
        && cell.tags().any(|(tag, _)| tag == REFERENCE_TAG)
}

/// Why the value of a reference could not be read.
struct Unread {
    error: Error,
    /// The reason without the row, so that a scan that continues joins the losses of a file.
    /// `None` if the error names no row.
    kind: Option<String>,
}

impl<E: Into<Error>> From<E> for Unread {
    fn from(error: E) -> Self {
        Self { error: error.into(), kind: None }
    }
}

impl MobFiles {
    pub(super) fn new(table: &Table, scan: &TableScan) -> Self {
        let given = scan.reader_options.clone();
        // A MOB file has values of many rows, and each is read with one get.
        let options = given.cache_or_else(|| Arc::new(BlockCache::new(CACHE_LEN)));
        Self {
            table: table.name.clone(),
            path: table.path.clone(),
            root: table.root().to_owned(),
            options,
            open: Mutex::default(),
        }
    }

    /// Returns the cell that a reference stands for.
    ///
    /// `None` if its value cannot be read and the scan continues after damage.
    pub(super) fn resolve(
        &self,
        tree: &dyn FileTree,
        losses: &Losses,
        reference: &CellRef<'_>,
        trace: &mut ReadTrace,
    ) -> Result<Option<Cell>> {
        self.read(tree, reference, trace).map(Some).or_else(|Unread { error, kind }| {
            losses
                .add_or_fail(error, |error| {
                    let row = Some(reference.row.to_vec());
                    let file =
                        stated_value(reference).map(|stated| stated.file.as_str().to_owned());
                    MissingCells {
                        region: String::new(),
                        family: reference.family.to_vec(),
                        file: file.unwrap_or_else(|| self.path.display().to_string()),
                        what: kind.unwrap_or_else(|| error_line(error)),
                        rows: RowsBetween { first: row.clone(), last: row },
                    }
                })
                .map(|()| None)
        })
    }

    fn read(
        &self,
        tree: &dyn FileTree,
        reference: &CellRef<'_>,
        trace: &mut ReadTrace,
    ) -> Result<Cell, Unread> {
        let value = mob_value(reference, &self.table).map_err(|what| {
            let row = cells::escape(reference.row);
            let kind = format!("a reference to a MOB file {what}");
            let error = Error::damaged(&self.path, format!("row {row}: {kind}"));
            Unread { error, kind: Some(kind) }
        })?;
        let len = value.len;
        let file = self.file(tree, (value.table, reference.family.to_vec(), value.file))?;
        let mut scanner = file.scanner(Caching::Use);
        scanner.seek(reference.key())?;
        let found = scanner.cell().filter(|cell| cell.key() == reference.key());
        let damaged = |kind: &str, what: String| {
            let damage = Damage { at: BlockOffset::default(), block: None, what: what.into() };
            let error = sstable::Error::Corrupt { file: file.name().clone(), damage };
            Unread { error: Error::File(error), kind: Some(kind.to_owned()) }
        };
        let key = reference.key();
        let resolved = match found {
            Some(cell) if u64::try_from(cell.value.len()).ok() == u64::try_from(len).ok() => {
                let tags = tags_of_value(reference);
                CellRef { value: cell.value, tags: &tags, ..*reference }.to_cell()
            }
            Some(cell) => {
                let found_len = cell.value.len();
                return Err(damaged(
                    "has values of other lengths than the references say",
                    format!("{key:?} has {found_len} bytes, the reference says {len}"),
                ));
            }
            None => {
                let what = format!("has no cell {key:?}");
                return Err(damaged("lacks cells to which references lead", what));
            }
        };
        trace.add(&scanner.take_trace());
        Ok(resolved)
    }

    /// Returns an open file. Opens it, and closes the one opened first, if there are too many.
    fn file(&self, tree: &dyn FileTree, key: MobKey) -> Result<Reader> {
        let known =
            self.lock().iter().rev().find(|(known, _)| *known == key).map(|open| open.1.clone());
        if let Some(reader) = known {
            return Ok(reader);
        }
        let (table, family, name) = &key;
        let path = locate_mob(tree, &self.root, &self.path, table, family, name)?;
        let reader = self.open(tree, &path)?;
        let mut open = self.lock();
        if open.len() >= OPEN_MAX {
            open.pop_front();
        }
        open.push_back((key, reader.clone()));
        Ok(reader)
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(MobKey, Reader)>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self, tree: &dyn FileTree, path: &Path) -> Result<Reader> {
        let source = tree.open(path).map_err(Error::io(path, "open it"))?;
        let name = FileName::new(path.display().to_string());
        Ok(Reader::open(source, name, self.options.clone())?)
    }
}

/// Where the value of a reference is.
pub(crate) struct MobValue {
    /// The length of the value.
    pub(crate) len: i32,
    /// The table whose MOB file has the value.
    pub(crate) table: TableName,
    pub(crate) file: MobFileName,
}

/// Returns where the value of a reference is.
///
/// `own` is the table that has the reference. The error says what is damaged.
pub(crate) fn mob_value(
    reference: &CellRef<'_>,
    own: &TableName,
) -> Result<MobValue, &'static str> {
    let StatedValue { len, file } = stated_value(reference).ok_or("has no file name")?;
    let table = match reference.tags().find(|(tag, _)| *tag == TABLE_TAG) {
        Some((_, table)) => std::str::from_utf8(table)
            .ok()
            .and_then(|table| table.parse().ok())
            .ok_or("has no valid table name")?,
        None => own.clone(),
    };
    Ok(MobValue { len, table, file })
}

/// What the value of a reference states.
struct StatedValue {
    len: i32,
    file: MobFileName,
}

/// Returns what the value of a reference states; `None` if it is damaged.
fn stated_value(reference: &CellRef<'_>) -> Option<StatedValue> {
    if reference.cell_type != CellType::Put {
        return None;
    }
    let (len, name) = reference.value.split_first_chunk::<4>()?;
    let file = std::str::from_utf8(name).ok()?.parse().ok()?;
    Some(StatedValue { len: i32::from_be_bytes(*len), file })
}

/// Returns the tags of the cell for which a reference stands: all tags of the reference but two.
fn tags_of_value(reference: &CellRef<'_>) -> Vec<u8> {
    let mut tags = Vec::new();
    for (tag, data) in reference.tags().filter(|(tag, _)| ![REFERENCE_TAG, TABLE_TAG].contains(tag))
    {
        let len = u16::try_from(data.len().saturating_add(1)).expect("the length of a stored tag");
        tags.extend_from_slice(&len.to_be_bytes());
        tags.push(tag);
        tags.extend_from_slice(data);
    }
    tags
}

impl std::fmt::Debug for MobFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MobFiles").field("table", &self.table).finish_non_exhaustive()
    }
}
