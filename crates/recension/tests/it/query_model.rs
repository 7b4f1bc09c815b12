//! Random documents, indexes and queries against a naive evaluator over parsed JSON: whatever way a query goes,
//! at the head and at past commits, in one piece and in pages. Failures print their seed; `SEED` replays one.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use icu_collator::options::CollatorOptions;
use icu_collator::{Collator, CollatorPreferences};
use recension::disk::FsDisk;
use recension::engine::{Direction, Durability, MemoryEngine, NativeEngine, NativeOptions, Seq};
use recension::{
    At, Collation, CollectionAt, Condition, Error, IndexSpec, JsonType, Path, Query, Selector, Store, ValueRange,
    ValueSet, Write,
};
use serde_json::Value;

use crate::chance::Chance;

const VALUES: [&str; 24] = [
    "1",
    "1.0",
    "2",
    "-7",
    "2.5",
    "1e1",
    "0",
    "\"a\"",
    "\"A\"",
    "\"á\"",
    "\"ab\"",
    "\"b\"",
    "\"B\"",
    "\"\"",
    "\"a\\u0000b\"",
    "\"\\u0061\"",
    "true",
    "false",
    "null",
    "[1]",
    "[]",
    "{}",
    "{\"x\":1}",
    "[\"a\",null]",
];
const SINGLE: [&str; 4] = ["a", "b", "c.d", "e"];
const MULTIPLE: [&str; 3] = ["t[]", "o[].s", "o[].n"];
/// What a document has beside its body. Its strings are in the order of their bytes, whatever the query says.
const OWN: [&str; 2] = ["_id", "_rev"];

fn body(chance: &mut Chance) -> String {
    let mut members = Vec::new();
    for name in ["a", "b", "e"] {
        if !chance.one_in(4) {
            members.push(format!("\"{name}\":{}", chance.pick(&VALUES)));
        }
    }
    if !chance.one_in(4) {
        members.push(format!("\"c\":{{\"d\":{}}}", chance.below(6)));
    }
    if !chance.one_in(3) {
        let items: Vec<&str> = (0..chance.below(5)).map(|_| chance.pick(&VALUES)).collect();
        members.push(format!("\"t\":[{}]", items.join(",")));
    }
    if chance.one_in(2) {
        let item = |chance: &mut Chance| match chance.below(5) {
            0 => format!("{{\"s\":{}}}", chance.below(4)),
            1 => format!("{{\"n\":{}}}", chance.pick(&VALUES)),
            _ => format!("{{\"n\":{},\"s\":{}}}", chance.pick(&VALUES), chance.below(4)),
        };
        let items: Vec<String> = (0..chance.below(4)).map(|_| item(chance)).collect();
        members.push(format!("\"o\":[{}]", items.join(",")));
    }
    format!("{{{}}}", members.join(","))
}

/// A condition in the test's own terms.
#[derive(Clone, Debug)]
enum Test {
    Within { low: Option<(Value, bool)>, high: Option<(Value, bool)> },
    OneOf(Vec<Value>),
    Prefix(String),
    Type(u8),
    Both(Box<Test>, Box<Test>),
    Either(Box<Test>, Box<Test>),
}

fn value(chance: &mut Chance) -> Value {
    serde_json::from_str(chance.pick(&VALUES)).unwrap()
}

fn test(chance: &mut Chance, depth: usize) -> Test {
    match chance.below(if depth == 0 { 8 } else { 6 }) {
        0 | 1 => Test::OneOf(vec![value(chance)]),
        2 => Test::OneOf((0..chance.below(4)).map(|_| value(chance)).collect()),
        3 => {
            let end = |chance: &mut Chance| (!chance.one_in(3)).then(|| (value(chance), chance.one_in(2)));
            Test::Within { low: end(chance), high: end(chance) }
        }
        4 => Test::Prefix((chance.pick(&["", "a", "A", "á", "ab", "b", "a\0"])).to_owned()),
        5 => Test::Type(chance.below(6) as u8),
        6 => Test::Both(Box::new(test(chance, 1)), Box::new(test(chance, 1))),
        _ => Test::Either(Box::new(test(chance, 1)), Box::new(test(chance, 1))),
    }
}

/// A test of ids, which are `d00` to `d29`.
fn test_of_ids(chance: &mut Chance) -> Test {
    let id = |chance: &mut Chance| Value::from(format!("d{:02}", chance.below(30)));
    match chance.below(6) {
        0 => Test::OneOf(vec![id(chance)]),
        1 => Test::OneOf((0..chance.below(5)).map(|_| id(chance)).collect()),
        2 => Test::Within { low: Some((id(chance), chance.one_in(2))), high: Some((id(chance), chance.one_in(2))) },
        3 => Test::Within { low: chance.one_in(2).then(|| (id(chance), true)), high: None },
        4 => Test::Prefix((chance.pick(&["", "d", "d1", "d2", "d07", "e"])).to_owned()),
        _ => Test::Either(Box::new(Test::OneOf(vec![id(chance)])), Box::new(test(chance, 0))),
    }
}

fn collation_at(path: &str, collation: Collation) -> Collation {
    if OWN.contains(&path) { Collation::Binary } else { collation }
}

impl Test {
    fn range(&self) -> Option<ValueRange> {
        let literal = |value: &Value| recension::Literal::json(value.to_string()).unwrap();
        Some(match self {
            Test::Within { low, high } => {
                let mut range = ValueRange::anything();
                if let Some((value, included)) = low {
                    let value = literal(value);
                    range = range.and(if *included { ValueRange::at_least(value) } else { ValueRange::above(value) });
                }
                if let Some((value, included)) = high {
                    let value = literal(value);
                    range = range.and(if *included { ValueRange::at_most(value) } else { ValueRange::below(value) });
                }
                range
            }
            Test::OneOf(values) if values.len() == 1 => ValueRange::equal(literal(&values[0])),
            Test::Prefix(prefix) => ValueRange::prefix(prefix.clone()),
            Test::Type(rank) => ValueRange::of_type(
                [JsonType::Null, JsonType::Bool, JsonType::Number, JsonType::String, JsonType::Array, JsonType::Object]
                    [usize::from(*rank)],
            ),
            Test::Both(a, b) => a.range()?.and(b.range()?),
            _ => return None,
        })
    }

    fn set(&self) -> Option<ValueSet> {
        match self {
            Test::OneOf(values) => {
                let literals = values.iter().map(|value| recension::Literal::json(value.to_string()).unwrap());
                Some(ValueSet::one_of(literals))
            }
            Test::Either(a, b) => Some(a.set()?.or(b.set()?)),
            _ => self.range().map(ValueSet::from),
        }
    }

    fn meets(&self, collation: Collation, value: &Value) -> bool {
        let order = |other: &Value| compare(collation, value, other);
        match self {
            Test::Within { low, high } => {
                // An end keeps to its type.
                let beyond = |end: &Option<(Value, bool)>, outside: Ordering| {
                    end.as_ref().is_none_or(|(end, included)| {
                        rank(value) == rank(end)
                            && order(end) != outside
                            && (*included || order(end) != Ordering::Equal)
                    })
                };
                beyond(low, Ordering::Less) && beyond(high, Ordering::Greater)
            }
            Test::OneOf(values) => values.iter().any(|other| order(other) == Ordering::Equal),
            Test::Prefix(prefix) => value.as_str().is_some_and(|text| text.starts_with(prefix.as_str())),
            Test::Type(wanted) => rank(value) == *wanted,
            Test::Both(a, b) => a.meets(collation, value) && b.meets(collation, value),
            Test::Either(a, b) => a.meets(collation, value) || b.meets(collation, value),
        }
    }
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(_) => 2,
        Value::String(_) => 3,
        Value::Array(_) => 4,
        Value::Object(_) => 5,
    }
}

fn compare_texts(collation: Collation, a: &str, b: &str) -> Ordering {
    let by_bytes = a.as_bytes().cmp(b.as_bytes());
    match collation {
        Collation::Binary | Collation::Raw => by_bytes,
        Collation::Unicode => {
            let collator = Collator::try_new(CollatorPreferences::default(), CollatorOptions::default()).unwrap();
            collator.compare(a, b).then(by_bytes)
        }
    }
}

fn compare(collation: Collation, a: &Value, b: &Value) -> Ordering {
    let compare = |a, b| compare(collation, a, b);
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Number(a), Value::Number(b)) => a.as_f64().unwrap().partial_cmp(&b.as_f64().unwrap()).unwrap(),
        (Value::String(a), Value::String(b)) => compare_texts(collation, a, b),
        (Value::Array(a), Value::Array(b)) => {
            let pairs = a.iter().zip(b).map(|(a, b)| compare(a, b));
            pairs.fold(Ordering::Equal, Ordering::then).then(a.len().cmp(&b.len()))
        }
        (Value::Object(a), Value::Object(b)) => {
            let pairs =
                a.iter().zip(b).map(|(a, b)| compare_texts(collation, a.0, b.0).then_with(|| compare(a.1, b.1)));
            pairs.fold(Ordering::Equal, Ordering::then).then(a.len().cmp(&b.len()))
        }
        _ => rank(a).cmp(&rank(b)),
    }
}

/// The values at a path of names and empty brackets.
fn values_at<'v>(value: &'v Value, path: &str) -> Vec<&'v Value> {
    let mut found = vec![value];
    for name in path.split('.') {
        let (name, each) = name.strip_suffix("[]").map_or((name, false), |name| (name, true));
        found = found.into_iter().filter_map(|value| value.as_object()?.get(name)).collect();
        if each {
            found = found.into_iter().filter_map(Value::as_array).flatten().collect();
        }
    }
    found
}

/// A query in the test's own terms.
#[derive(Clone, Debug)]
struct Question {
    conditions: Vec<(&'static str, Test)>,
    /// Of each of these, one element of `o` has all.
    elements: Vec<Vec<(&'static str, Test)>>,
    absent: Option<&'static str>,
    sort: Vec<(&'static str, Direction)>,
    collation: Collation,
    /// Bytes that a sort may hold in memory.
    sort_bytes: usize,
}

fn path(text: &str) -> Path {
    text.parse().unwrap()
}

fn any_path(chance: &mut Chance) -> &'static str {
    if chance.one_in(3) { chance.pick(&MULTIPLE) } else { chance.pick(&SINGLE) }
}

fn direction(chance: &mut Chance) -> Direction {
    if chance.one_in(2) { Direction::Forward } else { Direction::Backward }
}

impl Question {
    fn random(chance: &mut Chance) -> Self {
        let sort_path = |chance: &mut Chance| {
            let paths: &[&'static str] = if chance.one_in(4) { &OWN } else { &SINGLE };
            chance.pick(paths)
        };
        let sort: Vec<_> = (0..chance.below(3)).map(|_| (sort_path(chance), direction(chance))).collect();
        let mut conditions: Vec<_> = (0..chance.below(4)).map(|_| (any_path(chance), test(chance, 0))).collect();
        while chance.one_in(3) {
            conditions.push(if chance.one_in(6) { ("_rev", test(chance, 0)) } else { ("_id", test_of_ids(chance)) });
        }
        let member = |chance: &mut Chance| {
            let small = |chance: &mut Chance| Test::OneOf(vec![Value::from(chance.below(4))]);
            let test = if chance.one_in(2) { small(chance) } else { test(chance, 0) };
            (chance.pick(&["s", "n"]), test)
        };
        let mut elements = Vec::new();
        while chance.one_in(3) {
            elements.push((0..=chance.below(3)).map(|_| member(chance)).collect());
        }
        Question {
            conditions,
            elements,
            absent: chance.one_in(8).then(|| any_path(chance)),
            sort,
            sort_bytes: usize::MAX,
            collation: if chance.one_in(3) { Collation::Binary } else { Collation::Unicode },
        }
    }

    fn query(&self) -> Option<Query> {
        let mut query = Query::new().collated(self.collation).sort_bytes_max(self.sort_bytes);
        for (at, test) in &self.conditions {
            query = query.matching(path(at), test.set()?);
        }
        for members in &self.elements {
            let member = |(at, test): &(&str, Test)| Some(Selector::at(path(at), test.set()?));
            let members = members.iter().map(member).collect::<Option<Vec<_>>>()?;
            query = query.selecting(Selector::some_element(path("o"), Selector::all(members)));
        }
        if let Some(at) = self.absent {
            query = query.without(path(at));
        }
        Some(self.sort.iter().fold(query, |query, (at, direction)| query.sort(path(at), *direction)))
    }

    fn wants(&self, body: &Value) -> bool {
        self.conditions.iter().all(|(at, test)| {
            let collation = collation_at(at, self.collation);
            values_at(body, at).into_iter().any(|value| test.meets(collation, value))
        }) && self.elements.iter().all(|members| {
            let has = |element: &&Value, (at, test): &(&str, Test)| {
                element.get(at).is_some_and(|value| test.meets(self.collation, value))
            };
            values_at(body, "o[]").iter().any(|element| members.iter().all(|member| has(element, member)))
        }) && self.absent.is_none_or(|at| values_at(body, at).is_empty())
            && self.sort.iter().all(|(at, _)| !values_at(body, at).is_empty())
    }

    fn order(&self, a: &Value, b: &Value) -> Ordering {
        let one = |(at, direction): &(&str, Direction)| {
            let order = compare(collation_at(at, self.collation), values_at(a, at)[0], values_at(b, at)[0]);
            if *direction == Direction::Forward { order } else { order.reverse() }
        };
        self.sort.iter().map(one).fold(Ordering::Equal, Ordering::then)
    }
}

fn index(chance: &mut Chance, number: usize) -> IndexSpec {
    if chance.one_in(4) {
        // As of the elements that questions ask for.
        let spec = IndexSpec::new(format!("i{number}"), path("o[].s"));
        return if chance.one_in(2) { spec.then(path("o[].n")) } else { spec.then_descending(path("o[].n")) };
    }
    let first = if chance.one_in(3) { chance.pick(&MULTIPLE) } else { chance.pick(&SINGLE) };
    let mut spec = IndexSpec::new(format!("i{number}"), path(first));
    spec.parts[0].direction = direction(chance);
    let mut used = BTreeSet::from([first]);
    for _ in 0..chance.below(3) {
        let next = any_path(chance);
        let array = |path: &str| path.split_once('[').map(|(array, _)| array.to_owned());
        let second_array =
            used.iter().any(|path| array(path).is_some() && array(next).is_some_and(|a| array(path) != Some(a)));
        if !second_array && used.insert(next) {
            let down = chance.one_in(2);
            spec = if down { spec.then_descending(path(next)) } else { spec.then(path(next)) };
        }
    }
    if chance.one_in(3)
        && let Some(set) = test(chance, 0).set()
    {
        spec = spec.only_where(Condition::new(path(any_path(chance)), set));
    }
    if chance.one_in(8)
        && let Some(set) = test_of_ids(chance).set()
    {
        spec = spec.only_where(Condition::new(path("_id"), set));
    }
    if chance.one_in(3) { spec.collated(Collation::Binary) } else { spec }
}

type State = BTreeMap<String, String>;

#[derive(Default, Debug)]
struct Seen {
    through: usize,
    covering: usize,
    by_index: usize,
    in_memory: usize,
    pages: usize,
    by_id: usize,
    /// Asks for elements that an index decides alone.
    elements: usize,
}

fn check(reader: &CollectionAt, state: &State, question: &Question, chance: &mut Chance, seen: &mut Seen) {
    let Some(query) = question.query() else { return };
    let whole = |(id, body): (&String, &String)| {
        let mut whole: Value = serde_json::from_str(body).unwrap();
        whole["_id"] = Value::from(id.as_str());
        whole["_rev"] = Value::from(reader.get(id).unwrap().unwrap().rev.to_string());
        whole
    };
    let parsed: BTreeMap<&str, Value> = state.iter().map(|row| (row.0.as_str(), whole(row))).collect();
    let mut expected: Vec<&str> = parsed.iter().filter(|(_, body)| question.wants(body)).map(|(id, _)| *id).collect();
    expected.sort_by(|a, b| question.order(&parsed[a], &parsed[b]));
    let mut ways = vec![query.clone(), query.clone().without_indexes()];
    ways.extend(reader.indexes().iter().map(|index| query.clone().through(&index.spec.name)));
    for (number, query) in ways.into_iter().enumerate() {
        let found = match reader.find(&query) {
            Err(Error::IndexNotUsable { .. }) if number >= 2 => continue,
            found => found.unwrap(),
        };
        let plan = found.plan();
        let context = || format!("{question:?}\n{plan}\nof {state:#?}");
        seen.through += usize::from(number >= 2);
        seen.by_index += usize::from(plan.sort == recension::PlanSort::ByIndex);
        seen.by_id += usize::from(plan.index.is_none() && !plan.bounds.is_empty() && plan.ranges < 5);
        let by_elements = plan.index.is_some() && plan.selector.is_none() && plan.bounds.len() > 1;
        seen.elements += usize::from(!question.elements.is_empty() && by_elements);
        seen.in_memory += usize::from(plan.sorts_in_memory());
        let ids: Vec<String> = found
            .map(|document| {
                let document = document.unwrap();
                assert_eq!(state.get(&*document.id).map(String::as_str), Some(&*document.body));
                document.id.into_owned()
            })
            .collect();
        same(question, &parsed, &ids, &expected, &context);
        assert_eq!(reader.count_matching(&query).unwrap(), expected.len() as u64, "{}", context());

        // A page somewhere, and all pages one after the other.
        let (skip, limit) = (chance.below(4), chance.below(6));
        let page = reader.find(&query.clone().skip(skip).limit(limit)).unwrap();
        let page: Vec<String> = page.map(|document| document.unwrap().id.into_owned()).collect();
        let there = expected.iter().skip(skip).take(limit).copied().collect::<Vec<_>>();
        assert_eq!(page.len(), there.len(), "{}", context());
        for (got, wanted) in page.iter().zip(there) {
            assert!(question.order(&parsed[got.as_str()], &parsed[wanted]).is_eq(), "{}", context());
        }
        let mut paged = Vec::new();
        let mut cursor = None;
        let size = 1 + chance.below(5);
        loop {
            let token: Option<recension::Cursor> =
                cursor.map(|cursor: recension::Cursor| cursor.to_string().parse().unwrap());
            let mut found = reader.find(&query.clone().after(token).limit(size)).unwrap();
            let before = paged.len();
            paged.extend(found.by_ref().map(|document| document.unwrap().id.into_owned()));
            seen.pages += 1;
            if paged.len() == before {
                break;
            }
            cursor = found.cursor();
        }
        same(question, &parsed, &paged, &expected, &context);
        if number >= 1 {
            assert_eq!(paged, ids, "{}", context());
        }

        let any = [&SINGLE[..], &OWN].concat();
        let selected: Vec<Path> = (0..chance.below(3)).map(|_| path(chance.pick(&any))).collect();
        let query = query.select(selected.clone());
        let rows = reader.select(&query).unwrap();
        let covering = rows.plan().covering;
        seen.covering += usize::from(covering);
        let mut ids = Vec::new();
        for row in rows {
            let row = row.unwrap();
            let text = |path: &Path| match path.to_string().as_str() {
                own @ ("_id" | "_rev") => Some(parsed[row.id.as_str()][own].to_string()),
                _ => path.find(&state[&row.id]).map(str::to_owned),
            };
            let texts: Vec<Option<String>> = selected.iter().map(text).collect();
            assert_eq!(row.values, texts, "covering {covering} {} {}", row.id, context());
            ids.push(row.id);
        }
        same(question, &parsed, &ids, &expected, &context);
    }
}

/// The same documents, and in the order of the question, whatever the order of those alike.
fn same(
    question: &Question,
    parsed: &BTreeMap<&str, Value>,
    ids: &[String],
    expected: &[&str],
    context: &dyn Fn() -> String,
) {
    for pair in ids.windows(2) {
        let order = question.order(&parsed[pair[0].as_str()], &parsed[pair[1].as_str()]);
        assert!(order.is_le(), "{pair:?} {}", context());
    }
    let mut ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let mut expected = expected.to_vec();
    ids.sort_unstable();
    expected.sort_unstable();
    assert_eq!(ids, expected, "{}", context());
}

fn run(seed: u64, seen: &mut Seen) {
    let mut chance = Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    // Some of them have a disk and next to no memory to sort in.
    let folder = tempfile::tempdir().unwrap();
    let on_disk = seed.is_multiple_of(10);
    let store = if on_disk {
        let options = NativeOptions { durability: Durability::Process, ..NativeOptions::default() };
        Store::on(Arc::new(NativeEngine::open(Arc::new(FsDisk::new(folder.path())), options).unwrap())).unwrap()
    } else {
        Store::on(Arc::new(MemoryEngine::new())).unwrap()
    };
    let things = store.collection("things").unwrap();
    let mut state = State::new();
    let mut past: Vec<(Seq, State)> = Vec::new();
    for round in 0..6 {
        if chance.one_in(2) && round > 0 {
            let name = format!("i{}", chance.below(round));
            let _ = things.drop_index(&name);
        }
        things.create_index(index(&mut chance, round), |_| {}).unwrap();
        let mut writes = BTreeMap::new();
        for _ in 0..chance.below(20) {
            let id = format!("d{:02}", chance.below(30));
            let write = match things.get(&id).unwrap() {
                Some(document) if chance.one_in(4) => Write::delete(&id, &document.rev).unwrap(),
                _ => Write::put(&id, body(&mut chance)).unwrap(),
            };
            writes.insert(id, write);
        }
        for (id, write) in &writes {
            if write.is_deletion() {
                state.remove(id);
            } else {
                state.insert(id.clone(), write.body().to_owned());
            }
        }
        for result in things.bulk(writes.into_values()).unwrap() {
            result.unwrap();
        }
        past.push((store.engine().head(), state.clone()));
        for _ in 0..8 {
            let mut question = Question::random(&mut chance);
            if on_disk {
                question.sort_bytes = 300;
            }
            check(&things.at(At::Now).unwrap(), &state, &question, &mut chance, seen);
            let (seq, then) = chance.pick(&past);
            check(&things.at(At::Seq(seq)).unwrap(), &then, &question, &mut chance, seen);
        }
    }
    assert_eq!(store.check(At::Now).unwrap().problems, []);
}

#[test]
fn queries_answer_what_a_naive_evaluator_does_whatever_way_they_go() {
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
    let all = [seen.through, seen.covering, seen.by_index, seen.in_memory, seen.pages, seen.by_id, seen.elements];
    assert!(replay || all.iter().all(|count| *count > least), "the test looks at too little: {seen:?}");
}
