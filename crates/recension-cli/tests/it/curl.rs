//! What people type: curl against the real `recension serve`.

use std::process::Command;

use crate::common::served::Served;
use serde_json::{Value, json};

/// What curl prints, and its exit code.
fn curl(args: &[&str]) -> (i32, String) {
    let output = Command::new("curl").arg("-sS").args(args).output().expect("curl is installed");
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn curl_makes_writes_reads_packs_resumes_and_follows() {
    let served = Served::start();
    let url = served.url_of_admin();
    let at = |path: &str| format!("{url}{path}");
    let json = |args: &[&str]| -> Value {
        let (_, text) = curl(args);
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("{args:?}: {text}"))
    };
    assert_eq!(json(&["-X", "PUT", &at("/notes")]), json!({"ok": true}));
    // A body without a content type of its own is a form's to curl: PUT does not mind, as in CouchDB.
    let first = json(&["-X", "PUT", &at("/notes/a"), "-d", r#"{"text":"é"}"#]);
    assert_eq!(first["ok"], true);
    assert_eq!(json(&[&at("/notes/a")])["text"], "é");
    assert_eq!(json(&["-X", "POST", &at("/notes"), "-d", "{}"])["error"], "bad_content_type");
    let posted = json(&["--json", r#"{"text":"posted"}"#, &at("/notes")]);
    assert_eq!(posted["ok"], true);
    let docs = json!({"docs": (0..500).map(|n| json!({"_id": format!("n{n:03}"), "n": n})).collect::<Vec<_>>()});
    assert_eq!(json(&["--json", &docs.to_string(), &at("/notes/_bulk_docs")]).as_array().map(Vec::len), Some(500));
    let plain = json(&[&at("/notes/_all_docs?include_docs=true")]);
    assert_eq!(plain["total_rows"], 502);
    assert_eq!(json(&["--compressed", &at("/notes/_all_docs?include_docs=true")]), plain);
    assert_eq!(json(&["--http2-prior-knowledge", &at("/notes/_all_docs?include_docs=true")]), plain);
    let lines = curl(&["-H", "Accept: application/x-ndjson", &at("/notes/_all_docs")]).1;
    assert_eq!(lines.lines().count(), 502);
    let table = curl(&["-H", "Accept: text/csv", &at("/notes/_all_docs?fields=n&startkey=%22n499%22&limit=1")]).1;
    assert!(table.starts_with("id,rev,n\r\nn499,1-") && table.ends_with(",499\r\n"), "{table}");
    // An attachment, and the rest of one.
    let dir = tempfile::tempdir().unwrap();
    let (file, back) = (dir.path().join("file"), dir.path().join("back"));
    let bytes: Vec<u8> = (0..300_000_u32).map(|n| (n * 7 % 251) as u8).collect();
    std::fs::write(&file, &bytes).unwrap();
    std::fs::write(&back, &bytes[..100_000]).unwrap();
    let to = at(&format!("/notes/a/file.bin?rev={}", first["rev"].as_str().unwrap()));
    let sent = json(&["-T", file.to_str().unwrap(), "-H", "Content-Type: x/y", &to]);
    assert_eq!(sent["ok"], true);
    assert_eq!(curl(&["-C", "-", "-o", back.to_str().unwrap(), &at("/notes/a/file.bin")]).0, 0);
    assert_eq!(std::fs::read(&back).unwrap(), bytes);
    let feed = curl(&["-N", "--max-time", "30", &at("/notes/_changes?feed=continuous&timeout=1")]).1;
    assert!(feed.lines().last().unwrap().starts_with("{\"last_seq\""), "{feed}");
    let (code, refused) = curl(&["--fail", &at("/none")]);
    assert_eq!(code, 22, "{refused}");
    assert_eq!(json(&[&served.url.clone(), "-u", "adm:wrong"])["error"], "unauthorized");
}

#[test]
fn tls_is_spoken_with_both_versions_of_http_and_only_with_who_trusts_the_certificate() {
    let keys = concat!(env!("CARGO_MANIFEST_DIR"), "/../recension-server/tests/keys");
    let (certificate, key) = (format!("{keys}/certificate.pem"), format!("{keys}/ec.pem"));
    let served = Served::with(&["--tls-certificate", &certificate, "--tls-key", &key]);
    assert!(served.url.starts_with("https://"), "{}", served.url);
    let url = served.url_of_admin();
    let told = "\n%{http_version} %{ssl_verify_result}";
    for (version, spoken) in [("--http1.1", "1.1"), ("--http2", "2")] {
        let (code, text) = curl(&["--cacert", &certificate, version, "-w", told, &format!("{url}/_up")]);
        assert_eq!(code, 0, "{text}");
        assert!(text.starts_with("{\"status\":\"ok\"") && text.ends_with(&format!("\n{spoken} 0")), "{text}");
    }
    let made = curl(&["--cacert", &certificate, "-i", "-X", "PUT", &format!("{url}/db")]).1;
    assert!(made.to_lowercase().contains(&format!("location: {}/db", served.url)), "{made}");
    // 60: the certificate is not trusted; 52 or 56: who speaks without TLS gets no answer.
    assert_eq!(curl(&[&format!("{url}/_up")]).0, 60);
    let plain = url.replacen("https", "http", 1);
    assert_ne!(curl(&[&format!("{plain}/_up")]).0, 0);
}
