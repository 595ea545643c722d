//! A store as a whole: write throughput, the cost of a get by part, the bytes read to open a store,
//! the family map, rows with many unflushed cells, scans backwards, reads that have much to pass.
//!
//! Each benchmark is a module and is run by name. An optional number sets its size:
//!
//! ```text
//! cargo bench -p benches --bench store -- writes [ROWS]
//! cargo bench -p benches --bench store -- gets [ROWS]
//! cargo bench -p benches --bench store -- open [FILES]
//! cargo bench -p benches --bench store -- map-fill [ROWS]
//! cargo bench -p benches --bench store -- map-build [ROWS]
//! cargo bench -p benches --bench store --features store-peers -- long-rows [CELLS]
//! cargo bench -p benches --bench store --features store-peers -- backwards [ROWS]
//! cargo bench -p benches --bench store -- hard-reads [ROWS]
//! ```
#![expect(clippy::print_stdout, reason = "the tables are what this is for")]

mod backwards;
mod counted_files;
mod family_map;
mod gets;
mod hard_reads;
mod long_rows;
mod open;
mod writes;

use workload::{FAMILY, QUALIFIER};

const VALUE_LEN: usize = 100;
const ROW_LEN: usize = workload::KEY_LEN + VALUE_LEN;
/// The seed of all keys and values.
const SEED: u64 = 1;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = arguments.iter().find_map(|argument| argument.parse().ok());
    let is_asked = |name: &str| arguments.iter().any(|argument| argument == name);
    let names =
        ["writes", "gets", "open", "map-fill", "map-build", "long-rows", "backwards", "hard-reads"];
    let all = !names.into_iter().any(is_asked);
    if all || is_asked("writes") {
        writes::run(number.unwrap_or(10_000_000));
    }
    if all || is_asked("gets") {
        gets::run(number.unwrap_or(2_000_000));
    }
    if all || is_asked("open") {
        open::run(number.unwrap_or(1_000));
    }
    if all || is_asked("map-fill") {
        family_map::run_fills(number.unwrap_or(2_000_000));
    }
    if all || is_asked("map-build") {
        family_map::run_builds(number.unwrap_or(10_000_000));
    }
    if all || is_asked("long-rows") {
        long_rows::run(number.unwrap_or(1_000_000));
    }
    if all || is_asked("backwards") {
        backwards::run(number.unwrap_or(200_000));
    }
    if all || is_asked("hard-reads") {
        hard_reads::run(number.unwrap_or(1_000_000));
    }
}
