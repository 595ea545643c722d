//! The files of `tests/data` that HBase wrote, with their cells.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use cells::ndjson;
use flate2::read::GzDecoder;
use serde_json::Value;
use sstable::{Cell, Compression, FileName};

/// A file that HBase wrote.
#[derive(Clone, Debug)]
pub struct Fixture {
    /// The file name without its extension, as in `s01-default`.
    pub name: String,
    /// The path of the file.
    pub path: PathBuf,
    /// The path of its cells, one per line.
    pub cells_path: PathBuf,
    /// The settings with which HBase wrote the file.
    pub spec: Value,
    /// What HBase reported when it read the file.
    pub expect: Value,
}

impl Fixture {
    /// Returns all files of `tests/data/hfile` whose codec this build supports.
    ///
    /// # Panics
    ///
    /// If the manifest cannot be read.
    pub fn all() -> Vec<Self> {
        Self::all_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("data/hfile"))
    }

    /// Returns all files of a directory that the judge made, if this build supports their codec.
    ///
    /// # Panics
    ///
    /// If the manifest cannot be read.
    pub fn all_of(dir: &Path) -> Vec<Self> {
        let manifest = std::fs::read(dir.join("manifest.json")).expect("the manifest is there");
        let manifest: Vec<Value> = serde_json::from_slice(&manifest).expect("the manifest is JSON");
        let text = |entry: &Value, name: &str| entry[name].as_str().expect(name).to_owned();
        let is_supported =
            |name: &str| Compression::from_name(name).is_some_and(Compression::is_supported);
        manifest
            .iter()
            .filter(|entry| is_supported(entry["spec"]["compression"].as_str().unwrap_or("NONE")))
            .map(|entry| Self {
                name: text(entry, "name"),
                path: dir.join(text(entry, "file")),
                cells_path: dir.join(text(entry, "cellsFile")),
                spec: entry["spec"].clone(),
                expect: entry["expect"].clone(),
            })
            .collect()
    }

    /// Returns the cells of the file.
    pub fn cells(&self) -> Vec<Cell> {
        read_cells(&self.cells_path)
    }

    /// Returns the bytes of the file.
    ///
    /// # Panics
    ///
    /// If the file cannot be read.
    pub fn bytes(&self) -> Vec<u8> {
        std::fs::read(&self.path).expect("the file is in the repository")
    }

    /// Returns a setting of the spec, or `NONE`.
    pub fn setting(&self, name: &str) -> &str {
        self.spec[name].as_str().unwrap_or("NONE")
    }
}

/// Reads a file of cells, gzipped or plain.
///
/// # Panics
///
/// If the file cannot be read, or a line is not a cell.
pub fn read_cells(path: &Path) -> Vec<Cell> {
    let file = File::open(path).expect("the cells are in the repository");
    let input: Box<dyn BufRead> = match path.extension() {
        Some(ending) if ending == "gz" => Box::new(BufReader::new(GzDecoder::new(file))),
        _ => Box::new(BufReader::new(file)),
    };
    let name = FileName::new(path.display().to_string());
    ndjson::Reader::new(input, name).collect::<Result<_, _>>().expect("lines of cells")
}
