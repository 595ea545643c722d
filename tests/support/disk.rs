//! A disk in memory that behaves as badly as a real disk may.
//!
//! A process sees changes before they are durable:
//!
//! | change                 | survives a power cut                                             |
//! |------------------------|------------------------------------------------------------------|
//! | bytes written          | once the file is synced; before that, any subset of the sectors  |
//! | file length            | with the bytes or without them; then the range reads as zeros    |
//! | create, rename, unlink | once the directory is synced; before that, any subset            |
//! | a failed sync          | its bytes never, although the next sync reports success          |
//!
//! ```text
//! store ─call→ Disk ─┬ watched: a copy of the disk before each change, for crashes (`power_cut`)
//!                    └ faulty: the Nth call fails, or all from the Nth on (`Faults`)
//! ```
//!
//! Without faults and without a power cut it is a plain file system in memory.

mod contents;
mod faults;
mod files;
mod power_cut;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use contents::Contents;
pub use faults::{Fault, Faults};

/// A disk in memory; clones share its contents.
#[derive(Clone, Debug, Default)]
pub struct Disk(Arc<Mutex<State>>);

/// Called with the disk before each change.
type Watcher = Box<dyn FnMut(&Disk) + Send>;

#[derive(Default)]
struct State {
    inodes: BTreeMap<Inode, Contents>,
    next_inode: Inode,
    /// The names that processes see.
    names: Names,
    /// The names that are durable.
    durable_names: Names,
    /// Directory changes since the last sync of the directory, in order.
    pending: Vec<Change>,
    locks: BTreeSet<PathBuf>,
    faults: Faults,
    /// The bytes that may still be written; `None` for any number.
    space: Option<usize>,
    watcher: Option<Watcher>,
}

type Inode = u64;
type Names = BTreeMap<PathBuf, Node>;

/// The target of a name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Node {
    Directory,
    File(Inode),
}

/// An atomic change of a directory.
#[derive(Clone, Debug)]
enum Change {
    Add(PathBuf, Node),
    Remove(PathBuf),
    /// Both names are in the same directory.
    Rename(PathBuf, PathBuf, Node),
}

impl Change {
    /// Returns the directory whose sync makes the change durable.
    fn directory(&self) -> Option<&Path> {
        match self {
            Self::Add(path, _) | Self::Remove(path) | Self::Rename(path, ..) => path.parent(),
        }
    }

    fn apply(&self, names: &mut Names) {
        match self {
            Self::Add(path, node) => {
                names.insert(path.clone(), *node);
            }
            Self::Remove(path) => {
                names.remove(path);
            }
            Self::Rename(from, to, node) => {
                names.remove(from);
                names.insert(to.clone(), *node);
            }
        }
    }
}

impl Disk {
    /// Calls `watcher` with a copy of the disk before each change.
    pub fn watch(&self, watcher: impl FnMut(&Self) + Send + 'static) {
        self.state().watcher = Some(Box::new(watcher));
    }

    /// Removes the watcher.
    pub fn unwatch(&self) {
        self.state().watcher = None;
    }

    /// Makes calls fail; calls are counted from 1 again.
    pub fn set_faults(&self, faults: Faults) {
        self.state().faults = faults;
    }

    /// Sets how many bytes may still be written, to any files; `None` for any number.
    pub fn set_space(&self, bytes: Option<usize>) {
        self.state().space = bytes;
    }

    /// Returns the number of calls since the faults were set.
    pub fn calls(&self) -> u64 {
        self.state().faults.calls()
    }

    /// Returns the disk after the process was killed: all written bytes are there, all locks are
    /// free.
    #[must_use]
    pub fn after_kill(&self) -> Self {
        let state = self.state();
        Self::from(State {
            inodes: state.inodes.clone(),
            next_inode: state.next_inode,
            names: state.names.clone(),
            durable_names: state.durable_names.clone(),
            pending: state.pending.clone(),
            ..State::default()
        })
    }

    /// Copies a file of another disk to this one, durably.
    ///
    /// # Panics
    ///
    /// If the other disk has no such file.
    pub fn adopt(&self, other: &Self, path: &Path) {
        let Some(Node::File(inode)) = other.state().names.get(path).copied() else {
            panic!("{} is not a file of the other disk", path.display());
        };
        let mut contents = other.state().inodes[&inode].clone();
        contents.sync();
        let mut state = self.state();
        let inode = state.add_inode(contents);
        state.names.insert(path.to_path_buf(), Node::File(inode));
        state.durable_names.insert(path.to_path_buf(), Node::File(inode));
    }

    /// Replaces the bytes of an existing file, durably.
    ///
    /// # Panics
    ///
    /// If there is no such file.
    pub fn overwrite(&self, path: &Path, bytes: &[u8]) {
        let mut state = self.state();
        let Some(Node::File(inode)) = state.names.get(path).copied() else {
            panic!("{} is not a file", path.display());
        };
        let mut contents = Contents::default();
        contents.append(bytes);
        contents.sync();
        state.inodes.insert(inode, contents);
    }

    /// Returns the bytes of a file.
    ///
    /// # Panics
    ///
    /// If there is no such file.
    pub fn bytes(&self, path: &Path) -> Vec<u8> {
        let state = self.state();
        let Some(Node::File(inode)) = state.names.get(path) else {
            panic!("{} is not a file", path.display());
        };
        state.inodes[inode].bytes().to_vec()
    }

    /// Returns the paths of all files.
    pub fn paths(&self) -> Vec<PathBuf> {
        let state = self.state();
        let files = state.names.iter().filter(|(_, node)| matches!(node, Node::File(_)));
        files.map(|(path, _)| path.clone()).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("no panic while the lock is held")
    }

    /// Begins a call that changes something: shows the disk to the watcher.
    fn before_change(&self) {
        let watcher = self.state().watcher.take();
        if let Some(mut watcher) = watcher {
            watcher(&self.after_kill());
            self.state().watcher = Some(watcher);
        }
    }
}

impl From<State> for Disk {
    fn from(state: State) -> Self {
        Self(Arc::new(Mutex::new(state)))
    }
}

impl State {
    /// Adds a file that has no name yet, and returns its inode.
    fn add_inode(&mut self, contents: Contents) -> Inode {
        let inode = self.next_inode;
        self.next_inode += 1;
        self.inodes.insert(inode, contents);
        inode
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Disk").field("names", &self.names).finish_non_exhaustive()
    }
}
