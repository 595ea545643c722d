//! Tells a process from its forks.
//!
//! A fork has a copy of what its parent holds, but not the parent's threads. A lock that one of these threads held
//! stays locked for ever, and a message that the fork waits for never comes.

/// The process that made this value.
#[derive(Clone, Debug)]
pub struct OwnProcess(forkguard::Guard);

impl OwnProcess {
    /// Returns the current process.
    pub fn current() -> Self {
        Self(forkguard::new())
    }

    /// Returns whether this is the process, not a fork of it.
    pub fn is_current(&self) -> bool {
        // A guard notices a fork once, but a copy of it does not change it.
        !self.0.clone().detected_fork()
    }
}
