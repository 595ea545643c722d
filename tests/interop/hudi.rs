//! Files of Hudi's own writer, read by us, and files of ours, read by Hudi's readers.
//!
//! Run with `HUDI_JUDGE=1`; see `tests/hudi-judge/README.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::{env, fs};

use bytes::Bytes;
use sstable::{
    CellRef, Compression, FileName, Limits, Reader, ReaderOptions, Timestamp, Writer,
    WriterOptions, verify,
};
use support::{Random, hex, say};
use tempfile::TempDir;

/// Rows with their values.
type Rows = BTreeMap<Vec<u8>, Vec<u8>>;

/// The versions of `hudi-io` that have a writer.
const WRITERS: [&str; 2] = ["1.1.1", "1.2.1"];
const READERS: [&str; 3] = ["1.0.2", "1.1.1", "1.2.1"];
const CODECS: [(&str, Compression); 2] = [("NONE", Compression::None), ("GZIP", Compression::Gz)];

/// A way to make rows: how many, and the longest row and value.
#[derive(Clone, Copy)]
struct Shape {
    rows: usize,
    row_len_max: usize,
    value_len_max: usize,
}

/// Twenty-five, so that each writer makes fifty files with two codecs.
fn shapes() -> Vec<Shape> {
    let mut shapes = vec![
        Shape { rows: 0, row_len_max: 1, value_len_max: 0 },
        Shape { rows: 1, row_len_max: 1, value_len_max: 0 },
        Shape { rows: 1, row_len_max: 20_000, value_len_max: 10 },
        // Around the lengths from which the forms of a key's length differ.
        Shape { rows: 60, row_len_max: 130, value_len_max: 20 },
        Shape { rows: 3000, row_len_max: 12, value_len_max: 100 },
    ];
    for number in 1..=20 {
        let row_len_max = [8, 40, 118, 300, 2000][number % 5];
        shapes.push(Shape { rows: 10 * number, row_len_max, value_len_max: 7 * number });
    }
    shapes
}

fn rows(seed: u64, shape: Shape) -> Rows {
    let mut random = Random::new(seed);
    let mut rows = Rows::new();
    while rows.len() < shape.rows {
        let len = 1 + random.below(shape.row_len_max);
        // Hudi's keys are text.
        let row = (0..len).map(|_| b"abcxyz0189/_"[random.below(12)]).collect();
        let len = random.below(shape.value_len_max + 1);
        rows.insert(row, (0..len).map(|_| random.below(256) as u8).collect());
    }
    rows
}

fn is_enabled(test: &str) -> bool {
    let is_enabled = env::var_os("HUDI_JUDGE").is_some_and(|value| value == "1");
    if !is_enabled {
        say(&format!("{test}: skipped, because it needs Hudi's classes; set HUDI_JUDGE=1"));
    }
    is_enabled
}

/// Gives commands to a version of Hudi; returns an answer for each.
fn ask(version: &str, commands: &[Vec<String>]) -> Vec<String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("hudi-judge/judge");
    let mut judge = Command::new(script)
        .env("HUDI_VERSION", version)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the judge starts");
    let lines: String =
        commands.iter().fold(String::new(), |lines, words| lines + &words.join("\t") + "\n");
    let mut input = judge.stdin.take().expect("piped");
    let writing = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = judge.wait_with_output().expect("the judge answers");
    writing.join().expect("no panic").expect("the judge listens");
    assert!(output.status.success(), "the judge of Hudi {version} failed");
    let answers: Vec<_> =
        String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
    assert_eq!(answers.len(), commands.len());
    answers
}

fn lines_of(rows: &Rows) -> String {
    rows.iter().fold(String::new(), |mut lines, (row, value)| {
        writeln!(lines, "{} {}", hex(row), hex(value)).expect("in memory");
        lines
    })
}

fn text(path: &Path) -> String {
    path.to_str().expect("text").to_owned()
}

/// A file that a version of Hudi has written.
struct Written {
    path: PathBuf,
    rows: Rows,
}

fn written_by_hudi(version: &str, place: &Path) -> Vec<Written> {
    let mut all = Vec::new();
    let mut commands = Vec::new();
    for (number, shape) in shapes().into_iter().enumerate() {
        let rows = rows(number as u64, shape);
        let cells = place.join(format!("{number}.cells"));
        fs::write(&cells, lines_of(&rows)).expect("the disk has room");
        for (codec, _) in CODECS {
            let path = place.join(format!("{version}-{number}-{codec}.hfile"));
            let block_size = [300, 2000, 65_536][number % 3].to_string();
            let mut command = vec!["write".to_owned(), text(&path), text(&cells)];
            command.extend([codec.to_owned(), block_size]);
            let metas = ["bloom_filter=0a0b", "minRecordKey=61", "a=", "maxRecordKey=7a"];
            command.extend(metas[..number % 5].iter().map(|meta| (*meta).to_owned()));
            commands.push(command);
            all.push(Written { path, rows: rows.clone() });
        }
    }
    for (answer, written) in ask(version, &commands).iter().zip(&all) {
        assert_eq!(*answer, format!("ok {}", written.rows.len()), "{}", written.path.display());
    }
    all
}

/// Reads a file whole and row by row; returns what is wrong.
fn faults(written: &Written) -> Vec<String> {
    let name = || FileName::new(text(&written.path));
    let source = Arc::new(Bytes::from(fs::read(&written.path).expect("written")));
    let found = verify(source.clone(), name(), Limits::default(), |_| {});
    let mut faults: Vec<_> = match &found {
        Ok(found) => {
            found.problems.iter().map(|problem| format!("{}: {problem}", name())).collect()
        }
        Err(error) => vec![error.to_string()],
    };
    if let Err(error) = compare(source, name(), &written.rows) {
        faults.push(error.to_string());
    }
    faults
}

fn compare(source: Arc<Bytes>, name: FileName, rows: &Rows) -> sstable::Result<()> {
    let reader = Reader::open(source, name, ReaderOptions::default())?;
    let mut scanner = reader.bulk_scanner();
    scanner.seek_to_first()?;
    let mut found = Rows::new();
    while let Some(cell) = scanner.cell() {
        found.insert(cell.row.to_vec(), cell.value.to_vec());
        scanner.advance()?;
    }
    assert_eq!(found, *rows, "{}", reader.name());
    assert_eq!(reader.trailer().entry_count, rows.len() as u64);
    for (row, value) in rows.iter().step_by(rows.len() / 50 + 1) {
        let got = reader.row(row)?;
        assert_eq!(got.cell().map(|cell| cell.value.to_vec()).as_ref(), Some(value));
        let absent = [row, &b"!"[..]].concat();
        assert!(reader.row(&absent)?.cell().is_none(), "{absent:?}");
    }
    Ok(())
}

#[test]
fn files_of_hudis_writer_are_sound_and_read_cell_for_cell() {
    if !is_enabled("interop: files of Hudi") {
        return;
    }
    let place = TempDir::new().expect("a temporary directory");
    for version in WRITERS {
        let files = written_by_hudi(version, place.path());
        let faults: Vec<_> = files.iter().flat_map(faults).collect();
        assert!(faults.is_empty(), "Hudi {version}: {faults:#?}");
        say(&format!("interop: {} of {0} files of Hudi {version} are read by us", files.len()));
    }
}

/// Writes a file with cells of HBase; Hudi reads their rows and values.
fn write_ours(path: &Path, compression: Compression, block_size: u32, rows: &Rows) {
    let options = WriterOptions::default().compression(compression).block_size(block_size);
    let file = fs::File::create(path).expect("writable");
    let mut writer = Writer::new(file, FileName::new("ours"), options).expect("sound options");
    for (row, value) in rows {
        let cell = CellRef::put(row, b"f", b"q", Timestamp::new(5), value);
        writer.append(cell).expect("a sound cell");
    }
    writer.finish().expect("the disk has room");
}

#[test]
fn files_of_ours_are_read_and_sought_by_hudis_readers() {
    if !is_enabled("interop: Hudi's readers") {
        return;
    }
    let place = TempDir::new().expect("a temporary directory");
    let at = |name: String| place.path().join(name);
    let mut files = Vec::new();
    for (number, shape) in shapes().into_iter().enumerate() {
        let rows = rows(number as u64, shape);
        let absent = rows.keys().map(|row| [row, &b"!"[..]].concat());
        // Hudi's reader seeks forwards only.
        let mut keys: Vec<_> = rows.keys().cloned().chain(absent).collect();
        keys.sort();
        let lines = keys.iter().fold(String::new(), |lines, key| lines + &hex(key) + "\n");
        fs::write(at(format!("{number}.keys")), lines).expect("the disk has room");
        for (codec, compression) in CODECS {
            let path = at(format!("{number}-{codec}.hfile"));
            write_ours(&path, compression, [300, 2000, 65_536][number % 3], &rows);
            files.push((path, number, rows.clone(), keys.clone()));
        }
    }
    for version in READERS {
        let mut commands = Vec::new();
        for (path, number, ..) in &files {
            let keys = text(&at(format!("{number}.keys")));
            let path = text(path);
            commands.push(vec!["read".to_owned(), path.clone(), format!("{path}.read")]);
            commands.push(vec!["seek".to_owned(), path.clone(), keys, format!("{path}.sought")]);
        }
        let answers = ask(version, &commands);
        for ((path, _, rows, keys), answers) in files.iter().zip(answers.chunks(2)) {
            let counts = [format!("ok {}", rows.len()), format!("ok {}", keys.len())];
            assert_eq!(answers, counts, "Hudi {version}: {}", path.display());
            let answer = |ending: &str| {
                fs::read_to_string(format!("{}.{ending}", text(path))).expect("written")
            };
            assert!(answer("read") == lines_of(rows), "Hudi {version}: {}", path.display());
            let expected = keys.iter().fold(String::new(), |lines, key| {
                lines
                    + &rows.get(key).map_or_else(|| "absent".to_owned(), |value| hex(value))
                    + "\n"
            });
            assert!(answer("sought") == expected, "Hudi {version}: {}", path.display());
        }
        say(&format!(
            "interop: {} of {0} files are read and sought by Hudi {version}",
            files.len()
        ));
    }
}
