//! The limit of files that the process may have open.

/// Returns how many files the process may have open now.
pub(super) fn descriptors_max() -> usize {
    #[cfg(unix)]
    let max = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    #[cfg(not(unix))]
    let max = Some(8192); // Of the C library on Windows; the system itself has no limit.
    max.and_then(|max| usize::try_from(max).ok()).unwrap_or(usize::MAX)
}

/// Raises the limit of files that the process may have open to what the system allows to it.
///
/// For a program that has the process for itself. Usual limits of a shell are 256 and 1,024; with a higher one,
/// fewer files are closed and opened again. If the limit cannot be raised, it stays.
pub fn raise_descriptors_max() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

        let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
}
