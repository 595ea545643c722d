//! A file that HBase wrote, and its cells.

use std::path::{Path, PathBuf};

use sstable::{Cell, KeyRef, Reader, ReaderOptions};
use support::fixtures::{Fixture, read_cells};

/// A golden file.
pub(crate) struct Golden {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) cells: Vec<Cell>,
}

impl Golden {
    /// Returns every file that HBase wrote.
    pub(crate) fn all() -> Vec<Self> {
        let mut all: Vec<Self> = Fixture::all()
            .iter()
            .map(|fixture| Self {
                name: fixture.name.clone(),
                path: fixture.path.clone(),
                cells: fixture.cells(),
            })
            .collect();
        let stores = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/store");
        for store in ["disjoint", "overlap"] {
            for number in 1.. {
                let path = stores.join(format!("{store}/files/{number:02}"));
                if !path.exists() {
                    break;
                }
                let cells = read_cells(&path.with_extension("cells.ndjson"));
                all.push(Self { name: format!("{store}/{number:02}"), path, cells });
            }
        }
        assert!(all.len() >= 50, "only {} files", all.len());
        all
    }

    pub(crate) fn open(&self, options: ReaderOptions) -> Reader {
        Reader::open_file(&self.path, options).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Returns the number of cells before a key.
    pub(crate) fn before(&self, reader: &Reader, key: &KeyRef<'_>) -> usize {
        let order = reader.trailer().comparator;
        self.cells.partition_point(|cell| order.compare(&cell.as_ref().key(), key).is_lt())
    }

    /// Returns the cells of each row.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &[Cell]> {
        self.cells.chunk_by(|left, right| left.row() == right.row())
    }
}
