//! A history of one family: each step runs in the store and is recorded for HBase.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use sstable::{BloomType, Cell, CellRef, CellType, FileName, SequenceId, Writer, WriterOptions};
use store::vfs::Vfs;
use store::{
    Age, Append, CheckAndMutate, CompactionKind, CompareOperator, Durability, FamilyOptions, Get,
    Increment, KeepDeletedCells, Put, Scan, Store, Timestamp, WriteBatch,
};
use support::disk::Disk;
use support::test_store::{TestClock, quiet_on};
use support::{Random, hex};

const ROWS: [&str; 4] = ["a", "ab", "b", "c"];
const COLUMNS: [&str; 3] = ["o", "p", "q"];
/// The empty qualifier also has the family deletes.
const COLUMNS_WITH_EMPTY: [&str; 3] = ["", "p", "q"];
/// Small timestamps, so that they collide; the clock starts among them. Whole seconds, because
/// HBase rounds the TTL of a family to seconds.
const SECOND: i64 = 1000;
const START: i64 = 20 * SECOND;

/// A history: its steps as HBase gets them, and the store's answers.
pub(crate) struct History {
    random: Random,
    store: Store,
    pub(crate) files: Disk,
    pub(crate) clock: TestClock,
    directory: PathBuf,
    pub(crate) family: Value,
    versions: u32,
    columns: [&'static str; 3],
    has_upserts: bool,
    pub(crate) steps: Vec<Value>,
    pub(crate) answers: Vec<Value>,
}

impl History {
    pub(crate) fn new(seed: u64, directory: &Path) -> Self {
        let mut random = Random::new(seed);
        let mut below = |limit| random.below(limit) as u32;
        let versions = 1 + below(3);
        let min_versions = if below(3) == 0 { 1 + below(versions as usize) } else { 0 };
        let ttl = (min_versions > 0 || below(3) == 0).then(|| 3 + below(12));
        let keep = [KeepDeletedCells::False, KeepDeletedCells::True, KeepDeletedCells::Ttl]
            [[0, 0, 0, 1, 2][below(5) as usize]];
        let bloom = [BloomType::None, BloomType::Row, BloomType::RowCol][below(3) as usize];
        let options = FamilyOptions::default()
            .versions(versions)
            .min_versions(min_versions)
            .ttl(ttl.map(|seconds| Duration::from_secs(seconds.into())))
            .keep_deleted_cells(keep)
            .bloom_type(bloom)
            .block_size(128);
        let keep = match keep {
            KeepDeletedCells::False => "FALSE",
            KeepDeletedCells::True => "TRUE",
            KeepDeletedCells::Ttl => "TTL",
        };
        let mut family = json!({
            "versions": versions, "minVersions": min_versions, "keepDeletedCells": keep,
            "bloom": bloom.name(),
        });
        if let Some(ttl) = ttl {
            family["ttl"] = json!(ttl);
        }
        let directory = directory.join(seed.to_string());
        let clock = TestClock::at(START);
        let files = Disk::default();
        let store = Store::open("/store", quiet_on(&files).clock(clock.clock())).unwrap();
        store.create_family("f", options).unwrap();
        let columns = if random.below(3) == 0 { COLUMNS_WITH_EMPTY } else { COLUMNS };
        Self {
            random,
            store,
            files,
            clock,
            directory,
            family,
            versions,
            columns,
            has_upserts: false,
            steps: Vec::new(),
            answers: Vec::new(),
        }
    }

    pub(crate) fn play(&mut self, steps: usize) {
        for _ in 0..steps {
            match self.random.below(30) {
                0..=8 => self.write(),
                9..=11 => self.flush(),
                12 => self.compact(),
                13 => self.load(),
                14 | 15 => self.later(),
                16..=18 => self.increment(),
                19 | 20 => self.append(),
                21 | 22 => self.check(),
                23..=26 => self.scan(),
                _ => self.get(),
            }
        }
        self.scan();
        self.get();
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.random.below(choices.len())]
    }

    fn column(&mut self) -> &'static str {
        let columns = self.columns;
        self.one_of(&columns)
    }

    /// Returns a timestamp near the clock.
    fn time(&mut self) -> i64 {
        (10 + self.random.below(14) as i64) * SECOND
    }

    /// Returns the cells of one write in order, with distinct keys.
    fn cells(&mut self) -> Vec<Cell> {
        let mut cells: Vec<Cell> = Vec::new();
        for _ in 0..=self.random.below(5) {
            let cell_type = match self.random.below(10) {
                0 => CellType::Delete,
                1 => CellType::DeleteColumn,
                2 => CellType::DeleteFamily,
                3 => CellType::DeleteFamilyVersion,
                _ => CellType::Put,
            };
            let (row, column) = (self.one_of(&ROWS), self.column());
            let value = [self.random.below(100).to_string(), self.steps.len().to_string()];
            let value = if self.random.below(3) == 0 { Vec::new() } else { value.concat().into() };
            let value = if self.random.below(4) == 0 { vec![0; 8] } else { value };
            let mut tags = vec![];
            if self.random.below(5) == 0 {
                let ttl = self.time() / 2;
                // The end of some lives is a sum that overflows, as in HBase.
                let ttl = if ttl < 6 * SECOND { i64::MAX - 15 * SECOND } else { ttl };
                tags = [&[0, 9, 8][..], &ttl.to_be_bytes()].concat();
            }
            let is_put = cell_type == CellType::Put;
            let cell = CellRef {
                row: row.as_bytes(),
                family: b"f",
                qualifier: if cell_type.deletes_family() { b"" } else { column.as_bytes() },
                timestamp: Timestamp::new(self.time()),
                cell_type,
                value: if is_put { &value } else { b"" },
                tags: if is_put { &tags } else { b"" },
                sequence_id: SequenceId::new(0),
            };
            if !cells.iter().any(|other| other.as_ref().key() == cell.key()) {
                cells.push(cell.to_cell());
            }
        }
        cells.sort_by(|left, right| left.as_ref().compare(&right.as_ref()));
        cells
    }

    pub(crate) fn write(&mut self) {
        let cells = self.cells();
        let mut batch = WriteBatch::new();
        for cell in &cells {
            batch.cell(&cell.as_ref());
        }
        self.store.write(batch, Durability::Logged).unwrap();
        let lines: Vec<_> = cells.iter().map(|cell| line(&cell.as_ref())).collect();
        self.steps.push(json!({ "write": lines }));
    }

    fn load(&mut self) {
        let path = self.directory.join(format!("{}.hfile", self.steps.len()));
        let options = WriterOptions::default().includes_tags(true);
        let mut writer = Writer::new(Vec::new(), FileName::new("loaded"), options).unwrap();
        for cell in self.cells() {
            writer.append(cell.as_ref()).unwrap();
        }
        let (bytes, _) = writer.finish().unwrap();
        fs::create_dir_all(&self.directory).unwrap();
        fs::write(&path, &bytes).unwrap();
        let ours = Path::new("/store/loaded.hfile");
        self.files.create(ours).unwrap().write_all(&bytes).unwrap();
        self.store.import("f", &[ours.to_path_buf()], Age::Newest).unwrap();
        self.files.unlink(ours).unwrap();
        self.steps.push(json!({ "load": path }));
    }

    pub(crate) fn flush(&mut self) {
        self.store.flush().unwrap();
        self.steps.push(json!({ "flush": true }));
    }

    pub(crate) fn compact(&mut self) {
        self.store.compact("f", CompactionKind::Major).unwrap();
        self.steps.push(json!({ "compact": true }));
    }

    pub(crate) fn later(&mut self) {
        let millis = (1 + self.random.below(4) as i64) * SECOND;
        self.clock.set(self.clock.now() + millis);
        self.steps.push(json!({ "later": millis }));
    }

    fn increment(&mut self) {
        let (row, column) = (self.one_of(&ROWS), self.column());
        let amount = self.random.below(5) as i64 - 1;
        let answer = self.store.increment(&Increment::new(row).column("f", column, amount));
        self.answers.push(answer.map_or(json!(["refused"]), |cells| shown(&cells)));
        let step = json!({ "row": hex(row.as_bytes()), "qualifier": hex(column.as_bytes()), "amount": amount });
        self.steps.push(json!({ "increment": step }));
        self.has_upserts |= self.versions == 1;
    }

    fn append(&mut self) {
        let (row, column) = (self.one_of(&ROWS), self.column());
        let value = self.one_of(&["x", "", "12345678"]);
        let cells = self.store.append(&Append::new(row).column("f", column, value)).unwrap();
        self.answers.push(shown(&cells));
        let step = json!({ "row": hex(row.as_bytes()), "qualifier": hex(column.as_bytes()), "value": hex(value.as_bytes()) });
        self.steps.push(json!({ "append": step }));
        self.has_upserts |= self.versions == 1;
    }

    fn check(&mut self) {
        const OPERATORS: [(CompareOperator, &str); 6] = [
            (CompareOperator::Less, "LESS"),
            (CompareOperator::LessOrEqual, "LESS_OR_EQUAL"),
            (CompareOperator::Equal, "EQUAL"),
            (CompareOperator::NotEqual, "NOT_EQUAL"),
            (CompareOperator::GreaterOrEqual, "GREATER_OR_EQUAL"),
            (CompareOperator::Greater, "GREATER"),
        ];
        let (row, column, target) = (self.one_of(&ROWS), self.column(), self.column());
        let put = self.one_of(&["5", "50", "75"]);
        let mut step = json!({
            "row": hex(row.as_bytes()), "qualifier": hex(column.as_bytes()), "target": hex(target.as_bytes()), "put": hex(put.as_bytes()),
        });
        let mut check = CheckAndMutate::new(row).put(Put::new(row).column("f", target, put));
        if self.random.below(4) == 0 {
            check = check.if_not_exists("f", column);
        } else {
            let (operator, name) = self.one_of(&OPERATORS);
            let value = self.one_of(&["", "5", "50", "7"]);
            check = check.if_matches("f", column, operator, value);
            step["operator"] = json!(name);
            step["value"] = json!(hex(value.as_bytes()));
        }
        if let Some((min, max)) = self.time_range(&mut step) {
            check = check.time_range(min, max);
        }
        self.answers.push(json!([self.store.check_and_mutate(&check).unwrap()]));
        self.steps.push(json!({ "check": step }));
    }

    /// Sets a time range now and then.
    ///
    /// In a family of one version an increment removes older versions from HBase's memstore
    /// immediately, so earlier time ranges are not asked there.
    fn time_range(&mut self, step: &mut Value) -> Option<(Timestamp, Timestamp)> {
        if self.has_upserts || self.random.below(3) > 0 {
            return None;
        }
        let (min, max) = (self.time(), self.time());
        let (min, max) = (min.min(max), min.max(max) + 1);
        step["min"] = json!(min);
        step["max"] = json!(max);
        Some((Timestamp::new(min), Timestamp::new(max)))
    }

    fn some_columns(&mut self, step: &mut Value) -> Vec<&'static str> {
        if self.random.below(2) == 0 {
            return Vec::new();
        }
        let columns: Vec<_> =
            self.columns.into_iter().filter(|_| self.random.below(2) == 0).collect();
        if !columns.is_empty() {
            step["columns"] = columns.iter().map(|column| hex(column.as_bytes())).collect();
        }
        columns
    }

    fn scan(&mut self) {
        let versions = 1 + self.random.below(4) as u32;
        let mut step = json!({ "versions": versions });
        let mut scan = Scan::family("f").versions(versions);
        if let Some((min, max)) = self.time_range(&mut step) {
            scan = scan.time_range(min, max);
        }
        if self.has_upserts || self.random.below(5) > 0 {
            for column in self.some_columns(&mut step) {
                scan = scan.column(column);
            }
        } else {
            scan = scan.raw(true);
            step["raw"] = json!(true);
            if self.columns == COLUMNS_WITH_EMPTY {
                // HBase 2.5.13 never ends here if a column has more versions than are shown: to
                // reach the next column it seeks the same cell again and again.
                scan = scan.versions(100);
                step["versions"] = json!(100);
            }
        }
        if self.random.below(3) == 0 {
            scan = scan.reverse(true);
            step["reverse"] = json!(true);
        }
        if self.random.below(4) == 0 {
            let mut rows = [self.one_of(&ROWS), self.one_of(&ROWS)];
            rows.sort_unstable();
            if step["reverse"] == true {
                rows.reverse();
            }
            if rows[0] != rows[1] {
                scan = scan.start(rows[0]).stop(rows[1]);
                step["start"] = json!(hex(rows[0].as_bytes()));
                step["stop"] = json!(hex(rows[1].as_bytes()));
            }
        }
        if self.random.below(4) == 0 {
            let cells = 1 + self.random.below(3);
            scan = scan.cells_per_row_max(cells as u64);
            step["cellsPerRow"] = json!(cells);
        }
        let found: Vec<_> = self.store.scan(scan).unwrap().map(Result::unwrap).collect();
        self.answers.push(shown(&found));
        self.steps.push(json!({ "scan": step }));
    }

    fn get(&mut self) {
        let row = self.one_of(&ROWS);
        let versions = 1 + self.random.below(4) as u32;
        let mut step = json!({ "row": hex(row.as_bytes()), "versions": versions });
        let mut get = Get::row(row).versions(versions);
        if let Some((min, max)) = self.time_range(&mut step) {
            get = get.time_range(min, max);
        }
        for column in self.some_columns(&mut step) {
            get = get.column("f", column);
        }
        let found = self.store.get(&get).unwrap();
        self.answers.push(shown(&found));
        self.steps.push(json!({ "get": step }));
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({ "family": self.family, "now": START, "steps": self.steps })
    }
}

/// A cell as the judge prints it, without its sequence id, which HBase assigns differently.
pub(crate) fn line(cell: &CellRef<'_>) -> Value {
    let mut line = Vec::new();
    cells::ndjson::write_cell(&mut line, cell).unwrap();
    let mut line: Value = serde_json::from_slice(&line).unwrap();
    line.as_object_mut().unwrap().remove("seq");
    line
}

fn shown(cells: &[Cell]) -> Value {
    cells.iter().map(|cell| line(&cell.as_ref())).collect()
}
