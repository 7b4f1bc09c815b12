//! Functions of design documents, run by real workers.

use std::time::{Duration, Instant};

use recension::engine::BranchId;
use recension::{Guard as _, Proposed, Validator};
use recension_script::{Design, Functions, Pool, Program, Script, ScriptError, ScriptGuard};

fn pool(workers: usize) -> Pool {
    let path = env!("CARGO_BIN_EXE_recension-script-worker").into();
    Pool::new(Program { path, arguments: Vec::new() }, workers)
}

fn script(pool: &Pool, name: &str, ddoc: &str) -> Script {
    Script::new(pool.clone(), name, ddoc, Duration::from_secs(10))
}

fn mapped(script: &Script, code: &str, doc: &str) -> Vec<(String, String)> {
    script.map(code, &[doc.to_owned()]).unwrap().0.remove(0)
}

#[test]
fn a_member_of_a_design_document_that_is_nearly_one_is_told() {
    let misspelt = |body: &str| Design::of("_design/d", "1-a", body).misspelt();
    for (body, member, meant) in [
        (r#"{"validate_doc_updates":"f"}"#, "validate_doc_updates", "validate_doc_update"),
        (r#"{"Validate_doc_update":"f"}"#, "Validate_doc_update", "validate_doc_update"),
        (r#"{"view":{}}"#, "view", "views"),
        (r#"{"views":{"a":{"map":"f","reduces":"_sum"}}}"#, "views.a.reduces", "reduce"),
        (r#"{"options":{"local_sec":true}}"#, "options.local_sec", "local_seq"),
    ] {
        assert_eq!(misspelt(body), [(member.to_owned(), meant)], "{body}");
    }
    // Programs keep members of their own there.
    let own = r#"{"_id":"_design/d","language":"javascript","views":{"lib":{"maps":"x"},"view":{"map":"f"}},"lib":{},
        "couchapp":{},"vendor":{},"title":"x","name":"x","indexes":{},"fulltext":{},"signatures":{},"version":1,
        "options":{},"autoupdate":false,"rewrites":[]}"#;
    assert_eq!(misspelt(own), []);
}

#[test]
fn functions_of_every_style_map() {
    let pool = pool(1);
    let ddoc = r#"{"views":{"lib":{"units":"exports.twice = function(n) { return n * 2; };",
        "deep":{"more":"var u = require('../units'); module.exports = {thrice: n => u.twice(n) + n};"}}}}"#;
    let script = script(&pool, "a", ddoc);
    let cases = [
        ("function(doc){emit(doc.n, null)}", r#"[["3","null"]]"#),
        ("function (doc) { emit([doc.n, 'a'], {x: doc.n}); };\n", r#"[["[3,\"a\"]","{\"x\":3}"]]"#),
        ("(doc) => { for (const [k, v] of Object.entries(doc)) emit(k, v ?? 0) }", r#"[["\"n\"","3"]]"#),
        ("function(d){ emit(require('views/lib/units').twice(d.n), sum([1,2,3])) }", r#"[["6","6"]]"#),
        ("function(d){ emit(require('views/lib/deep/more').thrice(d.n), isArray([])) }", r#"[["9","true"]]"#),
        ("function(d){ emit(undefined, NaN); emit(1/0) }", r#"[["null","null"],["null","null"]]"#),
        ("function(d){ emit(1); throw('no') }", "[]"),
        ("function(d){ d.n = 4; emit(d.n) }", r#"[["3","null"]]"#),
        (
            "function(d){ log('x'); emit(toJSON({a: [1]}), typeof require) }",
            r#"[["\"{\\\"a\\\":[1]}\"","\"function\""]]"#,
        ),
    ];
    for (code, expected) in cases {
        assert_eq!(serde_json::to_string(&mapped(&script, code, r#"{"n":3}"#)).unwrap(), expected, "{code}");
    }
}

#[test]
fn what_does_not_compile_is_told() {
    let pool = pool(1);
    let script = script(&pool, "a", "{}");
    for code in ["function(doc) {", "1 + 1", "var x = 1"] {
        let error = script.map(code, &["{}".to_owned()]).unwrap_err();
        assert!(matches!(&error, ScriptError::Failed { error, .. } if error == "compilation_error"), "{code}: {error}");
    }
}

#[test]
fn hostile_scripts_end_at_the_deadline_and_harm_nobody_else() {
    let pool = pool(2);
    let deadline = Duration::from_millis(300);
    let hostile = Script::new(pool.clone(), "hostile", "{}", deadline);
    let scripts = [
        "function(doc) { emit(new Array(1e9) + '') }",
        "function(doc) { [].sort.call({length: 2**32-1}, function() { return 0 }) }",
        "function(doc) { for (;;); }",
        "function(doc) { /(a+)+$/.test('a'.repeat(200) + 'b') }",
    ];
    for code in scripts {
        let begun = Instant::now();
        let error = hostile.map(code, &["{}".to_owned()]).map(|(rows, _)| rows);
        // It may also have failed by itself, of memory.
        let ended = matches!(error, Err(ScriptError::Timeout { .. } | ScriptError::Died { .. }))
            || matches!(&error, Ok(rows) if rows[0].is_empty());
        assert!(ended, "{code}: {error:?}");
        assert!(begun.elapsed() < Duration::from_secs(20), "{code} went on");
        let innocent = script(&pool, "innocent", "{}");
        assert_eq!(mapped(&innocent, "function(doc) { emit(1) }", "{}").len(), 1);
    }
}

#[test]
fn memory_is_bounded() {
    let pool = pool(1);
    let script = script(&pool, "a", "{}");
    let code = "function(doc) { var all = []; for (;;) all.push(new Array(1000).fill('x')) }";
    let answer = script.map(code, &["{}".to_owned()]);
    assert!(answer.is_err() || answer.is_ok_and(|(rows, _)| rows[0].is_empty()));
    assert_eq!(mapped(&script, "function(doc) { emit(1) }", "{}").len(), 1);
}

#[test]
fn worlds_do_not_see_each_other() {
    let pool = pool(1);
    let (one, two) = (script(&pool, "one", "{}"), script(&pool, "two", "{}"));
    let taint = "function(doc) { globalThis.emit = null; Array.prototype.map = null; Object.prototype.x = 1; }";
    let _ = one.map(taint, &["{}".to_owned()]);
    assert_eq!(
        mapped(&two, "function(doc) { emit([1].map(n => n + 1), typeof ({}).x) }", "{}"),
        [("[2]".to_owned(), "\"undefined\"".to_owned())]
    );
}

#[test]
fn more_design_documents_than_a_worker_keeps_are_loaded_again() {
    let pool = pool(1);
    for round in 0..2 {
        for number in 0..40 {
            let ddoc = format!(r#"{{"n":"exports.n = {number}"}}"#);
            let script = script(&pool, &format!("d{number}"), &ddoc);
            let rows = mapped(&script, "function(doc) { emit(require('n').n) }", "{}");
            assert_eq!(rows[0].0, number.to_string(), "round {round}");
        }
    }
}

#[test]
fn validation_says_what_was_thrown() {
    let pool = pool(1);
    let code = "function(doc, old, user, sec) { if (doc.t == 1) throw({forbidden: 'no'}); if (doc.t == 2) \
                throw({unauthorized: 'who'}); if (doc.t == 3) throw(new Error('boom')); if (doc.t == 4) \
                throw({forbidden: [old, user.name, sec]}) }";
    let script = script(&pool, "a", &serde_json::json!({ "validate_doc_update": code }).to_string());
    let cases = [
        ("0", "true"),
        ("1", r#"{"forbidden":"no"}"#),
        ("2", r#"{"unauthorized":"who"}"#),
        ("3", r#"{"failed":"Error: boom"}"#),
        ("4", r#"{"forbidden":[null,"ada",{}]}"#),
    ];
    for (t, expected) in cases {
        let doc = format!("{{\"t\":{t}}}");
        let members = [("doc", &*doc), ("old", "null"), ("user", r#"{"name":"ada"}"#), ("security", "{}")];
        assert_eq!(script.ask("validate", &members).unwrap().value.get(), expected);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_function_that_runs_on_ends_with_the_server() {
    use std::io::{BufRead as _, BufReader};
    let folder = tempfile::tempdir().unwrap();
    let mut input = Vec::new();
    let request = br#"{"command":"map","code":"function(doc) { for (;;); }","docs":[{}]}"#;
    for frame in [&b"world"[..], br#"{"command":"load","ddoc":{}}"#, b"world", request] {
        recension_script::frame::write(&mut input, frame).unwrap();
    }
    let file = folder.path().join("input");
    std::fs::write(&file, input).unwrap();
    let worker = env!("CARGO_BIN_EXE_recension-script-worker");
    // A parent that can be killed, and says who its child is.
    let line = format!("{worker} < {} > /dev/null & echo $!; wait", file.display());
    let mut parent =
        std::process::Command::new("sh").args(["-c", &line]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut pid = String::new();
    BufReader::new(parent.stdout.take().unwrap()).read_line(&mut pid).unwrap();
    let status = format!("/proc/{}/status", pid.trim());
    // A process that has ended and that nobody has waited for is a zombie.
    let runs = || std::fs::read_to_string(&status).is_ok_and(|text| !text.contains("State:\tZ"));
    assert!(runs());
    let until = Instant::now() + Duration::from_secs(30);
    // It knows its server from its start on, and has shut itself off from the system when it takes requests.
    while !std::fs::read_to_string(&status).unwrap().contains("Seccomp:\t2") {
        assert!(Instant::now() < until, "it has not begun");
        std::thread::sleep(Duration::from_millis(5));
    }
    parent.kill().unwrap();
    parent.wait().unwrap();
    while runs() {
        assert!(Instant::now() < until, "it still runs");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_function_that_overran_is_not_run_again_at_once() {
    let pool = pool(1);
    let (deadline, looping) = (Duration::from_millis(300), "function(doc){ for(;;); }");
    let script = |name: &str| Script::new(pool.clone(), name, "{}", deadline);
    let failed = |name: &str| script(name).map(looping, &["{}".to_owned()]).unwrap_err();
    assert!(matches!(failed("1:a:1-x"), ScriptError::Timeout { .. }));
    assert!(matches!(failed("1:a:1-x"), ScriptError::Rests { .. }));
    assert!(matches!(failed("1:a:2-y"), ScriptError::Timeout { .. }), "another revision is another function");
    assert_eq!(mapped(&script("1:a:1-x"), "function(doc){ emit(1) }", "{}").len(), 1);
}

/// Databases are numbered on each branch, and a revision may come from elsewhere with another body.
#[test]
fn functions_of_the_same_revision_on_two_branches_are_two() {
    let guard = ScriptGuard::new(Functions { pool: pool(1), deadline: Duration::from_secs(10), log: |_| {} });
    let proposed = Proposed { id: "a", new: "{}", old: None, user: "{}", security: "{}" };
    let rev = "1-967a00dff5e02add41819138abb3284d".parse().unwrap();
    let refused = |branch: u32, code: &str| {
        let body = serde_json::json!({ "validate_doc_update": code }).to_string();
        let validator =
            Validator { collection: "c", branch: BranchId(branch), number: 1, id: "_design/d", rev, body: &body };
        guard.validate(&validator, &proposed).err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert!(refused(0, "function () { throw { forbidden: 'one' } }").contains("one"));
    assert!(refused(0, "function () { throw { forbidden: 'another' } }").contains("another"));
    // What a function leaves behind is not there for the same function of another database.
    let counts = "function () { globalThis.n = (globalThis.n || 0) + 1; throw { forbidden: 'call ' + n } }";
    for (branch, call) in [(0, "call 1"), (0, "call 2"), (7, "call 1"), (0, "call 3")] {
        let reason = refused(branch, counts);
        assert!(reason.contains(call), "{branch}: {reason}");
    }
}

/// To compile a function runs what stands around it.
#[test]
fn a_design_document_that_is_checked_changes_no_other_check() {
    let guard = ScriptGuard::new(Functions { pool: pool(1), deadline: Duration::from_secs(10), log: |_| {} });
    let check = |code: &str| {
        let body = serde_json::json!({ "views": { "v": { "map": code } } }).to_string();
        guard.check_design("_design/d", &body)
    };
    let hostile = "(String.prototype.replace = function () { throw 'mine' }, function (doc) {})";
    check(hostile).unwrap();
    check("function (doc) { emit(1) }").unwrap();
    assert!(check("function (doc) {").is_err());
}

#[test]
fn an_owner_without_a_worker_gets_one_while_another_holds_them_all() {
    let pool = pool(1);
    let holds = Script::new(pool.of("one"), "loop", "{}", Duration::from_mins(2));
    let (told, begun) = std::sync::mpsc::channel();
    // It goes on until the test's process ends, and its worker with it.
    std::thread::spawn(move || {
        told.send(()).unwrap();
        holds.map("function(doc){ for(;;); }", &["{}".to_owned()])
    });
    begun.recv().unwrap();
    // Who had to wait for the loop would be refused: nobody waits for as long.
    let other = Script::new(pool.of("other"), "a", "{}", Duration::from_mins(1));
    assert_eq!(mapped(&other, "function(doc){ emit(1) }", "{}").len(), 1);
}

#[test]
fn a_show_has_the_headers_that_it_begins_with_and_the_type_that_the_client_asked_for() {
    let pool = pool(1);
    let ddoc = serde_json::json!({"shows": {
        "begun": "function () { start({'X-A': 'b'}); send('x'); }",
        "list": "function () { start({headers: {'X-A': 'c'}}); send('x'); }",
        "types": "function () { registerType('foo', 'application/foo', 'application/x-foo');
            provides('html', function () { return 'h'; }); provides('foo', function () { return 'f'; }); }",
    }});
    let script = script(&pool, "a", &ddoc.to_string());
    let shown = |name: &str, accept: &str| {
        let req = serde_json::json!({"headers": {"Accept": accept}, "query": {}, "path": []}).to_string();
        let name = serde_json::json!(name).to_string();
        let answer = script.ask("show", &[("name", &name), ("doc", "{}"), ("req", &req)]).unwrap();
        let answer: serde_json::Value = serde_json::from_str(answer.value.get()).unwrap();
        (answer["headers"].clone(), answer["body"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(shown("begun", "*/*").0["X-A"], "b");
    assert_eq!(shown("list", "*/*").0["X-A"], "c");
    for (accept, of_type, body) in [
        ("application/x-foo", "application/x-foo", "f"),
        ("application/*", "application/foo", "f"),
        ("text/*;q=0.5, image/png", "text/html; charset=utf-8", "h"),
        ("*/*", "text/html; charset=utf-8", "h"),
    ] {
        let (headers, shown) = shown("types", accept);
        assert_eq!((headers["Content-Type"].as_str(), shown.as_str()), (Some(of_type), body), "{accept}");
    }
}

#[test]
fn a_validation_in_another_language_lets_nothing_through() {
    let guard = ScriptGuard::new(Functions { pool: pool(1), deadline: Duration::from_secs(10), log: |_| {} });
    let proposed = Proposed { id: "a", new: "{}", old: None, user: "{}", security: "{}" };
    for (language, passes) in [("javascript", true), ("erlang", false), ("query", false)] {
        let body = format!(r#"{{"language":"{language}","validate_doc_update":"function () {{}}"}}"#);
        let rev = "1-967a00dff5e02add41819138abb3284d".parse().unwrap();
        let branch = BranchId(0);
        let validator = Validator { collection: "c", branch, number: 1, id: "_design/d", rev, body: &body };
        let validated = guard.validate(&validator, &proposed);
        assert_eq!(validated.is_ok(), passes, "{language}: {validated:?}");
    }
}
