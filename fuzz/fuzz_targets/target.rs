//! The program of each target, which is the part of a file that `support::parts` has under its name.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    support::parts::fuzz(env!("CARGO_BIN_NAME"), input);
});
