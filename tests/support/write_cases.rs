//! Writes the root directories of `support/directory_cases.rs`, for tests in other languages.
//!
//! `cargo run -p tests --example directory_cases -- DIR` makes `DIR/NUMBER/case.json`, with the path of the root
//! directory, the name of the table and what a read must return, and `DIR/NUMBER/cells.ndjson`.

use std::error::Error;
use std::fs;
use std::path::Path;

use serde_json::json;
use support::directory_cases::{Outcome, cases};

fn main() -> Result<(), Box<dyn Error>> {
    let out = std::env::args_os().nth(1).ok_or("usage: directory_cases DIR")?;
    // The copies are made in place: some have symbolic links to directories beside them.
    fs::create_dir_all(&out)?;
    tempfile::env::override_temp_dir(&fs::canonicalize(&out)?)
        .map_err(|other| format!("the temporary directory is {}", other.display()))?;
    for (number, case) in cases().enumerate() {
        let directory = Path::new(&out).join(number.to_string());
        fs::create_dir_all(&directory)?;
        fs::write(directory.join("cells.ndjson"), case.cells())?;
        let (warning, error) = match case.outcome {
            Outcome::Cells => (None, None),
            Outcome::CellsAndWarning(warning) => (Some(warning), None),
            Outcome::Error(error) => (None, Some(error)),
        };
        let description = json!({
            "name": case.name,
            "root": case.copy().keep(),
            "place": case.place.name,
            "is_snapshot": case.place.is_snapshot,
            "with_logs": case.place.with_logs,
            "now": case.now(),
            "warning": warning,
            "error": error,
        });
        fs::write(directory.join("case.json"), description.to_string())?;
    }
    Ok(())
}
