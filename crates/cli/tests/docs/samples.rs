//! The files that the commands of the pages read.
//!
//! A sample is written if the page names it. All samples have cells of the family `f` with the columns
//! `age` and `name`; the same names always have the same bytes.

use std::fs;
use std::ops::Range;
use std::os::unix::fs::symlink;
use std::path::Path;

use filter::{ErrorRate, FilterKind, Seed, Sizing};
use sstable::{BloomType, CellRef, FilterOptions, SequenceId, Timestamp, WriterOptions};
use support::cells::{PUT, hfile};
use support::root_directory::RootCopy;

use crate::page::workspace;

/// Writes a sample of this name below a directory.
type Write = fn(&Path);

/// The names by which pages refer to samples.
const SAMPLES: [(&str, Write); 11] = [
    ("part-0.hfile", |root| write(&root.join("part-0.hfile"), 16, 0..10_000, 1)),
    ("4f1c.hfile", |root| write(&root.join("4f1c.hfile"), 64, 0..20_000, 1)),
    ("small.hfile", |root| write(&root.join("small.hfile"), 1, 0..100, 1)),
    ("bad.hfile", |root| {
        let path = root.join("bad.hfile");
        write(&path, 16, 0..10_000, 1);
        flip(&path, 30_000);
    }),
    ("cells.ndjson.gz", |root| {
        let cells = workspace().join("tests/data/hfile/s01-default.cells.ndjson.gz");
        fs::copy(cells, root.join("cells.ndjson.gz")).expect("the disk has room");
    }),
    ("keys.txt", |root| {
        let keys: Vec<String> = (1..=1_000).map(|row| format!("row{row}")).collect();
        fs::write(root.join("keys.txt"), keys.join("\n") + "\n").expect("the disk has room");
    }),
    ("region/cf", region),
    ("verify backup\n", |root| {
        backup(&root.join("backup"), |region| format!("r{region}"), |file| format!("f{file:03}"));
    }),
    // As HBase names regions and files.
    ("backup/data/default/users", |root| {
        let table = root.join("backup/data/default/users");
        backup(&table, |region| format!("{region:032x}"), |file| format!("{file:032x}"));
    }),
    // A root directory that HBase wrote, with snapshots.
    ("--root hbase", |root| {
        let copy = RootCopy::new();
        fs::rename(copy.path(), root.join("hbase")).expect("both are temporary directories");
    }),
    ("tests/data", |root| {
        symlink(workspace().join("tests"), root.join("tests")).expect("a link");
    }),
];

/// Writes the samples that a page names into its directory.
pub(crate) fn write_samples(page: &str, directory: &Path) {
    for (_, write) in SAMPLES.iter().filter(|(name, _)| page.contains(name)) {
        write(directory);
    }
}

/// Five files: the rows of four are interleaved, the rows of the fifth come after them.
fn region(root: &Path) {
    let folder = root.join("region/cf");
    fs::create_dir_all(&folder).expect("the disk has room");
    for (first, name) in (0..).zip(["0d3a", "4f1c", "77aa", "9b20"]) {
        write(&folder.join(name), 16, first..4_000, 4);
    }
    write(&folder.join("c5e1"), 16, 5_000..6_000, 1);
}

/// A thousand files of 40 rows in ten regions; one of them is damaged.
fn backup(table: &Path, region_name: fn(u32) -> String, file_name: fn(u32) -> String) {
    for region in 0..10 {
        let folder = table.join(region_name(region)).join("cf");
        fs::create_dir_all(&folder).expect("the disk has room");
        for file in 0..100 {
            let first = region * 10_000 + file * 40;
            let path = folder.join(file_name(100 * region + file));
            write(&path, 1, first..first + 40, 1);
            if (region, file) == (6, 17) {
                flip(&path, 1_500);
            }
        }
    }
}

/// Writes a file with a row for each number, in blocks of this many KiB.
fn write(path: &Path, block_kib: u32, rows: Range<u32>, step: usize) {
    let texts: Vec<_> = rows
        .step_by(step)
        .map(|row| (format!("row{row:05}"), format!("{}", row % 90), format!("user {row}")))
        .collect();
    let cells = texts.iter().flat_map(|(row, age, name)| {
        let cell = |qualifier: &'static str, value| CellRef {
            row: row.as_bytes(),
            qualifier: qualifier.as_bytes(),
            value,
            timestamp: Timestamp::new(1_700_000_000_000),
            sequence_id: SequenceId::new(7),
            ..PUT
        };
        [cell("age", age.as_bytes()), cell("name", name.as_bytes())]
    });
    let mut options = WriterOptions::default()
        .block_size(block_kib << 10)
        .bloom_type(BloomType::Row)
        .create_time(Timestamp::new(1_700_000_000_000))
        .max_sequence_id(SequenceId::new(7));
    // Computing the size of the filter takes longer than writing a small file.
    if step > 1 || block_kib > 1 {
        let sizing = Sizing::ErrorRate(ErrorRate::HBASE);
        let kind = FilterKind::BlockedBloom;
        options = options.filter(FilterOptions::new(kind, sizing).seed(Seed::new(1)));
    }
    fs::write(path, hfile(path, options, cells)).expect("the disk has room");
}

/// Flips a bit.
fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).expect("just written");
    bytes[at] ^= 1;
    fs::write(path, bytes).expect("the disk has room");
}
