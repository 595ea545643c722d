//! The corpus of the fuzz targets, replayed by every build: `fuzz/` needs a nightly compiler, the
//! corpus does not.

use std::fs;
use std::path::{Path, PathBuf};

use support::parts::{TARGETS, seeds};
use support::say;

/// Returns the directory of a target's inputs.
fn corpus(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(target)
}

/// `FUZZ_SEEDS=1` writes the initial corpus.
#[test]
fn every_input_of_the_corpus_is_read_or_refused() {
    let mut count = 0;
    for (target, run) in TARGETS {
        let directory = corpus(target);
        if std::env::var_os("FUZZ_SEEDS").is_some() {
            fs::create_dir_all(&directory).expect("writable");
            for (number, seed) in seeds(target).into_iter().enumerate() {
                fs::write(directory.join(format!("seed-{number}")), seed).expect("writable");
            }
        }
        let inputs = fs::read_dir(&directory).expect("each target has a corpus");
        let paths = inputs.map(|input| input.expect("a name").path());
        let before = count;
        for path in paths {
            run(&fs::read(&path).expect("an input"));
            count += 1;
        }
        assert!(count > before, "{target} has no inputs");
    }
    say(&format!("fuzz: {count} of {count} inputs of {} targets are replayed", TARGETS.len()));
}

/// A refused seed would keep the fuzzer from the code after the refusal.
#[test]
fn every_seed_of_the_corpus_is_read() {
    for (target, run) in TARGETS {
        let seeds = seeds(target);
        assert!(!seeds.is_empty(), "{target}");
        for (number, seed) in seeds.iter().enumerate() {
            assert!(run(seed), "seed {number} of {target} is refused");
        }
    }
}
