//! `hfile man`: man pages of all verbs.

use std::fs;
use std::path::PathBuf;

use anyhow::Context;

use crate::failure::Answer;
use crate::text::size_text::show_number;
use crate::text::stderr::print_message;

/// Write man pages of all verbs to a directory: hfile.1, hfile-info.1 and so on.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile man ~/.cargo/share/man/man1    # then: man hfile, man hfile-store-put
  hfile man /usr/local/share/man/man1

Creates the directory, and replaces older pages of hfile in it. man searches share/man beside each bin of PATH.
Exit status: 0 written, 2 wrong usage, 3 could not write.")]
pub(crate) struct Man {
    /// Directory of section 1, where man finds the pages
    #[arg(value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    directory: PathBuf,
}

impl Man {
    /// Writes the pages for `command` and all its verbs.
    pub(crate) fn run(self, command: clap::Command) -> anyhow::Result<Answer> {
        let shown = self.directory.display();
        fs::create_dir_all(&self.directory).with_context(|| format!("{shown}: cannot create"))?;
        let pages = show_number(page_count(&command), "page");
        let with_synopsis = with_usage(command, "");
        clap_mangen::generate_to(with_synopsis, &self.directory)
            .with_context(|| format!("{shown}: cannot write the man pages"))?;
        print_message(format_args!("hfile: {pages} written to {shown}"));
        Ok(Answer::Positive)
    }
}

/// Returns the number of pages: one for each verb, group of verbs, and the command.
fn page_count(command: &clap::Command) -> u64 {
    1 + command.get_subcommands().map(page_count).sum::<u64>()
}

/// Returns the command with the usage of its `--help` as the synopsis of its page, verbs included.
///
/// Of itself, the generator lists the names of all options, and not what values they take.
fn with_usage(command: clap::Command, parents: &str) -> clap::Command {
    let name = format!("{parents}{}", command.get_name());
    let mut shown = command.clone().bin_name(&name);
    let text = shown.render_usage().to_string();
    let usage = text.trim_start_matches("Usage: ").to_owned();
    let below = format!("{name} ");
    command.mut_subcommands(|verb| with_usage(verb, &below)).override_usage(usage)
}
