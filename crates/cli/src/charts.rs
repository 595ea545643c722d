//! Charts of figures as parts of an HTML page: tables whose rows have a mark on a scale, placed by the style sheet.
//!
//! The page has no scripts, no external resources, and a light and a dark scheme. The tables need no drawing of their
//! own for narrow windows, and the numbers stand beside the marks.

use std::fmt::Write;

use crate::workload::Spread;

/// Figures in groups, on one logarithmic scale.
#[derive(Clone, Debug)]
pub struct Chart {
    /// The element id in the page.
    pub id: &'static str,
    /// The title.
    pub title: String,
    /// How to read the chart.
    pub note: String,
    /// What the scale shows, with its unit.
    pub scale: String,
    /// The figures, by group.
    pub groups: Vec<Group>,
    /// Whether a line marks 1, where both sides are equal.
    pub is_ratio: bool,
}

/// Rows with a common title.
#[derive(Clone, Debug)]
pub struct Group {
    /// The title.
    pub title: String,
    /// The figures.
    pub rows: Vec<Row>,
}

/// A figure.
#[derive(Clone, Debug)]
pub struct Row {
    /// What the figure is of.
    pub label: String,
    /// The median and its quartiles.
    pub value: Spread,
    /// The goal that the value is compared with, and the verdict.
    pub limit: Option<(f64, String)>,
}

impl Chart {
    /// Returns the chart as a figure.
    pub fn html(&self) -> String {
        let rows = || self.groups.iter().flat_map(|group| &group.rows);
        let has_zero = rows().any(|row| row.value.median == 0.0);
        let zero = if has_zero { " A figure of 0 is at the left end of the scale." } else { "" };
        let limits = rows().filter_map(|row| Some(row.limit.as_ref()?.0));
        let spreads = rows().flat_map(|row| [row.value.low, row.value.median, row.value.high]);
        let scale = Scale::new(spreads.chain(limits).chain(self.is_ratio.then_some(1.0)));
        // A figure that was taken once has no quartiles.
        let has_spread = rows().any(|row| row.value.low < row.value.high);
        let mut head = if has_spread { vec!["median", "quartiles"] } else { vec!["figure"] };
        if rows().any(|row| row.limit.is_some()) {
            head.extend(["goal", "verdict"]);
        }
        let mut out = format!(
            "<figure id=\"{}\"><h3>{}</h3><p>{}{zero}</p>{}<thead><tr><td></td>\
             <th scope=\"col\">{}{}</th>",
            self.id,
            escape(&self.title),
            escape(&self.note),
            open_table(&self.title, "chart"),
            escape(&self.scale),
            scale.labels(),
        );
        for cell in &head {
            push(&mut out, format_args!("<th scope=\"col\">{cell}</th>"));
        }
        out.push_str("</tr></thead>");
        let grid = scale.grid(self.is_ratio);
        for group in &self.groups {
            let (title, width) = (escape(&group.title), head.len() + 2);
            push(&mut out, format_args!("<tbody><tr><th colspan=\"{width}\">{title}</th></tr>\n"));
            for row in &group.rows {
                let Spread { low, median, high } = row.value;
                let mut marks = grid.clone() + &mark("spread", scale.place(low), scale.place(high));
                if let Some((limit, _)) = &row.limit {
                    marks += &mark("limit", scale.place(*limit), scale.place(*limit));
                }
                marks += &mark("point", scale.place(median), scale.place(median));
                let mut cells = vec![number(median)];
                if has_spread {
                    cells.push(format!("{} – {}", number(low), number(high)));
                }
                if let Some((limit, verdict)) = &row.limit {
                    cells.extend([number(*limit), verdict.clone()]);
                }
                out.push_str(&plotted_row(&row.label, &marks, &cells));
            }
            out.push_str("</tbody>");
        }
        out + "</table></div></figure>\n"
    }
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = out.write_fmt(text);
}

/// Returns a mark of a plot between two places, in percent of its width.
pub fn mark(class: &str, from: f64, to: f64) -> String {
    let width = if from < to { format!(";width:{:.1}%", to - from) } else { String::new() };
    format!("<i class=\"{class}\" style=\"left:{from:.1}%{width}\"></i>")
}

/// Returns a row of a chart: its label, the plot with its marks, and further cells.
pub fn plotted_row(label: &str, marks: &str, cells: &[String]) -> String {
    let (heading, columns) = (escape(label), table_cells(cells));
    format!(
        "<tr><th scope=\"row\">{heading}</th><td class=\"plot\"><div>{marks}</div></td>{columns}</tr>\n"
    )
}

fn table_cells(cells: &[String]) -> String {
    cells.iter().fold(String::new(), |out, cell| out + "<td>" + &escape(cell) + "</td>")
}

/// A logarithmic scale.
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    /// Returns the scale on which the positive ones of `numbers` lie.
    fn new(numbers: impl Iterator<Item = f64>) -> Self {
        let positive = numbers.filter(|number| number.is_finite() && *number > 0.0);
        let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
        for number in positive {
            (low, high) = (low.min(number), high.max(number));
        }
        if low > high {
            (low, high) = (1.0, 10.0);
        }
        Self { low: low / 1.1, high: high * 1.1 }
    }

    /// Returns the place of a number, in percent of the width.
    fn place(&self, number: f64) -> f64 {
        (number.max(self.low) / self.low).ln() / (self.high / self.low).ln() * 100.0
    }

    /// Returns round numbers on the scale: 1, 2, 5, 10 and so on, or powers of ten only.
    fn ticks(&self) -> Vec<f64> {
        let steps: &[f64] = if self.high / self.low > 1000.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let powers = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        let all = powers.flat_map(|power| steps.iter().map(move |step| step * 10_f64.powi(power)));
        all.filter(|number| (self.low..=self.high).contains(number)).collect()
    }

    fn labels(&self) -> String {
        let mut labels = String::new();
        for tick in self.ticks() {
            let place = self.place(tick).clamp(4.0, 96.0);
            push(&mut labels, format_args!("<b style=\"left:{place:.1}%\">{}</b>", number(tick)));
        }
        format!("<div class=\"ticks\">{labels}</div>")
    }

    fn grid(&self, is_ratio: bool) -> String {
        let places = self.ticks().into_iter().map(|tick| self.place(tick));
        let lines: String = places.map(|place| mark("grid", place, place)).collect();
        let equal = self.place(1.0);
        if is_ratio { lines + &mark("equal", equal, equal) } else { lines }
    }
}

/// Returns a whole page: its head with the style, and `body`, which is HTML.
pub fn page(title: &str, body: &str) -> String {
    let (heading, style) = (escape(title), include_str!("charts.css"));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <link rel=\"icon\" href=\"data:,\"><title>{heading}</title>\
         <style>\n{style}</style></head><body><main>\n<h1>{heading}</h1>\n{body}</main></body></html>\n"
    )
}

/// Formats a number with three significant digits.
pub fn number(number: f64) -> String {
    let size = number.abs();
    if size < 1e-12 {
        return "0".to_owned();
    }
    if size < 1e-3 {
        return format!("{number:.0e}");
    }
    let digits = [100.0, 10.0, 0.1].into_iter().filter(|limit| size < *limit).count();
    let text = format!("{number:.digits$}");
    if let Some((whole, decimals)) = text.split_once('.') {
        let part = decimals.trim_end_matches('0');
        return if part.is_empty() { whole.to_owned() } else { format!("{whole}.{part}") };
    }
    let mut grouped = String::new();
    for (place, digit) in text.chars().enumerate() {
        if place > 0 && (text.len() - place) % 3 == 0 && !grouped.ends_with('-') {
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    grouped
}

/// Escapes text for HTML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Opens a table that scrolls in its own box.
pub fn open_table(name: &str, class: &str) -> String {
    let heading = escape(name);
    format!(
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{heading}\"><table class=\"{class}\">"
    )
}

/// Writes a table that scrolls in its own box; the first cell of each row is its heading.
pub fn table(name: &str, head: &[String], rows: &[Vec<String>]) -> String {
    let mut out = open_table(name, "plain") + "<thead><tr>";
    for cell in head {
        push(&mut out, format_args!("<th scope=\"col\">{}</th>", escape(cell)));
    }
    out.push_str("</tr></thead><tbody>\n");
    for (first, rest) in rows.iter().filter_map(|row| row.split_first()) {
        push(&mut out, format_args!("<tr><th scope=\"row\">{}</th>", escape(first)));
        out += &table_cells(rest);
        out.push_str("</tr>\n");
    }
    out + "</tbody></table></div>\n"
}

#[cfg(test)]
#[path = "charts_tests.rs"]
mod tests;
