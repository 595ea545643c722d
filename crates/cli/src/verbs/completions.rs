//! `hfile completions`: a script with which a shell completes verbs, options and values.

use std::io::Write;

use anyhow::Context;
use clap_complete::Shell;

use crate::failure::Answer;
use crate::text::output::{STDOUT, stdout};

/// Print a script with which your shell completes verbs, options, names and files.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hfile completions bash > ~/.local/share/bash-completion/completions/hfile
  hfile completions zsh > ~/.zfunc/_hfile        # in ~/.zshrc: fpath+=~/.zfunc; autoload -U compinit; compinit
  hfile completions fish > ~/.config/fish/completions/hfile.fish
  hfile completions powershell >> $PROFILE
  hfile completions elvish >> ~/.config/elvish/rc.elv

Create the directory first if it is missing. A new shell reads the script. Write the script again after an
update of hfile.
Exit status: 0 printed, 2 wrong usage, 3 could not write.")]
pub(crate) struct Completions {
    /// Print the script of this shell
    #[arg(value_name = "SHELL", ignore_case = true)]
    shell: Shell,
}

/// Appended to the script for Bash, whose generated function offers all options for an empty word.
///
/// Tab after `hfile info ` would then complete "-", which options have in common, and no file name.
const BASH_WITHOUT_UNASKED_OPTIONS: &str = r#"
# Offers options only for a word that begins with "-". Without candidates, Bash completes file names.
_hfile_words() {
    local candidate words=()
    # Bash takes the "=" of "--compression=L" for a word.
    if [[ "$3" == "=" && "${COMP_CWORD}" -ge 2 ]]; then
        set -- "$1" "$2" "${COMP_WORDS[COMP_CWORD - 2]}"
    fi
    _hfile "$@"
    if [[ "$2" != -* ]]; then
        for candidate in "${COMPREPLY[@]}"; do
            [[ "${candidate}" == -* ]] || words+=("${candidate}")
        done
        COMPREPLY=("${words[@]}")
        # A directory gets a "/" and no space.
        if [[ "$3" == -* && -e "${COMPREPLY[0]}" ]]; then
            compopt -o filenames 2> /dev/null
        fi
    fi
}

if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -F _hfile_words -o nosort -o bashdefault -o default hfile
else
    complete -F _hfile_words -o bashdefault -o default hfile
fi
"#;

impl Completions {
    /// Prints the script for `command`, all verbs included.
    pub(crate) fn run(self, mut command: clap::Command) -> anyhow::Result<Answer> {
        // Writes to memory first: the generators panic if a write fails, as at a closed pipe.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, "hfile", &mut script);
        if self.shell == Shell::Bash {
            script.extend_from_slice(BASH_WITHOUT_UNASKED_OPTIONS.as_bytes());
        }
        let mut out = stdout();
        out.write_all(&script).and_then(|()| out.flush()).context(STDOUT)?;
        Ok(Answer::Positive)
    }
}
