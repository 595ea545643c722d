//! The files of `tests/data/hudi`, which Apache Hudi's writer wrote, with their cells.

use std::path::Path;

use sstable::{Cell, CellRef, Timestamp};

use crate::unhex;

/// A file that Hudi wrote.
#[derive(Clone, Debug)]
pub struct HudiFile {
    /// The file name, as in `long-1.1.1-gzip.hfile`.
    pub name: String,
    /// All its bytes.
    pub bytes: Vec<u8>,
    /// All its cells.
    pub cells: Vec<Cell>,
}

impl HudiFile {
    /// Returns all files.
    ///
    /// # Panics
    ///
    /// If a file cannot be read.
    pub fn all() -> Vec<Self> {
        let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/hudi");
        let mut files = Vec::new();
        for cells_name in ["empty", "short", "long"] {
            let lines = std::fs::read_to_string(place.join(format!("{cells_name}.cells")));
            let lines = lines.expect("the cells are in the repository");
            let cells: Vec<_> = lines.lines().map(cell).collect();
            for version in ["1.1.1", "1.2.1"] {
                for codec in ["none", "gzip"] {
                    let name = format!("{cells_name}-{version}-{codec}.hfile");
                    let bytes = std::fs::read(place.join(&name)).expect("in the repository");
                    files.push(Self { name, bytes, cells: cells.clone() });
                }
            }
        }
        files
    }
}

/// Returns the cell of a line: row and value in hex.
fn cell(line: &str) -> Cell {
    let (row, value) = line.split_once(' ').expect("a row and a value");
    CellRef::put(&unhex(row), b"", b"", Timestamp::LATEST, &unhex(value)).to_cell()
}
