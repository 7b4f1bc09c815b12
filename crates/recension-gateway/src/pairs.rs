//! Names with values in the form of FastCGI: two lengths of one or four bytes each, then the name and the value.

use crate::limits::VARIABLES_MAX;
use crate::{Environment, Malformed};

/// Reads all pairs.
///
/// # Errors
/// [`Malformed`] if the bytes end within a pair, or there are too many pairs.
pub fn read(mut bytes: &[u8]) -> Result<Environment, Malformed> {
    let mut pairs = Vec::new();
    while !bytes.is_empty() {
        if pairs.len() == VARIABLES_MAX {
            return Err(Malformed("a request has too many variables"));
        }
        let cut = Malformed("a variable is cut off");
        let (name, rest) = length(bytes).ok_or(cut)?;
        let (value, rest) = length(rest).ok_or(cut)?;
        let (name, rest) = rest.split_at_checked(name).ok_or(cut)?;
        let (value, rest) = rest.split_at_checked(value).ok_or(cut)?;
        pairs.push((name.to_vec(), value.to_vec()));
        bytes = rest;
    }
    Ok(Environment(pairs))
}

fn length(bytes: &[u8]) -> Option<(usize, &[u8])> {
    match bytes {
        [short, rest @ ..] if *short < 0x80 => Some((usize::from(*short), rest)),
        [a, b, c, d, rest @ ..] => Some((u32::from_be_bytes([a & 0x7f, *b, *c, *d]) as usize, rest)),
        _ => None,
    }
}

/// Appends a pair.
pub fn push(name: &[u8], value: &[u8], out: &mut Vec<u8>) {
    for text in [name, value] {
        match u8::try_from(text.len()) {
            Ok(short) if short < 0x80 => out.push(short),
            _ => {
                let long = u32::try_from(text.len()).unwrap_or(u32::MAX) | 0x8000_0000;
                out.extend_from_slice(&long.to_be_bytes());
            }
        }
    }
    out.extend_from_slice(name);
    out.extend_from_slice(value);
}
