//! Scans that end in a block whose next cell belongs to a later block: the cells between must not be missing.

use std::fs;

use hbase_files::{LocalTree, Location, StoreFileCells, StoreFileReader, TableScan};
use sstable::{BlockType, Cell, FileName, ReaderOptions};
use support::mutants::Mutant;
use support::sound::Sound;

use super::made::{Made, MadeRegion, flushed, hfile, put};

fn row(number: usize) -> String {
    format!("r{number:03}")
}

/// Writes a file of 200 rows whose second data block ends with a row after all of them.
fn with_a_row_out_of_place(region: &MadeRegion) -> Location {
    let cells: Vec<Cell> = (0..200).map(|number| put(&row(number), "q", 5, 1, "value")).collect();
    region.file(&hfile(1), flushed(1).block_size(300), &cells);
    let path = region.path.join("f").join(hfile(1));
    let sound = Sound::new("rows", fs::read(&path).expect("written"), cells);
    let blocks = sound.blocks.iter().map(|(_, header)| header.block_type).enumerate();
    let mut data = blocks.filter(|(_, block_type)| *block_type == BlockType::Data);
    let (block, _) = data.nth(1).expect("several data blocks");
    let bytes = &sound.bytes[sound.covered(block)];
    let last = bytes.windows(2).rposition(|pair| pair == b"r0").expect("rows of the block");
    let mutant = Mutant::overwritten(&sound, block, last, b"r999").expect("in the block");
    fs::write(&path, mutant.bytes).expect("the disk has room");
    Location { path, half: None }
}

#[test]
fn a_scan_that_ends_at_a_cell_of_a_later_block_is_damaged() {
    let made = Made::new(&[]);
    let location = with_a_row_out_of_place(&made.region(1, "", ""));
    let scan = TableScan::default().start(row(0)).stop(row(150));
    let of_table = made.scan(&scan).find_map(Result::err);
    assert!(of_table.is_some_and(|error| error.to_string().contains("greater than the index")));

    let open = || {
        let name = FileName::new("rows");
        StoreFileReader::open(&LocalTree, &location, name, ReaderOptions::default())
    };
    for open_cells in [StoreFileCells::open, StoreFileCells::open_in_full] {
        let mut cells =
            open_cells(&open().expect("sound"), &scan).expect("the first block is sound");
        let error = loop {
            match cells.next_ref() {
                Ok(found) => assert!(found.is_some(), "the rows between are missing"),
                Err(error) => break error,
            }
        };
        assert!(error.to_string().contains("greater than the index"), "{error}");
    }
}
