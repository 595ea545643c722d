//! The argument of verbs that take one HFile and no directory.

use std::path::{Path, PathBuf};

use super::input::Input;
use crate::failure::{UsageError, refuse};

/// Returns the HFile that an argument names, or to which a link leads.
///
/// # Errors
///
/// [`UsageError`] for a directory, and for a reference, because only half of its HFile counts.
pub(crate) fn single_hfile(path: &Path, verb: &str) -> anyhow::Result<PathBuf> {
    let shown = path.display();
    if path.is_dir() {
        let lister = if verb == "salvage" {
            format!("hfile verify {shown} names its damaged HFiles")
        } else {
            format!("hfile info --list {shown} lists its HFiles")
        };
        let what = format!("hfile {verb} takes one HFile, and {shown} is a directory; {lister}");
        return Err(UsageError(what).into());
    }
    let input = Input::of_argument(path);
    let location = input.locate()?;
    if let (Some(text), true) = (input.describe(&location).0.text(), location.half.is_some()) {
        refuse!("hfile {verb} takes a whole HFile, and {shown} is a reference: the {text}");
    }
    Ok(location.path)
}
