//! Checks of tables whose values are in MOB files that no region of the table lists.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hbase_files::verify::TableDamage;
use hbase_files::{FileTree, LocalTree, RootDirectory, Table};
use sstable::Limits;
use support::root_directory::RootCopy;

use crate::refusing::Refusing;

/// The region of the MOB files of table `t3`.
const MOB_REGION: &str = "default/t3/2dcf4f6cf40c0e2a9160d893ff1d9f63/m";

fn table(tree: Arc<dyn FileTree>, root: &Path) -> Table {
    let root = RootDirectory::open(tree, root).expect("a root directory");
    root.table(&"t3".parse().expect("a name")).expect("sound")
}

/// Returns what is wrong with the files of the table, and the number of files that cannot be read.
fn damages(table: &Table) -> (Vec<TableDamage>, usize) {
    let check = table.check();
    assert_eq!(check.damages, []);
    let (mut damages, mut unread) = (Vec::new(), 0);
    for file in &check.files {
        let run = file.run(&**table.tree(), Limits::default(), |_| {}, &mut damages);
        unread += usize::from(run.is_err());
    }
    (damages, unread)
}

/// A store file, and the first and the last row that may have lost cells.
type Lost = (String, Option<Vec<u8>>, Option<Vec<u8>>);

/// Returns the store files and the rows of damages.
fn lost(damages: &[TableDamage]) -> BTreeSet<Lost> {
    let lost = damages.iter().map(|TableDamage { file, rows, .. }| {
        let file = file.clone().expect("a file");
        let rows = rows.as_ref().expect("rows are lost");
        (file, rows.first.clone(), rows.last.clone())
    });
    lost.collect()
}

/// Moves the MOB file of `t3` into the archive, where no region of the table lists it.
fn archive_mob_file(root: &Path) -> PathBuf {
    let region = root.join("mobdir/data").join(MOB_REGION);
    let file = fs::read_dir(&region).expect("listed").next().expect("one").expect("read").path();
    let archive = root.join("archive/data").join(MOB_REGION);
    fs::create_dir_all(&archive).expect("ours");
    let moved = archive.join(file.file_name().expect("a name"));
    fs::rename(&file, &moved).expect("ours");
    moved
}

/// Copies each store file of `t3` under another name, so that two files refer to the MOB file.
fn copy_store_files(root: &Path) -> Vec<PathBuf> {
    let regions = fs::read_dir(root.join("data/default/t3")).expect("listed");
    let families = regions
        .map(|region| region.expect("read").path().join("m"))
        .filter(|family| family.exists());
    let files: Vec<PathBuf> = families
        .flat_map(|family| fs::read_dir(family).expect("listed"))
        .map(|file| file.expect("read").path())
        .filter(|file| file.is_file())
        .collect();
    let copy = |(number, file): (usize, &PathBuf)| {
        let copy = file.with_file_name(format!("{number:032x}"));
        fs::copy(file, &copy).expect("ours");
        copy
    };
    files.iter().enumerate().map(copy).collect()
}

#[test]
fn each_store_file_that_refers_to_a_damaged_mob_file_is_named_with_its_rows() {
    let copy = RootCopy::new();
    let root = copy.path();
    let mob = archive_mob_file(&root);
    copy_store_files(&root);
    let table = table(Arc::new(LocalTree), &root);
    assert_eq!(damages(&table), (Vec::new(), 0), "sound in the archive");

    let bytes = fs::read(&mob).expect("there");
    fs::remove_file(&mob).expect("ours");
    let if_missing = lost(&damages(&table).0);
    assert!(if_missing.len() >= 2, "two store files refer to it: {if_missing:?}");

    let mut damaged = bytes.clone();
    damaged[60] ^= 1;
    fs::write(&mob, &damaged).expect("ours");
    assert_eq!(lost(&damages(&table).0), if_missing);

    // The last four bytes of a file are its major version.
    let mut unsupported = bytes;
    *unsupported.last_mut().expect("a trailer") = 9;
    fs::write(&mob, &unsupported).expect("ours");
    let (found, unread) = damages(&table);
    assert_eq!((lost(&found), unread), (if_missing, 0));
}

#[test]
fn damage_is_reported_although_a_mob_file_cannot_be_read() {
    let copy = RootCopy::new();
    let root = copy.path();
    let mob = archive_mob_file(&root);
    let store_files = copy_store_files(&root);
    for file in &store_files {
        // A checksum of the first block: its cells can still be read, so its references are known.
        let mut bytes = fs::read(file).expect("there");
        let header: [u8; 33] = bytes[..33].try_into().expect("a header");
        let size = |at: usize| {
            let field = header[at..at + 4].try_into().expect("four bytes");
            u32::from_be_bytes(field) as usize
        };
        let (on_disk, before_checksums) = (size(8) + 33, size(29));
        assert!(before_checksums < on_disk, "the block has checksums");
        bytes[before_checksums] ^= 1;
        fs::write(file, &bytes).expect("ours");
    }
    let name = PathBuf::from(mob.file_name().expect("a name"));
    let table = table(Arc::new(Refusing(name)), &root);
    let (found, unread) = damages(&table);
    assert!(unread > 0, "a file that refers to the MOB file is not checked completely");
    for file in &store_files {
        let name = file.file_name().expect("a name").to_string_lossy();
        let is_of_file =
            |damage: &&TableDamage| damage.file.as_ref().expect("a file").ends_with(&*name);
        assert!(found.iter().any(|damage| is_of_file(&damage)), "{name}: {found:?}");
    }
}
