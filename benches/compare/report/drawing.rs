//! What the drawings of all charts share: their size, values, labels and markers.

use std::fmt::Write;

use super::marks::Mark;
use super::text::escape;

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
