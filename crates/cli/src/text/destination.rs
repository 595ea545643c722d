//! The output of a verb: a file that appears when it is complete, or stdout.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Once;

use anyhow::Context;
use transfer::OutputFile;

use crate::text::output::{STDOUT, Stdout, stdout};
use crate::text::running::after_interruption;
use crate::text::stderr::print_message;

/// The output of a command: a file that appears only when it is complete, or stdout for `-`.
pub(crate) enum Output {
    /// A temporary file in the directory of its destination.
    File(OutputFile),
    /// Stdout.
    Stdout(Stdout),
}

impl Output {
    /// Creates the output for `destination`, which must not exist yet unless `force` is set.
    pub(crate) fn create(destination: &Path, force: bool) -> transfer::Result<Self> {
        if destination == Path::new("-") {
            return Ok(Self::Stdout(stdout()));
        }
        OutputFile::create(destination, force).map(Self::File)
    }

    /// Returns the temporary file's path; `None` for stdout.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::File(file) => Some(file.path()),
            Self::Stdout(_) => None,
        }
    }

    /// Syncs the file, renames it to its destination and syncs the directory; flushes stdout.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        match self {
            Self::Stdout(mut out) => out.flush().context(STDOUT),
            Self::File(file) => Ok(file.finish()?),
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.write(bytes),
            Self::Stdout(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.flush(),
            Self::Stdout(out) => out.flush(),
        }
    }
}

/// Makes Ctrl-C remove unfinished output before it ends the process.
pub(crate) fn handle_ctrl_c() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // If setting the handler fails, Ctrl-C still ends the process, but leaves temporary outputs
        // behind.
        let _ = ctrlc::set_handler(|| {
            transfer::remove_unfinished(|| {
                if let Some(message) = after_interruption() {
                    print_message(message);
                }
                // The exit status of shells for SIGINT: 128 + 2.
                std::process::exit(130)
            });
        });
    });
}
