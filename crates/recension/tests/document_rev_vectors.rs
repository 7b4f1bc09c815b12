//! Revision ids that Apache CouchDB 3.4.3 computed, recorded in conformance/couchdb/rev-vectors.json.

use recension::document::json::minify;
use recension::document::{At, HashableBody, RevId, Store, Write, revision_id};
use serde_json::Value;

fn vectors() -> Vec<Value> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/couchdb/rev-vectors.json");
    let text = std::fs::read_to_string(file).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    file["vectors"].as_array().unwrap().clone()
}

fn compute(vector: &Value) -> String {
    let body = minify(vector["doc"].as_str().unwrap().as_bytes()).unwrap();
    let parent: Option<RevId> = vector["parent_rev"].as_str().map(|rev| rev.parse().unwrap());
    let body = HashableBody::of(&body).unwrap();
    revision_id(parent.as_ref(), vector["deleted"].as_bool().unwrap(), &body, &[]).to_string()
}

#[test]
fn every_recorded_revision_without_attachments_is_computed_as_couchdb_did() {
    let mut checked = 0;
    for vector in vectors() {
        if vector["attachments"].as_array().unwrap().is_empty() {
            assert_eq!(compute(&vector), vector["expected_rev"].as_str().unwrap(), "{}", vector["name"]);
            checked += 1;
        }
    }
    assert!(checked >= 30, "only {checked} vectors were found");
}

/// CouchDB stores text and JSON compressed and hashes the compressed bytes; the others are hashed as they are.
#[test]
fn every_recorded_revision_with_attachments_is_computed_as_couchdb_did() {
    let store = Store::memory().unwrap();
    let mut checked = 0;
    for (number, vector) in vectors().into_iter().enumerate() {
        let attachments = vector["attachments"].as_array().unwrap();
        if attachments.is_empty() {
            continue;
        }
        // As an uploaded one, and as one within the document; the parent is known by its name.
        let collection = store.collection(&format!("c{number}")).unwrap();
        let mut body: Value = serde_json::from_str(vector["doc"].as_str().unwrap()).unwrap();
        if let Some(parent) = vector["parent_rev"].as_str() {
            body["_rev"] = parent.into();
        }
        let mut uploaded = Write::put("uploaded", body.to_string()).unwrap();
        for attachment in attachments.iter().rev() {
            let text = |field: &str| attachment[field].as_str().unwrap();
            let bytes = decode_base64(text("data_base64"));
            let upload = collection.upload(&bytes[..], text("content_type")).unwrap();
            uploaded = uploaded.attach(text("name"), upload).unwrap();
        }
        body["_attachments"] = serde_json::json!({});
        for attachment in attachments {
            body["_attachments"][attachment["name"].as_str().unwrap()] =
                serde_json::json!({"content_type": attachment["content_type"], "data": attachment["data_base64"]});
        }
        let inline = Write::put("inline", body.to_string()).unwrap();
        for write in [uploaded, inline] {
            let written = collection.write(write).unwrap();
            assert_eq!(written.rev.to_string(), vector["expected_rev"].as_str().unwrap(), "{}", vector["name"]);
        }
        checked += 1;
    }
    assert_eq!(checked, 9);
    assert_eq!(store.check(At::Now).unwrap().problems, []);
}

/// Recorded in the scenario of number round trips (documents.json).
#[test]
fn numbers_and_repeated_names_are_hashed_as_couchdbs_parser_reads_them() {
    let recorded = r#"{"a":1,"b":2,"a":3}"#;
    let rev = revision_id(None, false, &HashableBody::of(&minify(recorded.as_bytes()).unwrap()).unwrap(), &[]);
    assert_eq!(rev.to_string(), "1-cf8195ee4268460f49235c8e98d42c6f");
    let recorded = r#"{"a":1.0,"b":1e2,"c":-0,"d":-0.0,"e":1e300,"f":12345678901234567890,"g":0.1,"h":1E+2,
        "i":9007199254740993,"j":1e-7,"k":5e-324}"#;
    let rev = revision_id(None, false, &HashableBody::of(&minify(recorded.as_bytes()).unwrap()).unwrap(), &[]);
    assert_eq!(rev.to_string(), "1-8b53c48026832037195f0eaa99d2dc59");
    let hash = |text: &str| revision_id(None, false, &HashableBody::of(text).unwrap(), &[]);
    assert_eq!(hash(r#"{"n":5e-324}"#), hash(r#"{"n":0.0}"#));
    assert_ne!(hash(r#"{"n":-0.0}"#), hash(r#"{"n":0.0}"#));
    assert_eq!(hash(r#"{"n":-0}"#), hash(r#"{"n":0}"#));
    assert_eq!(hash(r#"{"n":1e2}"#), hash(r#"{"n":100.0}"#));
    assert_ne!(hash(r#"{"n":1e2}"#), hash(r#"{"n":100}"#));
}

fn decode_base64(text: &str) -> Vec<u8> {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for byte in text.bytes().filter(|&byte| byte != b'=') {
        bits = bits << 6 | alphabet.iter().position(|&letter| letter == byte).unwrap() as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    bytes
}
