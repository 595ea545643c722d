//! The conclusion of a run in sentences, from the ratios: where ours is ahead, and where behind.

use std::fmt::Write;

use workload::Spread;

use hfile_cli::charts::show_ratio;

use crate::claims::Claim;
use crate::contenders::OURS;
use crate::engine::Shape;
use crate::figure::{CACHE_ALL, Figure};
use crate::other_load::is_busy;
use crate::run::Run;

/// The work that the first sentence quotes.
const QUOTED: &str = "absent get, many files";

/// The sentences: the first is the headline, then one paragraph for each peer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Conclusion {
    pub(crate) headline: String,
    pub(crate) peers: Vec<String>,
}

/// Draws the conclusion from the figures of a run.
pub(crate) fn conclusion(run: &Run) -> Conclusion {
    let mut conclusion = of_figures(run);
    if is_busy(&run.stages) {
        conclusion.headline.insert_str(0, "Not reliable, because the machine was busy. ");
    }
    conclusion
}

fn of_figures(run: &Run) -> Conclusion {
    let best = best_of_ours(&run.claims);
    if best.is_empty() {
        return Conclusion { headline: alone(&run.figures), peers: Vec::new() };
    }
    let mut peers: Vec<&str> = Vec::new();
    for claim in &best {
        if !peers.contains(&claim.peer()) {
            peers.push(claim.peer());
        }
    }
    let of_peer = |peer: &&str| {
        best.iter().copied().filter(|claim| claim.peer() == *peer).collect::<Vec<_>>()
    };
    Conclusion {
        headline: headline(&best, &peers),
        peers: peers.iter().map(|peer| against(peer, &of_peer(peer))).collect(),
    }
}

/// Where the quartiles of a ratio lie.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Outcome {
    Ahead,
    Behind,
    Close,
}

fn outcome(claim: &Claim) -> Outcome {
    match claim.ratio {
        Spread { high, .. } if high < 1.0 => Outcome::Ahead,
        Spread { low, .. } if low > 1.0 => Outcome::Behind,
        _ => Outcome::Close,
    }
}

/// Returns the ratio of our best settings for each kind of work and other engine, in the order of
/// the claims.
fn best_of_ours(claims: &[Claim]) -> Vec<&Claim> {
    let mut best: Vec<&Claim> = Vec::new();
    for claim in claims.iter().filter(|claim| claim.is_with_peer()) {
        let is_same =
            |known: &&mut &Claim| known.what == claim.what && known.peer() == claim.peer();
        match best.iter_mut().find(is_same) {
            Some(known) if claim.ratio.median < known.ratio.median => *known = claim,
            Some(_) => {}
            None => best.push(claim),
        }
    }
    best
}

fn headline(best: &[&Claim], peers: &[&str]) -> String {
    let with = |wanted| {
        best.iter().copied().filter(move |claim| outcome(claim) == wanted).collect::<Vec<_>>()
    };
    let (ahead, behind, close) =
        (with(Outcome::Ahead), with(Outcome::Behind), with(Outcome::Close));
    let mut text = format!(
        "Ours is ahead in {} of {} comparisons with {}, behind in {}",
        ahead.len(),
        best.len(),
        and(peers),
        behind.len()
    );
    let close = match close.len() {
        0 => ".".to_owned(),
        1 => "; 1 is too close to call.".to_owned(),
        more => format!("; {more} are too close to call."),
    };
    text.push_str(&close);
    let quoted = best.iter().filter(|claim| claim.what == QUOTED);
    let quoted: Vec<String> = quoted
        .map(|claim| {
            let Spread { low, median, high } = claim.ratio;
            let [low, median, high] = [low, median, high].map(show_ratio);
            let peer = possessive(claim.peer());
            format!("{median} of {peer} time (quartiles {low} to {high})")
        })
        .collect();
    if !quoted.is_empty() {
        let _ = write!(text, " An absent get over many files takes {}.", and(&quoted));
    }
    let behind = behind.iter().map(|claim| {
        let (ratio, peer) = (show_ratio(claim.ratio.median), possessive(claim.peer()));
        format!("{} ({ratio} times {peer} {})", claim.what, claim.measured())
    });
    let behind: Vec<String> = behind.collect();
    if !behind.is_empty() {
        let _ = write!(text, " Ours is behind at: {}.", behind.join("; "));
    }
    text
}

fn against(peer: &str, best: &[&Claim]) -> String {
    let list = |title: &str, wanted| {
        let selected = best.iter().filter(|claim| outcome(claim) == wanted).map(|claim| {
            format!(
                "{} ({} of its {})",
                claim.what,
                show_ratio(claim.ratio.median),
                claim.measured()
            )
        });
        let selected: Vec<String> = selected.collect();
        (!selected.is_empty()).then(|| format!("{title}: {}", selected.join("; ")))
    };
    let parts = [
        list("Ours is ahead at", Outcome::Ahead),
        list("Behind at", Outcome::Behind),
        list("Too close to call", Outcome::Close),
    ];
    format!("{peer}. {}.", parts.into_iter().flatten().collect::<Vec<_>>().join(". "))
}

/// The headline of a run without peers: our own times.
fn alone(figures: &[Figure]) -> String {
    let mut times = Vec::new();
    for (article, asked) in [("an", "absent"), ("a", "present")] {
        let ours = figures.iter().filter(|figure| {
            figure.engine == OURS
                && figure.work == "get"
                && figure.asked.as_deref() == Some(asked)
                && figure.shape == Shape::ManyFiles
                && figure.cache == CACHE_ALL
                && figure.threads == 1
        });
        let median =
            |figure: &Figure| Some((Spread::of(&figure.wall)?.median, figure.contender.clone()));
        let fastest = ours.filter_map(median).min_by(|a, b| a.0.total_cmp(&b.0));
        times.extend(
            fastest
                .map(|(nanos, name)| format!("{nanos:.0} ns for {article} {asked} get ({name})")),
        );
    }
    let alone = "No other engine took part, so there is nothing to compare.";
    if times.is_empty() {
        return alone.to_owned();
    }
    format!("{alone} Ours takes {} over many files.", and(&times))
}

fn possessive(name: &str) -> String {
    format!("{name}'s")
}

/// Joins words with commas and "and".
fn and(words: &[impl AsRef<str>]) -> String {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    match words.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::Side;
    use crate::names::{OURS_BLOOM, OURS_RIBBON};

    fn claim(what: &str, ours: &str, theirs: &str, [low, median, high]: [f64; 3]) -> Claim {
        Claim {
            what: what.to_owned(),
            cache: CACHE_ALL.to_owned(),
            ours: ours.to_owned(),
            theirs: theirs.to_owned(),
            ratio: Spread { low, median, high },
            limit: 0.5,
            verdict: "held".to_owned(),
            our_side: Side::default(),
            their_side: Side::default(),
        }
    }

    #[test]
    fn the_sentences_name_what_is_lost_and_what_is_close() {
        let claims = [
            claim(QUOTED, OURS_RIBBON, "RocksDB, Bloom, LRU", [0.28, 0.29, 0.30]),
            claim(QUOTED, OURS_BLOOM, "RocksDB, Bloom, LRU", [0.23, 0.24, 0.25]),
            claim("scan, one run", OURS_RIBBON, "RocksDB, Bloom, LRU", [0.9, 0.98, 1.1]),
            claim("bytes on disk, one run", OURS_RIBBON, "fjall, Bloom", [1.04, 1.04, 1.04]),
        ];
        let best = best_of_ours(&claims);
        assert_eq!(best.len(), 3);
        assert_eq!(
            headline(&best, &["RocksDB", "fjall"]),
            "Ours is ahead in 1 of 3 comparisons with RocksDB and fjall, behind in 1; 1 is too \
             close to call. An absent get over many files takes 0.24 of RocksDB's time (quartiles \
             0.23 to 0.25). Ours is behind at: bytes on disk, one run (1.04 times fjall's bytes)."
        );
        assert_eq!(
            against("RocksDB", &best[..2]),
            "RocksDB. Ours is ahead at: absent get, many files (0.24 of its time). Too close to \
             call: scan, one run (0.98 of its time)."
        );
        assert_eq!(and(&["a", "b", "c"]), "a, b and c");
    }
}
