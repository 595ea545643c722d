//! What fuzzing found, and what it began with, read again by every build: `fuzz/` needs a nightly
//! compiler, its corpus does not.

use std::fs;
use std::path::{Path, PathBuf};

use support::parts::{TARGETS, seeds};
use support::say;

/// The inputs of a target.
fn corpus(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(target)
}

/// `FUZZ_SEEDS=1` writes what fuzzing begins with.
#[test]
fn every_input_of_the_corpus_is_read_or_refused() {
    let mut count = 0;
    for (target, run) in TARGETS {
        let directory = corpus(target);
        if std::env::var_os("FUZZ_SEEDS").is_some() {
            fs::create_dir_all(&directory).expect("a place for the corpus");
            for (number, seed) in seeds(target).into_iter().enumerate() {
                fs::write(directory.join(format!("seed-{number}")), seed).expect("disk takes it");
            }
        }
        let inputs = fs::read_dir(&directory).expect("each target has a corpus");
        let paths = inputs.map(|input| input.expect("a name").path());
        let before = count;
        for path in paths {
            run(&fs::read(&path).expect("an input"));
            count += 1;
        }
        assert!(count > before, "{target} has inputs");
    }
    say(&format!("fuzz: {count} of {count} inputs of {} targets are read again", TARGETS.len()));
}

/// A seed that is refused would keep the fuzzer from what is behind the refusal.
#[test]
fn what_fuzzing_begins_with_is_read() {
    for (target, run) in TARGETS {
        let seeds = seeds(target);
        assert!(!seeds.is_empty(), "{target}");
        for (number, seed) in seeds.iter().enumerate() {
            assert!(run(seed), "seed {number} of {target} is refused");
        }
    }
}
