//! JSON web tokens: `Authorization: Bearer`. The crate `jsonwebtoken` reads and validates them; signatures are verified
//! by `ring`, which TLS needs too. Keys are settings, as CouchDB's: `jwt_keys/KIND:KID`, KIND one of `hmac` (a secret in
//! base64), `rsa`, `ec` (a public key as PEM).

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use jsonwebtoken::crypto::{CryptoProvider, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{ErrorKind, Result as JwtResult};
use jsonwebtoken::{Algorithm, AlgorithmFamily, DecodingKey, Validation};
use ring::{hmac, signature as verification};
use serde_json::{Map, Value};
use signature::Verifier;

use super::Identity;
use crate::error::{ApiError, Result};
use crate::state::App;

/// The claim that has the roles, where no path is set: CouchDB's.
const ROLES_CLAIM: &str = "_couchdb.roles";

/// The key of tokens that name none.
const DEFAULT_KID: &str = "_default";

/// Whose tokens are believed, and for what.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys {
    by_name: BTreeMap<String, DecodingKey>,
    required: Vec<String>,
    roles_path: Vec<String>,
}

impl Keys {
    /// From the sections `jwt_keys` and `jwt_auth`.
    ///
    /// # Errors
    /// 400 for what is no key.
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
        let required = text("required_claims").unwrap_or("exp").split(',');
        let roles_path = match (text("roles_claim_path"), text("roles_claim_name")) {
            (Some(path), _) => path_of(path),
            (None, name) => vec![name.unwrap_or(ROLES_CLAIM).to_owned()],
        };
        Ok(Keys {
            by_name: keys.into_iter().flatten().map(read).collect::<Result<_>>()?,
            required: required.map(|claim| claim.trim().to_owned()).filter(|claim| !claim.is_empty()).collect(),
            roles_path,
        })
    }

    /// Whether no tokens are believed.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Who a token says it is. Pure but for the clock.
    ///
    /// # Errors
    /// 401 for a token that is not believed.
    fn identity(&self, token: &str) -> Result<Identity> {
        let no = |reason: String| ApiError::new(http::StatusCode::UNAUTHORIZED, "unauthorized", reason);
        let header = jsonwebtoken::decode_header(token).map_err(|error| no(format!("Bad token: {error}")))?;
        let kind = kind_of(header.alg).ok_or_else(|| no("The token's algorithm is not supported.".to_owned()))?;
        let kid = header.kid.as_deref().unwrap_or(DEFAULT_KID);
        let key =
            self.by_name.get(&format!("{kind}:{kid}")).ok_or_else(|| no("The token's key is not known.".to_owned()))?;
        // May be done already: all provide the same.
        let _ = PROVIDER.install_default();
        let mut validation = Validation::new(header.alg);
        validation.leeway = 0;
        validation.validate_nbf = true;
        validation.validate_aud = false;
        validation.set_required_spec_claims(&self.required);
        let claims: Map<String, Value> =
            jsonwebtoken::decode(token, key, &validation).map_err(|error| no(format!("Bad token: {error}")))?.claims;
        if let Some(missing) = self.required.iter().find(|claim| !claims.contains_key(claim.as_str())) {
            return Err(no(format!("The token lacks the claim {missing}.")));
        }
        match claims.get("sub").and_then(Value::as_str) {
            Some(name) if !name.is_empty() => {
                Ok(Identity { name: Some(name.to_owned()), roles: roles_at(&claims, &self.roles_path) })
            }
            _ => Err(no("Token missing sub claim.".to_owned())),
        }
    }
}

/// Who the header says it is; `None` where there is no token, or no keys are set.
pub(super) fn identify(app: &App, headers: &HeaderMap) -> Result<Option<Identity>> {
    let live = app.settings.live();
    if live.jwt.is_empty() {
        return Ok(None);
    }
    let header = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token =
        header.and_then(|text| text.split_once(' ')).filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    token.map(|(_, token)| live.jwt.identity(token.trim())).transpose()
}

fn key_of(name: &str, value: &str) -> Option<DecodingKey> {
    // Settings are lines: a key's line breaks are written as two characters.
    let pem = || value.replace("\\n", "\n").into_bytes();
    match name.split_once(':')? {
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
