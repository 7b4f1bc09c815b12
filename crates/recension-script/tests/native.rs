//! Map functions that are run without JavaScript emit what JavaScript emits, whatever the document.

use std::time::Duration;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use recension_script::{MapProgram, Pool, Program, Script};

fn script() -> Script {
    let path = env!("CARGO_BIN_EXE_recension-script-worker").into();
    let pool = Pool::new(Program { path, arguments: Vec::new() }, 1);
    Script::new(pool, "native", "{}", Duration::from_mins(1))
}

/// Compares what a function emits and logs for documents.
fn compare(script: &Script, code: &str, documents: &[String]) {
    let program = MapProgram::of(code).unwrap_or_else(|| panic!("is not recognised: {code}"));
    let (rows, log) = script.map(code, documents).unwrap_or_else(|error| panic!("{code}: {error}"));
    let mut own_log = Vec::new();
    for (document, rows) in documents.iter().zip(rows) {
        let own = program.map(document).unwrap_or_else(|why| {
            own_log.push(why);
            Vec::new()
        });
        let own: Vec<(String, String)> = own.into_iter().map(|row| (row.key, row.value)).collect();
        assert_eq!(own, rows, "{code}\n{document}");
    }
    assert_eq!(own_log.len().min(100), log.len(), "{code}: {own_log:?} {log:?}");
    for (own, theirs) in own_log.iter().zip(&log) {
        // Which of the names of a type the engine tells differs.
        assert!(!own.contains("cannot read") || theirs.contains(own), "{code}: {own} {theirs}");
    }
}

fn json() -> BoxedStrategy<String> {
    let leaf = prop_oneof![
        Just("null"),
        Just("true"),
        Just("false"),
        Just("0"),
        Just("-0"),
        Just("1"),
        Just("2"),
        Just("1.50"),
        Just("1e21"),
        Just("1e-7"),
        Just("9007199254740993"),
        Just("123456789.125"),
        Just("\"\""),
        Just("\"a\""),
        Just("\"b\""),
        Just("\"1\""),
        Just("\" 2 \""),
        Just("\"0x10\""),
        Just("\"[object Object]\""),
        Just("\"a,b\""),
        Just("\"é\\n\\u0007\\ud83d\\ude00\""),
        Just("\"\\u2028\\/\\\"\""),
        Just("\"\u{ffff}\""),
        Just("\"xy\u{10000}\""),
    ]
    .prop_map(str::to_owned)
    .boxed();
    let names = prop_oneof![
        4 => Just("a"), 4 => Just("b"), 3 => Just("n"), 3 => Just("tags"), 1 => Just("length"),
        1 => Just("1"), 1 => Just("0"),
        1 => Just("toString"), 1 => Just("valueOf"), 1 => Just("__proto__"), 1 => Just("é"), 1 => Just("link"),
        1 => Just("4294967295"), 1 => Just("01"), 1 => Just("forEach"), 1 => Just("toJSON"),
    ];
    leaf.prop_recursive(4, 24, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|all| format!("[{}]", all.join(","))),
            prop::collection::vec((names.clone(), inner), 0..5).prop_map(|all| {
                let members: Vec<String> = all.into_iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
    .boxed()
}

fn document() -> impl Strategy<Value = String> {
    (json(), json(), json(), json(), 0..16_u8).prop_map(|(a, b, n, tags, left_out)| {
        let members = [("a", a), ("b", b), ("n", n), ("tags", tags)];
        let kept = members.iter().enumerate().filter(|(at, _)| left_out & (1 << at) == 0 || left_out == 15);
        let members: Vec<String> = kept.map(|(_, (name, value))| format!(",\"{name}\":{value}")).collect();
        format!("{{\"_id\":\"x\",\"_rev\":\"1-0\"{}}}", members.concat())
    })
}

/// Functions as people write them.
const PEOPLES: &[&str] = &[
    "function(doc) { emit(doc._id, null); }",
    "function (doc) {\n  if (doc.a) {\n    emit(doc.a, doc.b)\n  }\n}\n",
    "function map(doc) { if (doc.a === 'a' && doc.n) emit([doc.n, doc.b.a], {n: doc.n, \"1\": doc.tags}); \
     else emit(null) };",
    "doc => emit(doc.a)",
    "(doc) => { if (!doc.tags) return; doc.tags.forEach(tag => emit(tag, 1)) }",
    "function(doc) { doc.tags && doc.tags.forEach(function (tag, i) { emit([tag, i], doc.tags.length); }); }",
    "function(doc) { if (doc.a && isArray(doc.a)) doc.a.forEach(function (x) { x.a.forEach(y => emit(y, x.b)) }) }",
    "function(doc) { emit(doc, doc) }",
    "function(doc) { emit(doc.a == null, doc.b != undefined) }",
    "function(doc) { emit(doc.a == doc.b, doc.a === doc.b); emit(doc.a == doc.a, doc.a !== doc.a) }",
    "function(doc) { emit(doc.a < doc.b, doc.a >= doc.b) }",
    "function(doc) { emit(doc.a + doc.b, doc.a - doc.b) }",
    "function(doc) { emit('' + doc.a, -doc.b); emit(+doc.n, doc.n * 1.5 / 7 % 3) }",
    "function(doc) { emit(typeof doc.a, typeof doc.b.a) }",
    "function(doc) { emit(doc.a.b.n) }",
    "function(doc) { emit(doc.a ? doc.b : doc.n, doc.a || doc.b && doc.n) }",
    "function(doc) { emit(doc.a[0], doc.b['a']); emit(doc.tags.length, doc.a.length) }",
    "function(doc) { emit([], {}); emit([undefined, NaN, [null]], {a: undefined, b: Infinity, c: -0}) }",
    "function(doc) { emit(1); doc.a.b; emit(2) }",
    "function(doc) { const a = doc.a, n = doc.n; if (n > 1 || n <= 0) { let m = n; emit(m, a) } }",
    "function(doc) { emit(doc.link, doc.length); emit(doc['1'], doc.forEach) }",
    "function(doc, x) { // a comment\n 'use strict'; /* another */ emit(doc.tags) /* a; b\n */ return\n }",
    "function() { emit(1, 'x') }",
    "function(doc) { emit({b: 1, a: 2, 10: 3, 9: 4}) }",
    "function(doc) { emit({'b': 1, 'a': 2, '10': 3, '9': 4, 'b': doc.a}) }",
    "function(doc) { emit({toString: 1} == doc.a) }",
    "function(doc) { emit(doc.a + [doc.b, doc.n] + {a: 1}) }",
    "function(doc) { emit(Array.isArray(doc.a), emit(doc.n)) }",
    "function(doc) { return emit(doc.a) }",
    "function(doc) { emit(doc.a)\n[0] }",
];

/// Documents of one seed, which proptest prints nowhere: they are the same in every run.
fn documents(count: usize) -> Vec<String> {
    let mut runner = TestRunner::deterministic();
    (0..count).map(|_| document().new_tree(&mut runner).unwrap().current()).collect()
}

#[test]
fn functions_as_people_write_them_emit_what_javascript_emits() {
    let script = script();
    let documents = documents(400);
    for code in PEOPLES {
        if code.contains("10: 3") {
            assert!(MapProgram::of(code).is_none(), "{code}");
            continue;
        }
        compare(&script, code, &documents);
    }
}

#[test]
fn what_is_not_surely_understood_is_left_to_javascript() {
    for code in [
        "function(doc) { emit(doc.toString) }",
        "function(doc) { emit(doc.a.link) }",
        "function(doc) { emit(doc.constructor.name) }",
        "function(doc) { emit(doc[doc.a]) }",
        "function(doc) { emit(doc.a.toLowerCase()) }",
        "function(doc) { doc.a = 1; emit(doc.a) }",
        "function(doc) { var a = 1; a++; emit(a) }",
        "function(doc) { for (var i in doc) emit(i) }",
        "function(doc) { emit(a) }",
        "function(doc) { emit(a); var a = 1 }",
        "function(doc) { if (doc.a) { var a = 1 } emit(a) }",
        "function(doc) { if (doc.a) var a = 1 }",
        "function(doc) { let a = 1; let a = 2 }",
        "function(emit) { emit(1) }",
        "function emit(doc) { emit(1) }",
        "function(undefined) { emit(undefined) }",
        "function(doc, doc) { emit(doc.a) }",
        "function(doc) { if (doc.a) emit(1) else emit(2) }",
        "function(doc) { emit(1) emit(2) }",
        "function(doc) { emit(1)\n(2) }",
        "function(doc) { doc.a = doc.b\n/x/.test('') }",
        "function(doc) { emit(this) }",
        "function(doc) { emit(arguments) }",
        "function(doc) { emit(log('x')) }",
        "function(doc) { emit(a => 1) }",
        "function(doc) { emit({__proto__: doc.a}) }",
        "function(doc) { emit({a}) }",
        "function(doc) { doc.a.forEach(x => doc.b.forEach(y => emit(x, y))) }",
        "function(doc) { doc.a.forEach(x => x.forEach(y => doc.a.forEach(z => emit(1)))) }",
        "function(doc) { emit(doc?.a) }",
        "function(doc) { emit(doc.a ?? 1) }",
        "function(doc) { emit(`x`) }",
        "function(doc) { emit(1, 2, 3) }",
        "function*(doc) { emit(1) }",
        "async function(doc) { emit(1) }",
        "async doc => emit(1)",
        "doc\n=> emit(1)",
        "function(doc) { emit(1) } }",
        "function(doc) { emit(1) }(2)",
        "function(doc) { emit(1) };; // x;",
        "function(doc) { emit(1) } // <!-- x",
        "function(doc) { emit(-doc.a ** 2) }",
        "function({a}) { emit(a) }",
        "function(doc = 1) { emit(doc) }",
        "function(doc) { emit(!doc.a in doc) }",
        "function(doc) { throw doc }",
        "function(doc) { while (true) emit(1) }",
    ] {
        assert!(MapProgram::of(code).is_none(), "{code}");
    }
    assert!(MapProgram::of(&format!("function(d) {{ emit({}1) }}", "!".repeat(5000))).is_none());
    assert!(MapProgram::of(&format!("function(d) {{ emit({}1{}) }}", "(".repeat(5000), ")".repeat(5000))).is_none());
}

#[test]
fn texts_are_ordered_by_their_code_units() {
    let documents = [("\\uffff", "\\ud800\\udc00"), ("a", "B"), ("", "a"), ("é", "z")]
        .map(|(a, b)| format!("{{\"_id\":\"x\",\"a\":\"{a}\",\"b\":\"{b}\"}}"));
    compare(&script(), "function(doc) { emit(doc.a < doc.b, doc.a > doc.b) }", &documents);
}

/// Expressions of any of the forms that are recognised.
fn expression() -> BoxedStrategy<String> {
    let leaf = prop_oneof![
        3 => prop_oneof![Just("doc.a"), Just("doc.b"), Just("doc.n"), Just("doc.tags"), Just("doc.a.b"),
            Just("doc.tags[1]")],
        2 => prop_oneof![
            Just("undefined"), Just("null"), Just("true"), Just("0"), Just("1"), Just("2.5"), Just("NaN"), Just("''"),
            Just("'a'"), Just("'1'"), Just("[]"), Just("{}"), Just("'\\u00e9'"), Just("doc"), Just("\"a,b\""),
        ],
    ]
    .prop_map(str::to_owned);
    leaf.prop_recursive(4, 20, 3, |inner| {
        let operators = prop_oneof![
            Just("=="),
            Just("!="),
            Just("==="),
            Just("!=="),
            Just("<"),
            Just(">"),
            Just("<="),
            Just(">="),
            Just("+"),
            Just("-"),
            Just("*"),
            Just("/"),
            Just("%"),
            Just("&&"),
            Just("||"),
        ];
        prop_oneof![
            4 => (inner.clone(), operators, inner.clone(), any::<bool>()).prop_map(|(a, operator, b, brackets)| {
                if brackets { format!("({a}) {operator} ({b})") } else { format!("{a} {operator} {b}") }
            }),
            1 => (inner.clone(), prop_oneof![Just("!"), Just("-"), Just("+"), Just("typeof ")])
                .prop_map(|(a, operator)| format!("{operator}({a})")),
            1 => (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("({a} ? {b} : {c})")),
            1 => prop::collection::vec(inner.clone(), 0..3).prop_map(|all| format!("[{}]", all.join(", "))),
            1 => (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("({{a: {a}, 'b': {b}}})")),
            1 => (inner.clone(), prop_oneof![Just(".a"), Just(".length"), Just("[0]"), Just("['b']")])
                .prop_map(|(a, member)| format!("({a}){member}")),
            1 => inner.prop_map(|a| format!("isArray({a})")),
        ]
    })
    .boxed()
}

fn statement() -> BoxedStrategy<String> {
    let emit = (expression(), expression()).prop_map(|(key, value)| format!("emit({key}, {value});"));
    emit.boxed()
        .prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                (expression(), inner.clone()).prop_map(|(condition, then)| format!("if ({condition}) {then}")),
                (expression(), inner.clone(), inner.clone())
                    .prop_map(|(condition, then, other)| format!("if ({condition}) {{ {then} }} else {other}")),
                (expression(), inner.clone())
                    .prop_map(|(condition, then)| format!("if ({condition}) {{ {then} return }}")),
                prop::collection::vec(inner, 1..3).prop_map(|all| format!("{{ {} }}", all.join("\n"))),
                expression().prop_map(|condition| format!("({condition}) && emit(doc.n);")),
            ]
        })
        .boxed()
}

#[test]
fn any_function_of_the_recognised_forms_emits_what_javascript_emits() {
    let script = script();
    let cases = std::env::var("NATIVE_MAPS").ok().and_then(|cases| cases.parse().ok()).unwrap_or(600);
    let mut runner = TestRunner::deterministic();
    let loops = "(doc.tags || []).forEach((tag, at) => { emit(tag, at); \
         if (tag.a) tag.a.forEach(function (b) { emit(b, tag) }) });";
    for case in 0..cases {
        let body = statement().new_tree(&mut runner).unwrap().current();
        let documents: Vec<String> = (0..20).map(|_| document().new_tree(&mut runner).unwrap().current()).collect();
        let code = format!("function (doc) {{ {} {body} }}", if case % 4 == 0 { loops } else { "" });
        compare(&script, &code, &documents);
    }
}

/// Pieces that a function is spoilt with.
const PIECES: [&str; 40] = [
    "doc",
    "emit",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    ";",
    "\n",
    ",",
    ".",
    "=>",
    "=",
    "==",
    "function",
    "return",
    "if",
    "else",
    "var x = doc.a;",
    "let y = 1;",
    "x",
    "y",
    "'a'",
    "\"",
    "/",
    "//",
    "/*",
    "*/",
    "!",
    "-",
    "--",
    "?",
    ":",
    "&&",
    "0",
    "1.5",
    "typeof ",
    "in",
    "forEach",
];

#[test]
fn a_function_that_was_spoilt_and_is_still_recognised_emits_what_javascript_emits() {
    let script = script();
    let documents = documents(30);
    let mut seed = std::env::var("RECENSION_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1_u64);
    let mut below = |most: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % most.max(1)
    };
    let mut recognised = 0;
    for _ in 0..20_000 {
        let mut code: Vec<char> = PEOPLES[below(PEOPLES.len())].chars().collect();
        for _ in 0..=below(3) {
            let at = below(code.len());
            match below(4) {
                0 => drop(code.drain(at..(at + 1 + below(8)).min(code.len()))),
                1 => {
                    let other: Vec<char> = PEOPLES[below(PEOPLES.len())].chars().collect();
                    let from = below(other.len());
                    code.splice(at..at, other[from..(from + below(20)).min(other.len())].iter().copied());
                }
                _ => drop(code.splice(at..at, PIECES[below(PIECES.len())].chars())),
            }
        }
        let code: String = code.into_iter().collect();
        if MapProgram::of(&code).is_some() {
            recognised += 1;
            compare(&script, &code, &documents);
        }
    }
    assert!(recognised > 300, "{recognised}");
}
