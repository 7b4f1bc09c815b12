//! The target `scgi` of `recension_gateway::fuzz`, driven by libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| recension_gateway::fuzz::scgi(input));
