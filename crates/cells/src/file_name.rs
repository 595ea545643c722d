//! What errors call a file.

use std::fmt;
use std::sync::Arc;

/// The name of a file in error messages. Cheap to clone.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct FileName(Arc<str>);

impl FileName {
    /// Creates a name for use in error messages.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
