//! `_approx_count_distinct`: `HyperLogLog` (Flajolet and others, 2007) with 2^11 registers, as in CouchDB; the error is
//! about 2 %. Pure.

const BITS: u32 = 11;
const REGISTERS: usize = 1 << BITS;

/// The registers. Each has the longest run of zeros among the hashes that belong to it.
#[derive(Clone)]
pub struct Distinct([u8; REGISTERS]);

impl Default for Distinct {
    fn default() -> Self {
        Distinct([0; REGISTERS])
    }
}

impl Distinct {
    pub(super) fn add(&mut self, key: &[u8]) {
        let hash = hash(key);
        let register = (hash >> (64 - BITS)) as usize;
        let zeros = ((hash << BITS) | (1 << (BITS - 1))).leading_zeros() as u8 + 1;
        self.0[register] = self.0[register].max(zeros);
    }

    /// Merges the keys of another one.
    pub(super) fn merge(&mut self, other: &Distinct) {
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            *own = (*own).max(*other);
        }
    }

    #[allow(clippy::cast_precision_loss, clippy::cast_sign_loss)] // it is about
    pub(super) fn count(&self) -> u64 {
        let registers = REGISTERS as f64;
        let sum: f64 = self.0.iter().map(|zeros| 2_f64.powi(-i32::from(*zeros))).sum();
        let raw = 0.7213 / (1.0 + 1.079 / registers) * registers * registers / sum;
        let empty: usize = self.0.iter().map(|zeros| usize::from(*zeros == 0)).sum();
        let counted =
            if raw <= 2.5 * registers && empty > 0 { registers * (registers / empty as f64).ln() } else { raw };
        counted.round() as u64
    }
}

/// FNV-1a, and the finish of splitmix64, which spreads similar values.
fn hash(bytes: &[u8]) -> u64 {
    let fnv = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    let mut mixed = fnv;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_about_right() {
        for many in [0_u64, 1, 6, 100, 1000, 20_000, 300_000] {
            let mut distinct = Distinct::default();
            for key in 0..many {
                distinct.add(&key.to_be_bytes());
                distinct.add(&key.to_be_bytes());
            }
            let off = distinct.count().abs_diff(many);
            assert!(off * 100 <= many * 6, "{many}: {}", distinct.count());
        }
    }
}
