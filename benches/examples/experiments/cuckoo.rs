//! Cuckoo filters: the load that each bucket size reaches, and how many copies of one key fit.

use std::error::Error;

use filter::Cuckoo;
use foreign_filters::GoCuckoo;

use super::{ExperimentResult, Setup, Unit};

/// The total number of slots of each filter.
const SLOTS: u64 = 400_000;

/// Slots per bucket, and the load that Fan et al. (2014) published for it.
const PUBLISHED_LOADS: [(u32, f64); 4] = [(1, 0.50), (2, 0.84), (4, 0.95), (8, 0.98)];

/// The number of copies of one key that our filter must accept.
const COPIES: u64 = 1_000;

pub(super) fn run(setup: Setup) -> Result<Vec<ExperimentResult>, Box<dyn Error>> {
    let mut results = Vec::new();
    for (slots, load) in PUBLISHED_LOADS {
        let keys = setup.keys(5, u64::MAX);
        let reached = Cuckoo::load_at_first_refusal(slots, SLOTS / u64::from(slots), keys)?;
        results.push(ExperimentResult {
            experiment: "cuckoo",
            setting: format!("400,000 slots, {slots} a bucket"),
            quantity: "load at first refusal",
            source: format!("{:.0}%", load * 100.0),
            ours: reached,
            unit: Unit::Share,
            // The tolerance is larger for one slot per bucket, because that load varies more.
            holds: Some(reached > load - if slots == 1 { 0.03 } else { 0.01 }),
        });
    }
    results.extend(copies(setup)?);
    Ok(results)
}

/// Inserts copies of one key into the Go package's cuckoo filter and into ours.
///
/// A plain cuckoo filter, such as Go's, has room for 8 copies: a key has two buckets of four slots.
/// Our filter counts copies.
fn copies(setup: Setup) -> Result<[ExperimentResult; 2], Box<dyn Error>> {
    let mut go_filter = GoCuckoo::new(10_000)?;
    let go_taken = (0..COPIES).take_while(|_| go_filter.insert(b"again").is_ok()).count();
    let result = |setting: &str, ours: u64, holds| ExperimentResult {
        experiment: "cuckoo",
        setting: setting.to_owned(),
        quantity: "copies of one key before a refusal",
        source: "8 (the ninth is refused)".to_owned(),
        ours: ours as f64,
        unit: Unit::Count,
        holds: Some(holds),
    };

    let key = setup.keys(6, 1).next().expect("one key");
    let mut ours = Cuckoo::with_fingerprint_bits(8, 10_000, setup.seed)?;
    let taken = (0..COPIES).take_while(|_| ours.insert(key).is_ok()).count() as u64;
    let counted = ours.copies(key);
    let removed = (0..COPIES).take_while(|_| ours.remove(key).is_ok()).count() as u64;
    let all_counted = [taken, counted, removed] == [COPIES; 3];
    Ok([
        result("Go's cuckoo filter", go_taken as u64, go_taken == 8),
        result("ours, 1,000 tried", taken, all_counted),
    ])
}
