//! The structure of the source, and the pages of the documentation that name parts of it.

#[path = "structure/cycles.rs"]
mod cycles;
#[path = "structure/invariants_page.rs"]
mod invariants_page;
#[path = "structure/links.rs"]
mod links;
#[path = "structure/modules.rs"]
mod modules;
#[path = "structure/named_places.rs"]
mod named_places;
#[path = "structure/names.rs"]
mod names;
#[path = "structure/no_cycles.rs"]
mod no_cycles;
#[path = "structure/pages.rs"]
mod pages;
#[path = "structure/path_page.rs"]
mod path_page;
#[path = "structure/remake.rs"]
mod remake;
#[path = "structure/source.rs"]
mod source;
#[path = "structure/words.rs"]
mod words;

use std::path::{Path, PathBuf};

/// Returns the directory of the workspace.
fn workspace() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().expect("the package is in the workspace").to_owned()
}
