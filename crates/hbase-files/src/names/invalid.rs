//! The error of a text that is not a name of HBase.

/// The error of a text that is not a name of the expected kind.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("not the name of a file or directory of HBase")]
pub struct InvalidName;
