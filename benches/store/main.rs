//! A store as a whole: writes, the parts of a get, opening, rows with many unflushed cells, scans
//! backwards, reads that have much to pass.
//!
//! Each module is run by name, all of them without one. The variable `SIZE` sets the size:
//!
//! ```text
//! cargo bench -p benches --bench store -- writes
//! SIZE=200000 cargo bench -p benches --bench store -- gets
//! cargo bench -p benches --bench store -- open
//! cargo bench -p benches --bench store --features store-peers -- long-rows
//! cargo bench -p benches --bench store --features store-peers -- backwards
//! cargo bench -p benches --bench store -- hard-reads
//! ```
#![expect(clippy::print_stdout, reason = "bytes read and written are figures, too")]

mod backwards;
mod counted_files;
mod gets;
mod hard_reads;
mod long_rows;
mod open;
mod writes;

use std::path::Path;

use criterion::Criterion;
use store::{Durability, FamilyOptions, Store};
use workload::{FAMILY, QUALIFIER, unmerged};

const VALUE_LEN: usize = 100;
const ROW_LEN: usize = workload::KEY_LEN + VALUE_LEN;
/// The seed of all keys and values.
const SEED: u64 = 1;

type Run = fn(&mut Criterion);

fn main() {
    let all: [(&str, Run); 6] = [
        ("writes", writes::run),
        ("gets", gets::run),
        ("open", open::run),
        ("long-rows", long_rows::run),
        ("backwards", backwards::run),
        ("hard-reads", hard_reads::run),
    ];
    // A module loads its stores before criterion sees which of its benchmarks are asked for.
    let is_asked = |name: &str| {
        std::env::args().skip(1).any(|argument| argument.split('/').next() == Some(name))
    };
    let is_any_asked = all.iter().any(|(name, _)| is_asked(name));
    let mut criterion = Criterion::default().sample_size(10).configure_from_args();
    for (name, run) in all {
        if !is_any_asked || is_asked(name) {
            run(&mut criterion);
        }
    }
    criterion.final_summary();
}

/// Opens a new store that writes no log and merges no files.
fn in_memory(directory: &Path) -> Store {
    let options = unmerged(4 << 30).durability(Durability::Skip).background(false);
    let store = Store::open(directory, options).expect("an empty directory");
    store.create_family(FAMILY, FamilyOptions::default()).expect("a new store");
    store
}
