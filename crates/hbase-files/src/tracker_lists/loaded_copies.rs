//! The files of a family that have the bytes of a bulk-loaded file.
//!
//! HBase first copies a file that it loads into the directory of the family, under a name of its own, and then
//! copies it once more, with the sequence id in the name: `NAME_SeqId_N_`. The first copy stays there. A list that
//! has it would bring back its cells, which may have been deleted since.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::names::StoreFileName;
use crate::table::root_paths::list_if_there;
use crate::tree::{FileTree, ItemKind};

/// The bulk-loaded files of a family.
pub(super) struct LoadedFiles<'t> {
    tree: &'t dyn FileTree,
    /// The paths and lengths.
    files: Vec<(PathBuf, u64)>,
}

impl<'t> LoadedFiles<'t> {
    /// Lists the files of directories that have a sequence id in their names.
    pub(super) fn list(tree: &'t dyn FileTree, directories: [&Path; 2]) -> Result<Self> {
        let mut files = Vec::new();
        for directory in directories {
            let items = list_if_there(tree, directory)?;
            files.extend(items.into_iter().filter_map(|item| match item.kind {
                ItemKind::File { len } if is_loaded(item.name()?) => Some((item.path, len)),
                _ => None,
            }));
        }
        Ok(Self { tree, files })
    }

    /// Returns the name of a loaded file with the bytes of another file; `None` for a loaded file itself.
    pub(super) fn copy_of(&self, path: &Path, len: u64) -> Result<Option<String>> {
        let name = path.file_name().and_then(|name| name.to_str());
        if name.is_none_or(is_loaded) {
            return Ok(None);
        }
        for (loaded, _) in self.files.iter().filter(|(_, other)| *other == len) {
            if self.has_same_bytes([path, loaded], len)? {
                return Ok(Some(loaded.file_name().unwrap_or_default().display().to_string()));
            }
        }
        Ok(None)
    }

    /// Returns whether two files of the same length have the same bytes.
    fn has_same_bytes(&self, paths: [&Path; 2], len: u64) -> Result<bool> {
        const PART_LEN: usize = 1 << 16;
        let [one, other] = paths;
        let left = self.tree.open(one).map_err(Error::io(one, "open it"))?;
        let right = self.tree.open(other).map_err(Error::io(other, "open it"))?;
        for at in (0..len).step_by(PART_LEN) {
            let rest = usize::try_from(len.saturating_sub(at)).unwrap_or(PART_LEN).min(PART_LEN);
            let mut bytes = [vec![0; rest], vec![0; rest]];
            let [of_one, of_other] = &mut bytes;
            left.read_exact_at(of_one, at).map_err(Error::io(one, "read it"))?;
            right.read_exact_at(of_other, at).map_err(Error::io(other, "read it"))?;
            if of_one != of_other {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Returns whether a bulk load has written its sequence id into the name of a file.
pub(super) fn is_loaded(name: &str) -> bool {
    let parsed = name.parse::<StoreFileName>().ok();
    parsed.is_some_and(|parsed| parsed.bulk_load_sequence().is_some())
}
