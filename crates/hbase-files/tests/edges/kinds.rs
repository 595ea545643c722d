//! A table that has every kind of store file, MOB files, recovered files and logs, with random cells.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use hbase_files::{LocalTree, StoreFile, StoreFileName, TableScan};
use md5::{Digest, Md5};
use sstable::{Cell, CellRef, CellType, FileInfo, Half, SequenceId, Timestamp, WriterOptions};
use support::Random;

use super::made::{Log, Made, MadeRegion, field, flushed, hfile, write, write_file};

/// The rows `00` to `99` of the four regions.
pub(crate) const REGIONS: [Range<usize>; 4] = [0..25, 25..50, 50..75, 75..100];
/// The qualifiers.
pub(crate) const QUALIFIERS: [&str; 4] = ["", "a", "ab", "b"];
/// The first row of the top halves. The row has more cells than a block.
pub(crate) const SPLIT: usize = 50;
/// A row that alone has more cells than three blocks.
pub(crate) const WIDE: usize = 80;
/// The servers of the logs.
pub(crate) const SERVERS: [&str; 2] = ["host,1,1", "host,2,2"];

/// A table `t` with the families `f` and `m`, whose values of `m` are in MOB files.
pub(crate) struct Kinds {
    pub(crate) made: Made,
    pub(crate) regions: Vec<MadeRegion>,
    random: Random,
}

/// Returns a row.
pub(crate) fn row(number: usize) -> String {
    format!("{number:02}")
}

/// Returns the hexadecimal digits of the MD5 of a text.
pub(crate) fn md5(text: &str) -> String {
    Md5::digest(text).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}"); // Writing to a string cannot fail.
        hex
    })
}

/// Returns small blocks of cells with tags, so that a file has many of them and two levels of its index.
fn blocks(options: WriterOptions) -> WriterOptions {
    options.block_size(256).index_block_size(128).index_min_entries(2).includes_tags(true)
}

/// Returns a tag.
fn tag(kind: u8, data: &[u8]) -> Vec<u8> {
    [&(data.len() as u16 + 1).to_be_bytes()[..], &[kind], data].concat()
}

impl Kinds {
    /// Makes the table of a seed, without logs.
    pub(crate) fn new(seed: u64) -> Self {
        Self::with(seed, &[])
    }

    /// Makes the table of a seed, whose families have these attributes, too.
    pub(crate) fn with(seed: u64, attributes: &[(&str, &str)]) -> Self {
        let attributes = [attributes, &[("VERSIONS", "1000")]].concat();
        let mob = [&attributes[..], &[("IS_MOB", "true"), ("MOB_THRESHOLD", "10")]].concat();
        let made = Made::with_families(&[("f", &attributes), ("m", &mob)]);
        let end = |rows: &Range<usize>| if rows.end == 100 { String::new() } else { row(rows.end) };
        let start =
            |rows: &Range<usize>| if rows.start == 0 { String::new() } else { row(rows.start) };
        let regions = REGIONS.iter().map(|rows| made.region(7, &start(rows), &end(rows))).collect();
        let mut kinds = Self { made, regions, random: Random::new(seed) };
        kinds.add_own_files();
        kinds.add_halves_and_links();
        kinds
    }

    /// Flushed, bulk-loaded, compacted, recovered and empty files.
    fn add_own_files(&mut self) {
        for (number, rows) in REGIONS.into_iter().enumerate() {
            let sequence = 100 * (number as u64 + 1);
            let cells = self.cells("f", rows.clone(), 26, sequence);
            self.file(number, "f", &hfile(10), flushed(sequence + 99), &cells);
            let references = self.mob_cells(rows, number, sequence);
            self.file(number, "m", &hfile(11), flushed(sequence + 99), &references);
        }
        let loaded = self.cells("f", 3..20, 20, 0);
        let options = WriterOptions::default().bulk_load(Timestamp::new(9));
        self.file(0, "f", &format!("{}_SeqId_600_", hfile(12)), options, &loaded);
        for number in [13, 14] {
            let input = self.cells("f", 0..25, 10, 600 + number as u64);
            self.file(0, "f", &hfile(number), flushed(700), &input);
        }
        let inputs = [13, 14].map(|number| field(1, hfile(number).as_bytes())).concat();
        let event = [&b"PBUF"[..], &inputs].concat();
        let output = self.cells("f", 0..25, 20, 620);
        let options = flushed(720).file_info(FileInfo::COMPACTION_EVENT, event);
        self.file(0, "f", &hfile(15), options, &output);
        let recovered = self.cells("f", 75..99, 20, 800);
        self.file(3, "f/recovered.hfiles", &hfile(16), flushed(899), &recovered);
        self.file(3, "f", &hfile(17), flushed(400), &[]);
        let wide = self.cells("f", WIDE..WIDE + 1, 60, 450);
        self.file(3, "f", &hfile(18), flushed(549), &wide);
    }

    /// Halves of a file and of a link, and a link to a file of another table.
    fn add_halves_and_links(&mut self) {
        let parent = self.made.gone_region(1, &row(25));
        let archive = self.made.root().join("archive/data/default");
        let mut cells = self.cells("f", 25..75, 44, 1);
        let wide = self.cells("f", SPLIT..SPLIT + 1, 30, 1);
        cells.extend(wide);
        sort(&mut cells);
        let of_parent = archive.join("t").join(&parent.name).join("f").join(hfile(20));
        write_file(&of_parent, blocks(flushed(99)), &cells);
        let other = md5("u");
        for (number, rows) in [(21, 25..75), (22, 75..100)] {
            let cells = self.cells("f", rows, 26, 1);
            let path = archive.join("u").join(&other).join("f").join(hfile(number));
            write_file(&path, blocks(flushed(99)), &cells);
        }
        let link = |number| format!("u={other}-{}", hfile(number));
        for (region, half) in [(1, Half::Bottom), (2, Half::Top)] {
            for file in [hfile(20), link(21)] {
                self.regions[region].half(&file, &parent, &row(SPLIT), half);
            }
        }
        write(&self.regions[3].path.join("f").join(link(22)), b"");
    }

    /// Writes a file of a region, with small blocks.
    fn file(
        &self,
        region: usize,
        family: &str,
        name: &str,
        options: WriterOptions,
        cells: &[Cell],
    ) {
        write_file(&self.regions[region].path.join(family).join(name), blocks(options), cells);
    }

    /// Returns random cells of rows, in order.
    pub(crate) fn cells(
        &mut self,
        family: &str,
        rows: Range<usize>,
        count: usize,
        sequence: u64,
    ) -> Vec<Cell> {
        let random = &mut self.random;
        let mut cells = Vec::new();
        for _ in 0..count {
            let row = row(rows.start + random.below(rows.len()));
            let kinds = [CellType::Delete, CellType::DeleteColumn, CellType::DeleteFamily];
            let cell_type = kinds.get(random.below(20)).copied().unwrap_or(CellType::Put);
            let qualifier = match cell_type {
                CellType::DeleteFamily => "",
                _ => QUALIFIERS[random.below(QUALIFIERS.len())],
            };
            let number = random.next_u64() % 1_000_000;
            let value = format!("value-{number:06}-of-{row}");
            let tags = if number.is_multiple_of(3) { tag(70, b"label") } else { Vec::new() };
            let sequence = if sequence == 0 { 0 } else { sequence + random.below(20) as u64 };
            let cell = CellRef {
                row: row.as_bytes(),
                family: family.as_bytes(),
                qualifier: qualifier.as_bytes(),
                timestamp: Timestamp::new(1 + random.below(12) as i64),
                cell_type,
                value: if cell_type == CellType::Put { value.as_bytes() } else { b"" },
                tags: &tags,
                sequence_id: SequenceId::new(sequence),
            };
            cells.push(cell.to_cell());
        }
        sort(&mut cells);
        cells
    }

    /// Writes a MOB file; returns the cells that refer to its values.
    fn mob_cells(&mut self, rows: Range<usize>, region: usize, sequence: u64) -> Vec<Cell> {
        let mut cells = self.cells("m", rows.clone(), 10, sequence);
        cells.retain(|cell| cell.as_ref().cell_type == CellType::Put);
        // A MOB file has a value for each key.
        cells.dedup_by(|one, other| one.as_ref().key() == other.as_ref().key());
        let start = if region == 0 { String::new() } else { row(rows.start) };
        let (start, name) = (md5(&start), &self.regions[region].name);
        let name = format!("{start}20240101{:032x}_{name}", region + 1);
        let path = self.made.root().join("mobdir/data/default/t").join(md5("t,.mob,0"));
        write_file(&path.join("m").join(&name), blocks(flushed(sequence + 99)), &cells);
        let tags = [tag(5, b""), tag(6, b"t")].concat();
        let reference = |cell: &Cell| {
            let len = (cell.value().len() as u32).to_be_bytes();
            let value = [&len[..], name.as_bytes()].concat();
            CellRef { value: &value, tags: &tags, ..cell.as_ref() }.to_cell()
        };
        cells.iter().map(reference).collect()
    }

    /// Writes a log of each server, and recovered edits, with cells of all regions. With `openings`, the logs
    /// also say that regions were opened.
    pub(crate) fn with_logs(mut self, openings: bool) -> Self {
        let mut logs = [Log::new(), Log::new()];
        for number in 0..6 + self.random.below(36) {
            let region = self.random.below(REGIONS.len());
            let at = self.random.below(logs.len());
            let log = std::mem::replace(&mut logs[at], Log(Vec::new()));
            let (time, sequence) = (100 + number, 1000 + number as u64);
            let name = self.regions[region].name.clone();
            logs[at] = if openings && self.random.below(4) == 0 {
                log.opening(&name, sequence, time)
            } else {
                let cells = self.logged(region, sequence);
                log.entry(&name, sequence, time, &cells)
            };
        }
        for (server, log) in SERVERS.iter().zip(&logs) {
            self.made.log(server, &log.0);
        }
        let name = self.regions[3].name.clone();
        let edits = (950..955).fold(Log::new(), |log, sequence| {
            let cells = self.logged(3, sequence);
            log.entry(&name, sequence, 50, &cells)
        });
        let path = self.regions[3].path.join("recovered.edits/0000000000000000954");
        write(&path, &edits.0);
        self
    }

    /// Returns the cells of an entry of a log.
    fn logged(&mut self, region: usize, sequence: u64) -> Vec<Cell> {
        let cells = self.cells("f", REGIONS[region].clone(), 3, sequence);
        let sequence_id = SequenceId::new(sequence);
        // HBase's logs have no tags unless their cells are written with them.
        cells
            .iter()
            .map(|cell| CellRef { sequence_id, tags: b"", ..cell.as_ref() }.to_cell())
            .collect()
    }

    /// Returns the files of cells below the root directory: HFiles of each kind, MOB files and logs.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let root = self.made.root();
        let is_hidden = |path: &Path| {
            let below = path.strip_prefix(root).expect("below the root");
            below.iter().any(|name| name.to_string_lossy().starts_with('.'))
        };
        support::files_below(root).into_iter().filter(|path| !is_hidden(path)).collect()
    }
}

/// Returns the number of the region of a row.
pub(crate) fn region_of(row: &[u8]) -> usize {
    let number: usize = std::str::from_utf8(row).expect("text").parse().expect("a number");
    REGIONS.iter().position(|rows| rows.contains(&number)).expect("a region")
}

/// Sorts cells, and removes cells whose order is not defined.
fn sort(cells: &mut Vec<Cell>) {
    cells.sort_by(|one, other| one.as_ref().compare(&other.as_ref()));
    cells.dedup_by(|one, other| one.as_ref().compare(&other.as_ref()).is_eq());
}

/// Returns a scan of all versions and delete markers, in files and logs.
pub(crate) fn all() -> TableScan {
    TableScan::default().raw(true).with_logs(true).now(Timestamp::new(1000))
}

#[test]
fn the_table_has_each_kind_of_file() {
    let kinds = Kinds::new(1).with_logs(false);
    let table = kinds.made.table();
    assert!(table.problems.is_empty(), "{:?}", table.problems);
    let families = table.regions.iter().chain(&table.mob).flat_map(|region| &region.families);
    let files = families.flat_map(|family| family.files.iter().chain(&family.recovered_hfiles));
    let kind = |file: &StoreFile| match &file.name {
        StoreFileName::Reference(_) => match file.locate(&LocalTree).expect("there").half {
            Some(half) if half.half() == Half::Top => "top",
            _ => "bottom",
        },
        StoreFileName::Link(_) => "link",
        StoreFileName::Mob(_) => "MOB",
        StoreFileName::HFile(_) => "HFile",
    };
    let found: BTreeSet<_> = files.map(kind).collect();
    assert_eq!(found.len(), 5, "{found:?}");
    let check = table.check();
    assert_eq!((check.damages, check.files.len()), (Vec::new(), 22));
    assert!(kinds.made.scan(&all()).flatten().count() > 250);
}
