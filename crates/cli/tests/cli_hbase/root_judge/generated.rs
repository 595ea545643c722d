//! A root that was made from a seed and a number.

use std::collections::BTreeSet;
use std::path::PathBuf;

use support::{Random, copy_directory};
use tempfile::TempDir;

use super::bases::{Base, Bases};
use super::changes::Change;
use super::elements::{Kind, Subject, elements};
use super::ways::Way;

pub(crate) struct Generated {
    pub(crate) directory: TempDir,
    pub(crate) base: Base,
    pub(crate) subject: Subject,
    /// What was changed, in the order of the changes.
    pub(crate) changes: Vec<String>,
}

impl Generated {
    pub(crate) fn make(seed: u64, number: u64, bases: &mut Bases) -> Self {
        // Seeds of CI follow each other; the numbers of two of them must not overlap.
        let mut random = Random::new(seed.rotate_left(32) ^ number);
        let base = Base::draw(&mut random);
        let subject = Subject::draw(base.origin, &mut random);
        let directory = tempfile::tempdir().expect("a temporary directory");
        copy_directory(&bases.get(base), &directory.path().join("root"));
        let old_meta = bases.old_meta(base.origin);
        let mut generated = Self { directory, base, subject, changes: Vec::new() };
        let count = [1, 1, 1, 2, 2, 3][random.below(6)];
        // Not each element can be changed in each way.
        for _ in 0..100 {
            if generated.changes.len() < count {
                generated.change(&old_meta, &mut random);
            }
        }
        generated
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("root")
    }

    fn change(&mut self, old_meta: &PathBuf, random: &mut Random) {
        let root = self.path();
        let elements = elements(&root, self.subject);
        let kinds: BTreeSet<Kind> = elements.iter().map(|element| element.kind).collect();
        let Some(kind) = kinds.iter().nth(random.below(kinds.len().max(1))) else { return };
        // A root without hbase:meta is refused by HBase, whatever else was changed.
        let is_meta =
            matches!(kind, Kind::LogDirectory | Kind::MetaFile | Kind::MetaLog | Kind::MetaRegion);
        if is_meta && random.below(3) > 0 {
            return;
        }
        let of_kind: Vec<_> = elements.iter().filter(|element| element.kind == *kind).collect();
        let element = of_kind[random.below(of_kind.len())];
        let way = Way::ALL[random.below(Way::ALL.len())];
        let change = Change { root: &root, element, elements: &elements, old_meta };
        if let Some(how) = way.change(&change, random) {
            let path = element.path.display();
            self.changes.push(format!("{kind:?} {way:?}: {path}: {how}"));
        }
    }
}
