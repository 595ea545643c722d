//! An element of a root that is changed, and what changes need.

use std::fs;
use std::path::{Path, PathBuf};

use support::{Random, copy_directory};

use super::elements::{Element, Kind};
use super::tree;

pub(crate) struct Change<'r> {
    pub(crate) root: &'r Path,
    pub(crate) element: &'r Element,
    /// All elements of the root.
    pub(crate) elements: &'r [Element],
    /// A root with an older hbase:meta.
    pub(crate) old_meta: &'r Path,
}

impl Change<'_> {
    /// Returns the absolute path of the element.
    pub(crate) fn path(&self) -> PathBuf {
        self.root.join(&self.element.path)
    }

    /// Returns the bytes of the element.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        fs::read(self.path()).expect("a file of ours")
    }

    /// Draws another element of a kind, if there is one.
    pub(crate) fn other(&self, kind: Kind, random: &mut Random) -> Option<&Element> {
        let is_other = |other: &&Element| other.kind == kind && other.path != self.element.path;
        let others: Vec<&Element> = self.elements.iter().filter(is_other).collect();
        (!others.is_empty()).then(|| others[random.below(others.len())])
    }

    /// Copies the element, if nothing is at the new place.
    pub(crate) fn copy_to(&self, to: &Path) -> Option<String> {
        self.copy_bytes(to)?;
        Some(format!("also at {}", to.display()))
    }

    /// Moves the element, if nothing is at the new place.
    pub(crate) fn move_to(&self, to: &Path) -> Option<String> {
        self.copy_bytes(to)?;
        tree::remove(&self.path());
        Some(format!("moved to {}", to.display()))
    }

    fn copy_bytes(&self, to: &Path) -> Option<()> {
        let (from, place) = (self.path(), self.root.join(to));
        if place.exists() {
            return None;
        }
        fs::create_dir_all(place.parent().expect("below the root")).expect("ours");
        if from.is_dir() {
            copy_directory(&from, &place);
        } else {
            fs::copy(from, place).expect("ours");
        }
        Some(())
    }
}
