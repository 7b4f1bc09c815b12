//! Random selectors, in Mango's JSON, against a naive evaluator over parsed JSON: whatever indexes there are, at the
//! head and in the past, in one piece and in pages. Failures print their seed; `SEED` replays one.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use recension::engine::{Direction, MemoryEngine, Seq};
use recension::{At, Collation, CollectionAt, Error, IndexSpec, Path, Query, Selector, Store, ValueRange, Write};
use serde_json::{Value, json};

use crate::chance::Chance;

fn scalar(chance: &mut Chance) -> Value {
    let values = [json!(0), json!(1), json!(2.5), json!(7), json!("a"), json!("ab"), json!("B"), json!(""), json!("é")];
    match chance.below(12) {
        0 => Value::Null,
        1 => json!(true),
        n => values[(n - 2) % values.len()].clone(),
    }
}

fn value(chance: &mut Chance) -> Value {
    match chance.below(8) {
        0 => Value::Array((0..chance.below(3)).map(|_| scalar(chance)).collect()),
        1 => json!({ "x": scalar(chance) }),
        _ => scalar(chance),
    }
}

fn body(chance: &mut Chance) -> Value {
    let mut body = json!({});
    for name in ["a", "b", "c"] {
        if !chance.one_in(4) {
            body[name] = value(chance);
        }
    }
    if !chance.one_in(3) {
        body["t"] = Value::Array((0..chance.below(4)).map(|_| scalar(chance)).collect());
    }
    if !chance.one_in(3) {
        let item = |chance: &mut Chance| json!({ "s": scalar(chance), "n": chance.below(4) });
        body["o"] = Value::Array((0..chance.below(3)).map(|_| item(chance)).collect());
    }
    body
}

/// What is asked of one value.
fn operators(chance: &mut Chance, depth: usize) -> Value {
    let list = |chance: &mut Chance| Value::Array((0..chance.below(4)).map(|_| scalar(chance)).collect());
    match chance.below(if depth < 2 { 23 } else { 18 }) {
        0 => json!({ "$eq": value(chance) }),
        1 => json!({ "$ne": value(chance) }),
        2 => json!({ "$lt": scalar(chance) }),
        3 => json!({ "$lte": scalar(chance) }),
        4 => json!({ "$gt": scalar(chance) }),
        5 => json!({ "$gte": scalar(chance), "$lt": scalar(chance) }),
        6 => json!({ "$in": list(chance) }),
        7 => json!({ "$nin": list(chance) }),
        8 => json!({ "$exists": chance.one_in(2) }),
        9 => json!({ "$type": (["null", "boolean", "number", "string", "array", "object"][chance.below(6)]) }),
        10 => json!({ "$size": chance.below(3) }),
        11 => json!({ "$all": list(chance) }),
        12 => json!({ "$mod": [3, chance.below(3)] }),
        13 => json!({ "$beginsWith": (["", "a", "B"][chance.below(3)]) }),
        14 => json!({ "$regex": (["^a", "b$", "^ab?", "^(a|B)", "."][chance.below(5)]) }),
        15 => json!({ "$icontains": (["b", "A", "É"][chance.below(3)]) }),
        16 => json!({ "$ieq": (["b", "AB"][chance.below(2)]) }),
        17 => scalar(chance),
        18 => json!({ "$elemMatch": operators_only(chance, depth + 1) }),
        19 => json!({ "$allMatch": operators_only(chance, depth + 1) }),
        20 => json!({ "$keyMapMatch": { "$eq": "x" } }),
        21 => json!({ "$elemMatch": { "s": operators(chance, depth + 1), "n": { "$gt": chance.below(3) } } }),
        _ => json!({ "$not": operators_only(chance, depth + 1) }),
    }
}

fn operators_only(chance: &mut Chance, depth: usize) -> Value {
    loop {
        let asked = operators(chance, depth);
        if asked.is_object() {
            return asked;
        }
    }
}

const PATHS: [&str; 10] = ["a", "b", "c", "a.x", "t", "o", "t.0", "o.1.n", "_id", "none"];

fn selector(chance: &mut Chance, depth: usize) -> Value {
    let many = |chance: &mut Chance| Value::Array((0..=chance.below(3)).map(|_| selector(chance, depth + 1)).collect());
    match chance.below(if depth < 3 { 9 } else { 5 }) {
        5 => json!({ "$and": many(chance) }),
        6 => json!({ "$or": many(chance) }),
        7 => json!({ "$nor": many(chance) }),
        8 => json!({ "$not": selector(chance, depth + 1) }),
        _ => {
            let mut members = serde_json::Map::new();
            for _ in 0..=chance.below(2) {
                let path = PATHS[chance.below(PATHS.len())];
                let asked = if path == "_id" && chance.one_in(2) {
                    json!({ "$in": [format!("d{:02}", chance.below(20)), format!("d{:02}", chance.below(20))] })
                } else {
                    operators(chance, 0)
                };
                members.insert(path.to_owned(), asked);
            }
            Value::Object(members)
        }
    }
}

/// A test of one value, negated or not; `None`: there is no value.
fn holds(asked: &Value, value: Option<&Value>, negated: bool) -> bool {
    let Some(members) = asked.as_object().filter(|members| !members.is_empty()) else {
        return value.is_some_and(|value| compare(value, asked).is_eq() != negated);
    };
    let mut each = members.iter().map(|(name, argument)| member(name, argument, value, negated));
    if negated { each.any(|one| one) } else { each.all(|one| one) }
}

fn member(name: &str, argument: &Value, value: Option<&Value>, negated: bool) -> bool {
    let list = || argument.as_array().unwrap();
    match name {
        "$and" if !negated => list().iter().all(|asked| holds(asked, value, false)),
        "$and" => list().iter().any(|asked| holds(asked, value, true)),
        "$or" if !negated => list().iter().any(|asked| holds(asked, value, false)),
        "$or" => list().iter().all(|asked| holds(asked, value, true)),
        "$nor" if !negated => list().iter().all(|asked| holds(asked, value, true)),
        "$nor" => list().iter().any(|asked| holds(asked, value, false)),
        "$not" => holds(argument, value, !negated),
        "$exists" => ((argument == &json!(true)) != negated) == value.is_some(),
        name if name.starts_with('$') => value.is_some_and(|value| operator(name, argument, value) != negated),
        path => {
            let below = value.and_then(|value| path.split('.').try_fold(value, step));
            holds(argument, below, negated)
        }
    }
}

fn step<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    match value {
        Value::Object(members) => members.get(name),
        Value::Array(elements) => elements.get(name.parse::<usize>().ok()?),
        _ => None,
    }
}

fn operator(name: &str, argument: &Value, value: &Value) -> bool {
    let order = || compare(value, argument);
    let equals = |a: &Value, b: &Value| compare(a, b).is_eq();
    let text = value.as_str();
    let wanted = argument.as_str().unwrap_or_default();
    let elements = value.as_array();
    match name {
        "$eq" => order().is_eq(),
        "$ne" => order().is_ne(),
        "$lt" => order().is_lt(),
        "$lte" => order().is_le(),
        "$gt" => order().is_gt(),
        "$gte" => order().is_ge(),
        "$in" | "$nin" => {
            let one = std::slice::from_ref(value);
            let among = elements.map_or(one, Vec::as_slice);
            let is_in = among.iter().any(|value| argument.as_array().unwrap().iter().any(|other| equals(value, other)));
            is_in == (name == "$in")
        }
        "$type" => ["null", "boolean", "number", "string", "array", "object"][rank(value)] == wanted,
        "$size" => elements.is_some_and(|elements| elements.len() as u64 == argument.as_u64().unwrap()),
        "$all" => elements.is_some_and(|elements| {
            let wanted = argument.as_array().unwrap();
            !wanted.is_empty() && wanted.iter().all(|wanted| elements.iter().any(|element| equals(element, wanted)))
        }),
        "$mod" => value.as_i64().is_some_and(|value| value % 3 == argument[1].as_i64().unwrap()),
        "$beginsWith" => text.is_some_and(|text| text.starts_with(wanted)),
        "$regex" => text.is_some_and(|text| match wanted {
            "^a" | "^ab?" => text.starts_with('a'),
            "b$" => text.ends_with('b'),
            "^(a|B)" => text.starts_with(['a', 'B']),
            _ => !text.is_empty(),
        }),
        "$icontains" => text.is_some_and(|text| text.to_lowercase().contains(&wanted.to_lowercase())),
        "$ieq" => text.is_some_and(|text| text.to_lowercase() == wanted.to_lowercase()),
        "$elemMatch" => elements.is_some_and(|elements| elements.iter().any(|one| holds(argument, Some(one), false))),
        "$allMatch" => elements.is_some_and(|elements| {
            !elements.is_empty() && elements.iter().all(|one| holds(argument, Some(one), false))
        }),
        "$keyMapMatch" => value.as_object().is_some_and(|members| members.contains_key("x")),
        other => unreachable!("{other}"),
    }
}

fn rank(value: &Value) -> usize {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(_) => 2,
        Value::String(_) => 3,
        Value::Array(_) => 4,
        Value::Object(_) => 5,
    }
}

fn compare(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Number(a), Value::Number(b)) => a.as_f64().unwrap().total_cmp(&b.as_f64().unwrap()),
        (Value::String(a), Value::String(b)) => a.cmp(b),
        (Value::Array(a), Value::Array(b)) => {
            let pairs = a.iter().zip(b).map(|(a, b)| compare(a, b));
            pairs.fold(Ordering::Equal, Ordering::then).then(a.len().cmp(&b.len()))
        }
        (Value::Object(a), Value::Object(b)) => {
            let pairs = a.iter().zip(b).map(|(a, b)| a.0.cmp(b.0).then_with(|| compare(a.1, b.1)));
            pairs.fold(Ordering::Equal, Ordering::then).then(a.len().cmp(&b.len()))
        }
        _ => rank(a).cmp(&rank(b)),
    }
}

type State = BTreeMap<String, Value>;

#[derive(Default, Debug)]
struct Seen {
    found: usize,
    through_index: usize,
    unions: usize,
    pages: usize,
}

fn ids(at: &CollectionAt, query: &Query) -> Vec<String> {
    at.find(query).unwrap().map(|document| document.unwrap().id.into_owned()).collect()
}

fn check(at: &CollectionAt, state: &State, asked: &Value, chance: &mut Chance, seen: &mut Seen) {
    let selector = Selector::from_json(asked.to_string()).unwrap();
    let wants = |(id, body): (&String, &Value)| {
        let mut whole = body.clone();
        whole["_id"] = json!(id);
        holds(asked, Some(&whole), false).then(|| id.clone())
    };
    let expected: Vec<String> = state.iter().filter_map(wants).collect();
    let query = Query::new().selecting(selector.clone()).collated(Collation::Binary);
    let plan = at.explain(&query).unwrap();
    let context = || format!("{asked}\n{}\n{plan}\nof {state:#?}", selector.to_json());
    let mut found = ids(at, &query);
    found.sort_unstable();
    assert_eq!(found, expected, "{}", context());
    assert_eq!(at.count_matching(&query).unwrap(), expected.len() as u64, "{}", context());
    assert_eq!(ids(at, &query.clone().without_indexes()), expected, "{}", context());
    seen.found += expected.len();
    seen.through_index += usize::from(plan.index.is_some());
    seen.unions += usize::from(!plan.union.is_empty());

    // Sorted, with a condition beside it, in pages.
    let path: Path = ["a", "b", "_id"][chance.below(3)].parse().unwrap();
    let beside = query.clone().matching(path.clone(), ValueRange::anything());
    let there: Vec<&String> =
        expected.iter().filter(|id| path.to_string() == "_id" || state[*id].get(path.to_string()).is_some()).collect();
    let sorted = beside.sort(path, if chance.one_in(2) { Direction::Forward } else { Direction::Backward });
    let whole = ids(at, &sorted);
    let mut paged = Vec::new();
    let mut cursor = None;
    loop {
        let page = at.page(&sorted.clone().after(cursor).limit(1 + chance.below(3))).unwrap();
        paged.extend(page.documents.iter().map(|document| document.id.to_string()));
        seen.pages += 1;
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(paged, whole, "{}", context());
    let mut whole: Vec<&String> = whole.iter().collect();
    whole.sort_unstable();
    assert_eq!(whole, there, "{}", context());

    // In the order of Unicode whichever way is gone.
    let unicode = query.collated(Collation::Unicode);
    let (mut by_index, scanned) = (ids(at, &unicode), ids(at, &unicode.clone().without_indexes()));
    by_index.sort_unstable();
    assert_eq!(by_index, scanned, "{}", context());

    // Written out it is the same selector.
    let again = Selector::from_json(selector.to_json());
    if let Ok(again) = again {
        let query = Query::new().selecting(again).collated(Collation::Binary).without_indexes();
        assert_eq!(ids(at, &query), expected, "{}", context());
    } else {
        assert!(selector.to_json().contains("$within") || selector.to_json() == "{}", "{}", context());
    }
}

fn run(seed: u64, seen: &mut Seen) {
    let mut chance = Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let store = Store::on(Arc::new(MemoryEngine::new())).unwrap();
    let things = store.collection("things").unwrap();
    let mut state = State::new();
    let mut past: Vec<(Seq, State)> = Vec::new();
    for round in 0..5 {
        let path = ["a", "b", "c", "t[]", "o[].s", "a.x"][chance.below(6)];
        let mut spec = IndexSpec::new(format!("i{round}"), path);
        if chance.one_in(3) && path != "b" {
            spec = spec.then("b");
        }
        if !chance.one_in(3) {
            spec = spec.collated(Collation::Binary);
        }
        things.create_index(spec, |_| {}).unwrap();
        for _ in 0..12 {
            let id = format!("d{:02}", chance.below(40));
            let there = things.get(&id).unwrap();
            match there {
                Some(document) if chance.one_in(5) => {
                    things.write(Write::delete(&id, &document.rev).unwrap()).unwrap();
                    state.remove(&id);
                }
                _ => {
                    let body = body(&mut chance);
                    things.put(&id, body.to_string()).unwrap();
                    state.insert(id, body);
                }
            }
        }
        past.push((store.engine().head(), state.clone()));
        for _ in 0..12 {
            let asked = selector(&mut chance, 0);
            check(&things.at(At::Now).unwrap(), &state, &asked, &mut chance, seen);
            let (seq, then) = past[chance.below(past.len())].clone();
            check(&things.at(At::Seq(seq)).unwrap(), &then, &asked, &mut chance, seen);
        }
    }
}

#[test]
fn selectors_select_what_a_naive_evaluator_does_whatever_indexes_there_are() {
    let seeds = match std::env::var("SEED") {
        Ok(seed) => vec![seed.parse().unwrap()],
        Err(_) => (1..=if std::env::var_os("RECENSION_LONG").is_some() { 100 } else { 30 }).collect::<Vec<u64>>(),
    };
    // One of each kind for a seed, on the average.
    let (replay, least) = (seeds.len() == 1, seeds.len());
    let mut seen = Seen::default();
    for seed in seeds {
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(seed, &mut seen)));
        if let Err(panic) = caught {
            eprintln!("replay with SEED={seed}");
            std::panic::resume_unwind(panic);
        }
    }
    let all = [seen.found, seen.through_index, seen.unions, seen.pages];
    assert!(replay || all.iter().all(|count| *count > least), "the test looks at too little: {seen:?}");
}

/// Lists of values and elements of arrays, which indexes on elements may serve one by one, put together, or not at all.
#[test]
fn lists_and_elements_are_found_by_indexes_on_the_elements_of_arrays() {
    let mut seen = Seen::default();
    for seed in 1..=60_u64 {
        let mut chance = Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let store = Store::on(Arc::new(MemoryEngine::new())).unwrap();
        let things = store.collection("things").unwrap();
        things.create_index(IndexSpec::new("elements", "t[]"), |_| {}).unwrap();
        if chance.one_in(2) {
            things.create_index(IndexSpec::new("whole", "t").collated(Collation::Binary), |_| {}).unwrap();
        }
        if chance.one_in(2) {
            things.create_index(IndexSpec::new("c", "c").then("b"), |_| {}).unwrap();
        }
        let mut state = State::new();
        for _ in 0..60 {
            let id = format!("d{:02}", chance.below(50));
            let body = body(&mut chance);
            things.put(&id, body.to_string()).unwrap();
            state.insert(id, body);
        }
        for _ in 0..12 {
            let list = |chance: &mut Chance, most: usize| -> Value {
                (0..chance.below(most)).map(|_| scalar(chance)).collect::<Vec<_>>().into()
            };
            let all = json!({ "t": { "$all": list(&mut chance, 4) } });
            let any = json!({ "t": { "$in": list(&mut chance, 6) } });
            let element = json!({ "t": { "$elemMatch": { "$in": list(&mut chance, 5) } } });
            let other = json!({ "c": { "$in": list(&mut chance, 6) } });
            let asked = match chance.below(7) {
                0 => all,
                1 => any,
                2 => element,
                3 => json!({ "$and": [all, any] }),
                4 => json!({ "$or": [all, other] }),
                5 => json!({ "$and": [element, other] }),
                _ => json!({ "$or": [element, { "$and": [any, other] }] }),
            };
            check(&things.at(At::Now).unwrap(), &state, &asked, &mut chance, &mut seen);
        }
    }
    assert!(seen.found > 100 && seen.through_index > 100, "the test looks at too little: {seen:?}");
}

#[test]
fn what_is_no_selector_is_refused_in_couchdbs_words() {
    let deep = format!("{}1{}", r#"{"a":"#.repeat(300), "}".repeat(300));
    let deeper = format!("{}1{}", r#"{"$not":{"a":"#.repeat(10_000), "}}".repeat(10_000));
    let wide = format!("{{\"$or\":[{}]}}", vec![r#"{"a":1}"#; 100_000].join(","));
    let long = format!("{{\"a\":{{\"$in\":[{}1]}}}}", "1,".repeat(200_000));
    let pattern = format!(r#"{{"a":{{"$regex":"{}"}}}}"#, "(a|b)".repeat(100_000));
    let grown = r#"{"a":{"$regex":"((a{1000}){1000}){1000}"}}"#;
    assert!(Selector::from_json(deeper).unwrap_err().to_string().contains("deeper than 512"));
    // It finds nothing, as in CouchDB.
    assert!(Selector::from_json(r#"{"a":{"$mod":[0,1]}}"#).is_ok());
    for (text, error) in [
        ("[]", "invalid_selector_json"),
        (r#"{"a":{"$foo":1}}"#, "invalid_operator"),
        (r#"{"a":{"$size":"x"}}"#, "bad_arg"),
        (r#"{"a":{"$mod":[1.5,1]}}"#, "bad_arg"),
        (r#"{"a":{"$where":1}}"#, "not_supported"),
        (r#"{"a":{"$regex":"["}}"#, "bad_arg"),
        (r#"{"$eq":1}"#, "invalid_selector"),
        (&deep, "invalid_selector"),
        (&wide, "invalid_selector"),
        (&long, "invalid_selector"),
        (&pattern, "bad_arg"),
        (grown, "bad_arg"),
    ] {
        let refused = Selector::from_json(text).map(|_| ()).unwrap_err();
        let shown: String = text.chars().take(60).collect();
        match refused {
            recension::Error::BadSelector { error: word, .. } => assert_eq!(word, error, "{shown}"),
            other => panic!("{shown}: {other}"),
        }
    }
}

#[test]
fn alternatives_go_by_several_indexes() {
    let store = Store::memory().unwrap();
    let orders = store.collection("orders").unwrap();
    orders.create_index(IndexSpec::new("by-state", "state"), |_| {}).unwrap();
    orders.create_index(IndexSpec::new("by-sku", "items[].sku"), |_| {}).unwrap();
    for number in 0..500 {
        let state = if number % 100 == 0 { "open" } else { "paid" };
        let body =
            json!({ "state": state, "items": [{ "sku": format!("s{number}"), "n": number % 3 }], "total": number });
        orders.put(&format!("o{number:03}"), body.to_string()).unwrap();
    }
    let at = orders.at(At::Now).unwrap();
    let asked =
        r#"{"$or":[{"state":"open"},{"items":{"$elemMatch":{"sku":"s100"}}},{"items":{"$elemMatch":{"sku":"s7"}}}]}"#;
    let query = Query::new().selecting(Selector::from_json(asked).unwrap());
    let plan = at.explain(&query).unwrap();
    assert_eq!(plan.union.len(), 3, "{plan}");
    // The index on elements says that one of them has the value. The selector says more in general, and is tested.
    assert!(plan.selector.is_some(), "{plan}");
    assert_eq!(ids(&at, &query), ["o000", "o007", "o100", "o200", "o300", "o400"]);
    // What indexes decide wholly is not tested again; what is asked beside it is.
    orders.create_index(IndexSpec::new("by-total", "total"), |_| {}).unwrap();
    let decided = r#""$or":[{"state":"open"},{"total":7}]"#;
    for (beside, tested, found) in [("", false, 6), (r#","items":{"$size":1}"#, true, 6), (r#","no":1"#, true, 0)] {
        let query = Query::new().selecting(Selector::from_json(format!("{{{decided}{beside}}}")).unwrap());
        let at = orders.at(At::Now).unwrap();
        let plan = at.explain(&query).unwrap();
        assert_eq!((plan.union.len(), plan.selector.is_some()), (2, tested), "{beside}: {plan}");
        assert_eq!(ids(&at, &query), ["o000", "o007", "o100", "o200", "o300", "o400"][..found], "{beside}");
        assert_eq!(at.count_matching(&query).unwrap(), found as u64, "{beside}");
    }
    let sorted = query.sort("total", Direction::Backward).limit(2);
    assert_eq!(ids(&at, &sorted), ["o400", "o300"]);
    let ids_of: Vec<String> = (0..500).map(|number| format!("o{number:03}")).collect();
    let many = Query::new().selecting(Selector::from_json(json!({ "_id": { "$in": ids_of } }).to_string()).unwrap());
    assert_eq!(at.explain(&many).unwrap().ranges, 500);
    assert_eq!(at.count_matching(&many).unwrap(), 500);
}

#[test]
fn words_are_asked_for_in_every_spelling_and_at_any_moment() {
    let store = Store::memory().unwrap();
    let notes = store.collection("notes").unwrap();
    notes.put("a", r#"{"text":"Hot soups, and rice","tags":["cold soup"]}"#).unwrap();
    let then = notes.put("b", r#"{"text":"soup, not hot"}"#).unwrap().seq;
    notes.put("b", r#"{"text":"tea"}"#).unwrap();
    notes.put("c", r#"{"text":5}"#).unwrap();
    let ids = |selector: &str, at: At| -> Vec<String> {
        let selector = Selector::from_json(selector).unwrap();
        // What is written out is read again as the same.
        assert_eq!(Selector::from_json(selector.to_json()).unwrap(), selector);
        let found = notes.at(at).unwrap().find(&Query::new().selecting(selector)).unwrap();
        found.map(|document| document.unwrap().id.into_owned()).collect()
    };
    let english = r#"{"text":{"$text":{"$search":"soup hot","$language":"english"}}}"#;
    assert_eq!(ids(english, At::Now), ["a"]);
    assert_eq!(ids(english, At::Seq(then)), ["a", "b"]);
    assert_eq!(ids(r#"{"text":{"$text":"soup"}}"#, At::Now), [""; 0]);
    assert_eq!(ids(r#"{"text":{"$text":"\"hot sou*\""}}"#, At::Now), ["a"]);
    assert_eq!(ids(r#"{"tags":{"$text":"soup -hot"}}"#, At::Now), ["a"]);
    assert_eq!(ids(r#"{"text":{"$not":{"$text":"tea"}}}"#, At::Now), ["a", "c"]);
    for bad in [
        r#"{"a":{"$text":5}}"#,
        r#"{"a":{"$text":""}}"#,
        r#"{"a":{"$text":{"$search":"x","$language":"klingon"}}}"#,
        r#"{"a":{"$text":{"$search":"x","$caseSensitive":true}}}"#,
    ] {
        let refused = Selector::from_json(bad);
        assert!(matches!(refused, Err(Error::BadSelector { error: "bad_arg", .. })), "{bad}: {refused:?}");
    }
}

#[test]
fn texts_are_compared_without_accents_where_that_is_asked_for() {
    let store = Store::memory().unwrap();
    let people = store.collection("people").unwrap();
    for (id, name) in [("a", "José"), ("b", "JOSÉphine"), ("c", "Joe"), ("d", "Don Jose")] {
        people.put(id, json!({ "name": name }).to_string()).unwrap();
    }
    let at = people.at(At::Now).unwrap();
    for (selector, expected) in [
        (json!({ "name": { "$aieq": "jose" } }), &["a"][..]),
        (json!({ "name": { "$aibeginsWith": "JOSÉ" } }), &["a", "b"]),
        (json!({ "name": { "$aicontains": "jose" } }), &["a", "b", "d"]),
        (json!({ "name": { "$icontains": "jose" } }), &["d"]),
        (json!({ "name": { "$not": { "$aicontains": "jose" } } }), &["c"]),
    ] {
        let read = Selector::from_json(selector.to_string()).unwrap();
        assert_eq!(Selector::from_json(read.to_json()).unwrap(), read);
        assert_eq!(ids(&at, &Query::new().selecting(read)), expected, "{selector}");
    }
}
