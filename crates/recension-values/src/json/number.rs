//! Numbers of JSON texts: kept as text, read as doubles, or as exact integers if necessary. The caller's checks in
//! `limits` bound their size.

use crate::limits::INTEGER_DIGITS_MAX;

/// A number as it stands in a text.
#[derive(Clone, Copy, Debug)]
pub struct Number<'t> {
    /// Its text.
    pub text: &'t str,
    /// Whether it has neither a fraction nor an exponent.
    pub integer: bool,
}

impl Number<'_> {
    /// The nearest double; infinite if it is out of range.
    pub fn to_f64(self) -> f64 {
        // Every JSON number is valid for Rust's parser.
        self.text.parse().unwrap_or(f64::NAN)
    }

    /// The exact integer in 64 bits, if it is one.
    pub fn to_i64(self) -> Option<i64> {
        if self.integer { self.text.parse().ok() } else { None }
    }

    /// Whether it is within the bounds that CouchDB and this software share.
    pub fn in_range(self) -> bool {
        if self.integer {
            self.text.trim_start_matches('-').len() <= INTEGER_DIGITS_MAX
        } else {
            // Only an exponent or very many digits make a number that large.
            let short = self.text.len() < 300 && !self.text.contains(['e', 'E']);
            short || self.to_f64().is_finite()
        }
    }
}

/// An integer of any size.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BigInteger {
    pub negative: bool,
    /// Base 2^32, least first, no zeros at the end.
    limbs: Vec<u32>,
}

impl BigInteger {
    /// Reads an integer of a JSON text. The time grows with the square of its length.
    pub fn parse(text: &str) -> Self {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text),
        };
        let mut limbs = Vec::with_capacity(digits.len() / 9 + 1);
        for chunk in digits.as_bytes().chunks(9) {
            let value = chunk.iter().fold(0, |sum, byte| sum * 10 + u64::from(byte.wrapping_sub(b'0')));
            multiply_add(&mut limbs, 10_u64.pow(chunk.len() as u32), value);
        }
        BigInteger { negative, limbs }.trimmed()
    }

    /// The exact value of a double, which must be finite and whole.
    pub fn of_whole_double(value: f64) -> Self {
        let bits = value.abs().to_bits();
        let exponent = (bits >> 52) as i32 - 1075;
        let mantissa = if bits >> 52 == 0 { 0 } else { bits & ((1 << 52) - 1) | 1 << 52 };
        let mut limbs = Vec::new();
        if exponent <= 0 {
            let whole = mantissa.checked_shr(exponent.unsigned_abs()).unwrap_or(0);
            limbs.extend([whole as u32, (whole >> 32) as u32]);
        } else {
            limbs.resize(exponent.unsigned_abs() as usize / 32, 0);
            let shifted = u128::from(mantissa) << (exponent % 32);
            limbs.extend([shifted as u32, (shifted >> 32) as u32, (shifted >> 64) as u32]);
        }
        BigInteger { negative: value < 0.0, limbs }.trimmed()
    }

    pub fn is_zero(&self) -> bool {
        self.limbs.is_empty()
    }

    /// The magnitude, least byte first, without zeros at the end.
    pub fn magnitude_le(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect();
        while bytes.last() == Some(&0) {
            bytes.pop();
        }
        bytes
    }

    /// `self - other`, if both have the same sign.
    pub fn minus_same_sign(&self, other: &Self) -> Self {
        if self.magnitude_cmp(other).is_lt() {
            let mut difference = other.minus_same_sign(self);
            difference.negative = !self.negative && !difference.limbs.is_empty();
            return difference;
        }
        let mut limbs = Vec::with_capacity(self.limbs.len());
        let mut borrow = 0;
        for (i, &limb) in self.limbs.iter().enumerate() {
            let other = i64::from(other.limbs.get(i).copied().unwrap_or(0));
            let difference = i64::from(limb) - other - borrow;
            borrow = i64::from(difference < 0);
            limbs.push(difference.cast_unsigned() as u32);
        }
        BigInteger { negative: self.negative, limbs }.trimmed()
    }

    fn magnitude_cmp(&self, other: &Self) -> std::cmp::Ordering {
        let lengths = self.limbs.len().cmp(&other.limbs.len());
        lengths.then_with(|| self.limbs.iter().rev().cmp(other.limbs.iter().rev()))
    }

    fn trimmed(mut self) -> Self {
        while self.limbs.last() == Some(&0) {
            self.limbs.pop();
        }
        self.negative &= !self.limbs.is_empty();
        self
    }
}

fn multiply_add(limbs: &mut Vec<u32>, factor: u64, addend: u64) {
    let mut carry = addend;
    for limb in limbs.iter_mut() {
        let sum = u64::from(*limb) * factor + carry;
        *limb = sum as u32;
        carry = sum >> 32;
    }
    if carry > 0 {
        limbs.push(carry as u32);
    }
}
