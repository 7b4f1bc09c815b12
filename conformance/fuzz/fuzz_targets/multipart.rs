//! The target `multipart` of `recension_server::fuzz`, driven by libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| recension_server::fuzz::multipart(input));
