//! The files of `tests/data`: what HBase wrote, and the cells that it wrote.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use serde_json::Value;
use sstable::{Cell, Compression, FileName, ndjson};

/// A file that HBase wrote.
#[derive(Clone, Debug)]
pub struct Fixture {
    /// Its name without an ending, as in `s01-default`.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// Where its cells are, a line each.
    pub cells_path: PathBuf,
    /// What HBase was told to write.
    pub spec: Value,
    /// What HBase said when it read the file.
    pub expect: Value,
}

impl Fixture {
    /// All files of `tests/data/hfile` whose codec this build has.
    ///
    /// # Panics
    ///
    /// If the manifest cannot be read, which a clone of the repository has.
    pub fn all() -> Vec<Self> {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/hfile");
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

    /// Its cells.
    pub fn cells(&self) -> Vec<Cell> {
        read_cells(&self.cells_path)
    }

    /// Its bytes.
    ///
    /// # Panics
    ///
    /// If the file cannot be read.
    pub fn bytes(&self) -> Vec<u8> {
        std::fs::read(&self.path).expect("the file is in the repository")
    }

    /// What the spec says of the file, `NONE` if nothing.
    pub fn setting(&self, name: &str) -> &str {
        self.spec[name].as_str().unwrap_or("NONE")
    }
}

/// Reads a file of cells, gzipped or not.
///
/// # Panics
///
/// If it cannot be read, or a line is no cell.
pub fn read_cells(path: &Path) -> Vec<Cell> {
    let file = File::open(path).expect("the cells are in the repository");
    let input: Box<dyn BufRead> = match path.extension() {
        Some(ending) if ending == "gz" => Box::new(BufReader::new(GzDecoder::new(file))),
        _ => Box::new(BufReader::new(file)),
    };
    let name = FileName::new(path.display().to_string());
    ndjson::Reader::new(input, name).collect::<Result<_, _>>().expect("lines of cells")
}
