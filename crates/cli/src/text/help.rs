//! The overview of `hfile --help`: the verbs in groups, by what they are for.

use clap::Command;

/// The heading of options that few users need. They are missing from the short help, `-h`.
pub(crate) const ADVANCED: &str = "Advanced options";

/// The groups of verbs, in the order of the overview.
const GROUPS: [(&str, &[&str]); 6] = [
    (
        "Look into HFiles",
        &["info", "layout", "stats", "verify", "cat", "export", "get", "find", "diff"],
    ),
    ("Write HFiles", &["build", "recompress", "salvage"]),
    ("Filters", &["bench", "filter"]),
    ("HBase's directories", &["snapshot", "table", "wal"]),
    ("Stores", &["store"]),
    ("Set up this command", &["completions", "man"]),
];

/// Shows the verbs of `command` in groups instead of one list.
///
/// Verbs of no group are listed last, so that none is hidden.
pub(crate) fn with_groups(command: Command) -> Command {
    let verbs: Vec<&Command> = command.get_subcommands().collect();
    let width = verbs.iter().map(|verb| verb.get_name().len()).max().unwrap_or(0);
    let line = |verb: &&Command| {
        let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
        format!("  {:<width$}  {about}\n", verb.get_name())
    };
    let mut text = String::new();
    for (heading, names) in GROUPS {
        let of_group =
            names.iter().filter_map(|name| verbs.iter().find(|verb| verb.get_name() == *name));
        text.push_str(&section(heading, &of_group.map(line).collect::<String>()));
    }
    let others = verbs
        .iter()
        .filter(|verb| !GROUPS.iter().any(|(_, names)| names.contains(&verb.get_name())));
    text.push_str(&section("Others", &others.map(line).collect::<String>()));
    let template = [
        "{about-with-newline}\n{usage-heading} {usage}\n\n",
        &text,
        "Options:\n{options}{after-help}",
    ]
    .concat();
    command.help_template(template)
}

/// Returns a heading with its lines; nothing without lines.
fn section(heading: &str, lines: &str) -> String {
    if lines.is_empty() { String::new() } else { format!("{heading}:\n{lines}\n") }
}
