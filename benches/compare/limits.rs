//! The table of limits that a run prints at its end: one line for each goal and peer, with both
//! times, the memory of both sides, and our time at ten bits a key in all.

use workload::Spread;

use hfile_cli::charts::show_ratio;

use crate::claims::{Claim, Side};
use crate::goals::GOALS;
use crate::names::OURS_DEFAULT;

/// The heading of the table.
const HEADING: &str = "\
| limit of a ratio | peer | limit | ratio | low | high | | ours | bits a key | best of the peer | its \
bits a key | with the settings | ours at 10 bits a key in all | its ratio | with the settings |
|---|---|--:|--:|--:|--:|---|--:|--:|--:|--:|---|--:|--:|---|
";

/// Returns the table. A goal whose figures the run lacks is in it as not measured.
pub(crate) fn table(claims: &[Claim]) -> String {
    let line = |what: &str, peer: &str, limit: f64| {
        let claims: Vec<_> =
            claims.iter().filter(|claim| claim.what == what && claim.peer() == peer).collect();
        let is_default = |claim: &&&Claim| claim.ours == OURS_DEFAULT;
        // A goal for other settings has no claim of the default.
        let Some(judged) = claims.iter().find(is_default).or(claims.first()) else {
            return format!("| {what} | {peer} | {limit} | not measured |\n");
        };
        let others = claims.iter().filter(|claim| !is_default(claim) && claim.ours != judged.ours);
        let best = others.min_by(|a, b| a.ratio.median.total_cmp(&b.ratio.median));
        measured(judged, best.copied())
    };
    let lines = GOALS.iter().flat_map(|goal| goal.limits.iter().map(move |limit| (goal, limit)));
    let lines = lines.map(|(goal, (peer, limit))| line(goal.what, peer, *limit));
    format!("{HEADING}{}", lines.collect::<String>())
}

fn measured(claim: &Claim, at_ten_bits: Option<&Claim>) -> String {
    let Spread { low, median, high } = claim.ratio;
    let [low, ratio, high] = [low, median, high].map(show_ratio);
    let (ours, bits) = show_side(&claim.our_side);
    let (theirs, their_bits) = show_side(&claim.their_side);
    let at_ten_bits = at_ten_bits.map_or_else(
        || "– | – | –".to_owned(),
        |claim| {
            format!(
                "{} | {} | {}",
                show_side(&claim.our_side).0,
                show_ratio(claim.ratio.median),
                claim.ours
            )
        },
    );
    format!(
        "| {} | {} | {} | {ratio} | {low} | {high} | {} | {ours} | {bits} | {theirs} | {their_bits} \
         | {} | {at_ten_bits} |\n",
        claim.what,
        claim.peer(),
        claim.limit,
        outcome(claim),
        claim.theirs,
    )
}

/// Whether the median keeps the limit, and whether the quartiles leave that open.
fn outcome(claim: &Claim) -> &'static str {
    match (claim.ratio.median <= claim.limit, &*claim.verdict) {
        (true, "held") => "held",
        (true, _) => "held by the median",
        (false, "missed") => "missed",
        (false, _) => "missed by the median",
    }
}

/// Formats the median of a side and its bits per key.
fn show_side(side: &Side) -> (String, String) {
    let median = match side.median {
        large if large >= 100.0 => format!("{large:.0}"),
        middle if middle >= 1.0 => format!("{middle:.1}"),
        small => format!("{small:.4}"),
    };
    let bits = side.memory_bits_per_key;
    (median, bits.map_or_else(|| "–".to_owned(), |bits| format!("{bits:.1}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::OURS_RIBBON;

    fn claim(what: &str, ours: &str, ratio: f64, high: f64) -> Claim {
        let side = |median, bits| Side { median, memory_bits_per_key: Some(bits) };
        Claim {
            what: what.to_owned(),
            cache: "all".to_owned(),
            ours: ours.to_owned(),
            theirs: "RocksDB, ribbon, HyperClock".to_owned(),
            ratio: Spread { low: ratio, median: ratio, high },
            limit: 0.12,
            verdict: if high <= 0.12 { "held" } else { "unresolved" }.to_owned(),
            our_side: side(ratio * 2000.0, 20.7),
            their_side: side(2000.0, 9.7),
        }
    }

    #[test]
    fn every_goal_has_a_line_for_each_peer() {
        let table = table(&[]);
        let goals: usize = GOALS.iter().map(|goal| goal.limits.len()).sum();
        assert_eq!(table.matches("not measured").count(), goals);
        assert_eq!(table.lines().count(), goals + 2);
    }

    #[test]
    fn a_line_has_the_default_and_the_best_at_ten_bits() {
        let what = GOALS[0].what;
        let claims = [claim(what, OURS_RIBBON, 0.3, 0.3), claim(what, OURS_DEFAULT, 0.1, 0.13)];
        let table = table(&claims);
        let line = table.lines().find(|line| line.contains("held"));
        assert_eq!(
            line.expect("the goal has a line"),
            "| absent get, many files | RocksDB | 0.12 | 0.10 | 0.10 | 0.13 | held by the median | \
             200 | 20.7 | 2000 | 9.7 | RocksDB, ribbon, HyperClock | 600 | 0.30 | ours, ribbon, map \
             off |"
        );
    }
}
