//! What `verify` and a scan that skips damage name as lost is what the scan lacks, row by row.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use cells::RowsBetween;
use hbase_files::verify::TableDamage;
use hbase_files::{MissingCells, SplitCells, SplitPlan, Table, TableScan};
use sstable::{BlockType, Cell, Limits, Reader, ReaderOptions};
use support::root_directory::until_error;

use super::kinds::{Kinds, REGIONS, all, region_of, row};
use super::made::hfile;

/// A row of a family: the number of the region, the row, the family.
type FamilyRow = (usize, String, &'static str);

/// Damage at a place of a root directory.
struct Damaged<'k> {
    kinds: &'k Kinds,
    table: Table,
    what: String,
    /// The cells of the file, if one of its blocks with cells is damaged, which scans read.
    of_file: Option<&'k [Cell]>,
    /// Whether no cell can come back in place of a lost one.
    lacks_only: bool,
}

fn row_of(cell: &Cell) -> FamilyRow {
    let family = if cell.as_ref().family == b"f" { "f" } else { "m" };
    (region_of(cell.row()), String::from_utf8_lossy(cell.row()).into_owned(), family)
}

/// Returns all cells of a scan without damage.
fn sound(kinds: &Kinds, scan: &TableScan) -> Vec<Cell> {
    kinds.made.scan(scan).map(|cell| cell.expect("sound")).collect()
}

/// The scans of parts of the table.
fn parts() -> [TableScan; 6] {
    [
        all().with_logs(false),
        all().start("12").stop("60"),
        all().start(row(30)),
        all().prefix("8"),
        all().family("m"),
        all().column("f", "b").raw(false),
    ]
}

/// Checks that the cells are the sound ones but for rows that are named.
fn check_named(what: &str, sound: &[Cell], cells: &[Cell], named: &BTreeSet<FamilyRow>) {
    let others = |cells: &[Cell]| -> Vec<Cell> {
        cells.iter().filter(|cell| !named.contains(&row_of(cell))).cloned().collect()
    };
    let (expected, found) = (others(sound), others(cells));
    let lacks = expected.iter().find(|cell| !found.contains(cell)).map(row_of);
    assert!(expected == found, "{what}: {lacks:?} is lost and not named: {named:?}");
}

impl<'k> Damaged<'k> {
    /// Opens the table after a change.
    fn new(kinds: &'k Kinds, what: String) -> Self {
        Self { kinds, table: kinds.made.table(), what, of_file: None, lacks_only: true }
    }

    /// Returns the rows that losses name, each with its region, its family and its rows.
    fn named(&self, losses: &[(String, Vec<u8>, RowsBetween)]) -> BTreeSet<FamilyRow> {
        let mut found = BTreeSet::new();
        for (number, rows) in REGIONS.into_iter().enumerate() {
            for (region, family, lost) in losses {
                // Without a region, all regions may have lost cells; without a family, all families.
                if !region.is_empty() && *region != self.kinds.regions[number].name {
                    continue;
                }
                let is_named = |row: &String| {
                    lost.first.as_deref().is_none_or(|first| first <= row.as_bytes())
                        && lost.last.as_deref().is_none_or(|last| row.as_bytes() <= last)
                };
                for name in ["f", "m"] {
                    if family.is_empty() || family == name.as_bytes() {
                        let rows = rows.clone().map(row).filter(is_named);
                        found.extend(rows.map(|row| (number, row, name)));
                    }
                }
            }
        }
        found
    }

    /// Returns the cells of a scan that skips damage, and the rows that it names.
    fn left(&self, scan: &TableScan) -> (Vec<Cell>, BTreeSet<FamilyRow>) {
        let scan = scan.clone().skip_damaged(true);
        let mut cells = self.table.scan(&scan).expect("damage is skipped");
        let found = cells.by_ref().collect::<Result<_, _>>().expect("damage is skipped");
        (found, self.missing(cells.missing()))
    }

    /// Returns the rows of missing cells.
    fn missing(&self, missing: Vec<MissingCells>) -> BTreeSet<FamilyRow> {
        let losses = missing.into_iter();
        let losses = losses.map(|MissingCells { region, family, rows, .. }| (region, family, rows));
        self.named(&losses.collect::<Vec<_>>())
    }

    /// Returns the cells of splits that skip damage, and the rows that they and their plan name.
    fn left_of_splits(&self, scan: &TableScan) -> (Vec<Cell>, BTreeSet<FamilyRow>) {
        let scan = scan.clone().skip_damaged(true);
        let SplitPlan { splits, mut missing } =
            self.table.splits(&scan, Some(3000)).expect("damage is skipped");
        let mut found = Vec::new();
        for split in splits {
            let mut cells = split.cells().expect("damage is skipped");
            while let Some(cell) = cells.next_ref().expect("damage is skipped") {
                found.push(cell.to_cell());
            }
            if let SplitCells::Table(cells) = &cells {
                missing.extend(cells.missing());
            }
        }
        (found, self.missing(missing))
    }

    /// Returns what `verify` says of the table, and of the files whose path has a part.
    fn damages(&self, part: &str) -> Vec<TableDamage> {
        let check = self.table.check();
        let mut damages = check.damages;
        for file in check.files.iter().filter(|file| file.path.contains(part)) {
            let tree = &**self.table.tree();
            file.run(tree, Limits::default(), |_| {}, &mut damages).expect("readable");
        }
        damages
    }

    /// Returns the rows that `verify` names.
    fn verified(&self) -> BTreeSet<FamilyRow> {
        // The files of the other family are sound.
        let damages = self.damages(if self.what.contains("/m/") { "/m/" } else { "/f/" });
        let mob = self.table.mob.as_ref().map(|mob| mob.name().to_string());
        let lost =
            damages.into_iter().filter_map(|TableDamage { region, family, rows, .. }| {
                let region = region.map(|region| region.to_string());
                // The rows of a MOB file are of another region.
                let region = region.filter(|region| Some(region) != mob.as_ref());
                Some((region.unwrap_or_default(), family.unwrap_or_default(), rows?))
            });
        self.named(&lost.collect::<Vec<_>>())
    }

    /// Checks the scan of all rows, and the scan of one of the parts.
    fn check(&self, scans: &[(TableScan, Vec<Cell>)], part: usize) {
        let Self { what, table, .. } = self;
        let (whole, sound) = &scans[0];
        for number in [0, part] {
            let (scan, sound) = &scans[number];
            let (cells, named) = self.left(scan);
            check_named(&format!("scan {number}, {what}"), sound, &cells, &named);
            // A lost delete marker brings cells back.
            assert!(cells.len() <= sound.len() || !self.lacks_only || !scan.raw, "{what}");
            if number <= 4 {
                self.check_is_narrow(&format!("scan {number}, {what}"), sound, &cells, &named);
            }
        }
        let (cells, named) = self.left(whole);
        let verified = self.verified();
        check_named(&format!("verify, {what}"), sound, &cells, &verified);
        self.check_is_narrow(&format!("verify, {what}"), sound, &cells, &verified);

        let several = whole.clone().threads(3).part_len(700);
        let (found, also_named) = self.left(&several);
        assert!(found == cells, "{what}: several threads return other cells");
        check_named(&format!("threads, {what}"), sound, &found, &also_named);
        // A thread knows the first row of its part.
        assert!(also_named.is_subset(&named), "{what}: several threads name {also_named:?}");
        if part == 1 {
            let (found, also_named) = self.left_of_splits(whole);
            assert!(found == cells, "{what}: splits return other cells");
            check_named(&format!("splits, {what}"), sound, &found, &also_named);
        }
        let (without_logs, sound_without_logs) = &scans[1];
        for row in named.iter().chain(&verified).map(|(_, row, _)| row).take(2) {
            let of_row = sound_without_logs.iter().filter(|cell| cell.row() == row.as_bytes());
            let got = table.get(row, without_logs);
            assert!(got.is_err() || got.is_ok_and(|got| got.iter().eq(of_row)), "{what}: {row}");
        }
        let until = until_error(table, whole);
        assert!(sound.starts_with(&until.0), "{what}");
        assert_eq!(until.1.is_none(), named.is_empty(), "{what}: {:?}", until.1);
        let until_of_several = until_error(table, &several);
        // One thread reads the first block of each file of a region before the first cell.
        assert!(until_of_several.0.starts_with(&until.0), "{what}: cells before the error");
        assert!(sound.starts_with(&until_of_several.0), "{what}: cells before the error");
        assert_eq!(until.1, until_of_several.1, "{what}");
    }

    /// Checks that at most two rows of a file with a damaged block are named and whole in each region: the last row
    /// before the damage, and the first one after it. Rows after the end of a scan do not count.
    fn check_is_narrow(
        &self,
        what: &str,
        sound: &[Cell],
        cells: &[Cell],
        named: &BTreeSet<FamilyRow>,
    ) {
        let end = sound.last().map(row_of);
        let of_file: BTreeSet<_> = self.of_file.into_iter().flatten().map(row_of).collect();
        let is_whole = |row: &&FamilyRow| {
            let is_of_row = |cell: &&Cell| row_of(cell) == **row;
            sound.iter().filter(is_of_row).eq(cells.iter().filter(is_of_row))
        };
        let whole = of_file.intersection(named).filter(is_whole);
        let whole: Vec<_> = whole.filter(|row| Some(*row) <= end.as_ref()).collect();
        for region in 0..REGIONS.len() {
            let count = whole.iter().filter(|row| row.0 == region).count();
            assert!(count <= 2, "{what}: {whole:?} are named and whole");
        }
    }
}

/// Returns damaged bytes of a file: what is wrong, and whether a block with cells is damaged.
fn damages(path: &Path, bytes: &[u8]) -> Vec<(String, Vec<u8>, bool)> {
    let flipped = |at: usize| {
        let mut bytes = bytes.to_vec();
        bytes[at] ^= 0x10;
        bytes
    };
    let mut found = Vec::new();
    if let Ok(reader) = Reader::open_file(path, ReaderOptions::default()) {
        for block in reader.blocks().headers() {
            let (at, header) = block.expect("sound");
            let middle = (at.get() + header.len() / 2) as usize;
            let what = format!("{} at {}", header.block_type.name(), at.get());
            let has_cells = matches!(header.block_type, BlockType::Data | BlockType::EncodedData);
            found.push((what, flipped(middle), has_cells));
        }
    } else if bytes.starts_with(b"PWAL") {
        // The values of a log have no checksum.
        for at in (0..bytes.len() - 60).step_by(bytes.len() / 5) {
            let mut bytes = bytes.to_vec();
            bytes[at..at + 50].fill(0xff);
            found.push((format!("a log at {at}"), bytes, false));
        }
        return found;
    } else if !bytes.is_empty() {
        found.push(("a byte".to_owned(), flipped(bytes.len() / 2), false));
    }
    if !bytes.is_empty() {
        found.push(("cut".to_owned(), bytes[..bytes.len() / 2].to_vec(), false));
    }
    found
}

#[test]
fn what_is_named_as_lost_is_what_a_scan_lacks() {
    let kinds = Kinds::new(3).with_logs(false);
    let scans = [all()].into_iter().chain(parts());
    let scans: Vec<_> = scans.map(|scan| (scan.clone(), sound(&kinds, &scan))).collect();
    let mut places = 0;
    for path in kinds.files() {
        let bytes = fs::read(&path).expect("there");
        let shown = path.strip_prefix(kinds.made.root()).expect("below").display().to_string();
        let cells = Reader::open_file(&path, ReaderOptions::default());
        let cells = cells.map(|reader| support::cells::read_all(&reader)).unwrap_or_default();
        let is_input = [13, 14].iter().any(|number| shown.ends_with(&hfile(*number)));
        let is_output = shown.ends_with(&hfile(15));
        for (what, damaged, has_cells) in damages(&path, &bytes) {
            fs::write(&path, damaged).expect("ours");
            let is_read = has_cells && !is_input && !shown.contains("mobdir");
            let of_file = Some(&cells[..]).filter(|_| is_read);
            let damaged = Damaged::new(&kinds, format!("{shown}: {what}"));
            let damaged = Damaged { of_file, lacks_only: !is_output, ..damaged };
            damaged.check(&scans, 1 + places % (scans.len() - 1));
            places += 1;
        }
        // The table does not know its own files and logs.
        if !shown.starts_with("data") && !shown.starts_with("WALs") {
            fs::remove_file(&path).expect("ours");
            Damaged::new(&kinds, format!("{shown} is gone")).check(&scans, 1);
        }
        fs::write(&path, &bytes).expect("ours");
    }
    for region in &kinds.regions {
        let description = region.path.join(".regioninfo");
        let bytes = fs::read(&description).expect("there");
        fs::remove_file(&description).expect("ours");
        Damaged::new(&kinds, format!("{} is not described", region.name)).check(&scans, 2);
        fs::write(&description, bytes).expect("ours");
    }
    assert!(places > 150, "{places}");
}

/// A copy of a file in another place: what `verify` calls sound can be read, and what a scan refuses has a name.
#[test]
fn verify_names_each_file_in_a_wrong_place_that_a_scan_refuses() {
    let kinds = Kinds::new(4).with_logs(false);
    let (mut sound, mut refused) = (0, 0);
    for path in kinds.files() {
        let below = path.strip_prefix(kinds.made.root()).expect("below the root");
        let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
        // data/default/t/REGION/FAMILY/FILE
        let ["data", _, _, _, family, name] =
            parts.iter().map(|part| &**part).collect::<Vec<_>>()[..]
        else {
            continue;
        };
        let name = if name.contains(['.', '=']) { name.to_owned() } else { hfile(0x30) };
        for place in
            kinds.regions.iter().flat_map(|region| ["f", "m"].map(|to| region.path.join(to)))
        {
            let copy = place.join(&name);
            if copy == path || !place.ends_with(family) && name.contains(['.', '=']) {
                continue;
            }
            let before = fs::read(&copy).ok();
            fs::copy(&path, &copy).expect("ours");
            let damaged =
                Damaged::new(&kinds, format!("{} as {}", below.display(), copy.display()));
            let (_, error) = until_error(&damaged.table, &all());
            let verified = damaged.damages("");
            let (_, named) = damaged.left(&all());
            let what = format!("{}: {error:?}, {verified:?}", damaged.what);
            assert_eq!(
                (error.is_some(), error.is_some()),
                (!verified.is_empty(), !named.is_empty()),
                "{what}"
            );
            *(if error.is_some() { &mut refused } else { &mut sound }) += 1;
            match before {
                Some(bytes) => fs::write(&copy, bytes).expect("ours"),
                None => fs::remove_file(&copy).expect("ours"),
            }
        }
    }
    assert!(sound > 10 && refused > 50, "{sound} and {refused}");
}
