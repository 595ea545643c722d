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
use std::process::{Command, Stdio};

use serde_json::Value;
use workload::{Asked, Samples, write_hex};

use crate::figure::Figure;
use crate::plan::{FILES, Plan};
use crate::stores::ROWS;

/// Number of gets of each kind.
const QUESTIONS: usize = 20_000;

/// Fills a region with the first rows and measures it.
pub(crate) fn measure(place: &Path, plan: &Plan) -> io::Result<Vec<Figure>> {
    let [all, present, absent] = ["rows", "present", "absent"].map(|name| place.join(name));
    write_rows(&all, plan.rows)?;
    for (path, asked) in [(&present, Asked::Present), (&absent, Asked::Absent)] {
        let indexes = asked.questions(plan.rows, QUESTIONS, 7);
        write_hex(path, indexes.into_iter().map(|index| ROWS.key(index)))?;
    }
    // A heap for all rows twice (cache and memstores). The user's options come last and override it.
    let options = std::env::var("JUDGE_JAVA_OPTS").unwrap_or_default();
    let options = format!("-Xmx8g -Djava.io.tmpdir={} {options}", place.display());
    // The JVM is killed if this process ends.
    let output = Command::new("setpriv")
        .args(["--pdeathsig", "KILL"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/hbase-judge/judge"))
        .env("JUDGE_JAVA_OPTS", options)
        .arg("bench-region")
        .args([Path::new("--rows"), &all, Path::new("--present"), &present])
        .args([Path::new("--absent"), &absent])
        .args(["--files", &FILES.to_string(), "--rounds", &plan.rounds.to_string()])
        .args(["--encoding", "ROW_INDEX_V1", "--compression", "LZ4", "--block-size", "4096"])
        .stderr(Stdio::inherit())
        .output()?;
    let answer: Value = serde_json::from_slice(&output.stdout)?;
    if answer["ok"] != true {
        return Err(io::Error::other(format!("HBase: {answer:#}")));
    }
    let figure = |(work, name): (&str, &str)| {
        let samples = |clock: &str| {
            let samples = answer[name][clock].as_array();
            samples.into_iter().flatten().filter_map(Value::as_f64).collect()
        };
        let samples = Samples { wall: samples("wall"), cpu: samples("cpu") };
        let figure = Figure::new("HBase, ROW_INDEX_V1, Bloom at 1 %", work, samples);
        Figure { rows: plan.rows, files: answer["files"].as_u64(), ..figure }
    };
    let works =
        [("fill", "fill"), ("present get", "present"), ("absent get", "absent"), ("scan", "scan")];
    Ok(works.map(figure).into())
}

/// Writes each row: key length (one byte), key, value.
fn write_rows(path: &Path, count: u64) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    for index in 0..count {
        let key = ROWS.key(index);
        let key = key.as_ref();
        out.write_all(&[u8::try_from(key.len()).expect("24 at most")])?;
        out.write_all(key)?;
        out.write_all(&ROWS.value(index))?;
    }
    out.flush()
}
