//! The claims of a run: the ratios that it measured, each compared with its goal.

use serde::{Deserialize, Serialize};
use workload::Spread;

use crate::contenders::OURS;
use crate::figure::Figure;
use crate::goals::{GOALS, Goal};

/// A ratio of ours to the best settings of a peer, and its limit.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct Claim {
    /// The kind of work, in words.
    pub(crate) what: String,
    /// The share of the rows that fits into the cache.
    pub(crate) cache: String,
    /// Our settings.
    pub(crate) ours: String,
    /// The peer's best settings.
    pub(crate) theirs: String,
    /// The median of the ratio per round, and its quartiles.
    pub(crate) ratio: Spread,
    pub(crate) limit: f64,
    /// `held`, `missed`, or `unresolved` if the limit lies within the quartiles.
    pub(crate) verdict: String,
    pub(crate) our_side: Side,
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

    /// Returns the cells of the claim in tables.
    pub(crate) fn cells(&self) -> Vec<String> {
        let Spread { low, median, high } = self.ratio;
        let side = |side: &Side| {
            let bits = side.memory_bits_per_key;
            [
                format!("{:.1}", side.median),
                bits.map_or_else(|| "–".to_owned(), |bits| format!("{bits:.1}")),
            ]
        };
        let mut cells = vec![self.what.clone(), self.ours.clone(), self.theirs.clone()];
        cells.extend([
            format!("{median:.3}"),
            format!("{low:.3} – {high:.3}"),
            self.limit.to_string(),
            self.verdict.clone(),
        ]);
        cells.extend([side(&self.our_side), side(&self.their_side)].concat());
        cells
    }
}

/// The heading of [`Claim::cells`].
pub(crate) const HEADING: &str = "work | ours | theirs | ratio | quartiles | goal | verdict | ours, median | \
    memory bits per key | theirs, median | memory bits per key";

/// Checks figures against the goals; goals that lack figures of a side are left out.
///
/// `rows` is the number of rows of the main comparison.
pub(crate) fn claims(figures: &[Figure], rows: u64) -> Vec<Claim> {
    let mut claims = Vec::new();
    for goal in GOALS {
        let is_of_goal = |of: &&Figure| of.rows == rows * goal.rows && (goal.selects)(of);
        let selected: Vec<_> = figures.iter().filter(is_of_goal).collect();
        for (peer, limit) in goal.limits {
            for ours in selected.iter().filter(|figure| figure.engine == OURS) {
                let of_peer = selected
                    .iter()
                    .filter(|theirs| theirs.engine == *peer && (goal.pairs)(ours, theirs))
                    .filter_map(|theirs| Some((*theirs, median(goal, theirs)?)));
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
    let (our_samples, their_samples) = ((goal.samples)(ours), (goal.samples)(theirs));
    let ratio = if our_samples.len() == their_samples.len() {
        Spread::of_ratio(&our_samples, &their_samples)?
    } else {
        // Another process with separate rounds: each of our samples is divided by its median.
        let their = Spread::of(&their_samples)?.median;
        Spread::of(&our_samples.iter().map(|sample| sample / their).collect::<Vec<_>>())?
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

/// Returns the conclusion in sentences: how often our best settings are ahead of each other engine, and where not.
pub(crate) fn conclusion(claims: &[Claim]) -> String {
    let mut best: Vec<&Claim> = Vec::new();
    for claim in claims.iter().filter(|claim| claim.peer() != OURS) {
        let is_same =
            |known: &&mut &Claim| known.what == claim.what && known.peer() == claim.peer();
        match best.iter_mut().find(is_same) {
            Some(known) if claim.ratio.median < known.ratio.median => *known = claim,
            Some(_) => {}
            None => best.push(claim),
        }
    }
    if best.is_empty() {
        return "No other engine took part, so there is nothing to compare.".to_owned();
    }
    let list = |title: &str, is_in: fn(&Spread) -> bool| {
        let claims: Vec<_> = best.iter().filter(|claim| is_in(&claim.ratio)).collect();
        let name = |claim: &&&Claim| {
            format!("{} ({:.2} of {}'s)", claim.what, claim.ratio.median, claim.peer())
        };
        let names: Vec<String> = claims.iter().map(name).collect();
        if names.is_empty() { String::new() } else { format!(" {title}: {}.", names.join("; ")) }
    };
    let ahead = best.iter().filter(|claim| claim.ratio.high < 1.0).count();
    format!("Ours is ahead in {ahead} of {} comparisons.", best.len())
        + &list("Behind at", |ratio| ratio.low > 1.0)
        + &list("Too close to call", |ratio| ratio.low <= 1.0 && ratio.high >= 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Shape;
    use crate::figure::CACHE_ALL;

    fn get(contender: &str, wall: &[f64]) -> Figure {
        Figure {
            contender: contender.to_owned(),
            engine: contender.split(',').next().unwrap_or_default().to_owned(),
            work: "get".to_owned(),
            asked: Some("present".to_owned()),
            shape: Shape::OneRun,
            rows: 10,
            cache: CACHE_ALL.to_owned(),
            threads: 1,
            wall: wall.to_vec(),
            ..Figure::default()
        }
    }

    #[test]
    fn a_claim_compares_with_the_best_settings_of_the_peer() {
        let [slow, fast] = [9.0, 4.0].map(|nanos| [nanos; 3]);
        let figures =
            [get("ours", &[1.0; 3]), get("RocksDB, slow", &slow), get("RocksDB, fast", &fast)];
        let claims = claims(&figures, 10);
        assert_eq!(claims.len(), 1);
        assert_eq!((&*claims[0].theirs, &*claims[0].verdict), ("RocksDB, fast", "held"));
        assert!((claims[0].ratio.median - 0.25).abs() < 1e-9);
    }

    #[test]
    fn a_limit_inside_the_spread_is_unresolved() {
        let verdict = |ours: &[f64]| {
            let figures = [get("ours", ours), get("RocksDB", &[1.0; 3])];
            claims(&figures, 10).remove(0).verdict
        };
        assert_eq!(verdict(&[0.3, 0.31, 0.32]), "held");
        assert_eq!(verdict(&[0.3, 0.38, 0.52]), "unresolved");
        assert_eq!(verdict(&[0.5, 0.51, 0.6]), "missed");
    }

    #[test]
    fn the_conclusion_takes_the_best_of_our_settings_and_names_what_is_lost() {
        let figures = [
            get("ours, ribbon", &[0.9, 1.5, 1.6]),
            get("ours, default", &[0.5; 3]),
            get("RocksDB", &[1.0; 3]),
            get("fjall", &[0.4; 3]),
        ];
        assert_eq!(
            conclusion(&claims(&figures, 10)),
            "Ours is ahead in 1 of 2 comparisons. Behind at: present get, one run (1.25 of fjall's)."
        );
    }
}
