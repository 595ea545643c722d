//! The calls of a store's file system, on a [`Disk`].

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sstable::ReadAt;
use store::vfs::{AppendFile, Entry, EntryKind, Lock, Vfs};

use super::contents::Contents;
use super::{Change, Disk, Fault, Inode, Node, State};

impl State {
    fn inode(&self, path: &Path) -> io::Result<Inode> {
        match self.names.get(path) {
            Some(Node::File(inode)) => Ok(*inode),
            Some(Node::Directory) => Err(io::ErrorKind::IsADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn contents(&mut self, inode: Inode) -> &mut Contents {
        self.inodes.get_mut(&inode).expect("inodes are never removed")
    }

    /// The root has no name and always exists.
    fn check_parent(&self, path: &Path) -> io::Result<()> {
        let parent = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
        let is_there = parent.parent().is_none() || self.names.contains_key(parent);
        if is_there { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
    }

    /// Takes space for as many of the bytes as fit, and returns their number.
    fn take_space(&mut self, len: usize) -> usize {
        let Some(space) = &mut self.space else { return len };
        let fitting = len.min(*space);
        *space -= fitting;
        fitting
    }

    fn change(&mut self, change: Change) {
        change.apply(&mut self.names);
        self.pending.push(change);
    }
}

impl Disk {
    /// Counts a call; fails if it is to fail.
    fn call(&self) -> io::Result<()> {
        self.state().faults.next().map_or(Ok(()), |fault| Err(fault.error()))
    }

    /// As [`call`](Self::call), for a call that changes something.
    fn changing_call(&self) -> io::Result<()> {
        self.before_change();
        self.call()
    }
}

impl Vfs for Disk {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn ReadAt>> {
        self.call()?;
        let inode = self.state().inode(path)?;
        Ok(Arc::new(Source { disk: self.clone(), inode }))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn AppendFile>> {
        self.changing_call()?;
        let mut state = self.state();
        state.check_parent(path)?;
        if state.names.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let inode = state.add_inode(Contents::default());
        state.change(Change::Add(path.to_path_buf(), Node::File(inode)));
        Ok(Box::new(DiskFile { disk: self.clone(), inode }))
    }

    fn append(&self, path: &Path) -> io::Result<Box<dyn AppendFile>> {
        self.call()?;
        let inode = self.state().inode(path)?;
        Ok(Box::new(DiskFile { disk: self.clone(), inode }))
    }

    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        self.changing_call()?;
        let mut state = self.state();
        let inode = state.inode(path)?;
        state.contents(inode).truncate(usize::try_from(len).map_err(io::Error::other)?);
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.changing_call()?;
        let mut state = self.state();
        let inode = state.inode(from)?;
        assert_eq!(from.parent(), to.parent(), "a store renames only within a directory");
        let (from, to) = (from.to_path_buf(), to.to_path_buf());
        state.change(Change::Rename(from, to, Node::File(inode)));
        Ok(())
    }

    fn hard_link(&self, original: &Path, link: &Path) -> io::Result<()> {
        self.changing_call()?;
        let mut state = self.state();
        let inode = state.inode(original)?;
        state.check_parent(link)?;
        if state.names.contains_key(link) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        state.change(Change::Add(link.to_path_buf(), Node::File(inode)));
        Ok(())
    }

    fn unlink(&self, path: &Path) -> io::Result<()> {
        self.changing_call()?;
        let mut state = self.state();
        state.inode(path)?;
        state.change(Change::Remove(path.to_path_buf()));
        Ok(())
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<Entry>> {
        self.call()?;
        let state = self.state();
        if state.names.get(directory) != Some(&Node::Directory) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let inside = state.names.iter().filter(|(path, _)| path.parent() == Some(directory));
        let entries = inside.filter_map(|(path, node)| {
            let name = path.file_name()?.to_str()?.to_owned();
            let kind = match node {
                Node::Directory => EntryKind::Directory,
                Node::File(_) => EntryKind::File,
            };
            Some(Entry { name, kind })
        });
        Ok(entries.collect())
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        self.changing_call()?;
        let mut state = self.state();
        let mut missing: Vec<PathBuf> = Vec::new();
        for ancestor in path.ancestors().filter(|ancestor| ancestor.parent().is_some()) {
            match state.names.get(ancestor) {
                Some(Node::Directory) => break,
                Some(Node::File(_)) => return Err(io::ErrorKind::NotADirectory.into()),
                None => missing.push(ancestor.to_path_buf()),
            }
        }
        for directory in missing.into_iter().rev() {
            state.change(Change::Add(directory, Node::Directory));
        }
        Ok(())
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        self.changing_call()?;
        let mut state = self.state();
        if state.names.get(path) != Some(&Node::Directory) {
            return Err(io::ErrorKind::NotFound.into());
        }
        if state.names.keys().any(|inside| inside.parent() == Some(path)) {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        state.change(Change::Remove(path.to_path_buf()));
        Ok(())
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        self.changing_call()?;
        let state = &mut *self.state();
        let changes = std::mem::take(&mut state.pending);
        for change in changes {
            if change.directory() == Some(path) {
                change.apply(&mut state.durable_names);
            } else {
                state.pending.push(change);
            }
        }
        Ok(())
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>> {
        self.changing_call()?;
        let mut state = self.state();
        state.check_parent(path)?;
        if !state.locks.insert(path.to_path_buf()) {
            return Ok(None);
        }
        if !state.names.contains_key(path) {
            let inode = state.add_inode(Contents::default());
            state.change(Change::Add(path.to_path_buf(), Node::File(inode)));
        }
        Ok(Some(Box::new(DiskLock { disk: self.clone(), path: path.to_path_buf() })))
    }

    fn len(&self, path: &Path) -> io::Result<u64> {
        self.call()?;
        let state = &mut *self.state();
        let inode = state.inode(path)?;
        Ok(state.contents(inode).bytes().len() as u64)
    }
}

/// A file that is open for reading; it stays readable after it is unlinked.
struct Source {
    disk: Disk,
    inode: Inode,
}

impl ReadAt for Source {
    fn len(&self) -> u64 {
        self.disk.state().contents(self.inode).bytes().len() as u64
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.disk.call()?;
        let bytes = Arc::clone(self.disk.state().contents(self.inode).bytes());
        let start = usize::try_from(offset).map_err(io::Error::other)?;
        let found = bytes.get(start..).and_then(|rest| rest.get(..buffer.len()));
        buffer.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

#[derive(Debug)]
struct DiskFile {
    disk: Disk,
    inode: Inode,
}

impl AppendFile for DiskFile {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.disk.before_change();
        let state = &mut *self.disk.state();
        let fault = state.faults.next();
        let fitting = state.take_space(bytes.len());
        let contents = state.contents(self.inode);
        match fault {
            None => contents.append(&bytes[..fitting]),
            Some(Fault::ShortWrite) => contents.append(&bytes[..bytes.len() / 2]),
            Some(_) => {}
        }
        let shortage = (fitting < bytes.len()).then_some(Fault::NoSpace);
        fault.or(shortage).map_or(Ok(()), |fault| Err(fault.error()))
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.disk.changing_call()?;
        let state = &mut *self.disk.state();
        let len = usize::try_from(len).map_err(io::Error::other)?;
        state.contents(self.inode).truncate(len);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.disk.before_change();
        let state = &mut *self.disk.state();
        let fault = state.faults.next();
        let contents = state.contents(self.inode);
        match fault {
            None => contents.sync(),
            Some(Fault::Device) => contents.fail_sync(),
            Some(_) => {}
        }
        fault.map_or(Ok(()), |fault| Err(fault.error()))
    }
}

#[derive(Debug)]
struct DiskLock {
    disk: Disk,
    path: PathBuf,
}

impl Lock for DiskLock {}

impl Drop for DiskLock {
    fn drop(&mut self) {
        self.disk.state().locks.remove(&self.path);
    }
}
