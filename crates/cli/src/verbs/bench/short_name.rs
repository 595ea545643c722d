//! The names of files in charts.

/// The characters of a name that fit into the narrow drawings.
const NAME_MAX: usize = 37;

/// Returns the name of a file for a chart, of at most [`NAME_MAX`] characters. Tables have the whole path.
///
/// `half` is the half of an HFile for which a reference stands. References of both halves have the same name, in
/// the directories of two regions.
pub(super) fn short_name(path: &str, half: Option<&str>) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let Some(half) = half else { return shortened(name, NAME_MAX) };
    let suffix = format!(", {half} half");
    let hfile = name.split('.').next().unwrap_or(name);
    shortened(hfile, NAME_MAX - suffix.len()) + &suffix
}

/// Returns a name of at most `max` characters.
fn shortened(name: &str, max: usize) -> String {
    let name: Vec<char> = name.chars().collect();
    if name.len() <= max {
        return name.iter().collect();
    }
    let half = (max - 1) / 2;
    let (start, end) = (&name[..half], &name[name.len() - half..]);
    start.iter().chain(&['…']).chain(end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_shortened_in_the_middle() {
        assert_eq!(
            short_name("a/b/0357addee0534a62a8ec596808c28c98", None),
            "0357addee0534a62a8ec596808c28c98"
        );
        let reference = format!("a/{}.{}", "1".repeat(32), "2".repeat(32));
        let short = short_name(&reference, None);
        assert_eq!(short, format!("{}…{}", "1".repeat(18), "2".repeat(18)));
    }

    #[test]
    fn the_halves_of_a_file_have_different_names() {
        let reference = format!("a/{}{}.{}", "1".repeat(16), "2".repeat(16), "3".repeat(32));
        let short = short_name(&reference, Some("upper"));
        assert_eq!(short, format!("{}…{}, upper half", "1".repeat(12), "2".repeat(12)));
        assert_eq!(short.chars().count(), NAME_MAX);
    }
}
