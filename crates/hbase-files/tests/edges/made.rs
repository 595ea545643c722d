//! A root directory with one table, `t`, that a test writes: regions, store files and logs.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hbase_files::{LocalTree, RootDirectory, Table, TableCells, TableScan};
use md5::{Digest, Md5};
use sstable::{
    Cell, CellRef, CellType, FileInfo, Half, Reference, SequenceId, Timestamp, WriterOptions,
};
use support::plain_log::{EntryKey, PlainLog};
pub(crate) use support::protobuf::{field, varint};
use tempfile::TempDir;

/// A root directory with one table, `t`.
pub(crate) struct Made {
    directory: TempDir,
    families: Vec<String>,
}

/// A region of the table, which may have no directory.
pub(crate) struct MadeRegion {
    pub(crate) name: String,
    /// The directory of the region.
    pub(crate) path: PathBuf,
}

/// Returns a field of a protobuf message with a number.
pub(crate) fn number(field: u8, number: usize) -> Vec<u8> {
    [vec![field << 3], varint(number)].concat()
}

fn table_name() -> Vec<u8> {
    [field(1, b"default"), field(2, b"t")].concat()
}

/// Writes a file, and its directory.
pub(crate) fn write(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().expect("below the root")).expect("ours");
    fs::write(path, bytes).expect("ours");
}

impl Made {
    /// Creates a table with a family `f` that has these attributes.
    pub(crate) fn new(attributes: &[(&str, &str)]) -> Self {
        Self::with_families(&[("f", attributes)])
    }

    /// Creates a table with these families and their attributes.
    pub(crate) fn with_families(families: &[(&str, &[(&str, &str)])]) -> Self {
        let pair = |(name, value): &(&str, &str)| {
            field(2, &[field(1, name.as_bytes()), field(2, value.as_bytes())].concat())
        };
        let family = |(name, attributes): &(&str, &[(&str, &str)])| {
            let attributes: Vec<u8> = attributes.iter().flat_map(pair).collect();
            field(3, &[field(1, name.as_bytes()), attributes].concat())
        };
        let schema = [field(1, &table_name()), families.iter().flat_map(family).collect()].concat();
        let schema = [b"PBUF", &schema[..]].concat();
        let made = Self {
            directory: tempfile::tempdir().expect("a temporary directory"),
            families: families.iter().map(|(name, _)| (*name).to_owned()).collect(),
        };
        let description = format!(".tabledesc/.tableinfo.0000000001.{}", schema.len());
        write(&made.table_path().join(description), &schema);
        fs::create_dir_all(made.root().join("WALs")).expect("ours");
        made
    }

    pub(crate) fn root(&self) -> &Path {
        self.directory.path()
    }

    fn table_path(&self) -> PathBuf {
        self.root().join("data/default/t")
    }

    /// Creates the directory of a region.
    pub(crate) fn region(&self, id: usize, start: &str, end: &str) -> MadeRegion {
        let region = self.gone_region(id, start);
        let message = [
            number(1, id),
            field(2, &table_name()),
            field(3, start.as_bytes()),
            field(4, end.as_bytes()),
            [number(5, 0), number(6, 0), number(7, 0)].concat(),
        ]
        .concat();
        let bytes = [b"PBUF", &varint(message.len())[..], &message].concat();
        write(&region.path.join(".regioninfo"), &bytes);
        for family in &self.families {
            fs::create_dir_all(region.path.join(family)).expect("ours");
        }
        region
    }

    /// Returns a region without a directory, whose files can be in the archive.
    pub(crate) fn gone_region(&self, id: usize, start: &str) -> MadeRegion {
        let mut name = String::new();
        for byte in Md5::digest(format!("t,{start},{id}")) {
            write!(name, "{byte:02x}").expect("memory takes it");
        }
        let path = self.table_path().join(&name);
        MadeRegion { name, path }
    }

    /// Writes a store file of a region into the archive.
    pub(crate) fn archived(
        &self,
        region: &MadeRegion,
        file: &str,
        options: WriterOptions,
        cells: &[Cell],
    ) {
        let family = self.root().join("archive/data/default/t").join(&region.name).join("f");
        write_file(&family.join(file), options, cells);
    }

    /// Writes a log of a server.
    pub(crate) fn log(&self, server: &str, log: &[u8]) {
        let name = format!("{}.1000", server.replace(',', "%2C"));
        write(&self.root().join("WALs").join(server).join(name), log);
    }

    pub(crate) fn table(&self) -> Table {
        let root = RootDirectory::open(Arc::new(LocalTree), self.root()).expect("a root directory");
        root.table(&"t".parse().expect("a name")).expect("its description is sound")
    }

    pub(crate) fn scan(&self, scan: &TableScan) -> TableCells {
        self.table().scan(scan).expect("sound")
    }

    /// Returns the cells of a scan, each as [`text`].
    pub(crate) fn cells(&self, scan: &TableScan) -> Vec<String> {
        self.scan(scan).map(|cell| text(&cell.expect("sound"))).collect()
    }
}

impl MadeRegion {
    /// Writes a store file.
    pub(crate) fn file(&self, name: &str, options: WriterOptions, cells: &[Cell]) {
        write_file(&self.path.join("f").join(name), options, cells);
    }

    /// Writes a reference to a half of a file of another region.
    pub(crate) fn half(&self, file: &str, other: &MadeRegion, split: &str, half: Half) {
        let path = self.path.join("f").join(format!("{file}.{}", other.name));
        write(&path, &Reference::new(split.as_bytes(), half).to_bytes());
    }

    /// Records that the region was opened, when its files had all writes up to this one.
    pub(crate) fn opened(&self, sequence: u64) {
        write(&self.path.join(format!("recovered.edits/{sequence}.seqid")), b"");
    }
}

/// Writes an HFile.
pub(crate) fn write_file(path: &Path, options: WriterOptions, cells: &[Cell]) {
    write(path, &support::cells::hfile(path, options, cells.iter().map(Cell::as_ref)));
}

/// Returns the name of an HFile.
pub(crate) fn hfile(number: usize) -> String {
    format!("{number:032x}")
}

/// Returns the options of a file that a compaction of these files wrote.
pub(crate) fn compacted_from(sequence: u64, inputs: &[usize]) -> WriterOptions {
    let inputs: Vec<u8> =
        inputs.iter().flat_map(|number| field(1, hfile(*number).as_bytes())).collect();
    flushed(sequence).file_info(FileInfo::COMPACTION_EVENT, [&b"PBUF"[..], &inputs].concat())
}

/// Returns the options of a flushed file.
pub(crate) fn flushed(sequence: u64) -> WriterOptions {
    WriterOptions::default().max_sequence_id(SequenceId::new(sequence))
}

/// Returns a put of family `f` without tags.
pub(crate) fn put(row: &str, qualifier: &str, time: i64, sequence: u64, value: &str) -> Cell {
    let (row, qualifier, value) = (row.as_bytes(), qualifier.as_bytes(), value.as_bytes());
    let put = CellRef::put(row, b"f", qualifier, Timestamp::new(time), value);
    CellRef { sequence_id: SequenceId::new(sequence), ..put }.to_cell()
}

/// Returns a delete marker of family `f`.
pub(crate) fn marker(row: &str, qualifier: &str, time: i64, kind: CellType) -> Cell {
    CellRef { cell_type: kind, ..put(row, qualifier, time, 1, "").as_ref() }.to_cell()
}

/// Returns a cell as text: row, qualifier, time, value, and the sequence id.
pub(crate) fn text(cell: &Cell) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let (row, qualifier, value) = (text(cell.row()), text(cell.qualifier()), text(cell.value()));
    let time = cell.as_ref().timestamp.get();
    format!("{row}:{qualifier}/{time}={value}@{}", cell.sequence_id().get())
}

/// A log whose entries are of the table.
pub(crate) struct Log(pub(crate) Vec<u8>);

impl Log {
    pub(crate) fn new() -> Self {
        Self(PlainLog::with_codec().bytes)
    }

    /// Adds an entry whose cells have this sequence id.
    pub(crate) fn entry(self, region: &str, sequence: u64, time: usize, cells: &[Cell]) -> Self {
        let mut log = PlainLog { bytes: self.0 };
        let cells: Vec<_> = cells.iter().map(Cell::as_ref).collect();
        log.entry(key(region, sequence, time), &cells);
        Self(log.bytes)
    }

    /// Adds a marker, such as `HBASE::FLUSH`, with its message.
    pub(crate) fn marker(
        self,
        region: &str,
        sequence: u64,
        time: usize,
        event: &str,
        message: &[u8],
    ) -> Self {
        let time_of_cell = Timestamp::new(1);
        let cell = CellRef::put(b"row", b"METAFAMILY", event.as_bytes(), time_of_cell, message);
        self.entry(region, sequence, time, &[cell.to_cell()])
    }

    /// Adds the marker that a region was opened.
    pub(crate) fn opening(self, region: &str, sequence: u64, time: usize) -> Self {
        let mut log = PlainLog { bytes: self.0 };
        log.event(key(region, sequence, time), "REGION_OPEN");
        Self(log.bytes)
    }
}

fn key(region: &str, sequence: u64, time: usize) -> EntryKey<'_> {
    EntryKey { region, table: "t", sequence, write_time: time as u64, padding: 0 }
}
