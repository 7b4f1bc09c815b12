//! Logging in without sending the password: SCRAM-SHA-256 (RFC 7677), as `MongoDB` has it.

use std::collections::HashMap;
use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bson::spec::BinarySubtype;
use bson::{Binary, Bson, Document, doc};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

use super::client::{Client, Failure};

/// Most rounds that a server may ask for.
const ROUNDS_MAX: u32 = 1_000_000;

pub(super) fn log_in(client: &mut Client, user: &str, password: &str) -> Result<(), Failure> {
    let wrong = |what: &str| Failure::Io(io::Error::other(format!("the log-in: {what}")));
    let mut nonce = [0; 24];
    getrandom::fill(&mut nonce).map_err(|error| wrong(&error.to_string()))?;
    let nonce = STANDARD.encode(nonce);
    let first = format!("n={},r={nonce}", user.replace('=', "=3D").replace(',', "=2C"));
    let start = doc! { "saslStart": 1, "mechanism": "SCRAM-SHA-256", "payload": payload(&format!("n,,{first}")) };
    let answer = client.run_on("admin", &start)?;
    let conversation = answer.get("conversationId").cloned().unwrap_or(Bson::Int32(1));
    let challenge = text(&answer);
    let parts = parts(&challenge);
    let part = |name: &str| parts.get(name).copied().ok_or_else(|| wrong("the server's challenge is not whole"));
    let salt = STANDARD.decode(part("s")?).map_err(|_| wrong("the salt is not base64"))?;
    let rounds: u32 = part("i")?.parse().map_err(|_| wrong("the rounds are no number"))?;
    if !part("r")?.starts_with(&nonce) || rounds == 0 || rounds > ROUNDS_MAX {
        return Err(wrong("the server's challenge is not as asked for"));
    }
    let key = salted(password.as_bytes(), &salt, rounds);
    let without_proof = format!("c=biws,r={}", part("r")?);
    let message = format!("{first},{challenge},{without_proof}");
    let client_key = mac(&key, b"Client Key");
    let signature = mac(&Sha256::digest(client_key), message.as_bytes());
    let proof: Vec<u8> = client_key.iter().zip(signature).map(|(a, b)| a ^ b).collect();
    let last = format!("{without_proof},p={}", STANDARD.encode(proof));
    let go_on = |payload: Bson| doc! { "saslContinue": 1, "conversationId": conversation.clone(), "payload": payload };
    let mut answer = client.run_on("admin", &go_on(payload(&last)))?;
    let expected = STANDARD.encode(mac(&mac(&key, b"Server Key"), message.as_bytes()));
    if self::parts(&text(&answer)).get("v").copied() != Some(expected.as_str()) {
        return Err(wrong("the server does not know the password either"));
    }
    while !answer.get_bool("done").unwrap_or(true) {
        answer = client.run_on("admin", &go_on(payload("")))?;
    }
    Ok(())
}

fn payload(text: &str) -> Bson {
    Bson::Binary(Binary { subtype: BinarySubtype::Generic, bytes: text.as_bytes().to_vec() })
}

fn text(answer: &Document) -> String {
    match answer.get("payload") {
        Some(Bson::Binary(binary)) => String::from_utf8_lossy(&binary.bytes).into_owned(),
        _ => String::new(),
    }
}

fn parts(text: &str) -> HashMap<&str, &str> {
    text.split(',').filter_map(|part| part.split_once('=')).collect()
}

fn mac(key: &[u8], text: &[u8]) -> [u8; 32] {
    // HMAC accepts keys of any length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return [0; 32] };
    mac.update(text);
    mac.finalize().into_bytes().into()
}

/// PBKDF2 with one block (RFC 8018).
fn salted(password: &[u8], salt: &[u8], rounds: u32) -> [u8; 32] {
    let mut block = mac(password, &[salt, &[0, 0, 0, 1]].concat());
    let mut key = block;
    for _ in 1..rounds {
        block = mac(password, &block);
        key.iter_mut().zip(block).for_each(|(key, byte)| *key ^= byte);
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 7677.
    #[test]
    fn a_password_is_proved_as_the_standard_says() {
        let salt = STANDARD.decode("W22ZaJ0SNY7soEsUEjb6gQ==").unwrap();
        let key = salted(b"pencil", &salt, 4096);
        let message = "n=user,r=rOprNGfwEbeRWgbNEkqO,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
                       s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
        let server = mac(&mac(&key, b"Server Key"), message.as_bytes());
        assert_eq!(STANDARD.encode(server), "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
    }
}
