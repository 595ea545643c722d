//! The claims: the ratios that a run measured, each compared with its goal.

use serde::{Deserialize, Serialize};
use workload::Spread;

use crate::contenders::OURS;
use crate::figure::Figure;
use crate::goals::{GOALS, Goal};

/// A ratio of ours to the best settings of a peer, and its limit.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Claim {
    /// The kind of work, in words.
    pub(crate) what: String,
    /// The share of the rows that fits into the cache.
    pub(crate) cache: String,
    /// Our settings.
    pub(crate) ours: String,
    /// The filter and cache of the peer's best settings.
    pub(crate) theirs: String,
    /// The median of the ratio per round, and its quartiles.
    pub(crate) ratio: Spread,
    /// The limit of the ratio.
    pub(crate) limit: f64,
    /// `held`, `missed`, or `unresolved` if the limit lies within the quartiles.
    pub(crate) verdict: String,
    /// The medians of both sides.
    #[serde(default)]
    pub(crate) our_side: Side,
    #[serde(default)]
    pub(crate) their_side: Side,
}

/// One side of a ratio.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Side {
    pub(crate) median: f64,
    /// The bits of memory per row of filters and of what replaces them.
    pub(crate) memory_bits_per_key: Option<f64>,
}

impl Claim {
    /// Returns the engine of the peer, with which the name of its settings begins.
    pub(crate) fn peer(&self) -> &str {
        self.theirs.split(',').next().unwrap_or(&self.theirs)
    }

    /// Whether the peer is another engine, and not ours with other settings or files.
    pub(crate) fn is_with_peer(&self) -> bool {
        self.peer() != OURS
    }

    /// Returns what the ratio is of.
    pub(crate) fn measured(&self) -> &'static str {
        match self.what.split(' ').next() {
            Some("data") => "blocks",
            Some("bytes") => "bytes",
            _ => "time",
        }
    }
}

/// Checks figures against the goals; goals that lack figures of a side are left out.
///
/// `rows` is the number of rows of the main comparison.
pub(crate) fn claims(figures: &[Figure], rows: u64) -> Vec<Claim> {
    let mut claims = Vec::new();
    for goal in GOALS {
        let is_of_goal =
            |figure: &&Figure| figure.rows == rows * goal.rows && (goal.selects)(figure);
        let selected: Vec<_> = figures.iter().filter(is_of_goal).collect();
        for (peer, limit) in goal.limits {
            for ours in
                selected.iter().filter(|figure| figure.engine == OURS && (goal.ours)(figure))
            {
                let of_peer = selected
                    .iter()
                    .filter(|figure| figure.engine == *peer && (goal.theirs)(ours, figure))
                    .filter_map(|figure| Some((*figure, median(goal, figure)?)));
                let best = of_peer.min_by(|(_, a), (_, b)| a.total_cmp(b));
                claims.extend(best.and_then(|(theirs, _)| claim(goal, ours, theirs, *limit)));
            }
        }
    }
    claims
}

fn median(goal: &Goal, figure: &Figure) -> Option<f64> {
    Spread::of(&(goal.samples)(figure)).map(|spread| spread.median)
}

fn claim(goal: &Goal, ours: &Figure, theirs: &Figure, limit: f64) -> Option<Claim> {
    let samples = ((goal.samples)(ours), (goal.samples)(theirs));
    let paired = samples.0.len() == samples.1.len();
    let ratio = if paired {
        Spread::of_ratio(&samples.0, &samples.1)?
    } else {
        // Another process with separate rounds: each of our samples is divided by its median.
        let their = Spread::of(&samples.1)?.median;
        Spread::of(&samples.0.iter().map(|sample| sample / their).collect::<Vec<_>>())?
    };
    let verdict = match () {
        () if ratio.high <= limit => "held",
        () if ratio.low > limit => "missed",
        () => "unresolved",
    };
    let side = |figure: &Figure| {
        let memory_bits_per_key = figure.memory_bits_per_key;
        Some(Side { median: median(goal, figure)?, memory_bits_per_key })
    };
    Some(Claim {
        what: goal.what.to_owned(),
        cache: ours.cache.clone(),
        ours: ours.contender.clone(),
        theirs: theirs.contender.clone(),
        ratio,
        limit,
        verdict: verdict.to_owned(),
        our_side: side(ours)?,
        their_side: side(theirs)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Shape;
    use crate::figure::CACHE_ALL;

    fn get(contender: &str, engine: &str, wall: &[f64]) -> Figure {
        Figure {
            contender: contender.to_owned(),
            engine: engine.to_owned(),
            work: "get".to_owned(),
            asked: Some("present".to_owned()),
            shape: Shape::OneRun,
            rows: 10,
            files: None,
            filter_bits_per_key: None,
            memory_bits_per_key: None,
            cache: CACHE_ALL.to_owned(),
            threads: 1,
            unit: "ns".to_owned(),
            wall: wall.to_vec(),
            cpu: Vec::new(),
            reads: crate::figure::Reads::default(),
        }
    }

    #[test]
    fn a_claim_compares_with_the_best_settings_of_the_peer() {
        let figures = [
            get("ours", OURS, &[1.0, 1.0, 1.0]),
            get("slow", "RocksDB", &[9.0, 9.0, 9.0]),
            get("fast", "RocksDB", &[4.0, 4.0, 4.0]),
        ];
        let claims = claims(&figures, 10);
        assert_eq!(claims.len(), 1);
        assert_eq!((&*claims[0].theirs, &*claims[0].verdict), ("fast", "held"));
        assert!((claims[0].ratio.median - 0.25).abs() < 1e-9);
    }

    #[test]
    fn a_limit_inside_the_spread_is_unresolved() {
        let peer = get("fast", "RocksDB", &[1.0, 1.0, 1.0]);
        let verdict = |ours: &[f64]| {
            let figures = [get("ours", OURS, ours), peer.clone()];
            claims(&figures, 10).remove(0).verdict
        };
        assert_eq!(verdict(&[0.3, 0.31, 0.32]), "held");
        assert_eq!(verdict(&[0.3, 0.38, 0.52]), "unresolved");
        assert_eq!(verdict(&[0.5, 0.51, 0.6]), "missed");
    }
}
