//! Finds the copies that bulk loads leave in the directory of a family.
//!
//! HBase first copies a file that it loads into the directory of the family, under a name of its own, and then
//! copies it once more, with the sequence id in the name: `NAME_SeqId_N_`. The first copy stays there. A list that
//! has it would bring back its cells, which may have been deleted since.
//!
//! | a file without a sequence id in its name            | because                                             |
//! |-----------------------------------------------------|-----------------------------------------------------|
//! | is left out if a file `NAME_SeqId_N_` has the same  | that one was loaded                                 |
//! | bytes, and neither has a sequence id in its file    |                                                     |
//! | info                                                |                                                     |
//! | is undecided if both have one                       | the file can also be of this region, and was loaded |
//! |                                                     | into it once more                                   |
//! | is undecided if it has none, and no file has the    | flushes and compactions write sequence ids; the     |
//! | same bytes                                          | bulk load gave it none, failed, or the loaded copy  |
//! |                                                     | is gone                                             |

use std::path::{Path, PathBuf};

use super::candidate::{Candidate, Origin};
use super::decision::{FileDecision, FileKind};
use crate::table::root_paths::list_if_there;
use crate::{Error, FileTree, ItemKind, Result, StoreFileName};

/// A bulk-loaded file with a sequence id in its name.
struct LoadedFile {
    path: PathBuf,
    len: u64,
}

/// Decides about HFiles that have no sequence id in their names and are in no list.
///
/// # Errors
///
/// I/O errors.
pub(super) fn apply(
    tree: &dyn FileTree,
    family: &Path,
    archive: &Path,
    files: &mut [Candidate],
) -> Result<()> {
    let loaded = loaded_files(tree, [family, archive])?;
    for file in files {
        let is_hfile = |origin: &&Origin| origin.kind == FileKind::HFile;
        let Some(origin) = file.origin_unless_left_out().filter(is_hfile) else { continue };
        let lacks_sequence_id = origin.newest_sequence.is_none();
        if file.is_listed || has_sequence_id(&file.name) {
            continue;
        }
        let path = family.join(&file.name);
        let mut same = None;
        for other in loaded.iter().filter(|other| other.len == file.len) {
            if has_same_bytes(tree, &path, other)? {
                same = Some(&other.path);
                break;
            }
        }
        let same = same.map(|same| same.file_name().unwrap_or_default().display());
        let decision = match (same, lacks_sequence_id) {
            (Some(same), true) => FileDecision::LeftOut(format!(
                "a bulk load left it there: {same} is the same file with a sequence id"
            )),
            (Some(same), false) => FileDecision::Undecided(format!(
                "is the same file as {same}: a bulk load of files of a region left it there, or it is of this region itself"
            )),
            (None, true) => FileDecision::Undecided(
                "has no sequence id: a bulk load gave it none or did not finish, or a compaction has replaced the loaded copy"
                    .to_owned(),
            ),
            (None, false) => continue,
        };
        file.decide(decision);
    }
    Ok(())
}

/// Returns whether a bulk load has written its sequence id into the name of a file.
fn has_sequence_id(name: &str) -> bool {
    let name = name.parse::<StoreFileName>().ok();
    name.is_some_and(|name| name.bulk_load_sequence().is_some())
}

/// Returns the files of directories that have a sequence id in their names.
fn loaded_files(tree: &dyn FileTree, directories: [&Path; 2]) -> Result<Vec<LoadedFile>> {
    let mut loaded = Vec::new();
    for directory in directories {
        for item in list_if_there(tree, directory)? {
            let is_loaded = item.name().is_some_and(has_sequence_id);
            if let (true, ItemKind::File { len }) = (is_loaded, item.kind) {
                loaded.push(LoadedFile { path: item.path, len });
            }
        }
    }
    Ok(loaded)
}

/// Returns whether a file has the bytes of a loaded file of the same length.
fn has_same_bytes(tree: &dyn FileTree, path: &Path, loaded: &LoadedFile) -> Result<bool> {
    const PART_LEN: usize = 1 << 16;
    let open = |path: &Path| tree.open(path).map_err(Error::io(path, "open it"));
    let (one, other) = (open(path)?, open(&loaded.path)?);
    for at in (0..loaded.len).step_by(PART_LEN) {
        let rest = loaded.len.saturating_sub(at);
        let len = usize::try_from(rest).map_or(PART_LEN, |rest| rest.min(PART_LEN));
        let (mut left, mut right) = (vec![0; len], vec![0; len]);
        one.read_exact_at(&mut left, at).map_err(Error::io(path, "read it"))?;
        other.read_exact_at(&mut right, at).map_err(Error::io(&loaded.path, "read it"))?;
        if left != right {
            return Ok(false);
        }
    }
    Ok(true)
}
