//! A root directory of HBase in which one small file is arbitrary input, as [`parts`](crate::parts) does
//! for HFiles.
//!
//! The first byte selects the file: a snapshot's manifest or description, a table's schema, a region's
//! description, a reference, a tracker file; or a name of a store file, which is parsed alone.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use flate2::read::GzDecoder;
use hbase_files::{
    DataFileName, FileTree, HFileLink, Item, ItemKind, MobFileName, ReferenceName, ReferredName,
    RegionName, RootDirectory, StoreFileName, Table, TableName, TableScan,
};
use sstable::ReadAt;

use crate::root_directory;

/// A file whose contents are the input, below the root directory; the last one is a message of a
/// tracker file, to which the input gets its length and checksum.
const FILES: [&str; 7] = [
    ".hbase-snapshot/s9/data.manifest",
    ".hbase-snapshot/s9/.snapshotinfo",
    "data/default/t6/.tabledesc/.tableinfo.0000000001.380",
    "data/default/t6/475ea0cde6a4298710607723607cb381/.regioninfo",
    "data/default/t6/475ea0cde6a4298710607723607cb381/g/\
     0357addee0534a62a8ec596808c28c98.d6a4dabe6c52409d06a0fbf2893b9e46",
    TRACKER,
    TRACKER,
];
const TRACKER: &str = "data/default/t5/1bc192e1c1ff9049e743103c3534b32c/g/.filelist/f2";
/// In [`FILES`], the tracker file whose length and checksum are those of its message.
const MESSAGE: usize = 6;
/// What is kept of the root directory: two snapshots' worth of small tables.
const KEPT: [&str; 5] = [
    ".hbase-snapshot/s9/",
    "data/default/t5/",
    "data/default/t6/",
    "archive/data/default/t5/",
    "archive/data/default/t6/",
];
/// Cells that are read of each table.
const CELLS_MAX: usize = 50;

const ROOT: &str = "/root";

/// A root directory with an input in the place of one file, or the name of a store file.
///
/// # Panics
///
/// If the decoders panic, or a name is not written as it was read.
pub fn directory(input: &[u8]) -> bool {
    let Some((&kind, input)) = input.split_first() else { return false };
    let kind = usize::from(kind) % (FILES.len() + 1);
    let Some(file) = FILES.get(kind) else { return name(input) };
    let contents = if kind == MESSAGE { tracker_file(input) } else { input.to_vec() };
    let mut files = SOUND.clone();
    files.0.insert(Path::new(ROOT).join(file), contents.into());
    let Ok(root) = RootDirectory::open(Arc::new(files), Path::new(ROOT)) else { return false };
    let tables = match kind {
        0 | 1 => {
            let listed = root.snapshots().is_ok_and(|list| list.problems.is_empty());
            vec![root.snapshot("s9").map(|snapshot| snapshot.table).ok().filter(|_| listed)]
        }
        2..=4 => vec![table(&root, "t6")],
        _ => vec![table(&root, "t5")],
    };
    tables.into_iter().all(|table| table.is_some_and(|table| read(&table)))
}

fn table(root: &RootDirectory, name: &str) -> Option<Table> {
    root.table(&name.parse::<TableName>().expect("it is a name")).ok()
}

/// Locates all files of a table and reads its first cells.
fn read(table: &Table) -> bool {
    let is_sound = table.problems.is_empty() && table.check().damages.is_empty();
    let tree = &**table.tree();
    let files = table.regions.iter().flat_map(hbase_files::Region::files);
    let located = files.map(|file| file.locate(tree)).filter(Result::is_err).count() == 0;
    let scan = TableScan::default().raw(true);
    let scanned =
        table.scan(&scan).is_ok_and(|cells| cells.take(CELLS_MAX).all(|cell| cell.is_ok()));
    is_sound && located && scanned
}

/// Parses a name; a name that is parsed must be written as it was.
fn name(input: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(input) else { return false };
    macro_rules! parse {
        ($($name:ty),*) => {{
            let mut is_name = false;
            $(if let Ok(name) = text.parse::<$name>() {
                assert_eq!(name.to_string(), text, stringify!($name));
                is_name = true;
            })*
            is_name
        }};
    }
    parse!(
        StoreFileName,
        HFileLink,
        ReferenceName,
        ReferredName,
        DataFileName,
        MobFileName,
        RegionName,
        TableName
    )
}

/// Returns a file of a store file tracker with a message, whose length and checksum are right.
pub fn tracker_file(message: &[u8]) -> Vec<u8> {
    let len = u32::try_from(message.len()).unwrap_or(u32::MAX);
    [&len.to_be_bytes()[..], message, &crate::crc32(message).to_be_bytes()].concat()
}

/// Returns inputs that are read.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let file = |(kind, name): (usize, &&str)| {
        let bytes = &SOUND.0[&Path::new(ROOT).join(name)];
        let body = if kind == MESSAGE { &bytes[4..bytes.len() - 4] } else { &bytes[..] };
        [&[u8::try_from(kind).expect("few")][..], body].concat()
    };
    let kind = u8::try_from(FILES.len()).expect("few");
    let names = [
        "0357addee0534a62a8ec596808c28c98",
        "0357addee0534a62a8ec596808c28c98_SeqId_12_",
        "0357addee0534a62a8ec596808c28c98.d6a4dabe6c52409d06a0fbf2893b9e46",
        "ns1=t4=475ea0cde6a4298710607723607cb381-6c183b79333a4937a728208fc3573483",
        "t1=475ea0cde6a4298710607723607cb381-6c183b79333a4937a728208fc3573483.54831f426c01e05355f378f3c645ed76",
        "ns1:a.table-of_it",
    ];
    let names = names.iter().map(|name| [&[kind], name.as_bytes()].concat());
    FILES.iter().enumerate().map(file).chain(names).collect()
}

/// The root directory of `tests/data/snapshots`, as far as it is [`KEPT`].
static SOUND: LazyLock<MemoryTree> = LazyLock::new(|| {
    let file = File::open(root_directory::data().join("rootdir.tar.gz")).expect("it is there");
    let mut archive = tar::Archive::new(GzDecoder::new(file));
    let mut files = BTreeMap::new();
    for entry in archive.entries().expect("it is sound") {
        let mut entry = entry.expect("it is sound");
        let path = entry.path().expect("a path").into_owned();
        let path = path.strip_prefix("rootdir").expect("all are in it").to_owned();
        if entry.header().entry_type().is_file() && KEPT.iter().any(|kept| path.starts_with(kept)) {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).expect("it is sound");
            files.insert(Path::new(ROOT).join(path), Bytes::from(bytes));
        }
    }
    MemoryTree(files)
});

/// Files in memory; a path is a directory if files are below it.
#[derive(Clone, Debug)]
struct MemoryTree(BTreeMap<PathBuf, Bytes>);

impl FileTree for MemoryTree {
    fn list(&self, directory: &Path) -> io::Result<Vec<Item>> {
        let mut items = BTreeMap::new();
        for (path, bytes) in &self.0 {
            let Ok(below) = path.strip_prefix(directory) else { continue };
            let mut parts = below.components();
            let Some(first) = parts.next() else { continue };
            let kind = match parts.next() {
                None => ItemKind::File { len: bytes.len() as u64 },
                Some(_) => ItemKind::Directory,
            };
            items.insert(directory.join(first), kind);
        }
        if items.is_empty() {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(items.into_iter().map(|(path, kind)| Item { path, kind }).collect())
    }

    fn find(&self, path: &Path) -> io::Result<Option<ItemKind>> {
        if let Some(bytes) = self.0.get(path) {
            return Ok(Some(ItemKind::File { len: bytes.len() as u64 }));
        }
        let is_directory = self.0.keys().any(|file| file.starts_with(path));
        Ok(is_directory.then_some(ItemKind::Directory))
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>> {
        let bytes = self.0.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(Arc::new(bytes.clone()))
    }

    fn absolute(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(path.to_owned())
    }
}
