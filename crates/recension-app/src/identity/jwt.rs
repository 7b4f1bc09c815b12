//! JSON web tokens: `Authorization: Bearer`. `jwt_text.rs` reads them, the crate `jsonwebtoken` validates them;
//! signatures are verified by `ring`, which TLS needs too. `jwt_cases.rs` has RFC 8725 as a table of tests. Keys are
//! settings, as CouchDB's: `jwt_keys/KIND:KID`, KIND one of `hmac` (a secret in base64), `rsa`, `ec` (a public key as
//! PEM).

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use jsonwebtoken::crypto::{CryptoProvider, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{ErrorKind, Result as JwtResult};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey, Validation};
use ring::{hmac, signature as verification};
use serde_json::{Map, Value};
use signature::Verifier;

use super::{Identity, jwt_text};
use recension_wire::error::{ApiError, Result};

/// The claim with the roles, if no path is set: CouchDB's.
const ROLES_CLAIM: &str = "_couchdb.roles";

/// The key of tokens that name none.
const DEFAULT_KID: &str = "_default";

/// Whose tokens are believed, and for what.
#[derive(Clone, Debug, Default)]
pub struct Keys {
    by_name: BTreeMap<String, DecodingKey>,
    required: Vec<Required>,
    roles_path: Vec<String>,
    /// The type that tokens must state.
    typ: Option<String>,
}

/// A claim that tokens must have.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Required {
    name: String,
    /// The value that it must have, or contain.
    value: Option<String>,
}

/// The holder of a token, and until when.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Holder {
    pub(crate) identity: Identity,
    pub(crate) until: Option<u64>,
}

impl Keys {
    /// From the sections `jwt_keys` and `jwt_auth`.
    ///
    /// # Errors
    /// 400 for something that is no key.
    pub(crate) fn of(keys: Option<&BTreeMap<String, String>>, auth: Option<&BTreeMap<String, String>>) -> Result<Self> {
        let read = |(name, value): (&String, &String)| {
            let key = key_of(name, value).ok_or_else(|| {
                ApiError::bad_request(format!(
                    "jwt_keys/{name} is hmac:KID with a secret in base64, or rsa:KID or ec:KID with a public key as PEM"
                ))
            })?;
            Ok((name.clone(), key))
        };
        let text =
            |key: &str| auth.and_then(|auth| auth.get(key)).map(|text| text.trim()).filter(|text| !text.is_empty());
        let required = required_of(text("required_claims").unwrap_or("exp")).ok_or_else(|| {
            ApiError::bad_request("jwt_auth/required_claims is a list of names and of {name, \"value\"}, with commas")
        })?;
        let roles_path = match (text("roles_claim_path"), text("roles_claim_name")) {
            (Some(path), _) => path_of(path),
            (None, name) => vec![name.unwrap_or(ROLES_CLAIM).to_owned()],
        };
        Ok(Keys {
            by_name: keys.into_iter().flatten().map(read).collect::<Result<_>>()?,
            required,
            roles_path,
            typ: text("required_typ").map(str::to_owned),
        })
    }

    /// Whether no tokens are believed.
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// The holder of a token at a second. Pure, but for the library's own look at the clock.
    ///
    /// # Errors
    /// 401 for a token that is not believed.
    pub(crate) fn holder(&self, token: &str, now: u64) -> Result<Holder> {
        let no = |reason: String| ApiError::new(http::StatusCode::UNAUTHORIZED, "unauthorized", reason);
        let said = jwt_text::read(token).map_err(|why| no(format!("Bad token: {why}.")))?;
        self.check_typ(said.typ.as_deref()).map_err(|why| no(why.to_owned()))?;
        let header = jsonwebtoken::decode_header(token).map_err(|error| no(format!("Bad token: {error}")))?;
        let kind = kind_of(header.alg).ok_or_else(|| no("The token's algorithm is not supported.".to_owned()))?;
        let kid = said.kid.as_deref().unwrap_or(DEFAULT_KID);
        let key =
            self.by_name.get(&format!("{kind}:{kid}")).ok_or_else(|| no("The token's key is not known.".to_owned()))?;
        // May be done already: all provide the same.
        let _ = PROVIDER.install_default();
        let mut validation = Validation::new(header.alg);
        validation.leeway = 0;
        validation.validate_nbf = true;
        // Audiences are claims like others; required ones are checked below.
        validation.validate_aud = false;
        validation.required_spec_claims.clear();
        let claims: Map<String, Value> =
            jsonwebtoken::decode(token, key, &validation).map_err(|error| no(format!("Bad token: {error}")))?.claims;
        // If the two readers have read different claims, the token is refused.
        if claims != said.claims {
            return Err(no("Bad token: it can be read in two ways.".to_owned()));
        }
        let until = self.check_claims(&claims, now).map_err(no)?;
        match claims.get("sub").and_then(Value::as_str) {
            Some(name) if !name.is_empty() => {
                let identity = Identity { name: Some(name.to_owned()), roles: roles_at(&claims, &self.roles_path) };
                Ok(Holder { identity, until })
            }
            _ => Err(no("Token missing sub claim.".to_owned())),
        }
    }

    /// A token that was made for another purpose states another type.
    fn check_typ(&self, typ: Option<&str>) -> std::result::Result<(), &'static str> {
        let is = |wanted: &str| typ.is_some_and(|typ| same_media_type(typ, wanted));
        match &self.typ {
            Some(wanted) if !is(wanted) => Err("The token's typ is not the one that is asked for."),
            None if typ.is_some() && !is("JWT") && !is("at+jwt") => Err("The token is of another type."),
            _ => Ok(()),
        }
    }

    /// Until when the claims hold, in seconds.
    fn check_claims(&self, claims: &Map<String, Value>, now: u64) -> std::result::Result<Option<u64>, String> {
        let number = |name: &str| match claims.get(name) {
            None => Ok(None),
            Some(value) => value.as_f64().map(Some).ok_or_else(|| format!("The token's {name} is no number.")),
        };
        // It saturates: what ended before 1970 has ended.
        #[allow(clippy::cast_sign_loss)]
        let until = number("exp")?.map(|exp| exp.ceil() as u64);
        if until.is_some_and(|until| now >= until) {
            return Err("The token has expired.".to_owned());
        }
        #[allow(clippy::cast_sign_loss)]
        if number("nbf")?.is_some_and(|from| now < from.ceil() as u64) {
            return Err("The token is not valid yet.".to_owned());
        }
        number("iat")?;
        match self.required.iter().find(|required| !required.is_met_by(claims)) {
            Some(Required { name, value: None }) => Err(format!("The token lacks the claim {name}.")),
            Some(Required { name, .. }) => Err(format!("The token's claim {name} is not what is asked for.")),
            None => Ok(until),
        }
    }
}

impl Required {
    fn is_met_by(&self, claims: &Map<String, Value>) -> bool {
        let Some(value) = &self.value else { return claims.get(&self.name).is_some_and(|claim| !claim.is_null()) };
        match claims.get(&self.name) {
            Some(Value::String(text)) => text == value,
            // `aud` may be a list, of which one element must be the required one.
            Some(Value::Array(several)) if self.name == "aud" => several.iter().any(|one| one == value.as_str()),
            _ => false,
        }
    }
}

/// `exp, {iss, "https://login.example"}`: names of claims, and claims with their required values, as in CouchDB.
fn required_of(text: &str) -> Option<Vec<Required>> {
    let mut all = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (required, after) = match rest.strip_prefix('{') {
            Some(pair) => {
                let (name, value) = pair.split_once(',')?;
                let (value, after) = value.trim_start().strip_prefix('"')?.split_once('"')?;
                (
                    Required { name: name.trim().to_owned(), value: Some(value.to_owned()) },
                    after.trim_start().strip_prefix('}')?,
                )
            }
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                (Required { name: rest[..end].trim().to_owned(), value: None }, &rest[end..])
            }
        };
        if required.name.is_empty() || required.name.contains(['{', '}', '"']) {
            return None;
        }
        all.push(required);
        rest = after.trim_start();
        rest = if rest.is_empty() { rest } else { rest.strip_prefix(',')?.trim_start() };
    }
    Some(all)
}

/// Media types may leave out `application/`, and capitals do not matter (RFC 7515, 4.1.9).
fn same_media_type(one: &str, other: &str) -> bool {
    let short = |text: &str| {
        let text = text.to_ascii_lowercase();
        text.strip_prefix("application/").map(str::to_owned).unwrap_or(text)
    };
    short(one) == short(other)
}

fn key_of(name: &str, value: &str) -> Option<DecodingKey> {
    // Settings are lines: a key's line breaks are written as two characters.
    let pem = || value.replace("\\n", "\n").into_bytes();
    match name.split_once(':').filter(|(_, kid)| !kid.is_empty())? {
        ("hmac", _) => {
            let secret = BASE64_STANDARD.decode(value.trim()).ok().filter(|secret| !secret.is_empty())?;
            Some(DecodingKey::from_secret(&secret))
        }
        ("rsa", _) => DecodingKey::from_rsa_pem(&pem()).ok(),
        ("ec", _) => DecodingKey::from_ec_pem(&pem()).ok(),
        _ => None,
    }
}

fn kind_of(algorithm: Algorithm) -> Option<&'static str> {
    match algorithm {
        Algorithm::HS256 | Algorithm::HS384 | Algorithm::HS512 => Some("hmac"),
        Algorithm::RS256 | Algorithm::RS384 | Algorithm::RS512 => Some("rsa"),
        Algorithm::ES256 | Algorithm::ES384 => Some("ec"),
        _ => None,
    }
}

/// `a.b\.c` is the path `a`, `b.c`.
fn path_of(text: &str) -> Vec<String> {
    let parts = text.replace("\\.", "\0");
    parts.split('.').map(|part| part.replace('\0', ".")).collect()
}

/// The roles at a path: strings of an array, or of a text with commas.
fn roles_at(claims: &Map<String, Value>, path: &[String]) -> Vec<String> {
    let Some((first, rest)) = path.split_first() else { return Vec::new() };
    let found = rest.iter().try_fold(claims.get(first), |value, key| Some(value?.get(key)));
    match found.flatten() {
        Some(Value::Array(roles)) => roles.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Some(Value::String(roles)) => roles.split(',').map(|role| role.trim().to_owned()).collect(),
        _ => Vec::new(),
    }
}

/// Verification by ring. Nothing is signed.
static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: |_, _| Err(ErrorKind::InvalidAlgorithm.into()),
    verifier_factory: verifier,
    key_utils: KeyUtils::new_unimplemented(),
};

#[allow(clippy::trivially_copy_pass_by_ref)] // the library's signature
fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> JwtResult<Box<dyn JwtVerifier>> {
    let family = match kind_of(*algorithm) {
        Some("hmac") => AlgorithmFamily::Hmac,
        Some("rsa") => AlgorithmFamily::Rsa,
        Some(_) => AlgorithmFamily::Ec,
        None => return Err(ErrorKind::InvalidAlgorithm.into()),
    };
    if key.family() != family {
        return Err(ErrorKind::InvalidKeyFormat.into());
    }
    Ok(Box::new(RingVerifier { algorithm: *algorithm, key: key.try_get_as_bytes()?.to_vec() }))
}

struct RingVerifier {
    algorithm: Algorithm,
    key: Vec<u8>,
}

impl Verifier<Vec<u8>> for RingVerifier {
    fn verify(&self, message: &[u8], signed: &Vec<u8>) -> std::result::Result<(), signature::Error> {
        let by_hmac = |algorithm| hmac::verify(&hmac::Key::new(algorithm, &self.key), message, signed);
        let by_key = |algorithm: &'static dyn verification::VerificationAlgorithm| {
            verification::UnparsedPublicKey::new(algorithm, &self.key).verify(message, signed)
        };
        let verified = match self.algorithm {
            Algorithm::HS256 => by_hmac(hmac::HMAC_SHA256),
            Algorithm::HS384 => by_hmac(hmac::HMAC_SHA384),
            Algorithm::HS512 => by_hmac(hmac::HMAC_SHA512),
            Algorithm::RS256 => by_key(&verification::RSA_PKCS1_2048_8192_SHA256),
            Algorithm::RS384 => by_key(&verification::RSA_PKCS1_2048_8192_SHA384),
            Algorithm::RS512 => by_key(&verification::RSA_PKCS1_2048_8192_SHA512),
            Algorithm::ES256 => by_key(&verification::ECDSA_P256_SHA256_FIXED),
            Algorithm::ES384 => by_key(&verification::ECDSA_P384_SHA384_FIXED),
            _ => Err(ring::error::Unspecified),
        };
        verified.map_err(|_| signature::Error::new())
    }
}

impl JwtVerifier for RingVerifier {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}
