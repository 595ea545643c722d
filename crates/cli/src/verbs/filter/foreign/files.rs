//! Files of filters.

use std::fs;
use std::path::Path;

use anyhow::Context;

use super::formats::{Foreign, ForeignFormat};

/// Reads a filter from a file.
pub(super) fn read(path: &Path, format: ForeignFormat) -> anyhow::Result<Foreign> {
    let name = path.display();
    let bytes = fs::read(path).with_context(|| format!("{name}: cannot read"))?;
    Foreign::from_bytes(format, &bytes)
        .with_context(|| format!("{name}: not a {} filter", format.name()))
}
