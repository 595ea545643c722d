//! The arguments of all verbs that export.

use std::path::PathBuf;

use super::form::FormOptions;

// The doc comments of the verbs describe them.
#[derive(clap::Args)]
pub(crate) struct ExportOptions {
    /// Write the files and manifest.json to this directory: a new one, or that of a stopped export
    /// to continue
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) form: FormOptions,
}
