//! Replaces outputs in a page by the outputs of its commands: `UPDATE_PAGES=1 cargo test -p hfile-cli --test docs`.

use crate::compare::line_equals;

/// An output of a page that differs from the output of its command.
pub(crate) struct Update {
    /// The line of the page on which the output begins.
    pub(crate) line: usize,
    /// How many lines of the page to replace.
    pub(crate) count: usize,
    pub(crate) lines: Vec<String>,
}

impl Update {
    /// Returns the change of an output: lines of the page that are still right stay, with their `…`.
    ///
    /// Returns `None` if the page leaves out lines, because nobody knows which.
    pub(crate) fn new(line: usize, page: &[String], output: &str, figures: bool) -> Option<Self> {
        if page.iter().any(|line| line.trim() == "…") {
            return None;
        }
        let kept = |line: &str| {
            let known = page.iter().find(|known| line_equals(known, line, figures));
            known.cloned().unwrap_or_else(|| line.trim_end().to_owned())
        };
        let lines = output.trim_end().lines().map(kept).collect();
        Some(Self { line, count: page.len(), lines })
    }
}

/// Returns the text of a page with the updates.
pub(crate) fn updated(page: &str, updates: &mut [Update]) -> String {
    updates.sort_by_key(|update| update.line);
    let mut lines: Vec<String> = page.lines().map(str::to_owned).collect();
    for Update { line, count, lines: new } in updates.iter().rev() {
        lines.splice(line - 1..line - 1 + count, new.iter().cloned());
    }
    lines.join("\n") + "\n"
}

#[test]
fn outputs_are_replaced_and_right_lines_stay() {
    let page = "# X\n$ a\nin … s\nold\n$ b\n1 row\n";
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let first = Update::new(3, &lines("in … s\nold"), "in 3 s\nnew\nmore\n", false);
    let second = Update::new(6, &lines("1 row"), "2 rows\n", false);
    let mut updates = [second.expect("can be updated"), first.expect("can be updated")];
    let expected = "# X\n$ a\nin … s\nnew\nmore\n$ b\n2 rows\n";
    assert_eq!(updated(page, &mut updates), expected);
    assert!(Update::new(1, &lines("a\n…"), "b\n", false).is_none());
}
