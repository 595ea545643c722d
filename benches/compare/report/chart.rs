//! A chart as HTML: title, explanation, legend, a wide and a narrow drawing, and its numbers.
//!
//! The page shows the wide or the narrow drawing by its width. Tests of the page count markers by
//! `class="point"`.

use std::fmt::Write;

use super::lines::Lines;
use super::marks::Mark;
use super::rows::Rows;
use super::text::{escape, table};

/// A chart.
#[derive(Clone, Debug)]
pub(super) struct Chart {
    /// The element id in the page.
    pub(super) id: &'static str,
    pub(super) title: String,
    /// How to read the chart.
    pub(super) note: String,
    pub(super) legend: Vec<Key>,
    pub(super) drawing: Drawing,
}

/// An entry of a legend.
#[derive(Clone, Debug)]
pub(super) struct Key {
    pub(super) name: String,
    /// `None` for a line without markers.
    pub(super) mark: Option<Mark>,
}

/// What a chart draws.
#[derive(Clone, Debug)]
pub(super) enum Drawing {
    Lines(Lines),
    Rows(Rows),
}

/// A value with its quartiles, if known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    pub(super) median: f64,
    pub(super) quartiles: Option<(f64, f64)>,
}

impl Value {
    /// Returns the value and its quartiles.
    pub(super) fn all(self) -> impl Iterator<Item = f64> {
        let (low, high) = self.quartiles.unwrap_or((self.median, self.median));
        [low, self.median, high].into_iter()
    }
}

/// The size of a drawing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// The class of the drawing: `wide` or `narrow`.
    pub(super) class: &'static str,
    pub(super) width: f64,
    /// The height of a chart with lines.
    pub(super) height: f64,
    /// The radius of a marker.
    pub(super) radius: f64,
    pub(super) font_size: f64,
}

const LAYOUTS: [Layout; 2] = [
    Layout { class: "wide", width: 900.0, height: 420.0, radius: 5.0, font_size: 12.0 },
    Layout { class: "narrow", width: 380.0, height: 360.0, radius: 4.0, font_size: 11.0 },
];

impl Chart {
    pub(super) fn is_empty(&self) -> bool {
        match &self.drawing {
            Drawing::Lines(lines) => lines.series.iter().all(|series| series.points.is_empty()),
            Drawing::Rows(rows) => rows.groups.iter().all(|group| group.rows.is_empty()),
        }
    }

    /// Returns the chart as a figure.
    pub(super) fn html(&self) -> String {
        let mut out = format!(
            "<figure id=\"{}\"><h3>{}</h3><p>{}</p>{}",
            self.id,
            escape(&self.title),
            escape(&self.note),
            self.legend(),
        );
        for layout in &LAYOUTS {
            let (height, drawing) = match &self.drawing {
                Drawing::Lines(lines) => (layout.height, lines.draw(layout)),
                Drawing::Rows(rows) => rows.draw(layout),
            };
            let (id, class, width) = (self.id, layout.class, layout.width);
            let _ = write!(
                out,
                "<svg class=\"chart {class}\" viewBox=\"0 0 {width} {height:.0}\" role=\"img\" \
                 aria-labelledby=\"{id}-{class}-title {id}-{class}-desc\" font-size=\"{}\">\
                 <title id=\"{id}-{class}-title\">{}</title>\
                 <desc id=\"{id}-{class}-desc\">{} The numbers are in the table below.</desc>\n\
                 {drawing}</svg>",
                layout.font_size,
                escape(&self.title),
                escape(&self.note),
            );
        }
        let (head, rows) = match &self.drawing {
            Drawing::Lines(lines) => lines.table(),
            Drawing::Rows(rows) => rows.table(),
        };
        let _ = writeln!(
            out,
            "<details><summary>The numbers of this chart</summary>{}</details></figure>",
            table(&self.title, &head, &rows)
        );
        out
    }

    fn legend(&self) -> String {
        if self.legend.is_empty() {
            return String::new();
        }
        let bound = "<svg class=\"key\" viewBox=\"0 0 16 16\" aria-hidden=\"true\"><path \
                     class=\"bound\" d=\"M0 8H16\"/></svg>";
        let item = |key: &Key| {
            let image = key.mark.map_or_else(|| bound.to_owned(), Mark::image);
            format!("<li>{image}{}</li>", escape(&key.name))
        };
        let items: String = self.legend.iter().map(item).collect();
        format!("<ul class=\"legend\">{items}</ul>\n")
    }
}

/// Writes a line of text of a drawing.
pub(super) fn write_text(
    out: &mut String,
    class: &str,
    [x, y]: [f64; 2],
    anchor: &str,
    text: &str,
) {
    let text = escape(text);
    let _ = write!(
        out,
        "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>"
    );
}

/// Writes a marker with a tooltip.
pub(super) fn write_mark(
    out: &mut String,
    mark: Mark,
    centre: [f64; 2],
    radius: f64,
    tooltip: &str,
) {
    let _ = writeln!(
        out,
        "<path class=\"point mark {}\" d=\"{}\"><title>{}</title></path>",
        mark.class(),
        mark.path(centre, radius),
        escape(tooltip)
    );
}
