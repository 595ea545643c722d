//! The arguments of all verbs that export.

use std::path::PathBuf;

use super::form::FormOptions;

// The doc comments of the verbs describe them.
#[derive(clap::Args)]
pub(crate) struct ExportOptions {
    /// Directory of the files and of manifest.json: new, or that of a stopped export, which goes on
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) form: FormOptions,
}
