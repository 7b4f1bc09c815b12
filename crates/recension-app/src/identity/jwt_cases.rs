//! RFC 8725 (best practices for JSON web tokens) as a table: tokens that are believed, and those that are not, each of
//! which differs from a good one in one thing. All are signed as they stand unless the case is the signature.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use ring::{hmac, rand, signature};

use super::jwt::Keys;
use recension_wire::limits::TOKEN_BYTES_MAX;

const SECRET: &[u8] = b"0123456789abcdef0123456789abcdef";
const HEADER: &str = r#"{"alg":"HS256","typ":"JWT","kid":"k"}"#;
const CLAIMS: &str = r#"{"sub":"ada","exp":4102444800}"#;
/// A second within the life of the tokens.
const NOW: u64 = 2_000_000_000;

/// The signer.
#[derive(Clone, Copy)]
enum By {
    Hmac(&'static [u8], hmac::Algorithm),
    Rsa,
    Ec,
}

use By::{Ec, Hmac, Rsa};

const OWN: By = Hmac(SECRET, hmac::HMAC_SHA256);
const RSA_PUBLIC: &str = include_str!("../../../recension-server/tests/keys/rsa.pub.pem");
const EC_PUBLIC: &str = include_str!("../../../recension-server/tests/keys/ec.pub.pem");

/// The keys of the tests, and what `jwt_auth` says.
fn keys(auth: &[(&str, &str)]) -> Keys {
    let text = |pairs: &[(&str, String)]| -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
    };
    let secret = BASE64_STANDARD.encode(SECRET);
    let own = [
        ("hmac:k", secret.clone()),
        ("hmac:_default", secret),
        ("rsa:r", RSA_PUBLIC.to_owned()),
        ("ec:e", EC_PUBLIC.to_owned()),
    ];
    let auth: Vec<_> = auth.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    Keys::of(Some(&text(&own)), Some(&text(&auth))).unwrap()
}

fn part(text: impl AsRef<[u8]>) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(text)
}

fn sign(message: &str, by: By) -> Vec<u8> {
    let random = rand::SystemRandom::new();
    let der = |pem: &str| {
        let lines: String = pem.lines().filter(|line| !line.starts_with("-----")).collect();
        BASE64_STANDARD.decode(lines).unwrap()
    };
    match by {
        Hmac(secret, algorithm) => hmac::sign(&hmac::Key::new(algorithm, secret), message.as_bytes()).as_ref().to_vec(),
        Rsa => {
            let key =
                signature::RsaKeyPair::from_pkcs8(&der(include_str!("../../../recension-server/tests/keys/rsa.pem")))
                    .unwrap();
            let mut signed = vec![0; key.public().modulus_len()];
            key.sign(&signature::RSA_PKCS1_SHA256, &random, message.as_bytes(), &mut signed).unwrap();
            signed
        }
        Ec => {
            let algorithm = &signature::ECDSA_P256_SHA256_FIXED_SIGNING;
            let der = der(include_str!("../../../recension-server/tests/keys/ec.pem"));
            let key = signature::EcdsaKeyPair::from_pkcs8(algorithm, &der, &random).unwrap();
            key.sign(&random, message.as_bytes()).unwrap().as_ref().to_vec()
        }
    }
}

/// A token of two parts as they stand, signed.
fn token_of_parts(header: &str, claims: &str, by: By) -> String {
    let message = format!("{header}.{claims}");
    let signed = sign(&message, by);
    format!("{message}.{}", part(signed))
}

fn token(header: &str, claims: &str, by: By) -> String {
    token_of_parts(&part(header), &part(claims), by)
}

/// The text with other bits behind its last byte, which lax readers do not look at.
fn with_loose_bits(text: &str) -> String {
    assert_eq!(text.len() % 3, 1, "its last character has four bits to spare");
    let mut encoded = part(text);
    let last = encoded.pop().unwrap();
    encoded.push(char::from(last as u8 + 1));
    encoded
}

fn holds(keys: &Keys, name: &str, token: &str, believed: bool) {
    let found = keys.holder(token, NOW);
    match &found {
        Ok(holder) => assert_eq!(holder.identity.name.as_deref(), Some("ada"), "{name}"),
        Err(error) => assert_eq!(error.status.as_u16(), 401, "{name}: {error:?}"),
    }
    assert_eq!(found.is_ok(), believed, "{name}: {found:?}");
}

#[test]
fn headers_are_believed_or_refused_as_rfc_8725_wants_it() {
    let keys = keys(&[]);
    let long = format!(r#"{{"alg":"HS256","kid":"{}"}}"#, "k".repeat(4000));
    let public = RSA_PUBLIC.as_bytes();
    for (name, header, by, believed) in [
        ("as it should be", HEADER, OWN, true),
        ("without typ", r#"{"alg":"HS256","kid":"k"}"#, OWN, true),
        ("the default key", r#"{"alg":"HS256"}"#, OWN, true),
        ("an access token", r#"{"alg":"HS256","kid":"k","typ":"at+JWT"}"#, OWN, true),
        ("a media type", r#"{"alg":"HS256","kid":"k","typ":"application/jwt"}"#, OWN, true),
        ("unknown members that are not critical", r#"{"alg":"HS256","kid":"k","x":{"y":[1]}}"#, OWN, true),
        ("rsa", r#"{"alg":"RS256","kid":"r"}"#, Rsa, true),
        ("ec", r#"{"alg":"ES256","kid":"e"}"#, Ec, true),
        // 3.1: algorithms are those of the keys.
        ("none", r#"{"alg":"none","kid":"k"}"#, OWN, false),
        ("None", r#"{"alg":"None","kid":"k"}"#, OWN, false),
        ("nOnE", r#"{"alg":"nOnE","kid":"k"}"#, OWN, false),
        ("no algorithm", r#"{"kid":"k"}"#, OWN, false),
        ("an empty algorithm", r#"{"alg":"","kid":"k"}"#, OWN, false),
        ("an algorithm in small letters", r#"{"alg":"hs256","kid":"k"}"#, OWN, false),
        ("an algorithm with a blank", r#"{"alg":"HS256 ","kid":"k"}"#, OWN, false),
        ("an algorithm that is a list", r#"{"alg":["HS256"],"kid":"k"}"#, OWN, false),
        ("an algorithm that is not supported", r#"{"alg":"PS256","kid":"r"}"#, Rsa, false),
        ("another length", r#"{"alg":"HS512","kid":"k"}"#, OWN, false),
        ("another length, signed so", r#"{"alg":"HS512","kid":"k"}"#, Hmac(SECRET, hmac::HMAC_SHA512), true),
        // 2.1: a public key is no secret.
        ("a public key as secret", r#"{"alg":"HS256","kid":"r"}"#, Hmac(public, hmac::HMAC_SHA256), false),
        ("a secret's name for an rsa key", r#"{"alg":"RS256","kid":"k"}"#, OWN, false),
        ("an ec key for rsa", r#"{"alg":"RS256","kid":"e"}"#, Ec, false),
        ("an rsa key for ec", r#"{"alg":"ES256","kid":"r"}"#, Rsa, false),
        ("another curve", r#"{"alg":"ES384","kid":"e"}"#, Ec, false),
        ("another secret", HEADER, Hmac(b"another", hmac::HMAC_SHA256), false),
        ("no secret", HEADER, Hmac(b"", hmac::HMAC_SHA256), false),
        // RFC 7515, 4.1.11, and tokens that bring their own key.
        ("critical and unknown", r#"{"alg":"HS256","kid":"k","crit":["x"],"x":1}"#, OWN, false),
        ("critical and not there", r#"{"alg":"HS256","kid":"k","crit":["x"]}"#, OWN, false),
        ("critical and standard", r#"{"alg":"HS256","kid":"k","crit":["exp"]}"#, OWN, false),
        ("critical: the payload is not encoded", r#"{"alg":"HS256","kid":"k","crit":["b64"],"b64":true}"#, OWN, false),
        ("critical: nothing", r#"{"alg":"HS256","kid":"k","crit":[]}"#, OWN, false),
        ("critical is null", r#"{"alg":"HS256","kid":"k","crit":null}"#, OWN, false),
        ("critical is a text", r#"{"alg":"HS256","kid":"k","crit":"x"}"#, OWN, false),
        (
            "a key of its own",
            r#"{"alg":"HS256","kid":"k","jwk":{"kty":"oct","k":"YW5vdGhlcg"}}"#,
            Hmac(b"another", hmac::HMAC_SHA256),
            false,
        ),
        ("a key from elsewhere is not fetched", r#"{"alg":"HS256","kid":"x","jku":"http://127.0.0.1:1/"}"#, OWN, false),
        ("encrypted", r#"{"alg":"HS256","kid":"k","enc":"A128GCM"}"#, OWN, false),
        ("compressed", r#"{"alg":"HS256","kid":"k","zip":"DEF"}"#, OWN, false),
        // 3.10: the name in a header is looked up, and nothing else is done with it.
        ("a path as key", r#"{"alg":"HS256","kid":"../hmac:k"}"#, OWN, false),
        ("a query as key", r#"{"alg":"HS256","kid":"k' OR '1'='1"}"#, OWN, false),
        ("a key with its kind", r#"{"alg":"HS256","kid":"hmac:k"}"#, OWN, false),
        ("a key with a zero", r#"{"alg":"HS256","kid":"k\u0000"}"#, OWN, false),
        ("a key with a blank", r#"{"alg":"HS256","kid":" k"}"#, OWN, false),
        ("a key in capitals", r#"{"alg":"HS256","kid":"K"}"#, OWN, false),
        ("an empty key", r#"{"alg":"HS256","kid":""}"#, OWN, false),
        ("a long key", &long, OWN, false),
        ("a key that is a number", r#"{"alg":"HS256","kid":1}"#, OWN, false),
        ("a key that is a list", r#"{"alg":"HS256","kid":["k"]}"#, OWN, false),
        ("a key that is null", r#"{"alg":"HS256","kid":null}"#, OWN, false),
        // 3.11: tokens that were made for something else.
        ("another type", r#"{"alg":"HS256","kid":"k","typ":"logout+jwt"}"#, OWN, false),
        ("a type that is a number", r#"{"alg":"HS256","kid":"k","typ":1}"#, OWN, false),
        // Two readers, two tokens.
        ("an algorithm twice", r#"{"alg":"HS256","alg":"HS256","kid":"k"}"#, OWN, false),
        ("an escaped algorithm twice", r#"{"alg":"HS256","\u0061lg":"none","kid":"k"}"#, OWN, false),
        ("a key twice", r#"{"alg":"HS256","kid":"x","kid":"k"}"#, OWN, false),
        ("a member of a member twice", r#"{"alg":"HS256","kid":"k","x":{"y":1,"y":2}}"#, OWN, false),
        ("no object", r#"["HS256"]"#, OWN, false),
        ("more than an object", r#"{"alg":"HS256","kid":"k"}{}"#, OWN, false),
        ("no JSON", "HS256", OWN, false),
        ("nothing", "", OWN, false),
    ] {
        holds(&keys, name, &token(header, CLAIMS, by), believed);
    }
}

/// A name, the text of `jwt_auth`, the claims, and whether they are believed.
type Case<'c> = (&'c str, &'c [(&'c str, &'c str)], String, bool);

#[test]
fn claims_are_believed_or_refused_as_the_settings_want_it() {
    let deep = format!(r#"{{"sub":"ada","exp":4102444800,"x":{}1{}}}"#, "[".repeat(200), "]".repeat(200));
    let strict = [("required_claims", r#"exp, {iss, "https://login.example"}, {aud, "recension"}, jti"#)];
    let good = r#"{"sub":"ada","exp":4102444800,"iss":"https://login.example","aud":"recension","jti":"1""#;
    let closed = format!("{good}}}");
    let changed = |from: &str, to: &str| closed.replace(from, to);
    let issuer = r#""https://login.example""#;
    let cases: Vec<Case<'_>> = vec![
        ("as it should be", &[], CLAIMS.to_owned(), true),
        ("a part of a second", &[], r#"{"sub":"ada","exp":4102444800.5}"#.to_owned(), true),
        ("before now", &[], r#"{"sub":"ada","exp":4102444800,"nbf":1,"iat":1}"#.to_owned(), true),
        ("over", &[], r#"{"sub":"ada","exp":1}"#.to_owned(), false),
        ("never over", &[], r#"{"sub":"ada"}"#.to_owned(), false),
        ("over, not a number", &[], r#"{"sub":"ada","exp":"4102444800"}"#.to_owned(), false),
        ("over is null", &[], r#"{"sub":"ada","exp":null}"#.to_owned(), false),
        ("over is true", &[], r#"{"sub":"ada","exp":true}"#.to_owned(), false),
        ("over is a list", &[], r#"{"sub":"ada","exp":[4102444800]}"#.to_owned(), false),
        ("over before the beginning", &[], r#"{"sub":"ada","exp":-4102444800}"#.to_owned(), false),
        ("over beyond all numbers", &[], r#"{"sub":"ada","exp":1e999}"#.to_owned(), false),
        ("not yet", &[], r#"{"sub":"ada","exp":4102444800,"nbf":4102444799}"#.to_owned(), false),
        ("not yet, not a number", &[], r#"{"sub":"ada","exp":4102444800,"nbf":"1"}"#.to_owned(), false),
        ("made, not a number", &[], r#"{"sub":"ada","exp":4102444800,"iat":"1"}"#.to_owned(), false),
        ("without a name", &[], r#"{"exp":4102444800}"#.to_owned(), false),
        ("an empty name", &[], r#"{"sub":"","exp":4102444800}"#.to_owned(), false),
        ("a name that is a list", &[], r#"{"sub":["ada"],"exp":4102444800}"#.to_owned(), false),
        ("a name that is null", &[], r#"{"sub":null,"exp":4102444800}"#.to_owned(), false),
        ("two names", &[], r#"{"sub":"bob","sub":"ada","exp":4102444800}"#.to_owned(), false),
        ("two ends", &[], r#"{"sub":"ada","exp":1,"exp":4102444800}"#.to_owned(), false),
        ("two of a member's members", &[], r#"{"sub":"ada","exp":4102444800,"x":[{"y":1,"y":1}]}"#.to_owned(), false),
        ("too deep", &[], deep, false),
        ("a token within", &[], format!("\"{}\"", token(HEADER, CLAIMS, OWN)), false),
        ("no object", &[], "[]".to_owned(), false),
        // 3.8 and 3.9: the issuer and the audience.
        ("all that is asked for", &strict, closed.clone(), true),
        ("one of its audiences", &strict, changed(r#""recension""#, r#"["x","recension"]"#), true),
        ("another audience", &strict, changed(r#""recension""#, r#""other""#), false),
        ("audiences without this", &strict, changed(r#""recension""#, r#"["x"]"#), false),
        ("no audience", &strict, changed(r#","aud":"recension""#, ""), false),
        ("another issuer", &strict, changed(issuer, r#""https://evil.example""#), false),
        ("a longer issuer", &strict, changed(issuer, r#""https://login.example.evil""#), false),
        ("a list of issuers", &strict, changed(issuer, r#"["https://login.example"]"#), false),
        ("no issuer", &strict, changed(r#","iss":"https://login.example""#, ""), false),
        ("no number of its own", &strict, changed(r#","jti":"1""#, ""), false),
        ("a number of its own that is null", &strict, changed(r#""jti":"1""#, r#""jti":null"#), false),
    ];
    for (name, auth, claims, believed) in cases {
        holds(&keys(auth), name, &token(HEADER, &claims, OWN), believed);
    }
}

#[test]
fn texts_are_read_in_one_way_or_not_at_all() {
    let keys = keys(&[]);
    let good = token(HEADER, CLAIMS, OWN);
    let parts: Vec<&str> = good.split('.').collect();
    let [header, claims, signature] = parts.as_slice() else { panic!("{good}") };
    let resigned = |header: &str, claims: &str| token_of_parts(header, claims, OWN);
    let loose_header = r#"{"alg":"HS256","kid":"k" }"#;
    let loose_header = &format!("{loose_header}{}", " ".repeat((4 - loose_header.len() % 3) % 3));
    let loose_claims = &format!("{CLAIMS}{}", " ".repeat((4 - CLAIMS.len() % 3) % 3));
    let over = format!(r#"{{"sub":"ada","exp":4102444800,"x":"{}"}}"#, "x".repeat(TOKEN_BYTES_MAX));
    for (name, token, believed) in [
        ("as it should be", good.clone(), true),
        ("blanks within the JSON", token(loose_header, loose_claims, OWN), true),
        ("loose bits of the header", resigned(&with_loose_bits(loose_header), claims), false),
        ("loose bits of the claims", resigned(header, &with_loose_bits(loose_claims)), false),
        ("a header with padding", resigned(&format!("{header}="), claims), false),
        ("claims with padding", resigned(header, &format!("{claims}==")), false),
        ("a signature with padding", format!("{good}="), false),
        ("a blank in front", format!(" {good}"), false),
        ("a blank within", resigned(&format!("{} {}", &header[..8], &header[8..]), claims), false),
        ("a line's end within", resigned(header, &format!("{}\n{}", &claims[..8], &claims[8..])), false),
        ("a line's end behind", format!("{good}\n"), false),
        (
            "base64 of another kind",
            resigned(&part("{\"alg\":\"HS256\",\"x\":\"??>\"}").replace(['-', '_'], "/"), claims),
            false,
        ),
        ("without a signature", format!("{header}.{claims}."), false),
        ("without the signature's point", format!("{header}.{claims}"), false),
        ("a part more", format!("{good}.{signature}"), false),
        ("a part more in front", format!(".{good}"), false),
        ("five parts", format!("{header}.{claims}.{signature}.{claims}.{signature}"), false),
        ("one part", (*header).to_owned(), false),
        ("nothing", String::new(), false),
        ("points", "..".to_owned(), false),
        ("half a signature", good[..good.len() - 4].to_owned(), false),
        (
            "the signature of other claims",
            format!("{header}.{}.{signature}", part(r#"{"sub":"bob","exp":4102444800}"#)),
            false,
        ),
        (
            "a header that is not UTF-8",
            resigned(&part([b"{\"alg\":\"HS256\",\"x\":\"", &[0xff][..], b"\"}"].concat()), claims),
            false,
        ),
        ("a mark in front of the JSON", resigned(&part(format!("\u{feff}{HEADER}")), claims), false),
        ("too long", token(HEADER, &over, OWN), false),
    ] {
        holds(&keys, name, &token, believed);
    }
}

#[test]
fn a_token_is_good_from_the_second_of_nbf_on_and_before_that_of_exp() {
    let keys = keys(&[]);
    let token = token(HEADER, r#"{"sub":"ada","exp":4102444799.5,"nbf":1700000000}"#, OWN);
    for (second, believed) in
        [(1_699_999_999, false), (1_700_000_000, true), (4_102_444_799, true), (4_102_444_800, false)]
    {
        let found = keys.holder(&token, second);
        assert_eq!(found.is_ok(), believed, "{second}: {found:?}");
        assert!(found.ok().is_none_or(|holder| holder.until == Some(4_102_444_800)));
    }
}

#[test]
fn a_type_that_is_asked_for_is_the_only_one() {
    let keys = keys(&[("required_typ", "at+jwt")]);
    for (typ, believed) in [
        (r#","typ":"at+jwt""#, true),
        (r#","typ":"application/AT+JWT""#, true),
        (r#","typ":"JWT""#, false),
        ("", false),
    ] {
        holds(&keys, typ, &token(&format!(r#"{{"alg":"HS256","kid":"k"{typ}}}"#), CLAIMS, OWN), believed);
    }
}

#[test]
fn settings_that_would_believe_too_much_are_refused() {
    let secret = BASE64_STANDARD.encode(SECRET);
    for (name, value) in [
        ("hmac:k", ""),
        ("hmac:k", "  "),
        ("hmac:k", "%"),
        ("hmac:", secret.as_str()),
        ("hmac", secret.as_str()),
        ("none:k", secret.as_str()),
        ("rsa:k", secret.as_str()),
        ("rsa:k", EC_PUBLIC),
        ("ec:k", RSA_PUBLIC),
        ("rsa:k", ""),
    ] {
        let keys = BTreeMap::from([(name.to_owned(), value.to_owned())]);
        assert!(Keys::of(Some(&keys), None).is_err(), "{name}: {value}");
    }
    for required in
        [r"{iss}", r#"{iss, "x""#, r"{iss, x}", r#"{, "x"}"#, r#"exp {iss, "x"}"#, r#"exp, "x""#, "exp,,nbf"]
    {
        let auth = BTreeMap::from([("required_claims".to_owned(), required.to_owned())]);
        assert!(Keys::of(None, Some(&auth)).is_err(), "{required}");
    }
}
