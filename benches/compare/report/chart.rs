//! A chart as HTML: title, explanation, legend, a wide and a narrow drawing, and its numbers.
//!
//! The page shows the wide or the narrow drawing by its width. Tests of the page count markers by
//! `class="point"`.

use std::fmt::Write;

use super::drawing::Layout;
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
