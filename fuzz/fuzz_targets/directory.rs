#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    support::directory_parts::directory(input);
});
