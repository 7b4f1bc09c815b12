//! JSON web tokens over real sockets: those that are believed, by the keys that are set. What their texts may be is a
//! table of `src/identity/jwt_cases.rs`.

use crate::accounts::{Served, token};
use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use serde_json::{Value, json};

/// The bytes of a PEM text. The keys of `tests/keys` are for these tests and for nothing else.
fn der(pem: &str) -> Vec<u8> {
    let lines: String = pem.lines().filter(|line| !line.starts_with("-----")).collect();
    BASE64_STANDARD.decode(lines).unwrap()
}

#[test]
fn tokens_signed_with_keys_that_the_server_does_not_have_are_believed() {
    let server = Served::start();
    let random = ring::rand::SystemRandom::new();
    let rsa = ring::signature::RsaKeyPair::from_pkcs8(&der(include_str!("../keys/rsa.pem"))).unwrap();
    let algorithm = &ring::signature::ECDSA_P256_SHA256_FIXED_SIGNING;
    let ec =
        ring::signature::EcdsaKeyPair::from_pkcs8(algorithm, &der(include_str!("../keys/ec.pem")), &random).unwrap();
    for (name, public) in [
        ("rsa:r", include_str!("../keys/rsa.pub.pem")),
        ("ec:e", include_str!("../keys/ec.pub.pem")),
        // Whoever takes a public key for a secret believes what everybody can sign.
        ("hmac:h", &BASE64_STANDARD.encode("secret")),
    ] {
        assert_eq!(server.set("jwt_keys", name, &public.trim_end().replace('\n', "\\n")).status, 200, "{name}");
    }
    let part = |value: &Value| BASE64_URL_SAFE_NO_PAD.encode(value.to_string());
    let signed = |algorithm: &str, key: &str, by: &str| {
        let claims = json!({"sub": "ada", "exp": 4_102_444_800_u64, "_couchdb.roles": ["a"]});
        let message = format!("{}.{}", part(&json!({"alg": algorithm, "typ": "JWT", "kid": key})), part(&claims));
        let signature = match by {
            "rsa" => {
                let mut signature = vec![0; rsa.public().modulus_len()];
                let padding = &ring::signature::RSA_PKCS1_SHA256;
                rsa.sign(padding, &random, message.as_bytes(), &mut signature).unwrap();
                signature
            }
            "ec" => ec.sign(&random, message.as_bytes()).unwrap().as_ref().to_vec(),
            secret => {
                let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, secret.as_bytes());
                ring::hmac::sign(&key, message.as_bytes()).as_ref().to_vec()
            }
        };
        let token = format!("{message}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature));
        server.ask_with(&format!("Authorization: Bearer {token}\r\n"), "GET", "/_session", "")
    };
    for (algorithm, key, by) in [("RS256", "r", "rsa"), ("ES256", "e", "ec")] {
        let answer = signed(algorithm, key, by);
        assert_eq!(answer.status, 200, "{algorithm}: {}", answer.body);
        assert_eq!(answer.json()["userCtx"], json!({"name": "ada", "roles": ["a"]}), "{algorithm}");
    }
    let public = include_str!("../keys/rsa.pub.pem");
    for (algorithm, key, by) in [
        ("RS256", "r", "ec"),
        ("ES256", "e", "rsa"),
        ("HS256", "r", public),
        ("HS256", "e", "secret"),
        ("RS256", "x", "rsa"),
    ] {
        assert_eq!(signed(algorithm, key, by).status, 401, "{algorithm} {key}");
    }
}

#[test]
fn tokens_are_believed_while_they_hold() {
    let server = Served::start();
    assert_eq!(server.set("jwt_keys", "hmac:k", &BASE64_STANDARD.encode("secret")).status, 200);
    let ask = |token: &str| server.ask_with(&format!("Authorization: Bearer {token}\r\n"), "GET", "/_session", "");
    let far = 4_102_444_800_u64;
    let good = ask(&token(&json!({"sub": "ada", "exp": far, "_couchdb.roles": ["a"]}), b"secret")).json();
    assert_eq!(good["userCtx"], json!({"name": "ada", "roles": ["a"]}));
    assert_eq!(good["info"]["authenticated"], "jwt");
    for (claims, secret) in [
        (json!({"sub": "ada", "exp": 1}), "secret"),
        (json!({"sub": "ada", "exp": "never"}), "secret"),
        (json!({"sub": "ada"}), "secret"),
        (json!({"sub": "ada", "exp": far, "nbf": far}), "secret"),
        (json!({"exp": far}), "secret"),
        (json!({"sub": "ada", "exp": far}), "other"),
    ] {
        assert_eq!(ask(&token(&claims, secret.as_bytes())).status, 401, "{claims}");
    }
    server.set("jwt_auth", "roles_claim_path", r"my.app\.roles");
    let good = ask(&token(&json!({"sub": "ada", "exp": far, "my": {"app.roles": ["b"]}}), b"secret")).json();
    assert_eq!(good["userCtx"]["roles"], json!(["b"]));
    let none = format!(
        "{}.{}.",
        BASE64_URL_SAFE_NO_PAD.encode(r#"{"alg":"none","kid":"k"}"#),
        BASE64_URL_SAFE_NO_PAD.encode(json!({"sub": "ada", "exp": far}).to_string())
    );
    assert_eq!(ask(&none).status, 401);
}
