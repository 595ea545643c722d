//! The claims of a run: the ratios that it measured, each compared with its goal.

use serde::Serialize;
use workload::Spread;

use crate::contenders::OURS;
use crate::engine::engine_of;
use crate::figure::{Figure, number};
use crate::goals::{GOALS, Goal};

/// A ratio of ours to the best settings of a peer, and its limit.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Claim {
    /// The kind of work, in words.
    pub(crate) what: String,
    /// Our settings.
    pub(crate) ours: String,
    /// The peer's best settings.
    pub(crate) theirs: String,
    /// The median of the ratio per round, and its quartiles.
    pub(crate) ratio: Spread,
    pub(crate) limit: f64,
    /// `held`, `missed`, or `unresolved` if the limit lies within the quartiles.
    pub(crate) verdict: String,
    /// Of ours and of the peer.
    pub(crate) medians: [f64; 2],
    /// The bits of memory per row of filters and of what replaces them, of ours and of the peer.
    pub(crate) memory_bits_per_key: [Option<f64>; 2],
}

impl Claim {
    pub(crate) fn peer(&self) -> &str {
        engine_of(&self.theirs)
    }

    /// Returns the cells of the claim in tables.
    pub(crate) fn cells(&self) -> Vec<String> {
        let Spread { low, median, high } = self.ratio;
        let ([ours, theirs], [our_bits, their_bits]) = (self.medians, self.memory_bits_per_key);
        vec![
            self.what.clone(),
            self.ours.clone(),
            self.theirs.clone(),
            format!("{median:.3}"),
            format!("{low:.3} – {high:.3}"),
            self.limit.to_string(),
            self.verdict.clone(),
            format!("{ours:.1}"),
            number(our_bits, 1),
            format!("{theirs:.1}"),
            number(their_bits, 1),
        ]
    }
}

/// The heading of [`Claim::cells`].
pub(crate) const HEADING: &str = "work | ours | theirs | ratio | quartiles | goal | verdict | \
    ours, median | memory bits per key | theirs, median | memory bits per key";

/// Checks figures against the goals; goals that lack figures of a side are left out.
///
/// `rows` is the number of rows of the main comparison.
pub(crate) fn claims(figures: &[Figure], rows: u64) -> Vec<Claim> {
    let mut claims = Vec::new();
    for goal in GOALS {
        let side = |side: usize, engine: &str| -> Vec<&Figure> {
            let (title, settings) = (goal.titles[side], goal.settings[side]);
            let of_engine = figures.iter().filter(|of| engine_of(&of.contender) == engine);
            let of_work = of_engine.filter(|of| of.title(rows) == title);
            of_work.filter(|of| of.contender.contains(settings)).collect()
        };
        let all_ours = side(0, OURS);
        for (peer, limit) in goal.limits {
            let all_theirs = side(1, peer);
            // Ours is compared with the same settings of ours, unless the goal names others.
            let is_same = *peer == OURS && goal.settings == [""; 2];
            for ours in &all_ours {
                let pairs =
                    all_theirs.iter().filter(|of| !is_same || of.contender == ours.contender);
                let ratios = pairs.filter_map(|theirs| claim(goal, ours, theirs, *limit));
                claims.extend(ratios.min_by(|a, b| a.medians[1].total_cmp(&b.medians[1])));
            }
        }
    }
    claims
}

/// Compares two figures; `None` if a side has no samples.
fn claim(goal: &Goal, ours: &Figure, theirs: &Figure, limit: f64) -> Option<Claim> {
    let (our_samples, their_samples) = ((goal.samples)(ours), (goal.samples)(theirs));
    let medians = [Spread::of(&our_samples)?.median, Spread::of(&their_samples)?.median];
    let ratio = if our_samples.len() == their_samples.len() {
        Spread::of_ratio(&our_samples, &their_samples)?
    } else {
        // Another process with separate rounds: each of our samples is divided by its median.
        Spread::of_ratio(&our_samples, &vec![medians[1]; our_samples.len()])?
    };
    let verdict = match () {
        () if ratio.high <= limit => "held",
        () if ratio.low > limit => "missed",
        () => "unresolved",
    };
    Some(Claim {
        what: goal.what.to_owned(),
        ours: ours.contender.clone(),
        theirs: theirs.contender.clone(),
        ratio,
        limit,
        verdict: verdict.to_owned(),
        medians,
        memory_bits_per_key: [ours.memory_bits_per_key, theirs.memory_bits_per_key],
    })
}

/// Returns the conclusion in sentences: how often our best settings are ahead of each other engine,
/// and where not.
pub(crate) fn conclusion(claims: &[Claim]) -> String {
    let mut best: Vec<&Claim> = Vec::new();
    for claim in claims.iter().filter(|claim| claim.peer() != OURS) {
        let mut known = best.iter_mut();
        match known.find(|known| known.what == claim.what && known.peer() == claim.peer()) {
            Some(known) if claim.ratio.median < known.ratio.median => *known = claim,
            Some(_) => {}
            None => best.push(claim),
        }
    }
    if best.is_empty() {
        return "No other engine took part, so there is nothing to compare.".to_owned();
    }
    let list = |title: &str, is_in: fn(&Spread) -> bool| {
        let claims = best.iter().filter(|claim| is_in(&claim.ratio));
        let names = claims.map(|claim| {
            format!("{} ({:.2} of {}'s)", claim.what, claim.ratio.median, claim.peer())
        });
        let names = names.collect::<Vec<_>>().join("; ");
        if names.is_empty() { names } else { format!(" {title}: {names}.") }
    };
    let ahead = best.iter().filter(|claim| claim.ratio.high < 1.0).count();
    format!("Ours is ahead in {ahead} of {} comparisons.", best.len())
        + &list("Behind at", |ratio| ratio.low > 1.0)
        + &list("Too close to call", |ratio| ratio.low <= 1.0 && ratio.high >= 1.0)
}

#[cfg(test)]
mod tests {
    use workload::Samples;

    use super::*;
    use crate::engine::Shape;

    fn get(contender: &str, wall: &[f64]) -> Figure {
        let samples = Samples { wall: wall.to_vec(), cpu: Vec::new() };
        Figure { shape: Shape::OneRun, rows: 10, ..Figure::new(contender, "present get", samples) }
    }

    #[test]
    fn a_claim_compares_with_the_best_settings_of_the_peer() {
        let (slow, fast) = (get("RocksDB, slow", &[9.0; 3]), get("RocksDB, fast", &[4.0; 3]));
        let claims = claims(&[get("ours", &[1.0; 3]), slow, fast], 10);
        assert_eq!(claims.len(), 1);
        assert_eq!((&*claims[0].theirs, &*claims[0].verdict), ("RocksDB, fast", "held"));
        assert!((claims[0].ratio.median - 0.25).abs() < 1e-9);
    }

    #[test]
    fn a_limit_inside_the_spread_is_unresolved() {
        let verdict = |ours: &[f64]| {
            claims(&[get("ours", ours), get("RocksDB", &[1.0; 3])], 10).remove(0).verdict
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
