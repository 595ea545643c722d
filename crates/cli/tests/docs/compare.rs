//! Compares the output of a command with the lines of a page.
//!
//! | on the page | stands for |
//! |---|---|
//! | `…` in a line | any text, also none |
//! | a line with nothing but `…` | any lines, also none |
//! | a number, in a block with the attribute `figures` | any number; runs of spaces are equal |

/// Compares the lines; returns what differs.
pub(crate) fn difference(page: &[String], output: &str, figures: bool) -> Option<String> {
    let normal = |line: &str| if figures { masked(line) } else { line.trim_end().to_owned() };
    let expected: Vec<String> = page.iter().map(|line| normal(line)).collect();
    let mut found: Vec<String> = output.lines().map(normal).collect();
    while found.last().is_some_and(String::is_empty) {
        found.pop();
    }
    if lines_match(&expected, &found) {
        return None;
    }
    let same = expected.iter().zip(&found).take_while(|(page, line)| line_matches(page, line));
    let first = same.count() + 1;
    Some(format!("line {first} of the output differs; it is now:\n{}", shortened(output)))
}

/// Returns the first lines of an output.
pub(crate) fn shortened(output: &str) -> String {
    const LINES: usize = 40;
    let more = output.lines().count().saturating_sub(LINES);
    let lines: Vec<&str> = output.lines().take(LINES).collect();
    let end = if more > 0 { format!("\n({more} more lines)") } else { String::new() };
    lines.join("\n") + &end
}

fn lines_match(page: &[String], found: &[String]) -> bool {
    match (page.split_first(), found.split_first()) {
        (None, rest) => rest.is_none(),
        (Some((line, page)), _) if line.trim() == "…" => {
            (0..=found.len()).any(|skipped| lines_match(page, &found[skipped..]))
        }
        (Some(_), None) => false,
        (Some((line, page)), Some((other, found))) => {
            line_matches(line, other) && lines_match(page, found)
        }
    }
}

/// Whether the line is the page's, in a block with or without the attribute `figures`.
pub(crate) fn line_equals(page: &str, line: &str, figures: bool) -> bool {
    if figures {
        line_matches(&masked(page), &masked(line))
    } else {
        line_matches(page.trim_end(), line.trim_end())
    }
}

/// Whether the line is the page's, where `…` is any text.
pub(crate) fn line_matches(page: &str, line: &str) -> bool {
    match page.split_once('…') {
        None => page == line,
        Some((start, rest)) => {
            let Some(after) = line.strip_prefix(start) else { return false };
            let starts = after.char_indices().map(|(at, _)| at).chain([after.len()]);
            starts.into_iter().any(|at| line_matches(rest, &after[at..]))
        }
    }
}

/// Replaces each number by `#`, and each run of spaces by one space.
fn masked(line: &str) -> String {
    let mut text = String::new();
    let mut chars = line.trim().chars().peekable();
    while let Some(c) = chars.next() {
        let is_number = text.ends_with('#');
        let continues = chars.peek().is_some_and(char::is_ascii_digit);
        match c {
            '0'..='9' if is_number => {}
            '.' | ',' if is_number && continues => {}
            '0'..='9' => text.push('#'),
            ' ' if text.ends_with(' ') => {}
            other => text.push(other),
        }
    }
    text
}

#[test]
fn an_ellipsis_is_any_text_and_alone_any_lines() {
    let page = |lines: &[&str]| lines.iter().map(|&line| line.to_owned()).collect::<Vec<_>>();
    let differs = |lines: &[&str], output| difference(&page(lines), output, false).is_some();
    assert!(!differs(&["a", "b"], "a\nb\n"));
    assert!(differs(&["a"], "a\nb\n"));
    assert!(differs(&["a", "b"], "a\n"));
    assert!(!differs(&["a", "…"], "a\nb\nc\n"));
    assert!(!differs(&["…", "c"], "a\nb\nc\n"));
    assert!(differs(&["…", "d"], "a\nb\nc\n"));
    assert!(!differs(&["took … s, … MiB"], "took 4.5 s, 17 MiB\n"));
    assert!(differs(&["took … s, … MiB"], "took 4.5 s, 17 KiB\n"));
}

#[test]
fn figures_differ_and_the_words_around_them_do_not() {
    let page = ["blocked   12,345 ns  1.5%".to_owned()];
    assert!(difference(&page, "blocked 7 ns 100.25%\n", true).is_none());
    assert!(difference(&page, "blocked 7 us 100.25%\n", true).is_some());
    assert!(difference(&page, "blocked 7 ns 100.25%\n", false).is_some());
    assert_eq!(masked("insert 1,880.5, hit  25 ns."), "insert #, hit # ns.");
}
