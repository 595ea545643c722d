//! The names of files in charts.

/// The characters of a name that fit into the narrow drawings.
const NAME_MAX: usize = 37;

/// Returns the name of a file for a chart, of at most [`NAME_MAX`] characters. Tables have the whole path.
pub(super) fn short_name(path: &str) -> String {
    let name: Vec<char> = path.rsplit('/').next().unwrap_or(path).chars().collect();
    if name.len() <= NAME_MAX {
        return name.iter().collect();
    }
    let half = (NAME_MAX - 1) / 2;
    let (start, end) = (&name[..half], &name[name.len() - half..]);
    start.iter().chain(&['…']).chain(end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_shortened_in_the_middle() {
        assert_eq!(
            short_name("a/b/0357addee0534a62a8ec596808c28c98"),
            "0357addee0534a62a8ec596808c28c98"
        );
        let reference = format!("a/{}.{}", "1".repeat(32), "2".repeat(32));
        let short = short_name(&reference);
        assert_eq!(short, format!("{}…{}", "1".repeat(18), "2".repeat(18)));
    }
}
