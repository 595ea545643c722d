//! Positioned reads of a source of bytes; the sources that are files, and memory.

use std::path::Path;
use std::{fs, io};

use bytes::Bytes;

/// Bytes that many readers can read concurrently at any offset.
///
/// A source must not change while it is open: HFiles are immutable. Memory maps are deliberately
/// not used: with a map, a read error is a signal, and the counters cannot see reads.
#[expect(
    clippy::len_without_is_empty,
    reason = "no caller asks, and implementors would have two methods"
)]
pub trait ReadAt: Send + Sync {
    /// The number of bytes.
    fn len(&self) -> u64;

    /// Fills `buffer` with the bytes from `offset` on.
    ///
    /// # Errors
    ///
    /// I/O errors; [`io::ErrorKind::UnexpectedEof`] past the end.
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;
}

/// A local file, and its length when opened.
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
    /// If the file cannot be opened or is not a regular file. Does not block on a named pipe.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        check_is_regular(fs::metadata(path.as_ref())?.file_type())?;
        Self::new(fs::File::open(path)?)
    }

    /// Takes an open file.
    ///
    /// # Errors
    ///
    /// If the length cannot be read, or the file is not a regular file, which positioned reads
    /// need.
    pub fn new(file: fs::File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        check_is_regular(metadata.file_type())?;
        Ok(Self { file, len: metadata.len() })
    }
}

/// Rejects files that are not regular, with the reason.
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
