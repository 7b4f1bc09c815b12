//! Revision ids that Apache CouchDB 3.4.3 computed, recorded in conformance/couchdb/rev-vectors.json.

use proptest::prelude::{Just, Strategy, prop, prop_assert_eq, prop_oneof, proptest};
use recension::json::minify;
use recension::{At, Error, Expect, HashableBody, RevId, Store, Write, revision_id};
use serde_json::Value;

fn vectors() -> Vec<Value> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../conformance/couchdb/rev-vectors.json");
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
            let upload = collection.uploads().add(&bytes[..], text("content_type")).unwrap();
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
        "i":9007199254740993,"j":1e-7,"k":0.0}"#;
    let rev = revision_id(None, false, &HashableBody::of(&minify(recorded.as_bytes()).unwrap()).unwrap(), &[]);
    assert_eq!(rev.to_string(), "1-8b53c48026832037195f0eaa99d2dc59");
    let hash = |text: &str| revision_id(None, false, &HashableBody::of(text).unwrap(), &[]);
    // Sent to CouchDB it was 5e-324, and 0.0 is what it stored: a revision is of what is stored.
    assert_ne!(hash(r#"{"n":5e-324}"#), hash(r#"{"n":0.0}"#));
    assert_ne!(hash(r#"{"n":-0.0}"#), hash(r#"{"n":0.0}"#));
    assert_eq!(hash(r#"{"n":-0}"#), hash(r#"{"n":0}"#));
    assert_eq!(hash(r#"{"n":1e2}"#), hash(r#"{"n":100.0}"#));
    assert_ne!(hash(r#"{"n":1e2}"#), hash(r#"{"n":100}"#));
}

/// A write minifies and prepares the hash in one pass; here each is done by itself.
#[test]
fn a_writes_revision_is_that_of_its_minified_body_whatever_is_taken_out_on_the_way() {
    let collection = Store::memory().unwrap().collection("c").unwrap();
    for (text, body) in [
        ("{}", "{}"),
        (r#" { "a" : [ 1 , 255 , 256 ] , "b" : "é\u0041" } "#, r#"{"a":[1,255,256],"b":"é\u0041"}"#),
        (r#"{"_id":"x","a":1}"#, r#"{"a":1}"#),
        (r#"{"a":1,"_deleted":false,"b":{"_c":2}}"#, r#"{"a":1,"b":{"_c":2}}"#),
        (r#"{"a":1,"_id":"x"}"#, r#"{"a":1}"#),
        (r#"{"_id":"y","_id":"x","\u005fid":"x"}"#, "{}"),
        (r#"{"a":1,"b":[{"c":1,"d":2,"c":3}],"a":4}"#, r#"{"b":[{"d":2,"c":3}],"a":4}"#),
        (r#"{"_attachments":{"n":{"data":"","data":""}},"b":[1,2]}"#, r#"{"b":[1,2]}"#),
        (
            r#"{"_replication_state":"done","_id":"x","z":12345678901234567890}"#,
            r#"{"_replication_state":"done","z":12345678901234567890}"#,
        ),
    ] {
        let expecting_nothing = Write::from_json(text).unwrap().with_id("x").unwrap();
        assert_eq!(expecting_nothing.body(), body, "{text}");
        if body.is_empty() || text.contains("_attachments") {
            continue;
        }
        collection
            .replication()
            .purge("x", &collection.get("x").unwrap().map(|found| found.rev).into_iter().collect::<Vec<_>>())
            .unwrap();
        let written = collection.write(expecting_nothing).unwrap();
        assert_eq!(written.rev, revision_id(None, false, &HashableBody::of(body).unwrap(), &[]), "{text}");
    }
    // What is wrong in a member that stays is not forgotten with the one behind it that goes.
    for text in [r#"{"a":1e400,"_id":"x"}"#, r#"{"a":1e400,"_id":"x","b":1}"#, r#"{"_id":"x","a":[1e400]}"#] {
        assert!(matches!(Write::from_json(text), Err(Error::NumberOutOfRange { .. })), "{text}");
    }
    // A number that is taken out, or that comes again as another, is nobody's revision.
    assert!(Write::from_json(r#"{"a":1e400,"b":2,"a":3}"#).is_ok());
    assert!(matches!(Write::from_json(r#"{"_foo":1e400}"#), Err(Error::ReservedField { .. })));
}

proptest! {
    #[test]
    fn one_pass_makes_what_two_make(parts in prop::collection::vec(part(), 0..12), blanks in "[ \n\t]{0,2}") {
        let text = format!("{{{blanks}{}{blanks}}}", parts.join(&format!("{blanks},{blanks}")));
        let write = Write::from_json(&text).unwrap().with_id("x").unwrap().expecting(Expect::Anything);
        let body = minify(write.body().as_bytes()).unwrap();
        prop_assert_eq!(&body, write.body());
        let without: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.starts_with("\"_")).collect();
        prop_assert_eq!(&body, &minify(format!("{{{}}}", without.join(",")).as_bytes()).unwrap());
        let written = Store::memory().unwrap().collection("c").unwrap().write(write).unwrap();
        prop_assert_eq!(written.rev, revision_id(None, false, &HashableBody::of(&body).unwrap(), &[]));
    }
}

/// A member of a top-level object, which may come twice, or be one that does not stay.
fn part() -> impl Strategy<Value = String> {
    let value = prop_oneof![
        "[1-9][0-9]{0,2}|0|-1|1e2|0\\.5|null|true|\\[\\]|\\{\\}|\\[1,2\\]|\\[300\\]".prop_map(String::from),
        r#""[a-z \u{e9}]{0,20}""#.prop_map(String::from),
        r#"\{"[ab]":1,"[ab]":\[\{"x":2\}\]\}"#.prop_map(String::from),
    ];
    prop_oneof![
        4 => (r#""[a-e]{1,2}""#, value).prop_map(|(name, value)| format!("{name}:{value}")),
        1 => Just(r#""_id":"x""#.to_owned()),
        1 => Just(r#""_deleted":false"#.to_owned()),
    ]
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
