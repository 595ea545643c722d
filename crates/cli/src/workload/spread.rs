//! The median and the quartiles of samples.
//!
//! In each round all contenders take turns, so the samples of one round were taken within moments
//! of each other. Ratios are computed per round; the median follows.

use serde::{Deserialize, Serialize};

/// The median and the quartiles of some rounds.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Spread {
    /// The lower quartile.
    pub low: f64,
    /// The median.
    pub median: f64,
    /// The upper quartile.
    pub high: f64,
}

impl Spread {
    /// Returns the spread of samples; `None` if there are none.
    pub fn of(samples: &[f64]) -> Option<Self> {
        let mut sorted = samples.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let at = |part: f64| {
            let place = part * (sorted.len() - 1) as f64;
            let (below, above) = (place.floor() as usize, place.ceil() as usize);
            sorted[below] + (sorted[above] - sorted[below]) * place.fract()
        };
        (!sorted.is_empty()).then(|| Self { low: at(0.25), median: at(0.5), high: at(0.75) })
    }

    /// Returns the spread of the ratios of two contenders in each round.
    pub fn of_ratio(ours: &[f64], theirs: &[f64]) -> Option<Self> {
        let ratios: Vec<_> = ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect();
        Self::of(&ratios)
    }
}

/// Returns the median of samples.
///
/// # Panics
///
/// If there are none.
pub fn median(samples: impl IntoIterator<Item = f64>) -> f64 {
    let all: Vec<f64> = samples.into_iter().collect();
    Spread::of(&all).expect("samples").median
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_is_the_median_and_the_quartiles() {
        let spread = Spread::of(&[5.0, 1.0, 3.0, 2.0, 4.0]);
        assert_eq!(spread, Some(Spread { low: 2.0, median: 3.0, high: 4.0 }));
        assert_eq!(Spread::of(&[]), None);
    }

    #[test]
    fn ratios_are_of_the_same_round() {
        // The second round was slow for both.
        let spread = Spread::of_ratio(&[1.0, 100.0, 1.0], &[2.0, 200.0, 2.0]);
        assert_eq!(spread, Some(Spread { low: 0.5, median: 0.5, high: 0.5 }));
    }
}
