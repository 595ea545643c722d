//! A listing leaves out the regions that a split or a merge has replaced.

use std::fs;
use std::path::{Path, PathBuf};

use hbase_files::{Listing, LocalTree, ReplacedRegion};
use support::copy_directory;
use tempfile::TempDir;

const PARENT: &str = "c65bc83cc9888373de3595d40b882f08";
const LOWER: &str = "40ab6300693e3f01d37da6c46414d9c8";
const UPPER: &str = "77a347dcd3a699aadaaa702b08393620";

/// Returns a copy of a table whose region was split, below a new directory.
fn copy_of_t1(place: &str) -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let table = directory.path().join(place);
    let of_hbase =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/rootdir/root/data/default/t1");
    copy_directory(&of_hbase, &table);
    (directory, table)
}

fn list(directory: &Path) -> Listing {
    let listing = Listing::read(&LocalTree, directory).expect("readable");
    assert!(listing.problems.is_empty(), "{:?}", listing.problems);
    listing
}

/// Returns the name, the number of files and the number of references of each replaced region.
fn replaced(listing: &Listing) -> Vec<(String, usize, usize)> {
    let name = |region: &ReplacedRegion| {
        region.path.file_name().expect("a name").to_str().expect("text").to_owned()
    };
    let regions = listing.replaced.iter();
    regions.map(|region| (name(region), region.files.len(), region.references)).collect()
}

/// Creates store files. Those without a dot are HFiles, the others references.
fn files(table: &Path, names: &[&str]) {
    for name in names {
        let path = table.join(name);
        fs::create_dir_all(path.parent().expect("it has one")).expect("disk takes it");
        fs::write(path, b"not looked into").expect("disk takes it");
    }
}

#[test]
fn a_split_parent_is_left_out_while_a_daughter_has_references() {
    let (_directory, table) = copy_of_t1("data/default/t1");
    let listing = list(&table);
    assert_eq!(listing.entries.len(), 28);
    assert!(listing.entries.iter().all(|entry| !entry.path.starts_with(table.join(PARENT))));
    assert_eq!(replaced(&listing), [(PARENT.to_owned(), 8, 16)]);
    // A compaction has rewritten one daughter.
    fs::remove_dir_all(table.join(UPPER)).expect("ours");
    assert_eq!(replaced(&list(&table)), [(PARENT.to_owned(), 8, 8)]);
    // The parent is in the archive.
    fs::remove_dir_all(table.join(PARENT)).expect("ours");
    let listing = list(&table);
    assert_eq!((listing.entries.len(), listing.replaced.len()), (14, 0));
    assert!(listing.entries.iter().filter(|entry| entry.locate(&LocalTree).is_err()).count() == 8);
}

#[test]
fn one_region_alone_and_the_archive_have_all_their_files() {
    let (_directory, table) = copy_of_t1("data/default/t1");
    for (region, files) in [(PARENT, 8), (LOWER, 14), (UPPER, 14)] {
        let listing = list(&table.join(region));
        assert_eq!((listing.entries.len(), listing.replaced.len()), (files, 0), "{region}");
    }
    let (directory, table) = copy_of_t1("archive/data/default/t1");
    for place in [table, directory.path().join("archive")] {
        let listing = list(&place);
        assert_eq!((listing.entries.len(), listing.replaced.len()), (36, 0), "{place:?}");
    }
}

#[test]
fn merges_and_nested_splits_replace_each_region_that_a_reference_names() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let [one, two, merged, half, other] = ["1", "2", "3", "4", "5"].map(|digit| digit.repeat(32));
    let hfile = "a".repeat(32);
    let table = directory.path().join("t");
    files(
        &table,
        &[
            &format!("{one}/f/{hfile}"),
            &format!("{two}/f/{hfile}"),
            &format!("{two}/g/{hfile}"),
            // The merge of both is split again before its references are compacted away.
            &format!("{merged}/f/{hfile}.{one}"),
            &format!("{merged}/g/{hfile}.{two}"),
            &format!("{half}/f/{hfile}.{merged}"),
            &format!("{other}/f/{hfile}"),
        ],
    );
    let listing = list(&table);
    let paths = listing.entries.iter().map(|entry| entry.path.strip_prefix(&table).expect("below"));
    let paths: Vec<String> = paths.map(|path| path.display().to_string()).collect();
    assert_eq!(paths, [format!("{half}/f/{hfile}.{merged}"), format!("{other}/f/{hfile}")]);
    assert_eq!(
        replaced(&listing),
        [(one.clone(), 1, 1), (two.clone(), 2, 1), (merged.clone(), 2, 1)]
    );
    // A region of another table with the name of the parent, and a file that refers to its own region.
    let others = directory.path().join("others");
    files(&others, &[&format!("u/{one}/f/{hfile}"), &format!("v/{merged}/f/{hfile}.{one}")]);
    files(&others, &[&format!("u/{two}/f/{hfile}"), &format!("u/{two}/f/{hfile}.{two}")]);
    let listing = list(&others);
    assert_eq!((listing.entries.len(), listing.replaced.len()), (4, 0));
}
