//! What goes in and comes out again: formats, ids, conflicts, and everything that can be wrong with a file.

use std::io::Write;
use std::process::Stdio;

use crate::common::{Ended, Place};

/// Documents that a careless reader changes: escapes, spellings of numbers, order, repetition, depth.
fn tricky() -> String {
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    [
        r#"{"_id":"00","empty":{},"none":[],"null":null,"t":true,"f":false}"#.to_owned(),
        r#"{"_id":"01","n":[0,-0,0.0,1.50,1e5,1E+5,-1.5e-7,12345678901234567890,0.1000000000000000055511151231257827]}"#.to_owned(),
        r#"{"_id":"02","s":["\"\\\/\b\f\n\r\t","\u0000\u001f\u007f","é","\u00e9","東京","😀","\ud83d\ude00","\u2028"]}"#.to_owned(),
        r#"{"_id":"03","z":1,"a":2,"m":{"z":1,"a":2},"":3," ":4,"a.b":5,"\u0061\"":6}"#.to_owned(),
        format!(r#"{{"_id":"04","deep":{deep}}}"#),
        format!(r#"{{"_id":"05","long":"{}"}}"#, "x".repeat(300_000)),
        r#"{"_id":"é/\"+ %00","_not":0}"#.replace(r#","_not":0"#, ""),
        r#"{"_id":"~ last"}"#.to_owned(),
    ]
    .map(|line| line + "\n")
    .concat()
}

#[test]
fn an_export_to_a_file_of_another_kind_is_refused() {
    let place = Place::new();
    place.ok_with(&["import", "c"], b"{\"_id\":\"a\"}\n");
    for name in ["out.xlsx", "out.csv.gz", "out.parquet"] {
        let refused = place.run(&["export", "c", "-o", name]);
        assert!(refused.code == 2 && refused.err.contains(".csv"), "{name}: {}", refused.err);
        assert!(!place.path().join(name).exists());
    }
    place.ok(&["export", "c", "-o", "out.xlsx", "--format", "csv"]);
    place.ok(&["export", "c", "-o", "out.bak"]);
}

#[test]
fn an_export_of_an_import_is_the_same_byte_for_byte() {
    let place = Place::new();
    let text = tricky();
    place.ok_with(&["import", "c"], text.as_bytes());
    let out = place.ok(&["export", "c"]);
    assert_eq!(sorted(&out), sorted(&text));
    // And again through an array, a file, another engine.
    place.ok(&["export", "c", "-o", "all.json"]);
    place.ok(&["import", "c", "all.json", "--store", "sqlite:copy.sqlite"]);
    assert_eq!(place.ok(&["export", "c", "--store", "sqlite:copy.sqlite"]), out);
    place.ok(&["export", "c", "--revisions", "-o", "all.ndjson"]);
    place.ok(&["import", "d", "all.ndjson"]);
    assert_eq!(place.ok(&["export", "d"]), out);
    assert_eq!(
        place.ok(&["export", "d", "--revisions"]),
        std::fs::read_to_string(place.path().join("all.ndjson")).unwrap()
    );
}

fn documents(number: u64) -> String {
    if number == 1 { "1 document".to_owned() } else { format!("{number} documents") }
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn one_document_is_the_same_from_every_format_and_source() {
    let place = Place::new();
    let array = place.file("a.json", r#"[{"_id":"x","n":1,"s":"t"}]"#);
    let map = place.file("m.json", r#"{"x":{"n":1,"s":"t"}}"#);
    let lines = place.file("l.ndjson", "\u{feff}{\"_id\":\"x\",\"n\":1,\"s\":\"t\"}\r\n");
    let pretty = place.file("p.json", "{\n  \"_id\": \"x\",\n  \"n\": 1,\n  \"s\": \"t\"\n}\n");
    let csv = place.file("c.csv", "_id,n,s\nx,1,t\n");
    let tabs = place.file("t.tsv", "_id\tn\ts\r\nx\t1\tt\r\n");
    for args in [&[array.as_str()][..], &[&map, "--format", "map"], &[&lines], &[&pretty], &[&csv], &[&tabs]] {
        place.ok(&[&["import", "c", "-s", "one.store", "--on-conflict", "replace"], args].concat());
        let got = place.ok(&["export", "c", "-s", "one.store"]);
        assert_eq!(got, "{\"_id\":\"x\",\"n\":1,\"s\":\"t\"}\n", "{args:?}");
        let input = std::fs::read(place.path().join(args[0])).unwrap();
        place.ok_with(&[&["import", "d", "-", "--on-conflict", "replace"], &args[1..]].concat(), &input);
        assert_eq!(place.ok(&["export", "d"]), got, "{args:?} from standard input");
    }
}

#[test]
fn ids_come_from_the_named_member_and_are_made_in_order_without_one() {
    let place = Place::new();
    place.ok_with(&["import", "c", "--id-field", "meta.key"], br#"{"meta":{"key":7}}"#);
    assert_eq!(place.ok(&["export", "c"]), "{\"_id\":\"7\",\"meta\":{\"key\":7}}\n");
    let two = place.fails_with(5, &["import", "c", "--id-field", "k"], br#"{"k":"x","_id":"y"}"#);
    assert!(two.contains("_id"), "{two}");
    place.ok_with(&["import", "d"], b"{\"n\":1}{\"n\":2}\n{\"n\":3}");
    assert_eq!(place.ok(&["find", "d", "--fields", "n"]).matches("\"n\":").count(), 3);
    let numbers: Vec<String> =
        place.ok(&["export", "d"]).lines().map(|line| line[line.len() - 2..].to_owned()).collect();
    assert_eq!(numbers, ["1}", "2}", "3}"]);
}

#[test]
fn every_malformed_input_is_refused_with_its_place_after_what_came_before_it() {
    let cases: [(&str, &[u8], u64, &str); 14] = [
        ("ndjson", b"{\"_id\":\"a\"}\n{\"_id\":\"b\" \"n\":1}\n", 1, "input: line 2, column 12: expected ',' or '}'"),
        ("ndjson", b"{\"_id\":\"a\"}\n{\"n\":01}\n", 1, "line 2, column 7"),
        ("ndjson", b"{\"_id\":\"a\"}\n{\"n\":\"x\ny\"}", 1, "line 2, column 8"),
        ("ndjson", b"{\"_id\":\"a\"}\n\"text\"\n", 1, "line 2, column 1: expected a document: '{', found '\"'"),
        ("ndjson", b"{\"_id\":\"a\"}\n{\"n\":\"\xe9\"}\n", 1, "line 2, column 7: byte 0xe9 is not UTF-8"),
        ("ndjson", b"{\"_id\":\"a\"}\n{\"n\":[1,2", 1, "found the end of the input"),
        ("json", b"[{\"_id\":\"a\"},{\"_id\":\"b\"},]", 2, "line 1, column 26: expected a document: '{', found ']'"),
        ("json", b"{\"_id\":\"a\"}", 0, "expected '[', the beginning of an array"),
        ("json", b"", 0, "found the end of the input"),
        ("map", b"{\"a\":{},\"b\":1}", 1, "line 1, column 13: expected a document: '{', found '1'"),
        ("csv", b"_id,n\na,1\nb\n", 0, "line 3, column 1: 1 cells, and the header has 2"),
        ("csv", b"_id,n\na,1\nb,\"2\n", 0, "line 3, column 3: the quote that begins here is never closed"),
        ("csv", b"_id,_id\n", 0, "two columns are named \"_id\""),
        ("ndjson", b"{\"_id\":\"a\"}\n{\"_id\":\"b\",\"_secret\":1}\n", 1, "line 2, column 1: field \"_secret\""),
    ];
    for (format, input, before, message) in cases {
        let place = Place::new();
        let error = place.fails_with(5, &["import", "c", "--format", format], input);
        assert!(error.contains(message), "{}: {error}", String::from_utf8_lossy(input));
        assert!(error.contains(&format!("{} imported into c before it stopped", documents(before))), "{error}");
        let count = place.run(&["find", "c", "--count"]);
        let there = i32::from(before == 0);
        assert_eq!(count.code, there, "{count:?}");
        if before > 0 {
            assert_eq!(count.out, format!("{{\"count\":{before}}}\n"));
        }
    }
}

#[test]
fn depth_and_ids_are_bounded_with_a_message() {
    let place = Place::new();
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(600), "]".repeat(600));
    assert!(place.fails_with(5, &["import", "c"], deep.as_bytes()).contains("nested deeper than 512 levels"));
    let long = format!("{{\"_id\":\"{}\"}}", "x".repeat(10_000));
    assert!(place.fails_with(5, &["import", "c"], long.as_bytes()).contains("line 1, column 1"));
    for id in ["\"\"", "\"_design/x\"", "null", "[1]"] {
        let ended = place.run_with(&["import", "c"], format!("{{\"_id\":{id}}}").as_bytes());
        assert!(matches!(ended.code, 0 | 5) && !ended.err.contains("panicked"), "{id}: {ended:?}");
    }
    let wide = "a,".repeat(5000) + "z\n";
    assert!(place.fails_with(5, &["import", "c", "-f", "csv"], wide.as_bytes()).contains("more than 4096 columns"));
}

#[test]
fn an_input_without_documents_imports_none() {
    for (input, args) in [("", &[][..]), (" \n\n", &[]), ("[]", &[]), ("{}", &["--format", "map"]), ("a,b\n", &[])] {
        let place = Place::new();
        let ended = place.run_with(&[&["import", "c"], args].concat(), input.as_bytes());
        assert_eq!(ended.code, 0, "{input:?}: {ended:?}");
        assert!(ended.err.contains("0 documents imported"), "{input:?}: {ended:?}");
    }
}

#[test]
fn what_has_no_format_is_refused_with_what_to_say() {
    let place = Place::new();
    assert!(place.fails_with(5, &["import", "c"], b"hello\n").contains("--format"));
    place.ok_with(&["import", "c", "--format", "csv"], b"hello\nworld\n");
    assert!(place.fails_with(2, &["import", "c", "-", "-"], b"{}").contains("named twice"));
    assert!(place.ok(&["export", "c"]).ends_with("\"hello\":\"world\"}\n"));
}

#[test]
fn one_object_of_objects_is_one_document_and_says_how_to_make_it_many() {
    let place = Place::new();
    let input = br#"{"a":{"n":1},"b":{"n":2}}"#;
    let ended = place.run_with(&["import", "c"], input);
    assert_eq!(ended.code, 0);
    // Remarks of this kind are for people: nothing is drawn, but the line is said.
    assert!(ended.err.contains("--format map"), "{ended:?}");
    place.ok_with(&["import", "d", "--format", "map"], input);
    assert_eq!(place.ok(&["export", "d"]), "{\"_id\":\"a\",\"n\":1}\n{\"_id\":\"b\",\"n\":2}\n");
}

#[test]
fn a_taken_id_stops_is_skipped_or_replaced_as_was_asked() {
    let place = Place::new();
    place.ok_with(&["import", "c"], b"{\"_id\":\"a\",\"n\":1}");
    let more = b"{\"_id\":\"b\",\"n\":2}\n{\"_id\":\"a\",\"n\":2}\n";
    let error = place.fails_with(3, &["import", "c"], more);
    assert!(error.contains("line 2, column 1: conflict: document \"a\" exists"), "{error}");
    assert!(error.contains("1 document imported into c before it stopped"), "{error}");

    let ended = place.run_with(&["import", "c", "--on-conflict", "skip"], more);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.err.contains("0 documents imported into c, 2 skipped, their ids are taken"), "{ended:?}");
    assert!(place.ok(&["get", "c", "a"]).contains("\"n\":1"));

    place.ok_with(&["import", "c", "--on-conflict", "replace"], more);
    assert!(place.ok(&["get", "c", "a"]).contains("\"n\":2"));
    assert_eq!(place.ok(&["history", "c", "a"]).lines().count(), 2);
}

#[test]
fn what_cannot_be_imported_can_be_reported_and_skipped() {
    let place = Place::new();
    let input = b"{\"_id\":\"a\"}\n{\"_id\":}\n{\"_id\":\"a\"}\nnonsense\n{\"_id\":\"b\"}\n";
    let ended = place.run_with(&["import", "c", "--on-error", "skip"], input);
    assert_eq!(ended.code, 5, "{ended:?}");
    for line in
        ["line 2, column 8", "line 3, column 1: conflict", "line 4, column 1", "2 documents imported into c, 3 failed"]
    {
        assert!(ended.err.contains(line), "{line}: {}", ended.err);
    }
    assert_eq!(place.ok(&["export", "c"]), "{\"_id\":\"a\"}\n{\"_id\":\"b\"}\n");
    let csv = place.run_with(&["import", "d", "--on-error", "skip"], b"_id,n\na,1\nb\nc,3\n");
    assert_eq!(csv.code, 5, "{csv:?}");
    assert_eq!(place.ok(&["export", "d"]).lines().count(), 2);
}

#[test]
fn a_unique_index_stops_an_import_with_3() {
    let place = Place::new();
    place.ok_with(&["import", "c"], b"{\"_id\":\"a\",\"mail\":\"x\"}");
    place.ok(&["index", "create", "c", "mail", "--unique"]);
    let error =
        place.fails_with(3, &["import", "c"], b"{\"_id\":\"b\",\"mail\":\"y\"}\n{\"_id\":\"c\",\"mail\":\"x\"}\n");
    assert!(error.contains("line 2, column 1") && error.contains("unique"), "{error}");
    assert_eq!(place.ok(&["export", "c"]).lines().count(), 2);
}

#[test]
fn files_that_are_not_there_stop_before_anything_is_made() {
    let place = Place::new();
    let there = place.file("a.ndjson", "{}");
    assert!(place.fails(6, &["import", "c", &there, "nowhere.json"]).contains("opening nowhere.json"));
    assert!(place.fails(2, &["import", "c", "."]).contains("is a directory"));
    assert!(!place.path().join("recension.store").exists());
}

#[test]
fn several_files_are_one_import_and_an_error_names_its_file() {
    let place = Place::new();
    let a = place.file("a.ndjson", "{\"_id\":\"a\"}\n");
    let b = place.file("b.csv", "_id\nb\n");
    let c = place.file("c.json", "[{\"_id\":\"c\"},oops]");
    let error = place.fails(5, &["import", "c", &a, &b, &c]);
    assert!(error.contains("c.json: line 1, column 14") && error.contains("3 documents imported"), "{error}");
    assert_eq!(place.ok(&["export", "c"]).lines().count(), 3);
}

#[test]
fn csv_comes_out_and_goes_in_again() {
    let place = Place::new();
    let text = "{\"_id\":\"1\",\"name\":\"a,\\\"b\\\"\\n\",\"n\":-1.50,\"geo\":{\"lat\":1},\"tags\":[\"x\"],\"ok\":true}\n\
                {\"_id\":\"2\",\"name\":\"\",\"zip\":\"01234\",\"big\":\"12345678901234567890\"}\n";
    place.ok_with(&["import", "c"], text.as_bytes());
    let csv = place.ok(&["export", "c", "--format", "csv"]);
    assert_eq!(csv.lines().next(), Some("_id,name,n,geo,tags,ok,zip,big"), "{csv}");
    place.ok_with(&["import", "d"], csv.as_bytes());
    assert_eq!(place.ok(&["export", "d"]), text);
    let chosen = place.ok(&["export", "c", "--format", "csv", "--fields", "_id,geo.lat"]);
    assert_eq!(chosen, "_id,geo.lat\n1,1\n2,\n");
    place.ok_with(&["import", "e", "--types", "text"], b"_id,n\n1,2\n3,\n");
    assert_eq!(place.ok(&["export", "e"]), "{\"_id\":\"1\",\"n\":\"2\"}\n{\"_id\":\"3\",\"n\":\"\"}\n");
}

#[test]
fn an_export_is_as_of_one_moment_and_appears_whole() {
    let place = Place::new();
    place.ok_with(&["import", "c"], b"{\"_id\":\"a\",\"n\":1}");
    place.ok(&["put", "c", "a", "{\"n\":2}"]);
    place.ok(&["put", "c", "b", "{}"]);
    assert_eq!(place.ok(&["export", "c", "--at", "1"]), "{\"_id\":\"a\",\"n\":1}\n");
    place.ok(&["export", "c", "-o", "c.json"]);
    let text = std::fs::read_to_string(place.path().join("c.json")).unwrap();
    assert_eq!(text, "[\n{\"_id\":\"a\",\"n\":2},\n{\"_id\":\"b\"}\n]\n");
    assert_eq!(place.run(&["export", "c", "-o", "no/such/dir/c.json"]).code, 6);
    assert!(!place.path().join("c.json.part").exists());
}

#[test]
fn an_export_replaces_no_link_and_nothing_that_is_no_file() {
    let place = Place::new();
    place.ok_with(&["import", "c"], b"{\"_id\":\"a\"}");
    let at = |name: &str| place.path().join(name);
    std::fs::write(at("real.ndjson"), "old").unwrap();
    std::os::unix::fs::symlink("real.ndjson", at("link.ndjson")).unwrap();
    place.ok(&["export", "c", "-o", "link.ndjson"]);
    assert!(at("link.ndjson").is_symlink());
    assert_eq!(std::fs::read_to_string(at("real.ndjson")).unwrap(), "{\"_id\":\"a\"}\n");

    assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
    let pipe = at("pipe");
    let reader = std::thread::spawn(move || std::fs::read_to_string(pipe).unwrap());
    place.ok(&["export", "c", "-o", "pipe"]);
    assert_eq!(reader.join().unwrap(), "{\"_id\":\"a\"}\n");
    assert!(!at("pipe").metadata().unwrap().is_file());
}

#[test]
fn an_interrupted_import_says_what_is_in_the_store_and_it_is() {
    let place = Place::new();
    let mut child = place
        .command(&["import", "c"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let line = format!("{{\"text\":\"{}\"}}\n", "x".repeat(1000));
    for _ in 0..2500 {
        stdin.write_all(line.as_bytes()).unwrap();
    }
    stdin.flush().unwrap();
    // A pipe takes 64 KiB and we wrote 2.5 MB: the import is under way, past its first commit.
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let more = std::thread::spawn(move || while stdin.write_all(line.as_bytes()).is_ok() {});
    let output = child.wait_with_output().unwrap();
    more.join().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{error}");
    assert!(error.contains("interrupted") && error.contains("documents imported into c before it stopped"), "{error}");
    let said: String =
        error.lines().find(|line| line.contains("imported")).unwrap().chars().take_while(|c| *c != ' ').collect();
    let there = place.ok(&["find", "c", "--count"]);
    assert_eq!(there, format!("{{\"count\":{}}}\n", said.replace(',', "")));
}

#[test]
fn an_import_that_stops_has_all_that_came_before_and_nothing_that_comes_after() {
    let line = |n: usize| format!("{{\"_id\":\"{n:04}\",\"n\":{n}}}\n");
    // In the first thousand and in the second; with what is no JSON at all behind what is refused.
    for (taken, broken, flags) in [
        (300_usize, None, &[][..]),
        (1700, None, &[]),
        (300, Some(600), &[]),
        (300, None, &["--on-conflict", "replace"]),
        (1500, Some(1600), &["--on-conflict", "skip"]),
    ] {
        let place = Place::new();
        // The value of a document is another one's already.
        place.ok(&["put", "c", "other", &format!("{{\"n\":{taken}}}")]);
        place.ok(&["index", "create", "c", "n", "--unique"]);
        let lines: String = (0..2500).map(|n| if broken == Some(n) { "{]\n".to_owned() } else { line(n) }).collect();
        let error = place.fails_with(3, &[&["import", "c"], flags].concat(), lines.as_bytes());
        assert!(error.contains(&format!("line {}", taken + 1)), "{error}");
        let thousands = if taken < 1000 { String::new() } else { format!("{},", taken / 1000) };
        assert!(error.contains(&format!("{thousands}{:03} documents imported", taken % 1000)), "{error}");
        let ids = place.ok(&["export", "c"]);
        let ids: Vec<&str> = ids.lines().filter_map(|line| line.get(8..12)).filter(|id| *id != "othe").collect();
        assert_eq!(ids.len(), taken);
        assert_eq!(ids.last(), Some(&format!("{:04}", taken - 1).as_str()), "{flags:?}");
    }
}

#[test]
fn an_export_with_attachments_is_imported_with_them() {
    let place = Place::new();
    let data = "aGVsbG8=";
    let document = format!(
        r#"{{"n":1,"_attachments":{{"b.bin":{{"content_type":"image/png","data":"{data}"}},"a.txt":{{"content_type":"text/plain","data":"{data}"}}}}}}"#
    );
    place.ok(&["put", "notes", "a", &document]);
    let export = place.ok(&["export", "notes"]);
    assert_eq!(export.matches(data).count(), 2, "{export}");
    place.file("export.ndjson", &export);
    place.ok(&["import", "other", "export.ndjson"]);
    let (first, second) = (place.ok(&["get", "notes", "a"]), place.ok(&["get", "other", "a"]));
    assert!(first.contains("_attachments") && first.contains("image/png"), "{first}");
    assert_eq!(first, second, "the revision too, which is a hash of the attachments");
}

#[test]
fn what_people_have_is_read_from_files_and_pipes() {
    let place = Place::new();
    let utf16 =
        |text: &str| -> Vec<u8> { format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let city = r#"{"Country":"PT","Population":10}"#;
    for (number, (text, args, expected)) in [
        (b"Country;Population\nPT;10\n".to_vec(), &[][..], city),
        (b"Country,Population\rPT,10\r".to_vec(), &[], city),
        (b"sep=|\r\nCountry|Population\r\nPT|10\r\n".to_vec(), &[], city),
        (utf16("Country;Population\r\nPT;10\r\n"), &[], city),
        (utf16(city), &[], city),
        (b",n\n0,NA\n1,2.5\n".to_vec(), &["--missing", "NA"], "{\"row\":0}\n{\"row\":1,\"n\":2.5}"),
        (b"hash,n\n12e400,1\n1e5,2\n".to_vec(), &[], "{\"hash\":\"12e400\",\"n\":1}\n{\"hash\":\"1e5\",\"n\":2}"),
        (b"\"a\",\"b\"\n\"1\",\"x\"\n".to_vec(), &[], r#"{"a":1,"b":"x"}"#),
        (b"a,b\n\"1\",x\n".to_vec(), &[], r#"{"a":"1","b":"x"}"#),
        (
            br#"{"type":"FeatureCollection","skipped":[{"a":[1]}],"features":[{"type":"Feature","n":1},{"n":2}],"x":1}"#.to_vec(),
            &["--path", "features[]"],
            "{\"type\":\"Feature\",\"n\":1}\n{\"n\":2}",
        ),
        (
            br#"{"total_rows":1,"rows":[{"id":"a","key":"a","value":{},"doc":{"_id":"a","n":1}}]}"#.to_vec(),
            &["--path", "rows[].doc"],
            r#"{"n":1}"#,
        ),
        (
            b"{\"name\":\"@cloudant/couchbackup\",\"mode\":\"full\"}\n[{\"n\":1}]\n[{\"n\":2}]\n".to_vec(),
            &[],
            "{\"n\":1}\n{\"n\":2}",
        ),
        (b"[{\"n\":1},{\"n\":2}]\n[]\n[{\"n\":3}]\n".to_vec(), &[], "{\"n\":1}\n{\"n\":2}\n{\"n\":3}"),
        (
            br#"{"_id":{"$oid":"64a"},"__v":0,"_source":1,"at":{"$date":"2026-01-02T03:04:05Z"},"n":{"$numberLong":"5"}}"#.to_vec(),
            &["--rename", "__v=version", "--drop", "_source", "--extended-json"],
            r#"{"version":0,"at":"2026-01-02T03:04:05Z","n":5}"#,
        ),
        (br#"{"_id":17,"n":1}"#.to_vec(), &[], r#"{"n":1}"#),
    ]
    .into_iter()
    .enumerate()
    {
        let collections = [format!("f{number}"), format!("p{number}")];
        std::fs::write(place.path().join("in"), &text).unwrap();
        place.ok(&[&["import", &collections[0], "in"], args].concat());
        place.ok_with(&[&["import", &collections[1]], args].concat(), &text);
        for collection in &collections {
            let bodies: Vec<String> = place
                .ok(&["export", collection])
                .lines()
                .map(|line| {
                    let (_, rest) = line.split_once("\"_id\":").unwrap();
                    let rest = &rest[rest[1..].find('"').unwrap() + 2..];
                    format!("{{{}", rest.trim_start_matches(','))
                })
                .collect();
            assert_eq!(bodies.join("\n"), expected, "{}", String::from_utf8_lossy(&text));
        }
    }
    assert!(place.ok(&["get", "f14", "17"]).contains("\"n\":1"));
}

#[test]
fn what_cannot_be_read_is_named_with_a_way_on() {
    let place = Place::new();
    for (text, args, code, what) in [
        (
            &b"PK\x03\x04\x14\0\x06\0\x08\0\0\0!\0..............[Content_Types].xml"[..],
            &[][..],
            5,
            "save it as \"CSV UTF-8\"",
        ),
        (b"a,b\n1,x\0y\n", &[], 5, "line 2, column 4: a NUL byte"),
        (b"{\"__v\":1}", &[], 5, "--rename __v=NAME keeps it under another name"),
        (b"{\"_id\":{\"$oid\":\"64a\"},\"__v\":1}", &[], 5, "--rename __v=NAME keeps it under another name"),
        (b"{\"a\":1,\"b\":2}", &["--rename", "a=b"], 5, "there is a member \"b\" already"),
        (b"{\"x\":[]}", &["--path", "rows[].doc"], 5, "the object has no member \"rows\""),
        (b"{\"rows\":[{\"a\":1}]}", &["--path", "rows[].doc"], 5, "there is no document at doc"),
        (b"{}", &["--path", "rows"], 2, "--path leads to an array"),
        (b"\xff\xfe\0\0a\0\0\0", &[], 5, "UTF-32"),
    ] {
        let error = place.fails_with(code, &[&["import", "c"], args].concat(), text);
        assert!(error.contains(what), "{error}");
    }
    let error = place.fails_with(3, &["import", "c", "--all-or-nothing"], b"{\"_id\":\"a\"}\n{\"_id\":\"a\"}\n");
    assert!(error.contains("line 2, column 1: conflict: document \"a\"") && error.contains("Nothing was"), "{error}");
    place.ok_with(&["import", "c", "--all-or-nothing"], b"{\"_id\":\"a\"}\n{\"_id\":\"b\"}\n");
    // The file, too, and the line in it.
    let one = place.file("one.ndjson", "{\"_id\":\"x\"}\n");
    let two = place.file("two.csv", "_id,n\ny,1\nz,2\nb,3\n");
    let error = place.fails(3, &["import", "c", "--all-or-nothing", &one, &two]);
    assert!(error.contains("two.csv: line 4, column 1: conflict: document \"b\""), "{error}");
    assert_eq!(place.ok(&["export", "c"]), "{\"_id\":\"a\"}\n{\"_id\":\"b\"}\n");
}

/// Text that looks like something else, and values that a table has to tell apart.
#[test]
fn an_export_as_a_table_comes_back_with_its_types() {
    let place = Place::new();
    let documents = r#"{"_id":"1","zip":"12345","on":"true","n":1.50,"e":"","j":"[1,2]","o":{"a":"x"},"l":[1,"2"],"q":"\"{}\"","s":" x"}
{"_id":"2","zip":"00420","on":"no","n":-2e3,"j":"{\"a\":1}","o":{},"l":[],"q":"say \"hi\"","s":"a,b\nc"}
{"_id":"3","zip":"1e5","b":false,"long":"12345678901234567890"}
"#;
    place.ok_with(&["import", "c"], documents.as_bytes());
    let Ended { out, err: error, .. } = place.run(&["export", "c", "--csv"]);
    assert!(!error.contains("import"), "{error}");
    assert!(out.contains("\"12345\"") && out.contains("00420"), "{out}");
    place.ok_with(&["import", "d"], out.as_bytes());
    assert_eq!(place.ok(&["export", "d"]), documents);
    // What a table cannot say is said.
    place.ok_with(&["import", "m"], b"{\"a\":1,\"b\":null,\"c\":1234567890123456}\n{\"a\":\"x\"}\n");
    let error = place.run(&["export", "m", "--csv"]).err;
    for what in ["\"a\" has text and numbers", "\"b\" has null", "--types c=number"] {
        assert!(error.contains(what), "{error}");
    }
    for (collection, document) in [("unnamed", r#"{"":1,"a":2}"#), ("nul", r#"{"a":2,"b\u0000":1}"#)] {
        place.ok_with(&["import", collection], document.as_bytes());
        assert!(place.fails(2, &["export", collection, "--csv"]).contains("can be no column"), "{document}");
        assert!(place.ok(&["export", collection, "--csv", "--fields", "a"]).contains("\n2\n"));
    }
    // What a sort leaves out, too.
    let error = place.run(&["export", "m", "--sort", "c"]).err;
    assert!(error.contains("without c, since --sort orders by values"), "{error}");
}

/// Data that packages ship which the tests have installed anyway, as JSON, as lines and as tables.
#[test]
fn public_data_files_go_there_and_back() {
    let place = Place::new();
    let packages = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/clients/node_modules");
    assert!(std::path::Path::new(packages).exists(), "the packages are not installed: run scripts/node-packages");
    let mut files = 0;
    for (of, map) in [
        ("axe-core/sri-history.json", true),
        ("@ioredis/commands/built/commands.json", true),
        ("axe-core/locales", false),
        ("axe-core/package.json", false),
        ("pouchdb/package.json", false),
        ("playwright-core/package.json", false),
        ("playwright-core/browsers.json", false),
    ] {
        let path = std::path::Path::new(packages).join(of);
        let paths: Vec<_> = if path.is_dir() {
            let all = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
            all.filter(|path| path.extension().is_some_and(|ending| ending == "json")).collect()
        } else {
            vec![path]
        };
        for path in paths {
            files += 1;
            let text = std::fs::read_to_string(&path).unwrap();
            let original: serde_json::Value = serde_json::from_str(&text).unwrap();
            let (source, there) = (path.to_str().unwrap(), format!("f{files}"));
            let format: &[&str] = if map { &["--format", "map"] } else { &[] };
            place.ok(&[&["import", &there, source], format].concat());
            let out = place.ok(&["export", &there]);
            let mut back = serde_json::Map::new();
            for line in out.lines() {
                let mut document: serde_json::Map<String, serde_json::Value> = serde_json::from_str(line).unwrap();
                let id = document.remove("_id").unwrap();
                if map {
                    back.insert(id.as_str().unwrap().to_owned(), document.into());
                } else {
                    back = document;
                }
            }
            assert_eq!(serde_json::Value::Object(back), original, "{source}");
            // As a table, too, where every member is of one kind.
            let table = place.run(&["export", &there, "--csv"]);
            if !table.err.contains("an import") {
                place.ok_with(&["import", &format!("t{files}")], table.out.as_bytes());
                assert_eq!(place.ok(&["export", &format!("t{files}")]), out, "{source}");
            }
        }
    }
    assert!(files > 20, "{files}");
}
