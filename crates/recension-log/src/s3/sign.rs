//! Signatures of requests, version 4 (Amazon's "Signature Version 4 signing process"). Pure: the time is an argument.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

use crate::record::hex;

/// The user's keys.
pub(super) struct Credentials {
    pub(super) key: String,
    pub(super) secret: String,
    pub(super) token: Option<String>,
}

/// A request that is to be signed.
pub(super) struct Signed<'r> {
    pub(super) credentials: &'r Credentials,
    pub(super) region: &'r str,
    pub(super) method: &'r str,
    pub(super) host: &'r str,
    /// Encoded.
    pub(super) path: &'r str,
    /// Encoded and in order.
    pub(super) query: &'r str,
    /// With names in lower case.
    pub(super) headers: &'r [(&'r str, &'r str)],
    /// Of the body.
    pub(super) hash: &'r str,
    /// Since 1970.
    pub(super) seconds: u64,
}

/// The headers that make it a signed request.
pub(super) fn sign(request: &Signed<'_>) -> Vec<(String, String)> {
    let (day, time) = stamp(request.seconds);
    let time = format!("{day}T{time}Z");
    let mut headers: Vec<(String, String)> =
        request.headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let mut added =
        vec![("x-amz-content-sha256".to_owned(), request.hash.to_owned()), ("x-amz-date".to_owned(), time.clone())];
    if let Some(token) = &request.credentials.token {
        added.push(("x-amz-security-token".to_owned(), token.clone()));
    }
    headers.extend(added.iter().cloned());
    headers.push(("host".to_owned(), request.host.to_owned()));
    headers.sort();
    let names = headers.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(";");
    let lines: Vec<_> = headers.iter().map(|(name, value)| format!("{name}:{}\n", value.trim())).collect();
    let lines = lines.concat();
    let Signed { method, path, query, hash, region, .. } = request;
    let canonical = format!("{method}\n{path}\n{query}\n{lines}\n{names}\n{hash}");
    let scope = format!("{day}/{region}/s3/aws4_request");
    let text = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{}", hex(&Sha256::digest(canonical)));
    let secret = format!("AWS4{}", request.credentials.secret);
    let parts = [day.as_str(), region, "s3", "aws4_request"];
    let key = parts.iter().fold(secret.into_bytes(), |key, part| mac(&key, part.as_bytes()));
    let signature = hex(&mac(&key, text.as_bytes()));
    let key = &request.credentials.key;
    let authorization =
        format!("AWS4-HMAC-SHA256 Credential={key}/{scope}, SignedHeaders={names}, Signature={signature}");
    added.push(("authorization".to_owned(), authorization));
    added
}

fn mac(key: &[u8], text: &[u8]) -> Vec<u8> {
    // HMAC accepts keys of any length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return Vec::new() };
    mac.update(text);
    mac.finalize().into_bytes().to_vec()
}

/// A text, encoded for a path or a query.
pub(super) fn encoded(text: &str, is_path: bool) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) || (is_path && byte == b'/');
    let encoded: Vec<_> = text
        .bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect();
    encoded.concat()
}

/// A moment as day and time: `20130524`, `000000`.
fn stamp(seconds: u64) -> (String, String) {
    let (days, time) = (seconds / 86_400, seconds % 86_400);
    // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (time / 3600, time / 60 % 60, time % 60);
    (format!("{year:04}{month:02}{day:02}"), format!("{hour:02}{minute:02}{second:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of Amazon's documentation: "GET Object".
    #[test]
    fn a_request_is_signed_as_amazon_says() {
        let credentials = Credentials {
            key: "AKIAIOSFODNN7EXAMPLE".to_owned(),
            secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned(),
            token: None,
        };
        let headers = sign(&Signed {
            credentials: &credentials,
            region: "us-east-1",
            method: "GET",
            host: "examplebucket.s3.amazonaws.com",
            path: "/test.txt",
            query: "",
            headers: &[("range", "bytes=0-9")],
            hash: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            seconds: 1_369_353_600,
        });
        let authorization = &headers.iter().find(|(name, _)| name == "authorization").unwrap().1;
        let signature = "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41";
        assert!(authorization.ends_with(signature), "{authorization}");
    }
}
