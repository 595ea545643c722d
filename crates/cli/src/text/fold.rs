//! Breaks long messages into lines that a terminal or a ticket can show.

/// The maximum length of a line, unless a single part of it is longer.
const LINE_MAX: usize = 190;
/// Where a line may end, the first choice first: between sentences, and after a name.
const ENDS: [&str; 2] = ["; ", ": "];

/// Breaks a line after `; ` or, if that is not enough, after `: `. Further lines are indented by two spaces.
pub(crate) fn fold(line: &str) -> String {
    let mut lines = vec![line.to_owned()];
    for end in ENDS {
        lines = lines.iter().flat_map(|line| break_at(line, end)).collect();
    }
    lines.join("\n  ")
}

/// Breaks a line that is too long at as few places as possible.
fn break_at(line: &str, end: &str) -> Vec<String> {
    if line.chars().count() <= LINE_MAX {
        return vec![line.to_owned()];
    }
    let mut lines: Vec<String> = Vec::new();
    for part in line.split_inclusive(end) {
        match lines.last_mut() {
            Some(last) if last.chars().count() + part.chars().count() <= LINE_MAX => {
                last.push_str(part);
            }
            _ => lines.push(part.to_owned()),
        }
    }
    lines.iter().map(|line| line.trim_end().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_line_stays_and_a_long_one_is_broken_between_its_parts() {
        assert_eq!(fold("a: b; c"), "a: b; c");
        let [path, what, place] = ["p".repeat(120), "w".repeat(60), "q".repeat(150)];
        let folded = fold(&format!("{path}: {what}; {place}"));
        assert_eq!(folded, format!("{path}: {what};\n  {place}"));
        let folded = fold(&format!("{path}: {place}"));
        assert_eq!(folded, format!("{path}:\n  {place}"));
        // A path is not broken.
        assert_eq!(fold(&"x".repeat(300)), "x".repeat(300));
    }
}
