#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    support::store_parts::manifest(input);
});
