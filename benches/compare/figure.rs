//! What was measured: samples of rounds, and what is said of them.
//!
//! All contenders of a measurement take their turns in each round, so the samples of one round were
//! made within moments of each other. Ratios are taken round by round, and then the median.

use serde::{Deserialize, Serialize};

use crate::process::Machine;

/// The cache of figures for which everything fits into it.
pub(crate) const CACHE_ALL: &str = "all";

/// One run of the comparison, as it stands in the JSON file.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Run {
    /// The command line.
    pub(crate) command: String,
    pub(crate) machine: Machine,
    /// Whether all was measured that was to be; if not, it was ended from outside, or is under way.
    pub(crate) is_finished: bool,
    /// How long it took, to the end of the last stage.
    pub(crate) seconds: f64,
    /// What it did, one after the other.
    pub(crate) stages: Vec<Stage>,
    /// What the engines were given, in words.
    pub(crate) settings: Vec<String>,
    pub(crate) figures: Vec<Figure>,
    pub(crate) filters: Vec<FilterPoint>,
    pub(crate) claims: Vec<crate::claims::Claim>,
}

/// A part of a run; with its end, the figures so far are written.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Stage {
    pub(crate) name: String,
    pub(crate) seconds: f64,
}

/// What one contender took for one kind of work.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Figure {
    /// The engine and its settings.
    pub(crate) contender: String,
    /// The engine.
    pub(crate) engine: String,
    /// `get`, `scan`, `fill`, `open`, `disk`.
    pub(crate) work: String,
    /// Of gets: `present`, `absent`, `mixed`, `zipf`.
    pub(crate) asked: Option<String>,
    pub(crate) shape: String,
    pub(crate) rows: u64,
    /// Files that hold them.
    pub(crate) files: Option<u64>,
    /// Bits of filter a row, as they are on disk.
    pub(crate) filter_bits_per_key: Option<f64>,
    /// [`CACHE_ALL`] if everything fits, else how many MiB of rows do.
    pub(crate) cache: String,
    pub(crate) threads: usize,
    /// Of the samples: `ns` (a get, a row), `ms`, `bytes`.
    pub(crate) unit: String,
    /// What a clock on the wall says, round by round.
    pub(crate) wall: Vec<f64>,
    /// What the process had of all processors meanwhile.
    pub(crate) cpu: Vec<f64>,
    pub(crate) reads: Reads,
}

/// What a get did on average: by the engine's account, and as the kernel saw it.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Reads {
    pub(crate) filter_checks: Option<f64>,
    /// Filters that said no.
    pub(crate) filter_negatives: Option<f64>,
    pub(crate) false_positives: Option<f64>,
    /// Data blocks that were searched.
    pub(crate) data_blocks: Option<f64>,
    /// Calls of `read` and its kin.
    pub(crate) file_reads: Option<f64>,
    pub(crate) file_bytes: Option<f64>,
    /// Data blocks as seen from outside: calls to read when nearly nothing is cached, round by round.
    pub(crate) file_reads_uncached: Vec<f64>,
}

/// One filter: how large it is, and how often it is wrong.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct FilterPoint {
    pub(crate) name: String,
    pub(crate) bits_per_key: f64,
    pub(crate) error_rate: f64,
}

/// A number with what lies around it: the median and the quartiles of some rounds.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct Spread {
    pub(crate) low: f64,
    pub(crate) median: f64,
    pub(crate) high: f64,
}

impl Spread {
    /// `None` if there are no samples.
    pub(crate) fn of(samples: &[f64]) -> Option<Self> {
        let mut sorted = samples.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let at = |part: f64| {
            let place = part * (sorted.len() - 1) as f64;
            let (below, above) = (place.floor() as usize, place.ceil() as usize);
            sorted[below] + (sorted[above] - sorted[below]) * place.fract()
        };
        (!sorted.is_empty()).then(|| Self { low: at(0.25), median: at(0.5), high: at(0.75) })
    }

    /// The ratio of two contenders, round by round.
    pub(crate) fn of_ratio(ours: &[f64], theirs: &[f64]) -> Option<Self> {
        let ratios: Vec<_> = ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect();
        Self::of(&ratios)
    }
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
        // The second round was disturbed for both alike.
        let spread = Spread::of_ratio(&[1.0, 100.0, 1.0], &[2.0, 200.0, 2.0]);
        assert_eq!(spread, Some(Spread { low: 0.5, median: 0.5, high: 0.5 }));
    }
}
