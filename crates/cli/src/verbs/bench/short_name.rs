//! The names of files in charts.

/// The characters of a name that fit into the narrow drawings.
const NAME_MAX: usize = 37;
/// The characters of a region that distinguish it from others.
const REGION_LEN: usize = 8;

/// Returns the names of files for a chart, of at most [`NAME_MAX`] characters. Tables have the whole paths.
///
/// Two regions can have references to the same file, under the same name. Such names begin with the region, which
/// is the directory above the directory of the family.
pub(super) fn short_names(paths: &[&str]) -> Vec<String> {
    let names: Vec<String> = paths.iter().map(|path| cut(part(path, 0), NAME_MAX)).collect();
    let distinct = paths.iter().zip(&names).map(|(path, name)| {
        let region = part(path, 2);
        if region.is_empty() || names.iter().filter(|other| *other == name).count() == 1 {
            return name.clone();
        }
        let start = cut(region, REGION_LEN + 1);
        let rest = NAME_MAX - start.chars().count() - 1;
        format!("{start}/{}", cut(part(path, 0), rest))
    });
    distinct.collect()
}

/// Returns a part of a path, counted from its end; empty if there is none.
fn part(path: &str, from_end: usize) -> &str {
    path.rsplit('/').nth(from_end).unwrap_or_default()
}

/// Cuts a name in its middle, so that it has at most `len` characters; one that is a hash keeps its start only.
fn cut(name: &str, len: usize) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= len {
        return letters.iter().collect();
    }
    let end_len = if len <= REGION_LEN + 1 { 0 } else { (len - 1) / 2 };
    let (start, end) = (&letters[..len - 1 - end_len], &letters[letters.len() - end_len..]);
    start.iter().chain(&['…']).chain(end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_shortened_in_the_middle() {
        let hash = "0357addee0534a62a8ec596808c28c98";
        let reference = format!("a/{}.{}", "1".repeat(32), "2".repeat(32));
        assert_eq!(
            short_names(&[&format!("a/b/{hash}"), &reference]),
            [hash.to_owned(), format!("{}…{}", "1".repeat(18), "2".repeat(18))]
        );
    }

    #[test]
    fn references_of_two_regions_to_one_file_are_distinct() {
        let name = format!("{}.{}", "1".repeat(32), "2".repeat(32));
        let paths =
            ["cfe27cad50f93b85", "40ab6300693e3f01"].map(|region| format!("t/{region}/f/{name}"));
        let names = short_names(&[&paths[0], &paths[1], "t/r/f/other"]);
        let end = format!("{}…{}", "1".repeat(13), "2".repeat(13));
        assert_eq!(
            names,
            [format!("cfe27cad…/{end}"), format!("40ab6300…/{end}"), "other".to_owned()]
        );
        assert!(names.iter().all(|name| name.chars().count() <= NAME_MAX));
    }
}
