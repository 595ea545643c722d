//! `hfile snapshot export --to parquet` and `--to arrow`: pyarrow and `DuckDB` read the cells of HBase; and
//! `hfile build --from parquet`, in `build.rs`.
//!
//! The packages come from `PyPI`, into `target/python`. Without Python or `PyPI` the tests say that they
//! were skipped. `cargo test -p hfile-cli --features parquet --test export_parquet`

mod build;
#[path = "../support/command_line.rs"]
mod command_line;
#[path = "../support/export.rs"]
mod export;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use support::say;

use export::Exports;

/// The packages, in versions that are known to work together.
const PACKAGES: [&str; 2] = ["pyarrow==26.0.1", "duckdb==2.0.0"];

/// Returns a Python that has the packages; `None`, after a line on stderr, if there is none.
fn python() -> Option<&'static Path> {
    static PYTHON: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    match PYTHON.get_or_init(install) {
        Ok(python) => Some(python),
        Err(why) => {
            say(&format!("pyarrow and DuckDB: skipped, because {why}"));
            None
        }
    }
}

fn install() -> Result<PathBuf, String> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/python");
    let python = directory.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let has_packages = || run(Command::new(&python).args(["-c", "import duckdb, pyarrow.parquet"]));
    if has_packages().is_ok() {
        return Ok(python);
    }
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&directory))
        .map_err(|why| format!("python3 -m venv failed ({why}); install Python"))?;
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(PACKAGES))
        .map_err(|why| format!("pip install {} failed: {why}", PACKAGES.join(" ")))?;
    has_packages()?;
    Ok(python)
}

fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    let text = |bytes| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

/// Compares an export with the cells of HBase, as pyarrow and `DuckDB` read it.
fn check(exports: &Exports, format: &str, out: &str, expected: &str, columns: &[&str]) {
    let Some(python) = python() else { return };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/export_parquet/compare.py");
    let cells = exports.out(&format!("{out}.ndjson"));
    fs::write(&cells, expected).expect("disk takes it");
    let mut command = Command::new(python);
    command.arg(script).arg(format).arg(exports.out(out)).arg(cells).args(columns);
    let told = run(&mut command).unwrap_or_else(|why| panic!("{out}: {why}"));
    assert_eq!(told.lines().count(), 2, "{told}");
}

#[test]
fn pyarrow_and_duckdb_read_the_cells_of_hbase() {
    let exports = Exports::new();
    for (format, snapshot, kind, more) in [
        ("parquet", "s4", "rawFile", &["--raw", "--max-file-size", "100KiB", "--threads", "2"][..]),
        ("parquet", "s5", "cellsFile", &[]),
        ("arrow", "s4", "cellsFile", &[]),
        ("arrow", "s10", "rawFile", &["--raw", "--max-file-size", "50KiB"]),
    ] {
        let out = format!("{format}-{snapshot}");
        exports.run(0, snapshot, &out, &[&["--to", format], more].concat());
        assert!(exports.files(&out).len() > 1);
        check(&exports, format, &out, &exports.truth(snapshot, kind), &[]);
    }
}

#[test]
fn pyarrow_and_duckdb_read_a_pivot() {
    let exports = Exports::new();
    let columns = ["f1:a=binary-hex", "f1:count=string", "f2:q=string"];
    for format in ["parquet", "arrow"] {
        let out = format!("pivot-{format}");
        let pivot = ["--pivot", "--row-type", "string", "--times", "--columns", "f1:a,f1:count"];
        let types = ["--type", "f1:count=string", "--type", "f2:q=string", "--to", format];
        exports.run(0, "s1", &out, &[&pivot[..], &types].concat());
        check(&exports, format, &out, &exports.truth("s1", "cellsFile"), &columns);
    }
}

#[test]
fn a_value_of_another_type_is_an_error() {
    let exports = Exports::new();
    let more = ["--to", "parquet", "--pivot", "--type", "f1:a=int64"];
    exports.tells(2, "s1", "out", &more).has_all(&["column f1:a: ", " bytes are no int64"]);
    assert!(exports.files("out").is_empty());
    for (more, what) in [
        (&["--pivot"][..], "--pivot needs columns"),
        (&["--pivot", "--family", "f1"], "--pivot needs the columns of family f1"),
        (&["--pivot", "--columns", "f1:a", "--raw"], "without --raw and --versions"),
    ] {
        exports.tells(2, "s1", "none", &[&["--to", "arrow"], more].concat()).has(what);
    }
}
