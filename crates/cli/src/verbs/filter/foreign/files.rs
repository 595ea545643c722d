//! Files of filters and of keys.

use std::path::Path;
use std::{fs, io};

use anyhow::Context;
use sstable::parse_hex;

use super::formats::{Foreign, ForeignFormat};

/// Reads a filter from a file.
pub(super) fn read(path: &Path, format: ForeignFormat) -> anyhow::Result<Foreign> {
    let name = path.display();
    let bytes = fs::read(path).with_context(|| format!("{name}: cannot read"))?;
    Foreign::from_bytes(format, &bytes)
        .with_context(|| format!("{name}: not a {} filter", format.name()))
}

/// Calls `visit` with each key of an input: one key per line, as text or `hex`.
///
/// Empty lines are skipped. A line may end in `\r\n`.
pub(super) fn for_each_key(
    path: &Path,
    hex: bool,
    mut visit: impl FnMut(&[u8]) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let name = transfer::display_name(path);
    for (line, number) in io::BufRead::split(transfer::open_keys(path)?, b'\n').zip(1_u64..) {
        let mut line = line.with_context(|| format!("{name}: cannot read line {number}"))?;
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        if line.is_empty() {
            continue;
        }
        if hex {
            let text = String::from_utf8(line).ok();
            line = text.and_then(|text| parse_hex(&text)).with_context(|| {
                format!("{name}: line {number} is not hex; omit --hex if the keys are text")
            })?;
        }
        visit(&line).with_context(|| format!("{name}: line {number}"))?;
    }
    Ok(())
}
