//! Makes new inputs from old ones. Pure: the generator decides everything.

use crate::sim::Rng;

/// Longest input that is made, in bytes.
const LEN_MAX: usize = 12 << 10;

/// Bytes that have a meaning in texts and formats.
const TELLING: &[u8] = b"{}[]\",:\\.0123456789eE+-untfl \n\x00\x01\x7f\x80\xff\xc0\xed\xa0";

/// A new input, made from one or two of a corpus.
pub fn mutate(corpus: &[Vec<u8>], rng: &mut Rng) -> Vec<u8> {
    let pick = |rng: &mut Rng| corpus.get(rng.index(corpus.len())).cloned().unwrap_or_default();
    let mut input = pick(rng);
    for _ in 0..=rng.below(5) {
        let at = rng.index(input.len() + 1);
        match rng.below(8) {
            0 => {
                let bytes = rng.index(8);
                input.splice(at..at, rng.bytes(bytes));
            }
            1 => input.insert(at, TELLING[rng.index(TELLING.len())]),
            2 => {
                if let Some(byte) = input.get_mut(at) {
                    *byte ^= 1 << rng.below(8);
                }
            }
            3 => {
                if let Some(byte) = input.get_mut(at) {
                    *byte = TELLING[rng.index(TELLING.len())];
                }
            }
            4 => {
                let end = (at + rng.index(16)).min(input.len());
                input.drain(at..end);
            }
            5 => {
                let end = (at + rng.index(64)).min(input.len());
                let part = input[at..end].to_vec();
                let to = rng.index(input.len() + 1);
                input.splice(to..to, part);
            }
            6 => {
                let other = pick(rng);
                let from = rng.index(other.len() + 1);
                input.truncate(at);
                input.extend(&other[from..]);
            }
            _ => input.truncate(at),
        }
    }
    input.truncate(LEN_MAX);
    input
}
