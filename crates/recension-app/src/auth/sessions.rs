//! The cookie `AuthSession`, in CouchDB's form: `NAME:HEXTIME:MAC` in base64url, where the MAC's key is the store's
//! secret and the salt of the user's password. A changed password therefore ends the user's sessions, and nothing about
//! sessions is stored.

use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use http::HeaderMap;
use http::header::COOKIE;
use ring::hmac;

use super::known::{Known, unix_seconds};
use super::realm::Realm;
use super::users;
use crate::settings::Live;
use recension_wire::error::{ApiError, Result};

/// The content of a cookie, before it is believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    pub(super) name: String,
    time: u64,
    mac: Vec<u8>,
}

impl Claim {
    /// Reads a cookie's value.
    fn parse(cookie: &str) -> Option<Self> {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(cookie.trim_end_matches('=')).ok()?;
        let mut parts = bytes.splitn(3, |byte| *byte == b':');
        let (name, time, mac) = (parts.next()?, parts.next()?, parts.next()?);
        let time = u64::from_str_radix(std::str::from_utf8(time).ok()?, 16).ok()?;
        Some(Claim { name: String::from_utf8(name.to_vec()).ok()?, time, mac: mac.to_vec() })
    }

    fn holds(&self, secret: &str, salt: &str) -> bool {
        hmac::verify(&key(secret, salt), message(&self.name, self.time).as_bytes(), &self.mac).is_ok()
    }
}

fn key(secret: &str, salt: &str) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, format!("{secret}{salt}").as_bytes())
}

fn message(name: &str, time: u64) -> String {
    format!("{name}:{time:X}")
}

/// The value of a cookie.
fn signed(name: &str, time: u64, secret: &str, salt: &str) -> String {
    let mut bytes = message(name, time).into_bytes();
    let mac = hmac::sign(&key(secret, salt), &bytes);
    bytes.push(b':');
    bytes.extend_from_slice(mac.as_ref());
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

/// A header `Set-Cookie` that begins or prolongs a session.
pub fn cookie(live: &Live, secure: bool, name: &str, salt: &str) -> String {
    let value = signed(name, unix_seconds(), &live.secret, salt);
    let ends = SystemTime::now() + Duration::from_secs(live.session_seconds);
    let age = if live.persistent_cookies { age(ends, live.session_seconds) } else { String::new() };
    format!("AuthSession={value}; Version=1;{age} {}", attributes(live, secure))
}

/// A header `Set-Cookie` that ends a session.
pub fn no_cookie(live: &Live, secure: bool) -> String {
    format!("AuthSession=; Version=1;{} {}", age(SystemTime::UNIX_EPOCH, 0), attributes(live, secure))
}

/// How long a cookie is kept, in both forms: some clients know only the older one, whose dates have dashes.
fn age(ends: SystemTime, seconds: u64) -> String {
    let date = httpdate::fmt_http_date(ends);
    let (day, time) = date.split_at(date.len() - " 00:00:00 GMT".len());
    let day = day.replace(' ', "-").replacen(",-", ", ", 1);
    format!(" Expires={day}{time}; Max-Age={seconds};")
}

fn attributes(live: &Live, secure: bool) -> String {
    let mut text = "Path=/; HttpOnly".to_owned();
    if let Some(same_site) = live.same_site {
        text.push_str("; SameSite=");
        text.push_str(same_site);
    }
    // Browsers take SameSite=None over TLS only.
    if secure || live.same_site == Some("None") {
        text.push_str("; Secure");
    }
    text
}

/// The cookie of a request; `None` if there is none.
///
/// # Errors
/// 400 for a cookie that cannot be read.
pub(super) fn shown(headers: &HeaderMap) -> Result<Option<Claim>> {
    let Some(value) = value_of(headers).filter(|value| !value.is_empty()) else { return Ok(None) };
    match Claim::parse(value) {
        Some(claim) => Ok(Some(claim)),
        None => Err(ApiError::bad_request("Malformed AuthSession cookie. Please clear your cookies.")),
    }
}

/// The identity of the cookie in a second, and a newer cookie if it is time for one; `None` if the session has ended.
pub(super) fn ask(realm: &Realm, claim: &Claim, now: u64) -> Result<Option<Known>> {
    let Some(account) = users::find(realm, &claim.name)? else { return Ok(None) };
    let (live, salt) = (realm.settings.live(), account.verifier.salt());
    let ends = claim.time.saturating_add(live.session_seconds);
    if claim.time > now.saturating_add(live.session_seconds) || now >= ends || !claim.holds(&live.secret, salt) {
        return Ok(None);
    }
    let renew = (ends - now).saturating_mul(10) < live.session_seconds.saturating_mul(9);
    let renewed = renew.then(|| cookie(&live, realm.has_tls, &claim.name, salt));
    Ok(Some(Known { identity: account.identity, renewed, until: Some(ends), scope: None }))
}

fn value_of(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    cookies.flat_map(|text| text.split(';')).find_map(|pair| pair.trim().strip_prefix("AuthSession="))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_cookie_says_when_it_ends_as_old_clients_read_it() {
        let moment = SystemTime::UNIX_EPOCH + Duration::from_secs(1_179_236_763);
        assert_eq!(age(moment, 111), " Expires=Tue, 15-May-2007 13:46:03 GMT; Max-Age=111;");
    }

    proptest! {
        #[test]
        fn a_cookie_says_who_made_it_and_holds_with_its_keys_only(
            name in "[^:]{1,20}", time in any::<u64>(), secret in "[0-9a-f]{8}", salt in "[0-9a-f]{8}",
            flip in 0usize..64,
        ) {
            let value = signed(&name, time, &secret, &salt);
            let claim = Claim::parse(&value).unwrap();
            prop_assert_eq!((claim.name.as_str(), claim.time), (name.as_str(), time));
            prop_assert!(claim.holds(&secret, &salt));
            prop_assert!(!claim.holds(&secret, "other") && !claim.holds("other", &salt));
            let mut changed = BASE64_URL_SAFE_NO_PAD.decode(&value).unwrap();
            let at = flip % changed.len();
            changed[at] ^= 1;
            let changed = Claim::parse(&BASE64_URL_SAFE_NO_PAD.encode(changed));
            prop_assert!(changed.is_none_or(|claim| !claim.holds(&secret, &salt)));
        }

        #[test]
        fn any_cookie_reads_or_does_not(text in ".{0,80}") {
            let _ = Claim::parse(&text);
        }
    }
}
