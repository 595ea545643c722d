//! Listing directories.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the paths of all directories and files below a directory, relative to it, in order.
pub(crate) fn paths(root: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    add(root, Path::new(""), &mut paths);
    paths
}

fn add(root: &Path, place: &Path, paths: &mut Vec<PathBuf>) {
    for name in names(&root.join(place)) {
        let path = place.join(name);
        paths.push(path.clone());
        if root.join(&path).is_dir() {
            add(root, &path, paths);
        }
    }
}

/// Returns the names in a directory, in order.
pub(crate) fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory");
    let name = |entry: fs::DirEntry| entry.file_name().into_string().expect("text");
    let mut names: Vec<String> = entries.map(|entry| name(entry.expect("readable"))).collect();
    names.sort_unstable();
    names
}

/// Returns the last part of a path.
pub(crate) fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).expect("text")
}

/// Removes a file, or a directory with all that it contains.
pub(crate) fn remove(path: &Path) {
    if path.is_dir() {
        fs::remove_dir_all(path).expect("ours");
    } else {
        fs::remove_file(path).expect("ours");
    }
}

/// Returns whether a name ends in a dot and this text.
pub(crate) fn has_ending(name: &str, ending: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, last)| last == ending)
}
