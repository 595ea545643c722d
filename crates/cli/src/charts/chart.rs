//! A chart as HTML: title, explanation, legend, a wide and a narrow drawing, and its numbers.
//!
//! The page shows the wide or the narrow drawing by its width. Tests of the page count markers by
//! `class="point"`.

use std::fmt::Write;

use super::marks::Mark;
use super::rows::{Layout, Rows};
use super::text::{escape, table};

/// A chart.
#[derive(Clone, Debug)]
pub struct Chart {
    /// The element id in the page.
    pub id: &'static str,
    /// The title.
    pub title: String,
    /// How to read the chart.
    pub note: String,
    /// The markers that are explained.
    pub legend: Vec<LegendEntry>,
    /// The figures.
    pub rows: Rows,
}

/// A marker and what it stands for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LegendEntry {
    /// What it stands for.
    pub name: String,
    /// The marker.
    pub mark: Mark,
}

const LAYOUTS: [Layout; 2] = [
    Layout { class: "wide", width: 900.0, radius: 5.0, font_size: 12.0 },
    Layout { class: "narrow", width: 380.0, radius: 4.0, font_size: 11.0 },
];

impl Chart {
    /// Returns the chart as a figure.
    pub fn html(&self) -> String {
        let zero = " The scale is logarithmic; a figure of 0 is at its left end.";
        let note = format!("{}{}", self.note, if self.rows.has_zero() { zero } else { "" });
        let mut out = format!(
            "<figure id=\"{}\"><h3>{}</h3><p>{}</p>{}",
            self.id,
            escape(&self.title),
            escape(&note),
            self.legend(),
        );
        for layout in &LAYOUTS {
            let (height, drawing) = self.rows.draw(layout);
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
                escape(&note),
            );
        }
        let (head, rows) = self.rows.table();
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
        let item =
            |entry: &LegendEntry| format!("<li>{}{}</li>", entry.mark.image(), escape(&entry.name));
        let items: String = self.legend.iter().map(item).collect();
        format!("<ul class=\"legend\">{items}</ul>\n")
    }
}
