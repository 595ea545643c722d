//! The licence files of the crates: a package has only its own folder, so each folder has the full texts.

use std::fs;

use crate::workspace;

#[test]
fn every_crate_has_the_text_of_both_licences() {
    let root = workspace();
    let read = |path: &std::path::Path| fs::read_to_string(path).unwrap_or_default();
    let mut crates = 0;
    for folder in fs::read_dir(root.join("crates")).expect("the folder exists") {
        let folder = folder.expect("the folder can be read").path();
        crates += usize::from(folder.is_dir());
        for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
            let text = read(&root.join(name));
            assert!(text.len() > 1_000, "{name} has its text");
            let path = folder.join(name);
            assert!(read(&path) == text, "{} must be a link to {name}", path.display());
        }
    }
    assert!(crates > 8, "only {crates} crates were found");
}
