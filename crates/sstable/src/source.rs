//! Where the bytes of a file come from: a file, memory, or whatever else can read at a place.
#![allow(clippy::as_conversions, reason = "a length in memory has at most 64 bits")]

use std::fs;
use std::io;
use std::path::Path;

use bytes::Bytes;

/// Bytes that can be read at any place, by many readers at once.
///
/// A source does not change while it is open: HFiles are immutable. There is no memory map on
/// purpose: a map turns a failing disk into a signal, and hides from the counters what was read.
pub trait ReadAt: Send + Sync {
    /// The bytes in all.
    fn len(&self) -> u64;

    /// Fills `buffer` with the bytes from `offset` on.
    ///
    /// # Errors
    ///
    /// What the operating system says; [`io::ErrorKind::UnexpectedEof`] past the end.
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;

    /// Whether there are no bytes at all.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A local file and its length when it was opened.
#[derive(Debug)]
pub struct FileSource {
    file: fs::File,
    len: u64,
}

impl FileSource {
    /// Opens a file.
    ///
    /// # Errors
    ///
    /// If it cannot be opened, or is no regular file. A named pipe is not waited for.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        check_is_regular(fs::metadata(path.as_ref())?.file_type())?;
        Self::new(fs::File::open(path)?)
    }

    /// Takes an open file.
    ///
    /// # Errors
    ///
    /// If its length cannot be had, or it is no regular file: only those can be read at any place.
    pub fn new(file: fs::File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        check_is_regular(metadata.file_type())?;
        Ok(Self { file, len: metadata.len() })
    }
}

/// Refuses by name what has no bytes at places.
fn check_is_regular(file_type: fs::FileType) -> io::Result<()> {
    if file_type.is_file() {
        return Ok(());
    }
    let what = if file_type.is_dir() {
        "it is a directory; its files are wanted"
    } else if is_pipe(file_type) {
        "it is a pipe; write what comes out of it to a file first, for an HFile is read from its end"
    } else {
        "it is no regular file"
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, what))
}

#[cfg(unix)]
fn is_pipe(file_type: fs::FileType) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&file_type)
}

#[cfg(not(unix))]
const fn is_pipe(_: fs::FileType) -> bool {
    false
}

impl ReadAt for FileSource {
    fn len(&self) -> u64 {
        self.len
    }

    #[cfg(unix)]
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.file, buffer, offset)
    }

    #[cfg(windows)]
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let mut done = 0;
        while done < buffer.len() {
            let at = offset + done as u64;
            match std::os::windows::fs::FileExt::seek_read(&self.file, &mut buffer[done..], at)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                read => done += read,
            }
        }
        Ok(())
    }
}

impl ReadAt for Bytes {
    fn len(&self) -> u64 {
        <[u8]>::len(self) as u64
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let found = usize::try_from(offset)
            .ok()
            .and_then(|start| self.get(start..start.checked_add(buffer.len())?))
            .ok_or(io::ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(found);
        Ok(())
    }
}
