//! The target `resp`: requests of Redis's protocol, driven by libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| recension_redis::resp::fuzz(input));
