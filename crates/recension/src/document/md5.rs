//! MD5 (RFC 1321), as CouchDB makes revisions with it. It protects nothing here: it is a name for what was written.
//!
//! A document's write spends much of its time in it, and its speed is that of one long chain of operations that each
//! wait for the one before. The crates have chains longer than need be; see ARCHITECTURE.md.

// Sixty-four steps are one piece of code, in which the compiler sees what waits for what.
#![allow(clippy::inline_always)]

/// The beginning of a hash.
const START: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];

const BLOCK: usize = 64;

/// The integer part of 2^32 times |sin(i + 1)|.
static SINES: [u32; 64] = [
    0xd76a_a478,
    0xe8c7_b756,
    0x2420_70db,
    0xc1bd_ceee,
    0xf57c_0faf,
    0x4787_c62a,
    0xa830_4613,
    0xfd46_9501,
    0x6980_98d8,
    0x8b44_f7af,
    0xffff_5bb1,
    0x895c_d7be,
    0x6b90_1122,
    0xfd98_7193,
    0xa679_438e,
    0x49b4_0821,
    0xf61e_2562,
    0xc040_b340,
    0x265e_5a51,
    0xe9b6_c7aa,
    0xd62f_105d,
    0x0244_1453,
    0xd8a1_e681,
    0xe7d3_fbc8,
    0x21e1_cde6,
    0xc337_07d6,
    0xf4d5_0d87,
    0x455a_14ed,
    0xa9e3_e905,
    0xfcef_a3f8,
    0x676f_02d9,
    0x8d2a_4c8a,
    0xfffa_3942,
    0x8771_f681,
    0x6d9d_6122,
    0xfde5_380c,
    0xa4be_ea44,
    0x4bde_cfa9,
    0xf6bb_4b60,
    0xbebf_bc70,
    0x289b_7ec6,
    0xeaa1_27fa,
    0xd4ef_3085,
    0x0488_1d05,
    0xd9d4_d039,
    0xe6db_99e5,
    0x1fa2_7cf8,
    0xc4ac_5665,
    0xf429_2244,
    0x432a_ff97,
    0xab94_23a7,
    0xfc93_a039,
    0x655b_59c3,
    0x8f0c_cc92,
    0xffef_f47d,
    0x8584_5dd1,
    0x6fa8_7e4f,
    0xfe2c_e6e0,
    0xa301_4314,
    0x4e08_11a1,
    0xf753_7e82,
    0xbd3a_f235,
    0x2ad7_d2bb,
    0xeb86_d391,
];

/// By how much the steps of each round turn.
const TURNS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];

/// A hash of bytes that come in pieces.
#[derive(Clone)]
pub(super) struct Md5 {
    state: [u32; 4],
    /// Bytes so far.
    length: u64,
    /// Those of them that do not fill a block yet, at its beginning.
    rest: [u8; BLOCK],
}

impl Md5 {
    pub(super) fn new() -> Self {
        Md5 { state: START, length: 0, rest: [0; BLOCK] }
    }

    pub(super) fn update(&mut self, bytes: &[u8]) {
        let filled = self.length as usize % BLOCK;
        self.length += bytes.len() as u64;
        let (begin, bytes) = bytes.split_at(if filled == 0 { 0 } else { bytes.len().min(BLOCK - filled) });
        self.rest[filled..filled + begin.len()].copy_from_slice(begin);
        if filled + begin.len() == BLOCK {
            compress(&mut self.state, &[self.rest]);
        }
        let (blocks, end) = bytes.as_chunks();
        compress(&mut self.state, blocks);
        self.rest[..end.len()].copy_from_slice(end);
    }

    pub(super) fn finish(mut self) -> [u8; 16] {
        let bits = self.length.wrapping_mul(8).to_le_bytes();
        let mut end = [0; BLOCK];
        end[0] = 0x80;
        // A one, and zeros up to the last 8 bytes of a block, which are the length.
        let filled = self.length as usize % BLOCK;
        let zeros = (BLOCK + BLOCK - 8 - filled - 1) % BLOCK;
        self.update(&end[..=zeros]);
        self.update(&bits);
        let mut hash = [0; 16];
        for (bytes, word) in hash.chunks_exact_mut(4).zip(self.state) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        hash
    }
}

/// One step. What the step before has made, `b`, comes in last, so that all else is ready when it is.
#[inline(always)]
fn step<const I: usize>(a: u32, b: u32, c: u32, d: u32, words: &[u32; 16], sines: &[u32; 64]) -> u32 {
    let round = I / 16;
    let word = match round {
        0 => I,
        1 => (5 * I + 1) % 16,
        2 => (3 * I + 5) % 16,
        _ => 7 * I % 16,
    };
    let ready = a.wrapping_add(sines[I]).wrapping_add(words[word]);
    let sum = match round {
        0 => ready.wrapping_add(((c ^ d) & b) ^ d),
        // Of two terms that have no bit in common the sum is their union; one of them does not need `b`.
        1 => ready.wrapping_add(!d & c).wrapping_add(d & b),
        2 => ready.wrapping_add((c ^ d) ^ b),
        _ => ready.wrapping_add((b | !d) ^ c),
    };
    sum.rotate_left(TURNS[round][I % 4]).wrapping_add(b)
}

fn compress(state: &mut [u32; 4], blocks: &[[u8; BLOCK]]) {
    // Were the sines known to be constants, the compiler would add them behind everything else, where the chain is.
    compress_with(state, blocks, std::hint::black_box(&SINES));
}

#[inline(never)]
fn compress_with(state: &mut [u32; 4], blocks: &[[u8; BLOCK]], sines: &[u32; 64]) {
    let [mut a, mut b, mut c, mut d] = *state;
    for block in blocks {
        let (bytes, _) = block.as_chunks::<4>();
        let words: [u32; 16] = std::array::from_fn(|i| u32::from_le_bytes(bytes[i]));
        let before = [a, b, c, d];
        macro_rules! steps {
            ($($i:literal)*) => {$(
                a = step::<$i>(a, b, c, d, &words, sines);
                d = step::<{ $i + 1 }>(d, a, b, c, &words, sines);
                c = step::<{ $i + 2 }>(c, d, a, b, &words, sines);
                b = step::<{ $i + 3 }>(b, c, d, a, &words, sines);
            )*};
        }
        steps!(0 4 8 12 16 20 24 28 32 36 40 44 48 52 56 60);
        a = a.wrapping_add(before[0]);
        b = b.wrapping_add(before[1]);
        c = c.wrapping_add(before[2]);
        d = d.wrapping_add(before[3]);
    }
    *state = [a, b, c, d];
}

#[cfg(test)]
mod tests {
    use md5::Digest as _;
    use proptest::prelude::*;

    use super::*;

    fn whole(bytes: &[u8]) -> [u8; 16] {
        let mut hash = Md5::new();
        hash.update(bytes);
        hash.finish()
    }

    #[test]
    fn the_vectors_of_rfc_1321_come_out() {
        for (text, expected) in [
            ("", "d41d8cd98f00b204e9800998ecf8427e"),
            ("a", "0cc175b9c0f1b6a831c399e269772661"),
            ("abc", "900150983cd24fb0d6963f7d28e17f72"),
            ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
            ("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
            ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "d174ab98d277d9f5a5611c2c9f419d9f"),
            (
                "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
                "57edf4a22be3c955ac49da2e2107b67a",
            ),
        ] {
            let hash = u128::from_be_bytes(whole(text.as_bytes()));
            assert_eq!(format!("{hash:032x}"), expected, "{text}");
        }
    }

    #[test]
    fn every_length_gives_what_the_crate_gives() {
        let bytes: Vec<u8> = (0..400_u32).map(|i| (i * 31 % 251) as u8).collect();
        for length in 0..bytes.len() {
            let expected: [u8; 16] = md5::Md5::digest(&bytes[..length]).into();
            assert_eq!(whole(&bytes[..length]), expected, "{length}");
        }
    }

    proptest! {
        #[test]
        fn pieces_give_what_the_whole_gives(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 0..9)) {
            let mut hash = Md5::new();
            for piece in &pieces {
                hash.update(piece);
            }
            let expected: [u8; 16] = md5::Md5::digest(pieces.concat()).into();
            prop_assert_eq!(hash.finish(), expected);
        }
    }
}
