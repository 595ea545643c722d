//! The drawing of a chart with a line for each contender.

use std::fmt::Write;

use super::axis::{Axis, Scale, label_places};
use super::drawing::{Layout, Value, write_mark, write_text};
use super::marks::Mark;
use super::placement::shifts;
use super::text::{number, width};

/// Series of points on two axes.
#[derive(Clone, Debug)]
pub(super) struct Lines {
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) series: Vec<Series>,
    /// Whether the x-axis has ticks at the points only.
    pub(super) ticks_at_points: bool,
}

/// Points of one kind.
#[derive(Clone, Debug)]
pub(super) struct Series {
    pub(super) name: String,
    /// `None` for a bound, drawn as a line without markers.
    pub(super) mark: Option<Mark>,
    pub(super) points: Vec<Point>,
}

/// A point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: Value,
}

/// The scales of a drawing and the edges of its plot.
struct Plot {
    x: Scale,
    y: Scale,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

const TOP: f64 = 26.0;
const BOTTOM: f64 = 46.0;
const GAP: f64 = 8.0;

impl Lines {
    fn points(&self) -> impl Iterator<Item = &Point> + Clone {
        self.series.iter().flat_map(|series| &series.points)
    }

    fn plot(&self, layout: &Layout) -> Plot {
        let inset = layout.radius + 2.0;
        let (top, bottom) = (TOP, layout.height - BOTTOM);
        let ys = self.points().flat_map(|point| point.y.all());
        let y = Scale::new(self.y.log, ys, [bottom - inset, top + inset]);
        let labels = y.ticks().into_iter().map(|tick| width(&number(tick), layout.font_size));
        let left = labels.fold(0.0, f64::max) + GAP;
        let right = layout.width - 1.0;
        // Room for markers that are shifted aside.
        let room = 5.0 * layout.radius;
        let xs = self.points().map(|point| point.x);
        let x = Scale::new(self.x.log, xs.clone(), [left + room, right - room]);
        let x = if self.x.log { x.exact(xs) } else { x };
        Plot { x, y, left, right, top, bottom }
    }

    /// Returns the elements of the drawing.
    pub(super) fn draw(&self, layout: &Layout) -> String {
        let plot = self.plot(layout);
        let mut out = String::new();
        self.draw_axes(&mut out, layout, &plot);
        let place = |point: &Point| [plot.x.place(point.x), plot.y.place(point.y.median)];
        for series in &self.series {
            let mut points = series.points.clone();
            points.sort_by(|a, b| a.x.total_cmp(&b.x));
            let places: Vec<_> =
                points.iter().map(place).map(|[x, y]| format!("{x:.1} {y:.1}")).collect();
            let class = series
                .mark
                .map_or_else(|| "bound".to_owned(), |mark| format!("line {}", mark.class()));
            if places.len() > 1 {
                let _ = writeln!(out, "<path class=\"{class}\" d=\"M{}\"/>", places.join("L"));
            }
        }
        let marked = self.series.iter().filter_map(|series| Some((series, series.mark?)));
        let marked: Vec<_> = marked
            .flat_map(|(series, mark)| series.points.iter().map(move |it| (series, mark, it)))
            .collect();
        let places: Vec<_> = marked.iter().map(|(_, _, point)| place(point)).collect();
        let edges = [plot.left + layout.radius, plot.right - layout.radius];
        let shifts = shifts(&places, 2.0 * layout.radius + 2.0, edges);
        for (at, (_, mark, point)) in marked.iter().enumerate() {
            let ([x, y], class) = (places[at], mark.class());
            let shifted = x + shifts[at];
            if shifts[at].abs() > 0.0 {
                let _ = write!(
                    out,
                    "<path class=\"leader {class}\" d=\"M{x:.1} {y:.1}H{shifted:.1}\"/>"
                );
            }
            if let Some((low, high)) = point.y.quartiles {
                let (low, high) = (plot.y.place(low), plot.y.place(high));
                let _ = write!(
                    out,
                    "<path class=\"spread {class}\" d=\"M{shifted:.1} {low:.1}V{high:.1}\"/>"
                );
            }
        }
        for (at, (series, mark, point)) in marked.iter().enumerate() {
            let [x, y] = places[at];
            let tooltip = format!("{}: {}", series.name, number(point.y.median));
            write_mark(&mut out, *mark, [x + shifts[at], y], layout.radius, &tooltip);
        }
        out
    }

    fn draw_axes(&self, out: &mut String, layout: &Layout, plot: &Plot) {
        let Plot { x, y, left, right, top, bottom } = plot;
        write_text(out, "label", [0.0, 13.0], "start", &self.y.label);
        for tick in y.ticks() {
            let at = y.place(tick);
            let _ = write!(out, "<path class=\"grid\" d=\"M{left:.1} {at:.1}H{right:.1}\"/>");
            let baseline = at + layout.font_size * 0.35;
            write_text(out, "tick", [left - GAP / 2.0, baseline], "end", &number(tick));
        }
        let mut ticks = if self.ticks_at_points {
            self.points().map(|point| point.x).collect()
        } else {
            x.ticks()
        };
        ticks.sort_by(f64::total_cmp);
        ticks.dedup();
        let ticks: Vec<_> = ticks.into_iter().map(|tick| (x.place(tick), number(tick))).collect();
        for (at, _) in &ticks {
            let _ = write!(out, "<path class=\"grid\" d=\"M{at:.1} {top:.1}V{bottom:.1}\"/>");
        }
        for (at, label) in label_places(&ticks, layout.font_size, layout.width) {
            write_text(out, "tick", [at, bottom + 16.0], "middle", &label);
        }
        let centre = f64::midpoint(*left, *right);
        write_text(out, "label", [centre, layout.height - 8.0], "middle", &self.x.label);
        let _ = writeln!(
            out,
            "<path class=\"axis\" d=\"M{left:.1} {top:.1}V{bottom:.1}H{right:.1}\"/>"
        );
    }

    /// Returns the heading and the rows of the table of numbers.
    pub(super) fn table(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let head = ["contender", &self.x.label, &self.y.label, "quartiles"];
        let mut rows = Vec::new();
        for series in self.series.iter().filter(|series| series.mark.is_some()) {
            for Point { x, y } in &series.points {
                let quartiles = y.quartiles.map_or_else(String::new, |(low, high)| {
                    format!("{} – {}", number(low), number(high))
                });
                rows.push(vec![series.name.clone(), number(*x), number(y.median), quartiles]);
            }
        }
        (head.map(str::to_owned).into(), rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYOUT: Layout =
        Layout { class: "narrow", width: 380.0, height: 300.0, radius: 4.0, font_size: 11.0 };

    #[test]
    fn points_and_labels_are_inside_the_drawing_and_no_point_is_hidden() {
        let value = |median| Value { median, quartiles: Some((median * 0.9, median * 1.1)) };
        let series = |number: usize| Series {
            name: format!("a<{number}"),
            mark: Some(Mark::of_series(number)),
            points: [1.0, 8.0, 10_000_000.0].map(|x| Point { x, y: value(1_234_567.0) }).into(),
        };
        let lines = Lines {
            x: Axis::log("rows"),
            y: Axis::log("ns per get"),
            series: (0..4).map(series).collect(),
            ticks_at_points: true,
        };
        let svg = lines.draw(&LAYOUT);
        assert!(svg.contains("a&lt;3") && !svg.contains("NaN"), "{svg}");
        let of_text = |text: &str, name: &str| -> String {
            let rest = text.split_once(name).expect(name).1;
            rest.split('"').next().expect("it ends").to_owned()
        };
        for text in svg.split("<text").skip(1) {
            let at: f64 = of_text(text, " x=\"").parse().expect("a number");
            let label = text.split_once('>').expect("text").1.split('<').next().expect("text");
            let size = width(label, LAYOUT.font_size);
            let (from, to) = match &*of_text(text, "text-anchor=\"") {
                "start" => (at, at + size),
                "end" => (at - size, at),
                _ => (at - size / 2.0, at + size / 2.0),
            };
            assert!(from >= -0.1 && to <= LAYOUT.width + 0.1, "{label}: {from} to {to}");
        }
        let marks: Vec<_> = svg.split("<path class=\"point").skip(1).collect();
        assert_eq!(marks.len(), 12);
    }
}
