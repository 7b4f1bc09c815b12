//! The target `condition` of `recension_cli::fuzz`, driven by libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| recension_cli::fuzz::condition(input));
