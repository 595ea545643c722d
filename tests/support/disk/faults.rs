//! Calls that fail.

use std::io;

/// How a call fails.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Fault {
    /// The disk cannot read or write: EIO. A sync that fails so drops what it was to write.
    Device,
    /// No room is left: ENOSPC.
    NoSpace,
    /// Half of the bytes are written, and then no room is left.
    ShortWrite,
    /// A signal came: EINTR.
    Interrupted,
}

impl Fault {
    /// All there are.
    pub const ALL: [Self; 4] = [Self::Device, Self::NoSpace, Self::ShortWrite, Self::Interrupted];

    /// What the operating system says.
    pub(super) fn error(self) -> io::Error {
        match self {
            Self::Device => io::Error::other("input/output error (simulated)"),
            Self::NoSpace | Self::ShortWrite => io::ErrorKind::StorageFull.into(),
            Self::Interrupted => io::ErrorKind::Interrupted.into(),
        }
    }
}

/// Which calls fail; none by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// The first call that fails, and how; calls count from 1.
    planned: Option<(u64, Fault)>,
    /// Whether all calls behind it fail as well.
    lasts: bool,
    calls: u64,
}

impl Faults {
    /// The `number`th call fails, and no other.
    pub const fn once(number: u64, fault: Fault) -> Self {
        Self { planned: Some((number, fault)), lasts: false, calls: 0 }
    }

    /// The `number`th call fails, and all behind it.
    pub const fn from(number: u64, fault: Fault) -> Self {
        Self { planned: Some((number, fault)), lasts: true, calls: 0 }
    }

    pub(super) const fn calls(self) -> u64 {
        self.calls
    }

    /// Counts a call, and says whether it fails.
    pub(super) fn next(&mut self) -> Option<Fault> {
        self.calls += 1;
        let (number, fault) = self.planned?;
        let fails = self.calls == number || self.lasts && self.calls > number;
        fails.then_some(fault)
    }
}
