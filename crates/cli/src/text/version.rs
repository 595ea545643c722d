//! What `hfile --version` prints: the version, and how this binary was built.

/// Expands to the names of the enabled features.
#[cfg(feature = "zstd")]
macro_rules! features {
    () => {
        "zstd"
    };
}
#[cfg(not(feature = "zstd"))]
macro_rules! features {
    () => {
        "none"
    };
}

/// Text of `--version` after the name; `-V` prints only its first line.
pub(crate) const LONG: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\ncommit    ",
    env!("HFILE_BUILD_COMMIT"),
    "\nfeatures  ",
    features!(),
    "\ncompiler  ",
    env!("HFILE_BUILD_COMPILER"),
    "\ntarget    ",
    env!("HFILE_BUILD_TARGET"),
);
