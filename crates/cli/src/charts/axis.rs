//! The logarithmic scale of a chart and its ticks.

use super::text::width;

/// Maps numbers to coordinates.
#[derive(Clone, Debug)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    /// The distance of ticks, if the scale is too short for 1, 2, 5, 10, …
    step: Option<f64>,
    from: f64,
    to: f64,
}

/// The greatest number of a short scale is at most this many times the least.
const SHORT: f64 = 1.6;

impl Scale {
    /// Returns the scale on which `numbers` lie between the coordinates `from` and `to`.
    pub(super) fn new(numbers: impl Iterator<Item = f64>, [from, to]: [f64; 2]) -> Self {
        let numbers: Vec<f64> =
            numbers.filter(|number| number.is_finite() && *number > 0.0).collect();
        let least = numbers.iter().copied().reduce(f64::min).unwrap_or(1.0);
        let greatest = numbers.iter().copied().reduce(f64::max).unwrap_or(10.0);
        if greatest > least * SHORT {
            let (low, high) = (step_below(least), step_above(greatest));
            return Self { low, high, step: None, from, to };
        }
        // Labels have three digits, so that closer ticks would have equal ones.
        let step = step_above(((greatest - least) / 4.0).max(greatest / 200.0));
        let (low, high) = ((least / step).floor() * step, (greatest / step).ceil() * step);
        let low = if high > low { low } else { high - 2.0 * step };
        Self { low, high, step: Some(step), from, to }
    }

    pub(super) fn place(&self, number: f64) -> f64 {
        let part = (number.max(self.low) / self.low).log10() / (self.high / self.low).log10();
        self.from + part * (self.to - self.from)
    }

    /// Returns round numbers on the scale.
    pub(super) fn ticks(&self) -> Vec<f64> {
        if let Some(step) = self.step {
            let count = ((self.high - self.low) / step).round() as usize;
            return (0..=count).map(|tick| self.low + tick as f64 * step).collect();
        }
        let first = self.low.log10().floor() as i32;
        let last = self.high.log10().ceil() as i32;
        let is_long = self.high / self.low > 2000.0;
        let steps: &[f64] = if is_long { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let all = (first..=last)
            .flat_map(|power| steps.iter().map(move |step| step * 10_f64.powi(power)));
        let slack = 1.0 + 1e-9;
        let is_inside = |number: &f64| *number * slack >= self.low && *number <= self.high * slack;
        all.filter(is_inside).collect()
    }
}

/// Returns the largest of …, 1, 2, 5, 10, … that is at most `number`.
fn step_below(number: f64) -> f64 {
    let power = 10_f64.powf(number.log10().floor());
    let slack = 1.0 - 1e-9;
    [5.0, 2.0].into_iter().find(|step| number >= step * power * slack).unwrap_or(1.0) * power
}

fn step_above(number: f64) -> f64 {
    let power = 10_f64.powf(number.log10().floor());
    let slack = 1.0 + 1e-9;
    [1.0, 2.0, 5.0].into_iter().find(|step| number <= step * power * slack).unwrap_or(10.0) * power
}

/// Returns the centres of labels on a horizontal axis: inside the drawing, and without those that
/// would touch the label before them.
pub(super) fn label_places(
    labels: &[(f64, String)],
    font_size: f64,
    drawing: f64,
) -> Vec<(f64, String)> {
    let mut kept: Vec<(f64, String)> = Vec::new();
    let mut end = f64::NEG_INFINITY;
    for (at, label) in labels {
        let half = width(label, font_size) / 2.0;
        let at = at.max(half).min(drawing - half);
        if at - half >= end + 4.0 {
            end = at + half;
            kept.push((at, label.clone()));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_on_the_scale() {
        let scale = Scale::new([230.0, 4100.0].into_iter(), [0.0, 100.0]);
        assert_eq!(scale.ticks(), [200.0, 500.0, 1000.0, 2000.0, 5000.0]);
        let scale = Scale::new([0.003, 900.0].into_iter(), [0.0, 100.0]);
        assert_eq!(scale.ticks().len(), 6, "powers of ten only");
    }

    #[test]
    fn numbers_that_are_close_to_each_other_spread_over_the_scale() {
        for (numbers, ticks) in [
            (&[98.4, 99.7, 100.0][..], &[98.0, 98.5, 99.0, 99.5, 100.0][..]),
            (&[6559.0, 8923.0], &[6000.0, 7000.0, 8000.0, 9000.0]),
            (&[100.0, 100.0], &[99.0, 99.5, 100.0]),
        ] {
            let scale = Scale::new(numbers.iter().copied(), [0.0, 100.0]);
            let close = |(found, tick): (&f64, &f64)| (found - tick).abs() < 1e-9 * tick;
            let found = scale.ticks();
            assert!(found.len() == ticks.len() && found.iter().zip(ticks).all(close), "{found:?}");
            assert!(numbers.iter().all(|number| (0.0..=100.0).contains(&scale.place(*number))));
        }
    }

    #[test]
    fn labels_stay_inside_and_do_not_touch() {
        let labels: Vec<_> = [1.0, 20.0, 50.0, 299.0].map(|at| (at, "100 000".to_owned())).into();
        let kept = label_places(&labels, 12.0, 300.0);
        assert_eq!(kept.len(), 2, "two would touch the first");
        let half = width("100 000", 12.0) / 2.0;
        assert!(kept[0].0 >= half && kept[1].0 <= 300.0 - half);
    }
}
