//! Faults: calls that fail.

use std::io;

/// How a call fails.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fault {
    /// EIO. A sync that fails with it drops the bytes that it was to write.
    Device,
    /// ENOSPC, with nothing written.
    NoSpace,
    /// Half of the bytes are written, then ENOSPC.
    ShortWrite,
    /// EINTR.
    Interrupted,
    /// EMFILE, of a call that opens a file or a directory.
    NoDescriptor,
}

impl Fault {
    /// All faults.
    pub const ALL: [Self; 5] =
        [Self::Device, Self::NoSpace, Self::ShortWrite, Self::Interrupted, Self::NoDescriptor];

    /// Returns the error of the operating system.
    pub(super) fn error(self) -> io::Error {
        match self {
            Self::Device => io::Error::other("input/output error (simulated)"),
            Self::NoSpace | Self::ShortWrite => io::ErrorKind::StorageFull.into(),
            Self::Interrupted => io::ErrorKind::Interrupted.into(),
            Self::NoDescriptor => io::Error::from_raw_os_error(24),
        }
    }
}

/// Which calls fail; none by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// The first call that fails, and how; calls count from 1.
    planned: Option<(u64, Fault)>,
    /// Whether all later calls fail as well.
    lasts: bool,
    calls: u64,
}

impl Faults {
    /// Only call `number` fails.
    pub const fn once(number: u64, fault: Fault) -> Self {
        Self { planned: Some((number, fault)), lasts: false, calls: 0 }
    }

    /// Call `number` and all later calls fail.
    pub const fn from(number: u64, fault: Fault) -> Self {
        Self { planned: Some((number, fault)), lasts: true, calls: 0 }
    }

    pub(super) const fn calls(self) -> u64 {
        self.calls
    }

    /// Counts a call and returns its fault.
    pub(super) fn next(&mut self) -> Option<Fault> {
        self.calls += 1;
        let (number, fault) = self.planned?;
        let fails = self.calls == number || self.lasts && self.calls > number;
        fails.then_some(fault)
    }
}
