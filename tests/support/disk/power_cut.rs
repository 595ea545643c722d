//! What is on a disk after the power was cut.

use workload::Random;

use super::contents::happens;
use super::{Disk, Node, State};

impl Disk {
    /// The disk after the power was cut now: all that was synced is there, and of the rest each
    /// sector and each change of a directory with the odds `kept`. Locks are free.
    #[must_use]
    pub fn after_power_cut(&self, kept: f64, random: &mut Random) -> Self {
        let state = self.state();
        let mut names = state.durable_names.clone();
        for change in &state.pending {
            if happens(kept, random) {
                change.apply(&mut names);
            }
        }
        // What stands in a directory that is not there is not there either.
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
