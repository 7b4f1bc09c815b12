//! The target `page` of `recension_server::fuzz`, driven by libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| recension_server::fuzz::page(input));
