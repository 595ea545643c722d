//! Numbers and text for HTML.

/// Formats a number with three significant digits.
pub fn number(number: f64) -> String {
    let digits = match number.abs() {
        zero if zero < 1e-12 => return "0".to_owned(),
        small if small < 1e-3 => return format!("{number:.0e}"),
        small if small < 0.1 => 3,
        small if small < 10.0 => 2,
        small if small < 100.0 => 1,
        _ => 0,
    };
    let text = format!("{number:.digits$}");
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    let (whole, part) =
        text.split_once('.').map_or((text, None), |(whole, part)| (whole, Some(part)));
    let mut grouped = String::new();
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place) % 3 == 0 && !grouped.ends_with('-') {
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    part.map_or(grouped.clone(), |part| format!("{grouped}.{part}"))
}

/// Formats a ratio with two decimals, or more if it is small.
pub fn show_ratio(ratio: f64) -> String {
    match ratio {
        tiny if tiny < 0.01 => format!("{ratio:.4}"),
        small if small < 0.1 => format!("{ratio:.3}"),
        _ => format!("{ratio:.2}"),
    }
}

/// Escapes text for HTML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Returns an upper bound of the width of a line of text, in pixels.
///
/// The widest common sans-serif fonts take 0.64 of their size for a digit.
pub(super) fn width(text: &str, font_size: f64) -> f64 {
    text.chars().count() as f64 * font_size * 0.64
}

/// Writes a table that scrolls in its own box; the first cell of each row is its heading.
pub fn table(name: &str, head: &[String], rows: &[Vec<String>]) -> String {
    let cells = |cells: &[String]| -> String {
        let escaped = cells.iter().map(|cell| format!("<td>{}</td>", escape(cell)));
        escaped.collect()
    };
    let head = head.iter().map(|cell| format!("<th scope=\"col\">{}</th>", escape(cell)));
    let head: String = head.collect();
    let rows = rows.iter().filter_map(|row| {
        let (first, rest) = row.split_first()?;
        Some(format!("<tr><th scope=\"row\">{}</th>{}</tr>\n", escape(first), cells(rest)))
    });
    let rows: String = rows.collect();
    format!(
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\"><table><thead><tr>\
         {head}</tr></thead><tbody>\n{rows}</tbody></table></div>\n",
        escape(name)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_have_three_digits() {
        let texts = [0.0, 0.00012, 0.0123, 1.5, 12.34, 1234.5, 2_000_000.0].map(number);
        assert_eq!(
            texts,
            ["0", "1e-4", "0.012", "1.5", "12.3", "1\u{202f}234", "2\u{202f}000\u{202f}000"]
        );
    }

    #[test]
    fn cells_of_tables_are_escaped() {
        let html = table("a\"b", &["<x>".to_owned()], &[vec!["&".to_owned(), "1".to_owned()]]);
        assert!(html.contains("aria-label=\"a&quot;b\"") && html.contains("&lt;x&gt;"), "{html}");
        assert!(html.contains("<th scope=\"row\">&amp;</th><td>1</td>"), "{html}");
    }
}
