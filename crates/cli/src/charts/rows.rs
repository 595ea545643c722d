//! The drawing of a chart with a row for each figure: a marker on a horizontal scale, its label on
//! the left, its number on the right.

use std::fmt::Write;

use super::axis::{Scale, label_places};
use super::marks::Mark;
use super::text::{escape, number, show_ratio, width};
use crate::workload::Spread;

/// Rows in groups, on one logarithmic scale.
#[derive(Clone, Debug)]
pub struct Rows {
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
    /// The text left of the marker.
    pub label: String,
    /// The contender, if the label does not name it.
    pub contender: Option<String>,
    /// The marker.
    pub mark: Mark,
    /// The median and its quartiles.
    pub value: Spread,
    /// The goal that the value is compared with, and the verdict.
    pub limit: Option<(f64, String)>,
}

impl Row {
    /// Returns the number beside the marker, without its goal if there is little room.
    fn shown(&self, is_short: bool) -> String {
        let median = self.value.median;
        match &self.limit {
            Some((_, verdict)) if is_short => format!("{} {verdict}", show_ratio(median)),
            Some((limit, verdict)) => {
                format!("{}, goal {}: {verdict}", show_ratio(median), show_ratio(*limit))
            }
            None => number(median),
        }
    }
}

/// The size of a drawing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// The class of the drawing: `wide` or `narrow`.
    pub(super) class: &'static str,
    pub(super) width: f64,
    /// The radius of a marker.
    pub(super) radius: f64,
    pub(super) font_size: f64,
}

/// Where the parts of a drawing are.
struct Columns {
    /// Whether a label stands above its marker, not left of it.
    is_above: bool,
    from: f64,
    to: f64,
    row_height: f64,
}

const TITLE_HEIGHT: f64 = 30.0;
/// Free space below the rows of a group.
const GROUP_END: f64 = 6.0;
const HEAD: f64 = 40.0;
const FOOT: f64 = 26.0;
const GAP: f64 = 8.0;

impl Rows {
    fn rows(&self) -> impl Iterator<Item = &Row> {
        self.groups.iter().flat_map(|group| &group.rows)
    }

    /// Returns whether a figure is 0, for which a logarithmic scale has no place.
    pub(super) fn has_zero(&self) -> bool {
        self.rows().any(|row| row.value.median == 0.0)
    }

    fn columns(&self, layout: &Layout) -> Columns {
        let widest = |text: &dyn Fn(&Row) -> String| {
            self.rows().map(|row| width(&text(row), layout.font_size)).fold(0.0, f64::max)
        };
        let labels = widest(&|row| row.label.clone());
        let is_above = labels > layout.width * 0.38;
        let values = widest(&|row| row.shown(is_above));
        let from = if is_above { 0.0 } else { labels };
        let row_height = if is_above { 34.0 } else { 18.0 };
        Columns { is_above, from: from + GAP, to: layout.width - values - 2.0 * GAP, row_height }
    }

    /// Returns the height of the drawing and its elements.
    pub(super) fn draw(&self, layout: &Layout) -> (f64, String) {
        let columns = self.columns(layout);
        let numbers = self.rows().flat_map(|row| {
            let limit = row.limit.as_ref().map(|(limit, _)| *limit);
            let Spread { low, median, high } = row.value;
            [low, median, high].into_iter().chain(limit)
        });
        let one = self.is_ratio.then_some(1.0);
        let inset = layout.radius + 2.0;
        let scale = Scale::new(numbers.chain(one), [columns.from + inset, columns.to - inset]);
        let titles = self.groups.len() as f64 * (TITLE_HEIGHT + GROUP_END);
        let height = HEAD + titles + self.rows().count() as f64 * columns.row_height + FOOT;
        let mut out = String::new();
        self.draw_scale(&mut out, layout, &columns, &scale, height);
        let mut top = HEAD;
        for group in &self.groups {
            let _ = write!(out, "<path class=\"axis\" d=\"M0 {top:.1}H{}\"/>", layout.width);
            write_text(&mut out, "title", [0.0, top + 20.0], "start", &group.title);
            top += TITLE_HEIGHT;
            for row in &group.rows {
                draw_row(&mut out, layout, &columns, &scale, row, top);
                top += columns.row_height;
            }
            top += GROUP_END;
        }
        (height, out)
    }

    fn draw_scale(
        &self,
        out: &mut String,
        layout: &Layout,
        columns: &Columns,
        scale: &Scale,
        height: f64,
    ) {
        write_text(out, "label", [columns.to, 14.0], "end", &self.scale);
        let bottom = height - FOOT;
        let ticks = scale.ticks().into_iter().map(|tick| (scale.place(tick), number(tick)));
        let ticks: Vec<_> = ticks.collect();
        for (at, _) in &ticks {
            let _ = write!(out, "<path class=\"grid\" d=\"M{at:.1} {HEAD}V{bottom:.1}\"/>");
        }
        for (at, label) in label_places(&ticks, layout.font_size, layout.width) {
            write_text(out, "tick", [at, HEAD - 8.0], "middle", &label);
            write_text(out, "tick", [at, bottom + 16.0], "middle", &label);
        }
        if self.is_ratio {
            let at = scale.place(1.0);
            let _ = write!(out, "<path class=\"equal\" d=\"M{at:.1} {HEAD}V{bottom:.1}\"/>");
        }
        out.push('\n');
    }

    /// Returns the heading and the rows of the table of numbers.
    pub(super) fn table(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let has_contender = self.rows().any(|row| row.contender.is_some());
        let has_limit = self.rows().any(|row| row.limit.is_some());
        let mut head = vec!["group", "row"];
        head.extend(has_contender.then_some("contender"));
        // A figure that was taken once has no quartiles.
        let has_spread = self.rows().any(|row| row.value.low < row.value.high);
        head.extend(if has_spread { &["median", "quartiles"][..] } else { &["figure"] });
        head.extend(has_limit.then_some(["goal", "verdict"]).into_iter().flatten());
        let mut rows = Vec::new();
        for group in &self.groups {
            for row in &group.rows {
                let mut cells = vec![group.title.clone(), row.label.clone()];
                cells.extend(row.contender.clone());
                cells.push(number(row.value.median));
                if has_spread {
                    cells.push(format!("{} – {}", number(row.value.low), number(row.value.high)));
                }
                if let Some((limit, verdict)) = &row.limit {
                    cells.extend([number(*limit), verdict.clone()]);
                }
                rows.push(cells);
            }
        }
        (head.into_iter().map(str::to_owned).collect(), rows)
    }
}

fn draw_row(
    out: &mut String,
    layout: &Layout,
    columns: &Columns,
    scale: &Scale,
    row: &Row,
    top: f64,
) {
    let middle = top + columns.row_height - 9.0;
    let baseline = middle + layout.font_size * 0.35;
    if columns.is_above {
        write_text(out, "label", [0.0, baseline - 16.0], "start", &row.label);
    } else {
        write_text(out, "label", [columns.from - GAP, baseline], "end", &row.label);
    }
    write_text(out, "label", [layout.width, baseline], "end", &row.shown(columns.is_above));
    if let Some((limit, _)) = &row.limit {
        let at = scale.place(*limit);
        let (top, bottom) = (middle - 8.0, middle + 8.0);
        let _ = write!(out, "<path class=\"limit\" d=\"M{at:.1} {top:.1}V{bottom:.1}\"/>");
    }
    let (low, high) = (scale.place(row.value.low), scale.place(row.value.high));
    let class = row.mark.class();
    let _ = write!(out, "<path class=\"spread {class}\" d=\"M{low:.1} {middle:.1}H{high:.1}\"/>");
    let centre = [scale.place(row.value.median), middle];
    let tooltip = format!("{}: {}", row.contender.as_ref().unwrap_or(&row.label), row.shown(false));
    write_mark(out, row.mark, centre, layout.radius, &tooltip);
}

/// Writes a line of text of a drawing.
fn write_text(out: &mut String, class: &str, [x, y]: [f64; 2], anchor: &str, text: &str) {
    let text = escape(text);
    let _ = write!(
        out,
        "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>"
    );
}

/// Writes a marker with a tooltip.
fn write_mark(out: &mut String, mark: Mark, centre: [f64; 2], radius: f64, tooltip: &str) {
    let _ = writeln!(
        out,
        "<path class=\"point mark {}\" d=\"{}\"><title>{}</title></path>",
        mark.class(),
        mark.path(centre, radius),
        escape(tooltip)
    );
}
