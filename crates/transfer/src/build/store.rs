//! Writes the cells of a store as the HFiles of a table for HBase's bulk load.

use std::path::Path;

use store::{Export, Store};

use crate::error::Result;
use crate::temporary::OutputDirectories;

/// Writes the families of a store as subdirectories of `out`, which appear when they are complete.
///
/// A family has a file for each region that has rows of it. A region begins at each row of `splits`,
/// which ascend. Other entries of `out` do not change.
///
/// # Errors
///
/// If the store cannot be read, a subdirectory exists and is not empty, or `out` cannot be written.
pub fn write_store(store: &Store, out: &Path, splits: &[Vec<u8>]) -> Result<Export> {
    let families = store.families().into_iter().map(|(name, _)| name).collect();
    let output = OutputDirectories::create(out, families)?;
    let mut export = store.export(output.path(), splits)?;
    for file in &mut export.files {
        *file = output.final_path(file);
    }
    output.finish()?;
    Ok(export)
}
