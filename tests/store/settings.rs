//! Settings of families and stores: each is refused at once, or files are written with it.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use filter::{ErrorRate, FilterKind, Sizing};
use sstable::{BloomType, Compression, DataBlockEncoding};
use store::tools::salvage;
use store::{
    Age, CompactionKind, CompactionOptions, Delete, Durability, Error, FamilyOptions, Get,
    KeepDeletedCells, MapMode, Put, Store, StoreOptions, WriteBatch,
};
use support::disk::{Disk, Faults};
use support::test_store::TestStore;

const ROWS: u32 = 120;

fn quiet() -> StoreOptions {
    StoreOptions::default().background(false)
}

fn row(number: u32) -> String {
    format!("row{number:05}")
}

/// Writes rows, some of them twice and some deleted.
fn fill(store: &Store, family: &str) -> Result<(), Error> {
    let mut batch = WriteBatch::new();
    for number in 0..ROWS {
        batch.put(Put::new(row(number)).column(family, "q", number.to_string()));
    }
    store.write(batch, Durability::Logged)?;
    store.delete(Delete::row(row(7)).family(family))?;
    store.put(Put::new(row(8)).column(family, "q", "again"))
}

/// Returns the difference if the rows are not those of [`fill`].
fn read_back(store: &Store, family: &str) -> Result<(), String> {
    for number in 0..ROWS {
        let get = Get::row(row(number)).column(family, "q");
        let found = store.get(&get).map_err(|error| error.to_string())?;
        let found = found.first().map(|cell| String::from_utf8_lossy(cell.value()).into_owned());
        let expected = match number {
            7 => None,
            8 => Some("again".to_owned()),
            _ => Some(number.to_string()),
        };
        if found != expected {
            return Err(format!("row {number}: {found:?} instead of {expected:?}"));
        }
    }
    Ok(())
}

/// Writes, flushes, reopens, compacts and reads. Returns whether the settings were refused.
fn is_refused(name: &str, options: &StoreOptions, family: &FamilyOptions, reads: bool) -> bool {
    let directory = Path::new("/store");
    let options = options.clone().vfs(Arc::new(Disk::default()));
    let store = match Store::open(directory, options.clone()) {
        Ok(store) => store,
        Err(Error::Invalid { .. }) => return true,
        Err(error) => panic!("{name}: {error}"),
    };
    store.create_family("other", FamilyOptions::default()).unwrap();
    match store.create_family("f", family.clone()) {
        Ok(()) => {}
        Err(Error::Invalid { what }) => {
            // Altering refuses the same, and changes nothing.
            let altered = store.alter_family("other", family.clone());
            assert!(matches!(altered, Err(Error::Invalid { .. })), "{name}: {altered:?}");
            assert_eq!(store.family("other"), Some(FamilyOptions::default()), "{name}");
            let has_range = what.contains(|letter: char| letter.is_ascii_digit());
            assert!(has_range || what.contains("cannot"), "{name}: {what}");
            return true;
        }
        Err(error) => panic!("{name}: {error}"),
    }
    store.alter_family("other", family.clone()).unwrap();
    for family in ["f", "other"] {
        fill(&store, family).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    store.flush().unwrap_or_else(|error| panic!("{name}: {error}"));
    fill(&store, "f").unwrap();
    store.flush().unwrap();
    drop(store);
    let store = Store::open(directory, options).unwrap();
    store.compact("f", CompactionKind::Major).unwrap_or_else(|error| panic!("{name}: {error}"));
    store.rebuild_filters("f").unwrap_or_else(|error| panic!("{name}: {error}"));
    for family in ["f", "other"].iter().filter(|_| reads) {
        read_back(&store, family).unwrap_or_else(|what| panic!("{name}: {what}"));
        assert!(store.check_files(family).unwrap().iter().all(|file| file.damage.is_none()));
    }
    false
}

fn check(name: &str, family: &FamilyOptions, expect_refused: Option<bool>) {
    let refused = is_refused(name, &quiet(), family, family.retention().ttl.is_none());
    assert!(expect_refused.is_none_or(|expected| expected == refused), "{name}: {refused}");
}

#[test]
fn every_extreme_value_of_a_filter_is_refused_or_written() {
    let rates = [0.999_999, 0.5, 1e-5, 1e-9, 1e-15, 1e-300];
    let bits = [f64::MIN_POSITIVE, 0.1, 1.0, 5.0, 8.0, 64.0, 1024.0];
    let never = [0.0, -1.0, 1025.0, 1e18, f64::MAX, f64::INFINITY, f64::NAN];
    for &kind in FilterKind::IN_FILES {
        let family = |sizing| FamilyOptions::default().filter(kind, sizing);
        for rate in rates {
            let sizing = Sizing::ErrorRate(ErrorRate::new(rate).unwrap());
            let expected = match (kind, rate) {
                (_, 1e-300)
                | (FilterKind::BinaryFuse, ..=1e-5)
                | (FilterKind::Cuckoo | FilterKind::SplitBlock, ..=1e-9) => Some(true),
                (_, 0.5..) => Some(false),
                _ => None,
            };
            check(&format!("{kind}, rate {rate:e}"), &family(sizing), expected);
        }
        for bits in bits {
            let is_few = kind == FilterKind::BinaryFuse && bits <= 8.0;
            let expected = if is_few { Some(true) } else { (bits >= 64.0).then_some(false) };
            check(&format!("{kind}, {bits:e} bits"), &family(Sizing::BitsPerKey(bits)), expected);
        }
        for bits in never {
            check(&format!("{kind}, {bits} bits"), &family(Sizing::BitsPerKey(bits)), Some(true));
        }
        for bytes in [0, 1, 64, 100, 300, 1000, 1 << 20, u64::MAX] {
            check(&format!("{kind}, {bytes} bytes"), &family(Sizing::Bytes(bytes)), Some(false));
        }
    }
}

#[test]
fn every_extreme_value_of_a_family_is_refused_or_written() {
    let plain = FamilyOptions::default;
    for (is_refused, families) in [
        (
            true,
            vec![
                plain().versions(0),
                plain().block_size((1 << 30) + 1),
                plain().block_size(u32::MAX),
                plain().bloom_type(BloomType::RowPrefixFixedLength(0)),
                plain().bloom_type(BloomType::RowPrefixFixedLength(32_768)),
                plain().bloom_type(BloomType::RowPrefixFixedLength(u16::MAX)),
                plain().compression(Compression::Lzo),
                plain().compression(Compression::Brotli),
                plain().ttl(Some(Duration::ZERO)),
                plain().ttl(Some(Duration::from_nanos(999_999))),
                plain().ttl(Some(Duration::from_secs(1))).key_value(true),
            ],
        ),
        (
            false,
            vec![
                plain().versions(u32::MAX).min_versions(u32::MAX),
                plain().min_versions(u32::MAX),
                plain().block_size(0),
                plain().block_size(1),
                plain().block_size(1 << 30),
                plain().bloom_type(BloomType::RowPrefixFixedLength(1)),
                plain().bloom_type(BloomType::RowPrefixFixedLength(32_767)),
                plain().bloom_type(BloomType::RowCol),
                plain().bloom_type(BloomType::None),
                plain().ttl(Some(Duration::from_millis(1))),
                plain().ttl(Some(Duration::MAX)),
                plain().ttl(Some(Duration::MAX)).min_versions(u32::MAX),
                plain().keep_deleted_cells(KeepDeletedCells::True).versions(u32::MAX),
                plain().keep_deleted_cells(KeepDeletedCells::Ttl),
                plain().in_memory(true),
            ],
        ),
    ] {
        for family in families {
            check(&format!("{family:?}"), &family, Some(is_refused));
        }
    }
    for codec in Compression::ALL {
        let expected = Some(!codec.is_supported());
        check(codec.name(), &plain().compression(codec), expected);
    }
    for encoding in DataBlockEncoding::ALL {
        check(encoding.name(), &plain().data_block_encoding(encoding).block_size(1), Some(false));
    }
    for mode in [MapMode::Auto, MapMode::Off, MapMode::Files, MapMode::Wide] {
        check(mode.name(), &plain().family_map(mode), Some(false));
    }
}

#[test]
fn every_extreme_value_of_a_store_is_refused_or_written() {
    let rate = |rate| ErrorRate::new(rate).unwrap();
    let compaction = CompactionOptions::default;
    for (refused, stores) in [
        (
            true,
            vec![
                quiet().bloom_error_rate(rate(0.999)),
                quiet().bloom_error_rate(rate(0.62)),
                quiet().bloom_error_rate(rate(1e-8)),
                quiet().bloom_error_rate(rate(1e-300)),
            ],
        ),
        (
            false,
            vec![
                quiet().bloom_error_rate(rate(0.61)),
                quiet().bloom_error_rate(rate(1e-7)),
                quiet().index_block_size(0),
                quiet().index_block_size(u32::MAX),
                quiet().cache_bytes(0).pin_filters(true),
                quiet().cache_bytes(u64::MAX),
                quiet().memstore_flush_bytes(0),
                quiet().memstore_flush_bytes(usize::MAX),
                quiet().wal_segment_bytes(0),
                quiet().wal_segment_bytes(u64::MAX),
                quiet().stall_max(Duration::ZERO),
                quiet().stall_max(Duration::MAX),
                quiet().cache_on_write(true),
                quiet().compaction(compaction().files_min(0).files_max(0)),
                quiet().compaction(compaction().files_min(usize::MAX).files_max(usize::MAX)),
                quiet().compaction(compaction().ratio(f64::NAN)),
                quiet().compaction(compaction().ratio(f64::INFINITY)),
                quiet().compaction(compaction().ratio(-1.0)),
                quiet().compaction(compaction().size_min(Some(u64::MAX)).size_max(0)),
                quiet().compaction(compaction().bytes_per_second(Some(u64::MAX))),
                quiet().compaction(compaction().off_peak(255, 255, f64::NAN)),
            ],
        ),
    ] {
        for options in stores {
            let shown = format!("{options:?}");
            for bloom in [BloomType::Row, BloomType::RowCol] {
                let family = FamilyOptions::default().bloom_type(bloom);
                assert_eq!(is_refused(&shown, &options, &family, true), refused, "{shown}");
            }
        }
    }
}

/// A family's options as they are in a manifest.
struct StoredOptions {
    bytes: Vec<u8>,
    /// Where the options begin.
    at: usize,
}

impl StoredOptions {
    const VERSIONS: usize = 3;
    const BLOCK_SIZE: usize = 21;
    const COMPRESSION: usize = 27;
    const FILTER: usize = 32;

    /// Reads the manifest of a store that is closed.
    fn read(store: &Path, family: &str) -> Self {
        let bytes = fs::read(store.join("MANIFEST")).unwrap();
        let name = [&[u8::try_from(family.len()).unwrap()], family.as_bytes()].concat();
        let at = bytes.windows(name.len()).position(|window| window == name).unwrap() + name.len();
        Self { bytes, at }
    }

    fn set(&mut self, offset: usize, value: &[u8]) {
        self.bytes[self.at + offset..][..value.len()].copy_from_slice(value);
    }

    /// Sets the sizing, which follows the name of the filter.
    fn set_sizing(&mut self, tag: u8, number: f64) {
        let name = usize::from(self.bytes[self.at + Self::FILTER]);
        let sizing = [&[tag][..], &number.to_bits().to_be_bytes()].concat();
        self.set(Self::FILTER + 1 + name, &sizing);
    }

    fn write(mut self, store: &Path) {
        let covered = self.bytes.len() - 4;
        let checksum = crc32c::crc32c(&self.bytes[..covered]);
        self.bytes[covered..].copy_from_slice(&checksum.to_be_bytes());
        fs::write(store.join("MANIFEST"), self.bytes).unwrap();
    }
}

/// Creates a store whose manifest has other options of a family, under a right checksum.
fn changed_store(
    options: FamilyOptions,
    change: impl FnOnce(&mut StoredOptions),
) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::open(directory.path(), quiet()).unwrap();
    store.create_family("family", options).unwrap();
    store.create_family("other", FamilyOptions::default()).unwrap();
    drop(store);
    let mut stored = StoredOptions::read(directory.path(), "family");
    change(&mut stored);
    stored.write(directory.path());
    directory
}

#[test]
fn a_manifest_with_settings_that_no_family_can_have_is_damaged() {
    let prefix = BloomType::RowPrefixFixedLength(7);
    let filtered = FamilyOptions::default().filter(FilterKind::Ribbon, Sizing::BitsPerKey(16.0));
    let versions = |stored: &mut StoredOptions| stored.set(StoredOptions::VERSIONS, &[0; 4]);
    let block_size = |stored: &mut StoredOptions| stored.set(StoredOptions::BLOCK_SIZE, &[0xff; 4]);
    for (options, change) in [
        (FamilyOptions::default(), &versions as &dyn Fn(&mut StoredOptions)),
        (FamilyOptions::default(), &block_size),
        (FamilyOptions::default().bloom_type(prefix), &|stored| stored.set(1, &[0, 0])),
        (FamilyOptions::default().bloom_type(prefix), &|stored| stored.set(1, &[0x80, 0])),
        (filtered, &|stored| stored.set_sizing(1, f64::NAN)),
    ] {
        let directory = changed_store(options, change);
        let opened = [
            Store::open(directory.path(), quiet()),
            Store::open_read_only(directory.path(), quiet()),
        ];
        for store in opened {
            assert!(matches!(store, Err(Error::Corrupt { .. })), "{store:?}");
        }
    }
}

#[test]
fn a_file_whose_rows_make_its_filter_impossible_is_written_without_it() {
    let store = TestStore::new(quiet());
    let rate = ErrorRate::new(2.4e-9).unwrap();
    let family = FamilyOptions::default().filter(FilterKind::SplitBlock, Sizing::ErrorRate(rate));
    store.create_family("f", family).unwrap();
    let omitted = || store.stats().family("f").unwrap().filters_omitted;
    for number in 0..100 {
        store.put(Put::new(row(number)).column("f", "q", "value")).unwrap();
    }
    store.flush().unwrap();
    assert_eq!(omitted(), 0, "for a hundred rows the filter exists");
    for number in 0..1000 {
        store.put(Put::new(row(number)).column("f", "q", "value")).unwrap();
    }
    store.flush().unwrap();
    assert_eq!(omitted(), 1);
    store.compact("f", CompactionKind::Major).unwrap();
    assert_eq!(omitted(), 2);
    store.rebuild_filters("f").unwrap();
    assert_eq!(omitted(), 3);
    for number in 0..1000 {
        assert_eq!(store.get(&Get::row(row(number))).unwrap().len(), 1);
    }
    assert!(store.get(&Get::row("row2")).unwrap().is_empty());
}

/// LZO, which this build cannot write: a flush of the family fails, and not because of the disk.
fn with_unwritable_family() -> tempfile::TempDir {
    changed_store(FamilyOptions::default(), |stored| {
        stored.set(StoredOptions::COMPRESSION, &[0; 4]);
    })
}

fn value_of(store: &Store, family: &str, row: &str) -> Option<Vec<u8>> {
    let cells = store.get(&Get::row(row).column(family, "q")).unwrap();
    cells.first().map(|cell| cell.value().to_vec())
}

#[test]
fn a_family_that_cannot_be_flushed_does_not_stop_the_others() {
    for background in [false, true] {
        let directory = with_unwritable_family();
        let options = quiet().background(background).memstore_flush_bytes(64 << 10);
        let store = Store::open(directory.path(), options.clone()).unwrap();
        let put = |family: &str, number: u32| {
            let put = Put::new(row(number)).column(family, "q", vec![b'x'; 1000]);
            store.put(put)
        };
        let mut accepted = 0;
        let refused = loop {
            match put("family", accepted) {
                Ok(()) => accepted += 1,
                Err(error) => break error,
            }
            assert!(accepted < 10_000, "its memstore is full long before");
        };
        let Error::FlushFailed { family, why } = &refused else { panic!("{refused}") };
        assert!(family == "family" && why.contains("LZO"), "{refused}");
        // Rows that concern the family are refused as well, and nothing of them is written.
        let mut batch = WriteBatch::from(Put::new("both").column("other", "q", "value"));
        batch.delete(Delete::row("both"));
        assert!(matches!(store.write(batch, Durability::Logged), Err(Error::FlushFailed { .. })));
        for number in 0..2000 {
            put("other", number).unwrap();
        }
        assert!(matches!(store.flush(), Err(Error::FlushFailed { .. })));
        let stats = store.stats();
        assert!(stats.family("family").unwrap().flush_failure.as_ref().unwrap().contains("LZO"));
        assert_eq!(stats.family("other").unwrap().flush_failure, None);
        assert!(stats.family("other").unwrap().files > 0);
        assert_eq!(stats.family("other").unwrap().memstore_bytes, 0);
        // The log must stay, so no family can be dropped but this one.
        store.put(Put::new("unflushed").column("other", "q", "value")).unwrap();
        assert!(matches!(store.drop_family("other"), Err(Error::FlushFailed { .. })));
        let recovered = Store::open_read_only(directory.path(), quiet()).unwrap();
        assert!(value_of(&recovered, "other", "unflushed").is_some());
        drop(store);

        // The log has every cell, and each is in the memstore or in a file.
        let store = Store::open(directory.path(), options).unwrap();
        let stats = store.stats();
        assert_eq!(stats.family("family").unwrap().memstore_cells, u64::from(accepted));
        assert_eq!(stats.family("other").unwrap().memstore_cells, 0, "those are in files");
        assert!(value_of(&store, "other", "unflushed").is_some());
        for (family, rows) in [("family", accepted), ("other", 2000)] {
            for number in 0..rows {
                assert!(value_of(&store, family, &row(number)).is_some(), "{family} {number}");
            }
        }
        let lz4 = store.family("family").unwrap().compression(Compression::Lz4);
        store.alter_family("family", lz4).unwrap();
        store.flush().unwrap();
        let stats = store.stats();
        assert_eq!(stats.family("family").unwrap().flush_failure, None);
        assert_eq!(stats.family("family").unwrap().memstore_cells, 0);
        store.put(Put::new("last").column("family", "q", "value")).unwrap();
        store.drop_family("other").unwrap();
        assert_eq!(value_of(&store, "family", &row(0)).unwrap().len(), 1000);
    }
}

#[test]
fn a_family_that_cannot_be_flushed_is_writable_again_once_it_is_cleared() {
    let directory = with_unwritable_family();
    let store = Store::open(directory.path(), quiet()).unwrap();
    store.put(Put::new("row").column("family", "q", "value")).unwrap();
    store.put(Put::new("row").column("other", "q", "value")).unwrap();
    assert!(matches!(store.flush(), Err(Error::FlushFailed { .. })));
    store.clear_family("family").unwrap();
    assert_eq!(store.stats().family("family").unwrap().flush_failure, None);
    drop(store);
    let store = Store::open(directory.path(), quiet()).unwrap();
    assert_eq!(value_of(&store, "family", "row"), None);
    assert_eq!(value_of(&store, "other", "row").as_deref(), Some(&b"value"[..]));
    store.flush().unwrap();
    store.drop_family("other").unwrap();
}

/// Recovery must not bring back cells that were flushed and then dropped by a compaction.
#[test]
fn cells_that_are_in_files_are_not_replayed_while_the_log_is_kept_for_another_family() {
    let directory = with_unwritable_family();
    let store = Store::open(directory.path(), quiet()).unwrap();
    store.put(Put::new("row").column("family", "q", "kept")).unwrap();
    store.put(Put::new("row").column("other", "q", "value")).unwrap();
    assert!(store.flush().is_err());
    assert_eq!(store.stats().family("other").unwrap().files, 1);
    // With a file from elsewhere, whose writes are not in the log.
    let out = tempfile::tempdir().unwrap();
    let maker = Store::open(out.path().join("store"), quiet()).unwrap();
    maker.create_family("other", FamilyOptions::default()).unwrap();
    maker.delete(Delete::row("row")).unwrap();
    maker.export(out.path().join("files"), &[]).unwrap();
    let file = fs::read_dir(out.path().join("files/other")).unwrap().next().unwrap().unwrap();
    store.import("other", &[file.path()], Age::Newest).unwrap();
    assert_eq!(value_of(&store, "other", "row"), None);
    store.compact("other", CompactionKind::Major).unwrap();
    assert_eq!(store.stats().family("other").unwrap().files, 0);
    drop(store);
    for _ in 0..2 {
        let store = Store::open(directory.path(), quiet()).unwrap();
        assert_eq!(value_of(&store, "other", "row"), None);
        assert_eq!(value_of(&store, "family", "row").as_deref(), Some(&b"kept"[..]));
        let reader = Store::open_read_only(directory.path(), quiet()).unwrap();
        assert_eq!(value_of(&reader, "other", "row"), None);
        drop(store);
    }
    let saved = out.path().join("saved");
    salvage(directory.path(), &saved, &quiet(), &[], |_| {}).unwrap();
    let saved = Store::open(saved, quiet()).unwrap();
    assert_eq!(value_of(&saved, "other", "row"), None);
    assert_eq!(value_of(&saved, "family", "row").as_deref(), Some(&b"kept"[..]));
}

/// A lost file was flushed while the log is kept for another family: the log still has its cells.
#[test]
fn a_salvage_takes_the_cells_of_a_lost_file_from_a_log_that_was_kept() {
    let directory = with_unwritable_family();
    let store = Store::open(directory.path(), quiet()).unwrap();
    store.put(Put::new("row").column("family", "q", "kept")).unwrap();
    store.put(Put::new("row").column("other", "q", "value")).unwrap();
    assert!(store.flush().is_err());
    drop(store);
    let file = fs::read_dir(directory.path().join("other")).unwrap().next().unwrap().unwrap();
    fs::remove_file(file.path()).unwrap();
    let out = tempfile::tempdir().unwrap();
    salvage(directory.path(), out.path(), &quiet(), &[], |_| {}).unwrap();
    let saved = Store::open(out.path(), quiet()).unwrap();
    assert_eq!(value_of(&saved, "other", "row").as_deref(), Some(&b"value"[..]));
}

/// The log of the flushed family is kept for the other one, whose cells were not in it.
#[test]
fn no_record_of_a_dropped_family_stays_in_a_log_whose_memstores_are_empty() {
    let directory = with_unwritable_family();
    let store = Store::open(directory.path(), quiet()).unwrap();
    store.put(Put::new("row").column("other", "q", "value")).unwrap();
    let unlogged = WriteBatch::from(Put::new("row").column("family", "q", "value"));
    store.write(unlogged, Durability::Skip).unwrap();
    assert!(store.flush().is_err());
    drop(store);
    let store = Store::open(directory.path(), quiet()).unwrap();
    store.drop_family("other").unwrap();
    drop(store);
    let store = Store::open(directory.path(), quiet()).unwrap();
    // It gets the id of the dropped family.
    store.create_family("another", FamilyOptions::default()).unwrap();
    drop(store);
    let store = Store::open(directory.path(), quiet()).unwrap();
    assert_eq!(value_of(&store, "another", "row"), None);
}

#[test]
fn an_altered_family_accepts_writes_again_without_a_flush_by_hand() {
    let directory = with_unwritable_family();
    let options = quiet().background(false).memstore_flush_bytes(1 << 10);
    let store = Store::open(directory.path(), options).unwrap();
    let put =
        |number: u32| store.put(Put::new(row(number)).column("family", "q", vec![b'x'; 1000]));
    let refused = (0..100).find(|number| put(*number).is_err()).expect("its memstore is full");
    let lz4 = store.family("family").unwrap().compression(Compression::Lz4);
    store.alter_family("family", lz4).unwrap();
    put(refused).unwrap();
    for number in 0..=refused {
        assert!(value_of(&store, "family", &row(number)).is_some(), "{number}");
    }
}

/// Compares a flush with and without `cache_on_write`: they make the same calls to the file system, so neither reads
/// the data blocks of the new file.
#[test]
fn a_flush_that_fills_the_cache_reads_nothing_back_and_a_get_then_reads_nothing() {
    let rate = ErrorRate::new(0.01).unwrap();
    let plain = FamilyOptions::default().block_size(256).family_map(MapMode::Off);
    let filtered = plain.clone().filter(FilterKind::BlockedBloom, Sizing::ErrorRate(rate));
    for encoding in DataBlockEncoding::ALL {
        for (compression, family) in [(Compression::None, &plain), (Compression::Gz, &filtered)] {
            let calls = [false, true].map(|cache_on_write| {
                let disk = Disk::default();
                let options = quiet().index_block_size(256).cache_on_write(cache_on_write);
                let store = Store::open(Path::new("/store"), options.vfs(Arc::new(disk.clone())));
                let store = store.unwrap();
                let family = family.clone().data_block_encoding(encoding).compression(compression);
                store.create_family("f", family).unwrap();
                fill(&store, "f").unwrap();
                disk.set_faults(Faults::default());
                store.flush().unwrap();
                let calls = disk.calls();
                disk.set_faults(Faults::default());
                read_back(&store, "f").unwrap();
                assert!(store.get(&Get::row("absent")).unwrap().is_empty());
                assert_eq!(disk.calls() == 0, cache_on_write, "{encoding:?}, {compression:?}");
                calls
            });
            assert_eq!(calls[0], calls[1], "{encoding:?}, {compression:?}");
        }
    }
}
