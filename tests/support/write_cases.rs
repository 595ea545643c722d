//! Writes the root directories of `support/directory_cases.rs`, for tests in other languages.
//!
//! `cargo run -p tests --example directory_cases -- DIR` makes `DIR/NUMBER/root`, `DIR/NUMBER/cells.ndjson` and
//! `DIR/NUMBER/case.json` with the name of the table and what a read must return.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;
use support::directory_cases::{CASES, Outcome};

fn main() -> Result<(), Box<dyn Error>> {
    let out = std::env::args_os().nth(1).ok_or("usage: directory_cases DIR")?;
    for (number, case) in CASES.iter().enumerate() {
        let directory = Path::new(&out).join(number.to_string());
        fs::create_dir_all(&directory)?;
        let copy = case.copy();
        // Copied as it is: with symbolic links and empty directories.
        let copied =
            Command::new("cp").arg("-a").arg(copy.path()).arg(directory.join("root")).status()?;
        if !copied.success() {
            return Err(format!("{}: cannot copy the root directory", case.name).into());
        }
        fs::write(directory.join("cells.ndjson"), case.cells())?;
        let (warning, error) = match case.outcome {
            Outcome::Cells => (None, None),
            Outcome::CellsAndWarning(warning) => (Some(warning), None),
            Outcome::Error(error) => (None, Some(error)),
        };
        let description = json!({
            "name": case.name,
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
