//! Counts in messages.

/// Formats a count with thousands separators: `1,000,000`.
pub fn show_count(count: u64) -> String {
    let digits = count.to_string();
    let mut shown = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// Formats a count with its noun: `1 chunk`, `12,345 keys`, `2 entries`.
pub fn show_number(count: u64, thing: &str) -> String {
    if count == 1 {
        return format!("1 {thing}");
    }
    let things = match thing.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        _ => format!("{thing}s"),
    };
    format!("{} {things}", show_count(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_separators_and_nouns() {
        assert_eq!(show_count(7), "7");
        assert_eq!(show_count(123_456), "123,456");
        assert_eq!(show_count(1_000_000), "1,000,000");
        assert_eq!(show_number(1, "key"), "1 key");
        assert_eq!(show_number(1_200, "key"), "1,200 keys");
        assert_eq!(show_number(0, "entry"), "0 entries");
    }
}
