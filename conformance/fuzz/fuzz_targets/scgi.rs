//! The target `scgi` of `recension_conformance::fuzz`, driven by libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| recension_conformance::fuzz::run_target("scgi", input));
