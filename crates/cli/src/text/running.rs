//! The verb that runs, for messages that name it.

use std::sync::OnceLock;

use clap::ArgMatches;

static VERB: OnceLock<String> = OnceLock::new();

/// Records the verb of the command line, such as `table verify`.
pub(crate) fn set_verb(matches: &ArgMatches) {
    let mut names = Vec::new();
    let mut inner = matches;
    while let Some((name, next)) = inner.subcommand() {
        names.push(name);
        inner = next;
    }
    // A process runs one verb.
    let _ = VERB.set(names.join(" "));
}

/// Returns the verb; empty before it is known.
pub(crate) fn verb() -> &'static str {
    VERB.get().map_or("", String::as_str)
}

/// Returns the verb that checks what this one reads: `snapshot verify` or `table verify`.
pub(crate) fn verify_verb() -> &'static str {
    if verb().starts_with("snapshot ") { "snapshot verify" } else { "table verify" }
}

/// Returns what to do after Ctrl-C; `None` if nothing is left to go on with.
pub(crate) fn after_interruption() -> Option<&'static str> {
    (verb() == "export" || verb().ends_with(" export")).then_some(
        "hfile: stopped; the same command goes on after the last complete part of the output",
    )
}
