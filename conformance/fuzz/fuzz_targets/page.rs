//! The target `page` of the server's tests, driven by libFuzzer.
#![no_main]

#[allow(dead_code)] // the other target's
#[path = "../../../crates/recension-server/tests/it/fuzz.rs"]
mod fuzz;

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::page(input));
