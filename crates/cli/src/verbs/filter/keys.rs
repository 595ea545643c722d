//! Keys for filters: from a file, one per line, or from the command line.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use cells::parse_hex;

use crate::arguments::key_text::KeyText;
use crate::failure::refuse;

/// The keys to look up in a filter.
#[derive(clap::Args)]
pub(super) struct AskedKeys {
    /// Keys to look up: text with \xNN, or hex:…
    #[arg(value_name = "KEY")]
    keys: Vec<KeyText>,
    /// Read more keys from this file, one per line; - is stdin
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Read the lines of --input as hex
    #[arg(long, requires = "input")]
    hex: bool,
}

impl AskedKeys {
    /// Returns the keys, at least one.
    pub(super) fn read(&self) -> anyhow::Result<Vec<Vec<u8>>> {
        let mut keys: Vec<_> = self.keys.iter().map(|key| key.as_bytes().to_vec()).collect();
        if let Some(input) = &self.input {
            for_each_key(input, self.hex, |key| {
                keys.push(key.to_vec());
                Ok(())
            })?;
        }
        if keys.is_empty() {
            refuse!("no keys given; name keys, or use --input");
        }
        Ok(keys)
    }
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
    for (read, number) in io::BufRead::split(transfer::open_keys(path)?, b'\n').zip(1_u64..) {
        let mut line = read.with_context(|| format!("{name}: cannot read line {number}"))?;
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
