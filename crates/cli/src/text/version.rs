//! What `hfile --version` prints: the version, and how this binary was built.

/// Text of `--version` after the name; `-V` prints only its first line.
pub(crate) const LONG: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\ncommit    ",
    env!("HFILE_BUILD_COMMIT"),
    "\nfeatures  ",
    env!("HFILE_BUILD_FEATURES"),
    "\ncompiler  ",
    env!("HFILE_BUILD_COMPILER"),
    "\ntarget    ",
    env!("HFILE_BUILD_TARGET"),
);
