//! How long a certificate is valid. Of X.509 (RFC 5280, 4.1) only the way to the two times is read: DER values of a
//! tag, a length and contents.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use recension::engine::Timestamp;
use recension::{At, format_time};
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;

use super::{Finding, span};

const SEQUENCE: u8 = 0x30;
const EXPLICIT_VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
/// Certificates are renewed before this.
const RENEWED_BEFORE: Duration = Duration::from_hours(14 * 24);

/// What there is to say of the first certificate of a chain.
pub(super) fn look(path: &Path, now: SystemTime) -> Finding {
    let advice = "give the chain as PEM, its own certificate first";
    let certificate = match CertificateDer::from_pem_file(path) {
        Ok(certificate) => certificate,
        Err(error) => return Finding::fault("certificate", format!("{}: {error}", path.display()), advice),
    };
    let Some((begins, ends)) = validity(&certificate) else {
        return Finding::fault("certificate", format!("{}: it is none of X.509", path.display()), advice);
    };
    let now = Timestamp(now.duration_since(UNIX_EPOCH).unwrap_or_default().as_micros() as u64);
    let left = Duration::from_micros(ends.0.saturating_sub(now.0));
    let renew = "renew it; SIGHUP makes a running server read it again";
    if now < begins {
        return Finding::fault("certificate", format!("it begins on {}", format_time(begins)), "look at the clock");
    }
    if left.is_zero() {
        return Finding::fault("certificate", format!("it ended on {}", format_time(ends)), renew);
    }
    let found = format!("it ends on {}, in {}", format_time(ends), span(left));
    if left < RENEWED_BEFORE {
        Finding::warning("certificate", found, renew)
    } else {
        Finding::fine("certificate", found)
    }
}

/// When a certificate begins and ends to be valid.
fn validity(der: &[u8]) -> Option<(Timestamp, Timestamp)> {
    let (certificate, _) = value(der, SEQUENCE)?;
    let (mut fields, _) = value(certificate, SEQUENCE)?;
    if let Some((_, rest)) = value(fields, EXPLICIT_VERSION) {
        fields = rest;
    }
    // Serial number, algorithm, issuer.
    for _ in 0..3 {
        (_, _, fields) = any(fields)?;
    }
    let (times, _) = value(fields, SEQUENCE)?;
    let (tag, begins, rest) = any(times)?;
    let (tag_of_end, ends, _) = any(rest)?;
    Some((time(tag, begins)?, time(tag_of_end, ends)?))
}

/// The contents of the first value if it has the tag, and what follows it.
fn value(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    any(der).filter(|(found, ..)| *found == tag).map(|(_, contents, rest)| (contents, rest))
}

/// The tag and the contents of the first value, and what follows it.
fn any(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&[tag, first], rest) = der.split_first_chunk::<2>()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        // So many bytes of length follow; more than four are no certificate's.
        0x81..=0x84 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(first - 0x80))?;
            (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    let (contents, rest) = rest.split_at_checked(length)?;
    Some((tag, contents, rest))
}

/// `YYMMDDHHMMSSZ`, or the same with four digits of the year (RFC 5280, 4.1.2.5).
fn time(tag: u8, text: &[u8]) -> Option<Timestamp> {
    let text = std::str::from_utf8(text).ok().filter(|text| text.is_ascii())?;
    let (year, rest) = match tag {
        UTC_TIME => {
            let (year, rest) = text.split_at_checked(2)?;
            let century = if year.parse::<u8>().ok()? < 50 { 20 } else { 19 };
            (format!("{century}{year}"), rest)
        }
        GENERALIZED_TIME => text.split_at_checked(4).map(|(year, rest)| (year.to_owned(), rest))?,
        _ => return None,
    };
    let digits = rest.strip_suffix('Z').filter(|digits| digits.len() == 10)?;
    let part = |at: usize| digits.get(at..at + 2);
    let (month, day, hour, minute, second) = (part(0)?, part(2)?, part(4)?, part(6)?, part(8)?);
    match format!("{year}-{month}-{day}T{hour}:{minute}:{second}Z").parse() {
        Ok(At::Time(time)) => Some(time),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A value of DER.
    fn der(tag: u8, contents: &[u8]) -> Vec<u8> {
        let length = contents.len();
        let head =
            if length < 128 { vec![tag, length as u8] } else { vec![tag, 0x82, (length >> 8) as u8, length as u8] };
        [head, contents.to_vec()].concat()
    }

    fn certificate(begins: Vec<u8>, ends: Vec<u8>) -> Vec<u8> {
        let parts = [
            der(EXPLICIT_VERSION, &der(2, &[2])),
            der(2, &[7; 16]),
            der(SEQUENCE, &[1; 10]),
            der(SEQUENCE, &[3; 200]),
            der(SEQUENCE, &[begins, ends].concat()),
            der(SEQUENCE, &[5; 300]),
        ];
        der(SEQUENCE, &[der(SEQUENCE, &parts.concat()), der(3, &[9; 64])].concat())
    }

    #[test]
    fn both_forms_of_time_are_read() {
        let found = validity(&certificate(der(UTC_TIME, b"991231235959Z"), der(GENERALIZED_TIME, b"20500102030405Z")));
        let shown = found.map(|(begins, ends)| (format_time(begins), format_time(ends)));
        assert_eq!(shown, Some(("1999-12-31T23:59:59Z".to_owned(), "2050-01-02T03:04:05Z".to_owned())));
    }

    #[test]
    fn what_is_cut_or_changed_is_none_and_never_a_panic() {
        let whole = certificate(der(UTC_TIME, b"250101000000Z"), der(UTC_TIME, b"260101000000Z"));
        assert!(validity(&whole).is_some());
        for at in 0..whole.len() {
            assert!(validity(&whole[..at]).is_none(), "cut at {at}");
            for bit in 0..8 {
                let mut changed = whole.clone();
                changed[at] ^= 1 << bit;
                let _ = validity(&changed);
            }
        }
    }
}
