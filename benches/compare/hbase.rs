//! HBase in a separate JVM: a region with the same rows in as many files, called without a client
//! or network.
//!
//! It is another process and cannot take turns with the others, so it runs separately. Before the
//! timing its code is compiled and its blocks are cached; its log does not wait for the disk. It
//! has our codec and block size and the encoding `ROW_INDEX_V1`, with which it is much faster than
//! with its defaults, and its Bloom filter at 1 %.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use workload::{Asked, Rows, write_hex};

use crate::comparison::FILES;
use crate::figure::{CACHE_ALL, Figure};
use crate::work_directory::WorkDirectory;

/// Number of gets of each kind.
const QUESTIONS: usize = 20_000;

/// Fills a region with the first `count` rows and measures it.
///
/// # Errors
///
/// If the judge cannot be started or reports an error.
pub(crate) fn measure(
    place: &WorkDirectory,
    rows: Rows,
    count: u64,
    rounds: usize,
) -> io::Result<Vec<Figure>> {
    let [all, present, absent] = ["rows", "present", "absent"].map(|name| place.path().join(name));
    write_rows(&all, rows, count)?;
    for (path, asked) in [(&present, Asked::Present), (&absent, Asked::Absent)] {
        let indexes = asked.questions(count, QUESTIONS, 7);
        write_hex(path, indexes.into_iter().map(|index| rows.key(index)))?;
    }
    let judge = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/hbase-judge/judge");
    let output = place.ask(
        Command::new(&judge)
            .env("JUDGE_JAVA_OPTS", java_options(place))
            .arg("bench-region")
            .args([Path::new("--rows"), &all, Path::new("--present"), &present])
            .args([Path::new("--absent"), &absent])
            .args(["--files", &FILES.to_string(), "--rounds", &rounds.to_string()])
            .args(["--encoding", "ROW_INDEX_V1", "--compression", "LZ4", "--block-size", "4096"]),
    )?;
    let answer: Value = serde_json::from_slice(&output)?;
    if answer["ok"] != true {
        return Err(io::Error::other(format!("HBase: {answer:#}")));
    }
    Ok(figures(&answer, count))
}

/// Returns the JVM options: a heap for all rows twice (cache and memstores), and our directory.
///
/// The user's options come last and override these.
fn java_options(place: &WorkDirectory) -> String {
    let more = std::env::var("JUDGE_JAVA_OPTS").unwrap_or_default();
    format!("-Xmx8g -Djava.io.tmpdir={} {more}", place.path().display())
}

fn figures(answer: &Value, rows: u64) -> Vec<Figure> {
    let samples = |work: &str, clock: &str| {
        let samples = answer[work][clock].as_array();
        samples.into_iter().flatten().filter_map(Value::as_f64).collect()
    };
    let figure = |work: &str, asked: Option<&str>, name: &str| Figure {
        contender: "HBase, ROW_INDEX_V1, Bloom at 1 %".to_owned(),
        engine: "HBase".to_owned(),
        work: work.to_owned(),
        asked: asked.map(str::to_owned),
        rows,
        files: answer["files"].as_u64(),
        cache: CACHE_ALL.to_owned(),
        threads: 1,
        unit: "ns".to_owned(),
        wall: samples(name, "wall"),
        cpu: samples(name, "cpu"),
        ..Figure::default()
    };
    vec![
        figure("fill", None, "fill"),
        figure("get", Some("present"), "present"),
        figure("get", Some("absent"), "absent"),
        figure("scan", None, "scan"),
    ]
}

/// Writes each row: key length (one byte), key, value.
fn write_rows(path: &Path, rows: Rows, count: u64) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    for index in 0..count {
        let key = rows.key(index);
        let key = key.as_ref();
        out.write_all(&[u8::try_from(key.len()).expect("24 at most")])?;
        out.write_all(key)?;
        out.write_all(&rows.value(index))?;
    }
    out.flush()
}
