//! The state of a disk after a power cut.

use crate::Random;

use super::contents::happens;
use super::{Disk, Node, State};

impl Disk {
    /// Returns the disk after a power cut now, with all locks free.
    ///
    /// All synced changes survive; each unsynced sector and directory change survives with
    /// probability `kept`.
    #[must_use]
    pub fn after_power_cut(&self, kept: f64, random: &mut Random) -> Self {
        let state = self.state();
        let mut names = state.durable_names.clone();
        for change in &state.pending {
            if happens(kept, random) {
                change.apply(&mut names);
            }
        }
        // An entry of a missing directory is missing too.
        let known = names.clone();
        names.retain(|path, _| {
            path.ancestors()
                .skip(1)
                .filter(|ancestor| ancestor.parent().is_some())
                .all(|ancestor| known.get(ancestor) == Some(&Node::Directory))
        });
        let mut left = State { next_inode: state.next_inode, ..State::default() };
        for node in names.values() {
            if let Node::File(inode) = node {
                let contents = state.inodes[inode].after_power_cut(kept, random);
                left.inodes.entry(*inode).or_insert(contents);
            }
        }
        left.durable_names.clone_from(&names);
        left.names = names;
        Self::from(left)
    }
}
