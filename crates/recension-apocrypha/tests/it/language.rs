//! The language by properties: the store answers as a map in memory does, both dialects agree where they have to, and
//! nothing that is said breaks anything.

use proptest::prelude::*;
use recension::Store;
use recension_apocrypha::language::{Fault, MemoryRoot, evaluate, parse};
use recension_apocrypha::{Database, Dialect, Value};

const WORDS: [&str; 30] = [
    "a",
    "b",
    "c",
    "a b",
    "_a",
    "$a",
    "é",
    "!a",
    "!b",
    "!a b",
    "!",
    "-c",
    "--strict",
    "-s",
    "=",
    "+",
    "-",
    "--keys",
    "--edit",
    "--set",
    "--del",
    "--pop",
    "@",
    "[\"a\",\"b\"]",
    "{\"a\":{\"_a\":0},\"c\":[]}",
    "\"!a\"",
    "[1.0,[],[\"x\"],{}]",
    "false",
    "--history",
    "--timing",
];

fn command() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&WORDS[..]), 0..6).prop_map(|words| words.join("\n"))
}

/// A command that mostly writes something at a path.
fn plain() -> impl Strategy<Value = String> {
    let keys = || prop::collection::vec(prop::sample::select(&["a", "b", "c", "d e"][..]), 1..3);
    let values = || prop::collection::vec(prop::sample::select(&["x", "y", "z", "x y"][..]), 2..4);
    let line = |words: Vec<&str>| words.join("\n");
    prop_oneof![
        (keys(), values()).prop_map(move |(path, values)| line([path, vec!["="], values].concat())),
        (keys(), values()).prop_map(move |(path, values)| line([path, vec!["+"], values].concat())),
        keys().prop_map(move |path| line([path, vec!["--del"]].concat())),
        keys().prop_map(move |path| line([path, vec!["--edit"]].concat())),
        keys().prop_map(move |path| line([path, vec!["--set", r#"{"a":{"c":"x"},"b":["y","z"]}"#]].concat())),
    ]
}

/// The reply of a map in memory, and what it then is.
fn modelled(root: &mut MemoryRoot, request: &str, dialect: &Dialect) -> Result<Vec<String>, String> {
    let command = parse(request, dialect)?;
    let mut changed = root.clone();
    match evaluate(&command, dialect, &mut changed) {
        Ok(effect) => {
            *root = changed;
            Ok(effect.lines)
        }
        Err(Fault::Refused(why)) => Err(why),
        Err(other) => panic!("{other:?}"),
    }
}

fn database(dialect: Dialect) -> Database {
    Database::on(&Store::memory().unwrap(), dialect).unwrap()
}

fn contents(database: &Database) -> MemoryRoot {
    let mut members = MemoryRoot::new();
    database
        .each_member(recension::At::Now, &mut |name, value| {
            members.insert(name.to_owned(), value);
            Ok(())
        })
        .unwrap();
    members
}

#[test]
fn a_name_that_is_too_long_for_a_member_is_refused_by_the_store_and_by_the_model() {
    for dialect in Dialect::ALL {
        let (database, mut model) = (database(dialect), MemoryRoot::new());
        for (bytes, refused) in [(2048, false), (2049, true)] {
            let request = format!("{}\n=\n1", "x".repeat(bytes));
            let said = modelled(&mut model, &request, &dialect);
            assert_eq!(said.is_err(), refused, "{bytes}");
            assert_eq!(database.answer(&request).starts_with("error: "), refused, "{bytes}");
            assert_eq!(contents(&database), model);
        }
    }
}

#[test]
fn a_command_that_writes_one_member_at_several_places_sees_what_it_has_written() {
    for dialect in Dialect::ALL {
        // A short one, and one that is long enough for its parts to be kept in memory.
        for filling in [1, 9000] {
            let (database, mut model) = (database(dialect), MemoryRoot::new());
            let long = format!("a\n--set\n{{\"b\":\"{}\",\"n\":[\"0\",\"1\"]}}", "x".repeat(filling));
            for request in [
                &long,
                "refs\n=\na\na\na",
                "!refs\nn\n+\n2",
                "!refs\nn\n--pop",
                "refs\n=\na m\na k\na m",
                "!refs\n+\n3",
                "a\n--edit",
            ] {
                let expected = modelled(&mut model, request, &dialect).map(|lines| lines.join("\n"));
                let reply = database.answer(request);
                assert_eq!(Ok(reply.strip_suffix('\n').unwrap_or(&reply)), expected.as_deref(), "{request}");
                assert_eq!(contents(&database), model, "{request}");
            }
            // References of one dialect are paths, those of the other are members of the top level.
            if dialect.references_are_paths {
                let at = |word: &str| model.get("a").and_then(|a| a.at(&[word.to_owned()])).map(Value::to_json);
                assert_eq!((at("m").as_deref(), at("k").as_deref()), (Some(r#"["3","3"]"#), Some(r#""3""#)));
            }
        }
    }
}

#[test]
fn what_is_there_already_is_not_written_again() {
    for dialect in Dialect::ALL {
        let database = database(dialect);
        let head = || database.collection().store().engine().head();
        for request in
            ["a\n=\nx", "a\n=\nx\ny", "a\n=\nz", "b\n--set\n{\"k\":{\"l\":1}}", "b\nk\nm\n=\nx", "$_\n=\n\"\\"]
        {
            for writes in [true, false] {
                let before = head();
                assert!(!database.answer(request).starts_with("error: "), "{request}");
                assert_eq!(head() > before, writes, "{request}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn the_store_answers_as_a_map_in_memory_does(
        requests in prop::collection::vec(command(), 1..20), python: bool, large: bool,
    ) {
        let dialect = if python { Dialect::PYTHON } else { Dialect::HASKELL };
        let (database, mut model) = (database(dialect), MemoryRoot::new());
        // Long enough for its parts to be kept in memory.
        let long = format!("a\n--set\n{{\"b\":\"{}\",\"c\":{{\"a\":[\"b\",\"c\"]}},\"a\":\"!b\"}}", "x".repeat(5000));
        let requests = large.then_some(long).into_iter().chain(requests);
        for request in requests {
            let reply = database.answer(&request);
            let expected = match modelled(&mut model, &request, &dialect) {
                Ok(lines) => lines.join("\n"),
                Err(why) => format!("error: {why}"),
            };
            // The store's clock and history are no part of the model.
            if !parse(&request, &dialect).is_ok_and(|command| command.timing || command.history) {
                prop_assert_eq!(reply.strip_suffix('\n').unwrap_or(&reply), expected, "{:?}", request);
            }
            prop_assert_eq!(contents(&database), model.clone(), "{:?}", request);
        }
    }

    #[test]
    fn both_dialects_do_the_same_with_objects_and_lists_of_several(requests in prop::collection::vec(plain(), 1..20)) {
        let mut models = [MemoryRoot::new(), MemoryRoot::new()];
        for request in requests {
            let replies: Vec<_> = models.iter_mut().zip(Dialect::ALL)
                .map(|(model, dialect)| modelled(model, &request, &dialect).map_err(|_| ())).collect();
            prop_assert_eq!(&replies[0], &replies[1], "{:?}", request);
            prop_assert_eq!(&models[0], &models[1], "{:?}", request);
        }
    }

    #[test]
    fn whatever_is_said_is_answered_and_the_top_stays_whole(text in "(\\PC|\n){0,60}", json in "[\\[\\]{}\",:a1.e-]{0,20}") {
        for dialect in Dialect::ALL {
            let database = database(dialect);
            for request in [text.clone(), format!("a\n--set\n{json}"), format!("--set\n{json}"), format!("a\n{text}"), "!a\n--edit".into()] {
                let reply = database.answer(&request);
                prop_assert!(dialect.newline_at_end || !reply.ends_with('\n') || !reply.starts_with("error"), "{:?}", reply);
                prop_assert!(matches!(Value::parse(&database.answer("--edit")), Ok(Value::Object(_))));
            }
        }
    }
}
