//! The structure of the source, and the pages of the documentation that name parts of it.

mod call_paths;
mod cycles;
mod invariants_page;
mod licences;
mod links;
mod modules;
mod named_places;
mod names;
mod no_cycles;
mod page_width;
mod pages;
mod remake;
mod source;

use std::path::{Path, PathBuf};

/// Returns the directory of the workspace.
fn workspace() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().expect("the package is in the workspace").to_owned()
}
