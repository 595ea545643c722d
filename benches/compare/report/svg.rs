//! A chart as SVG: points, lines, two axes, a legend.
//!
//! Colours are classes (`s0`, `s1`, …), which the page sets per scheme. Each point has a tooltip;
//! tests of the page count points by `class="point"`.

use std::fmt::Write;

/// An axis.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub(super) label: String,
    pub(super) log: bool,
    /// The names of 0, 1, …, on an axis of names.
    pub(super) names: Vec<String>,
}

impl Axis {
    pub(super) fn linear(label: &str) -> Self {
        Self { label: label.to_owned(), log: false, names: Vec::new() }
    }

    pub(super) fn log(label: &str) -> Self {
        Self { log: true, ..Self::linear(label) }
    }

    pub(super) fn of_names(names: Vec<String>) -> Self {
        Self { names, ..Self::linear("") }
    }
}

/// Points of one kind.
#[derive(Clone, Debug)]
pub(super) struct Series {
    pub(super) name: String,
    pub(super) points: Vec<Point>,
    /// Whether a line joins the points in the order of x.
    pub(super) line: bool,
    /// Whether the series is a bound, drawn without points.
    pub(super) bound: bool,
}

/// A point, with its error range if known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) spread: Option<(f64, f64)>,
}

/// A chart.
#[derive(Clone, Debug)]
pub(super) struct Chart {
    /// The element id in the page.
    pub(super) id: &'static str,
    pub(super) title: String,
    pub(super) note: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) series: Vec<Series>,
}

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 56.0;

/// Maps the numbers of an axis to coordinates.
struct Scale {
    log: bool,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    fn new(axis: &Axis, numbers: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let numbers: Vec<f64> =
            numbers.filter(|it| it.is_finite() && (!axis.log || *it > 0.0)).collect();
        let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (low, high) = match () {
            () if !axis.names.is_empty() => (-0.5, axis.names.len() as f64 - 0.5),
            () if numbers.is_empty() => (1.0, 10.0),
            () if axis.log => (10_f64.powf(low.log10().floor()), 10_f64.powf(high.log10().ceil())),
            () => (0.0, if high > 0.0 { high * 1.05 } else { 1.0 }),
        };
        let high = if high > low { high } else { low * 10.0 };
        Self { log: axis.log, low, high, from, to }
    }

    fn place(&self, number: f64) -> f64 {
        let part = if self.log {
            (number.max(self.low) / self.low).log10() / (self.high / self.low).log10()
        } else {
            (number - self.low) / (self.high - self.low)
        };
        self.from + part * (self.to - self.from)
    }

    fn ticks(&self) -> Vec<f64> {
        if self.log {
            let first = self.low.log10().round() as i32;
            let last = self.high.log10().round() as i32;
            return (first..=last).map(|power| 10_f64.powi(power)).collect();
        }
        let rough = (self.high - self.low) / 6.0;
        let power = 10_f64.powf(rough.log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|it| it * power);
        let step = steps.into_iter().find(|it| *it >= rough).unwrap_or(rough);
        let count = ((self.high - self.low) / step) as usize;
        (0..=count).map(|at| self.low + at as f64 * step).collect()
    }
}

/// Returns the chart as a figure with a title, a note and a legend.
pub(super) fn figure(chart: &Chart) -> String {
    let points = || chart.series.iter().flat_map(|series| &series.points);
    let x = Scale::new(&chart.x, points().map(|point| point.x), LEFT, WIDTH - RIGHT);
    let ys = points().flat_map(|point| {
        let (low, high) = point.spread.unwrap_or((point.y, point.y));
        [point.y, low, high]
    });
    let y = Scale::new(&chart.y, ys, HEIGHT - BOTTOM, TOP);
    let mut out = String::new();
    let _ = write!(
        out,
        "<figure id=\"{}\"><h3>{}</h3><p>{}</p>{}<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-label=\"{}\">",
        chart.id,
        escape(&chart.title),
        escape(&chart.note),
        legend(chart),
        escape(&chart.title),
    );
    axes(&mut out, chart, &x, &y);
    for (number, series) in chart.series.iter().enumerate() {
        draw(&mut out, series, number, &x, &y);
    }
    out.push_str("</svg></figure>\n");
    out
}

fn legend(chart: &Chart) -> String {
    let item = |(number, series): (usize, &Series)| {
        let kind = if series.bound { " bound" } else { "" };
        let name = escape(&series.name);
        format!("<li><i class=\"key s{}{kind}\"></i>{name}</li>", number % COLOURS)
    };
    let items: String = chart.series.iter().enumerate().map(item).collect();
    format!("<ul class=\"legend\">{items}</ul>")
}

/// The number of colours in the page.
const COLOURS: usize = 9;

fn axes(out: &mut String, chart: &Chart, x: &Scale, y: &Scale) {
    let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
    for tick in y.ticks() {
        let at = y.place(tick);
        let _ = write!(
            out,
            "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{right}\"/>\
             <text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            at + 4.0,
            number(tick)
        );
    }
    let names = chart.x.names.iter().enumerate().map(|(at, name)| (at as f64, escape(name)));
    let numbers = x.ticks().into_iter().map(|tick| (tick, number(tick)));
    let ticks: Vec<_> = if chart.x.names.is_empty() { numbers.collect() } else { names.collect() };
    for (place, (tick, label)) in ticks.into_iter().enumerate() {
        let at = x.place(tick);
        // Names are long, so every other one is a line lower.
        let lower = if chart.x.names.is_empty() || place % 2 == 0 { 18.0 } else { 34.0 };
        let _ = write!(
            out,
            "<path class=\"grid\" d=\"M{at:.1} {TOP}V{bottom}\"/>\
             <text class=\"tick\" x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>",
            bottom + lower
        );
    }
    let _ = write!(
        out,
        "<path class=\"axis\" d=\"M{LEFT} {TOP}V{bottom}H{right}\"/>\
         <text class=\"label\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
         <text class=\"label\" transform=\"translate(16 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
        f64::midpoint(LEFT, right),
        HEIGHT - 10.0,
        escape(&chart.x.label),
        f64::midpoint(TOP, bottom),
        escape(&chart.y.label),
    );
}

fn draw(out: &mut String, series: &Series, number_of_series: usize, x: &Scale, y: &Scale) {
    let class = format!("s{}", number_of_series % COLOURS);
    let mut points = series.points.clone();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    if series.line {
        let places = points.iter().map(|it| format!("{:.1} {:.1}", x.place(it.x), y.place(it.y)));
        let places: Vec<_> = places.collect();
        let kind = if series.bound { "bound" } else { "line" };
        if !places.is_empty() {
            let _ = write!(out, "<path class=\"{kind} {class}\" d=\"M{}\"/>", places.join("L"));
        }
    }
    if series.bound {
        return;
    }
    for point in &points {
        let (cx, cy) = (x.place(point.x), y.place(point.y));
        if let Some((low, high)) = point.spread {
            let (low, high) = (y.place(low), y.place(high));
            let _ = write!(out, "<path class=\"line {class}\" d=\"M{cx:.1} {low:.1}V{high:.1}\"/>");
        }
        let _ = write!(
            out,
            "<circle class=\"point {class}\" cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"4\"><title>{}: {}</title></circle>",
            escape(&series.name),
            number(point.y)
        );
    }
}

/// Formats a number with three significant digits.
pub(super) fn number(number: f64) -> String {
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

/// Escapes text for HTML.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
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
    fn every_point_is_drawn_inside_the_axes() {
        let point = |x, y| Point { x, y, spread: None };
        let series = |points| Series { name: "a<b".to_owned(), points, line: true, bound: false };
        let chart = Chart {
            id: "test",
            title: String::new(),
            note: String::new(),
            x: Axis::log("x"),
            y: Axis::log("y"),
            series: vec![series(vec![point(1.0, 3.0), point(64.0, 4000.0)])],
        };
        let svg = figure(&chart);
        assert_eq!(svg.matches("class=\"point").count(), 2);
        assert!(svg.contains("a&lt;b") && !svg.contains("NaN"));
        for circle in svg.split("<circle").skip(1) {
            let place = |name: &str| -> f64 {
                let text = circle.split(name).nth(1).expect(name);
                text.split('"').next().expect("it ends").parse().expect("a number")
            };
            assert!((LEFT..=WIDTH - RIGHT).contains(&place("cx=\"")), "{circle}");
            assert!((TOP..=HEIGHT - BOTTOM).contains(&place("cy=\"")), "{circle}");
        }
    }
}
