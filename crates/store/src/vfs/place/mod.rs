//! Where a path leads, and the calls of the operating system there.

#[cfg(not(unix))]
mod by_path;
#[cfg(unix)]
mod from_directory;

#[cfg(not(unix))]
pub(super) use self::by_path::Place;
#[cfg(unix)]
pub(super) use self::from_directory::Place;

/// What a file is opened for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Access {
    /// To read a file.
    Read,
    /// To write a file that is not there yet.
    Create,
    /// To write behind the end.
    Append,
    /// To write a file that is there.
    Write,
    /// To list or sync a directory.
    Directory,
}
