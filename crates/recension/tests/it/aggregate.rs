//! Aggregation: groups, arrays that are taken apart, what stands behind the groups, MongoDB's words, and bounds.

use crate::chance::Chance;
use recension::engine::Direction;
use recension::{At, Collation, Error, Fold, IndexSpec, IntoPath, Pipeline, Query, Selector, Store, ValueRange};

fn sales() -> recension::Collection {
    let sales = Store::memory().unwrap().collection("sales").unwrap();
    for (id, body) in [
        ("1", r#"{"c":{"land":"PT"},"total":3,"items":[{"sku":"a","n":1},{"sku":"b","n":2}]}"#),
        ("2", r#"{"c":{"land":"NO"},"total":5.5,"items":[{"sku":"a","n":4}]}"#),
        ("3", r#"{"c":{"land":"PT"},"total":4,"items":[]}"#),
        ("4", r#"{"total":9223372036854775807}"#),
        ("5", r#"{"total":"none","c":{"land":"NO"},"items":[{"sku":"b"}]}"#),
    ] {
        sales.put(id, body).unwrap();
    }
    sales
}

fn folds() -> Vec<(&'static str, Fold)> {
    let path = || "total".parse().unwrap();
    vec![
        ("n", Fold::Count),
        ("sum", Fold::Sum(path())),
        ("avg", Fold::Average(path())),
        ("min", Fold::Min(path())),
        ("max", Fold::Max(path())),
        ("first", Fold::First(path())),
        ("last", Fold::Last(path())),
        ("all", Fold::Collect(path())),
        ("set", Fold::Distinct(path())),
    ]
}

#[test]
fn groups_say_what_their_documents_come_to() {
    let sales = sales();
    let by_land = Pipeline::new().group(["c.land"], folds());
    let query = Query::new().sort("_id", Direction::Forward);
    let expected = [
        r#"{"c.land":null,"n":1,"sum":9223372036854775807,"avg":9.223372036854776e18,"min":9223372036854775807,"max":9223372036854775807,"first":9223372036854775807,"last":9223372036854775807,"all":[9223372036854775807],"set":[9223372036854775807]}"#,
        r#"{"c.land":"NO","n":2,"sum":5.5,"avg":5.5,"min":5.5,"max":"none","first":5.5,"last":"none","all":[5.5,"none"],"set":[5.5,"none"]}"#,
        r#"{"c.land":"PT","n":2,"sum":7,"avg":3.5,"min":3,"max":4,"first":3,"last":4,"all":[3,4],"set":[3,4]}"#,
    ];
    assert_eq!(sales.aggregate(&query, &by_land).unwrap(), expected);
    let nobody = Query::new().matching("total", ValueRange::equal("x"));
    let of_all = Pipeline::new().group([""; 0], [("n", Fold::Count), ("sum", Fold::sum("total"))]);
    assert_eq!(sales.aggregate(&nobody, &of_all).unwrap(), [r#"{"n":0,"sum":0}"#]);
    // As of before.
    let then = sales.at(At::Now).unwrap();
    sales.put("6", r#"{"c":{"land":"PT"},"total":1}"#).unwrap();
    assert_eq!(then.aggregate(&query, &by_land).unwrap(), expected);
}

#[test]
fn arrays_are_taken_apart_element_by_element() {
    let sales = sales();
    let folds =
        [("n", Fold::Count), ("sold", Fold::sum("items[].n")), ("lands", Fold::Distinct("c.land".parse().unwrap()))];
    let by_sku = Pipeline::new().group(["items[].sku"], folds);
    let expected = [
        r#"{"items.sku":"a","n":2,"sold":5,"lands":["NO","PT"]}"#,
        r#"{"items.sku":"b","n":2,"sold":2,"lands":["NO","PT"]}"#,
    ];
    assert_eq!(sales.aggregate(&Query::new(), &by_sku).unwrap(), expected);
    let two = Pipeline::new().group(["items[].sku", "tags[]"], [("n", Fold::Count)]);
    assert!(matches!(sales.aggregate(&Query::new(), &two), Err(Error::BadQuery { .. })));
}

#[test]
fn pipelines_are_read_in_mongodbs_words() {
    let sales = sales();
    let rows = |text: &str| sales.aggregate(&Query::new(), &Pipeline::from_json(text).unwrap()).unwrap();
    assert_eq!(
        rows(
            r#"[{"$match":{"total":{"$type":"number"}}},{"$group":{"_id":"$c.land","n":{"$sum":1},"sum":{"$sum":"$total"}}},
                {"$match":{"n":{"$gte":1},"_id":{"$ne":null}}},{"$sort":{"sum":-1}},{"$limit":1},{"$project":{"land":"$_id","sum":1}}]"#
        ),
        [r#"{"land":"PT","sum":7}"#]
    );
    assert_eq!(
        rows(r#"[{"$unwind":"$items"},{"$group":{"_id":{"sku":"$items.sku"},"n":{"$max":"$items.n"}}},{"$skip":1}]"#),
        [r#"{"_id":{"sku":"b"},"n":2}"#]
    );
    assert_eq!(rows(r#"[{"$match":{"c.land":"PT"}},{"$count":"found"}]"#), [r#"{"found":2}"#]);
    assert_eq!(
        rows(r#"[{"$group":{"_id":null,"lands":{"$addToSet":"$c.land"}}}]"#),
        [r#"{"_id":null,"lands":["NO","PT"]}"#]
    );
    assert_eq!(rows(r#"[{"$sort":{"_id":-1}},{"$limit":1},{"$project":{"_id":1}}]"#), [r#"{"_id":"5"}"#]);
    for text in [
        "{}",
        r#"[{"$match":{},"$limit":1}]"#,
        r#"[{"$lookup":{}}]"#,
        r#"[{"$group":{"n":{"$sum":1}}}]"#,
        r#"[{"$group":{"_id":null,"n":{"$median":"$a"}}}]"#,
        r#"[{"$sort":{"a":"up"}}]"#,
        r#"[{"$limit":-1}]"#,
        r#"[{"$match":{"a":{"$foo":1}}}]"#,
        &format!("[{}{{\"$limit\":1}}]", r#"{"$limit":1},"#.repeat(100)),
    ] {
        assert!(matches!(Pipeline::from_json(text), Err(Error::BadSelector { .. })), "{text}");
    }
}

/// A pipeline's rows, or what its error says.
fn told(sales: &recension::Collection, text: &str) -> String {
    let rows = Pipeline::from_json(text).and_then(|pipeline| sales.aggregate(&Query::new(), &pipeline));
    rows.map_or_else(|error| error.to_string(), |rows| rows.join(" "))
}

#[test]
fn every_word_of_a_pipeline_is_obeyed_or_named() {
    let sales = Store::memory().unwrap().collection("sales").unwrap();
    for (id, body) in [
        ("a", r#"{"k":"x","n":0.1,"items":[{"sku":1,"q":{"r":2}},{"sku":2},3,[{"sku":4}]],"l":[1,2]}"#),
        ("b", r#"{"k":null,"n":0.2,"items":{"sku":5},"l":[]}"#),
        ("c", r#"{"n":12345678901234567890,"l":null}"#),
        ("d", r#"{"k":"x","n":1e308,"l":7}"#),
    ] {
        sales.put(id, body).unwrap();
    }
    let no_revs = r#"{"$project":{"_rev":0}}"#;
    for (pipeline, answer) in [
        // Variables, and paths through arrays.
        (
            r#"[{"$match":{"_id":"b"}},{"$group":{"_id":"$$ROOT.k","of":{"$first":"$$CURRENT.n"}}}]"#,
            r#"{"_id":null,"of":0.2}"#,
        ),
        (
            &format!(
                r#"[{{"$match":{{"_id":"d"}}}},{no_revs},{{"$group":{{"_id":null,"all":{{"$push":"$$ROOT"}}}}}}]"#
            ),
            r#"{"_id":null,"all":[{"_id":"d","k":"x","n":1e308,"l":7}]}"#,
        ),
        (r#"[{"$group":{"_id":null,"s":{"$push":"$items.sku"}}}]"#, r#"{"_id":null,"s":[[1,2],5]}"#),
        (r#"[{"$match":{"_id":"a"}},{"$group":{"_id":"$items.q.r"}}]"#, r#"{"_id":[2]}"#),
        (r#"[{"$group":{"_id":"$$NOW"}}]"#, "$$NOW is no variable"),
        (r#"[{"$project":{"t":"$$REMOVE"}}]"#, "$$REMOVE is no variable"),
        // A group's id is null without a value; a member of it is not there.
        (r#"[{"$group":{"_id":"$k","n":{"$sum":1.0}}}]"#, r#"{"_id":null,"n":2} {"_id":"x","n":2}"#),
        (
            r#"[{"$group":{"_id":{"k":"$k"},"n":{"$count":{}}}}]"#,
            r#"{"_id":{},"n":1} {"_id":{"k":null},"n":1} {"_id":{"k":"x"},"n":2}"#,
        ),
        (r#"[{"$group":{"_id":null,"f":{"$first":"$k"},"l":{"$last":"$items"}}}]"#, r#"{"_id":null,"f":"x","l":null}"#),
        (r#"[{"$group":{"_id":null,"n":{"$count":"$k"}}}]"#, "and not {\"$count\":\"$k\"}"),
        (r#"[{"$group":{"_id":null,"n":{"$sum":2}}}]"#, "and not {\"$sum\":2}"),
        (r#"[{"$group":{"_id":{"$year":"$d"}}}]"#, "and not {\"$year\":\"$d\"}"),
        (r#"[{"$group":{"_id":null,"a.b":{"$sum":1}}}]"#, "\"a.b\" at $group is no name"),
        (r#"[{"$group":{"_id":null,"$sum":"$n"}}]"#, "\"$sum\" at $group is no name"),
        // Sums lose nothing that the answer could have, and never become null.
        (
            r#"[{"$match":{"_id":{"$lt":"d"}}},{"$group":{"_id":null,"s":{"$sum":"$n"}}}]"#,
            r#"{"_id":null,"s":1.2345678901234567e19}"#,
        ),
        (
            r#"[{"$match":{"_id":{"$lt":"c"}}},{"$group":{"_id":null,"s":{"$sum":"$n"}}}]"#,
            r#"{"_id":null,"s":0.30000000000000004}"#,
        ),
        // $unwind and its options.
        (r#"[{"$unwind":"$l"},{"$project":{"l":1}}]"#, r#"{"l":1} {"l":2} {"l":7}"#),
        (
            r#"[{"$unwind":{"path":"$l","preserveNullAndEmptyArrays":true,"includeArrayIndex":"at"}},{"$project":{"_id":1,"l":1,"at":1}}]"#,
            r#"{"_id":"a","l":1,"at":0} {"_id":"a","l":2,"at":1} {"_id":"b","at":null} {"_id":"c","l":null,"at":null} {"_id":"d","l":7,"at":null}"#,
        ),
        (r#"[{"$unwind":{"path":"$l","keep":true}}]"#, "keep is no option of $unwind"),
        (r#"[{"$unwind":{"path":"$l","preserveNullAndEmptyArrays":1}}]"#, "is true or false"),
        (r#"[{"$unwind":{"path":"$l","includeArrayIndex":"$at"}}]"#, "\"$at\" at includeArrayIndex"),
        (r#"[{"$unwind":{"includeArrayIndex":"at"}}]"#, "with one as its path"),
        (r#"[{"$unwind":"$$ROOT"}]"#, "with one as its path"),
        // $project: what stays, what goes, what is within.
        (
            r#"[{"$match":{"_id":"a"}},{"$project":{"items.sku":1,"items.q":{"r":1},"of":"$l"}}]"#,
            r#"{"items":[{"sku":1,"q":{"r":2}},{"sku":2}],"of":[1,2]}"#,
        ),
        (
            r#"[{"$match":{"_id":"b"}},{"$project":{"_id":0,"_rev":0,"items.sku":0}}]"#,
            r#"{"k":null,"n":0.2,"items":{},"l":[]}"#,
        ),
        (
            r#"[{"$match":{"_id":"c"}},{"$project":{"_id":0,"k.x":1,"y.z":"$n"}}]"#,
            r#"{"y":{"z":12345678901234567890}}"#,
        ),
        (r#"[{"$project":{"k":1,"n":0}}]"#, "not both"),
        (r#"[{"$project":{}}]"#, "one at least"),
        (r#"[{"$project":{"s":{"$add":[1,2]}}}]"#, "$add is no word of $project"),
        (r#"[{"$project":{"k":1,"k.x":1}}]"#, "names k.x twice"),
        (r#"[{"$project":{"k":"x"}}]"#, "or a path such as \"$a.b\" for k"),
        // The rest.
        (r#"[{"$sort":{}}]"#, "$sort takes"),
        (r#"[{"$count":"a.b"}]"#, "\"a.b\" at $count"),
        (r#"[{"$count":3}]"#, "$count takes the name"),
        (r#"[{"$facet":{"$a":[]}}]"#, "\"$a\" at $facet"),
        (r#"[{"$match":{"$expr":{"$gt":["$a",1]}}}]"#, "$expr"),
        (r#"[{"$match":{"k":{"$regex":"x","$options":"i"}}}]"#, "$options"),
        (r#"[{"$addFields":{"a":1}}]"#, "$addFields is no stage"),
        // Nothing that is there twice loses one of the two.
        (r#"[{"$match":{"k":1},"$match":{"n":2}}]"#, "$match is there twice"),
        (r#"[{"$group":{"_id":null,"x":{"$sum":1},"x":{"$avg":"$n"}}}]"#, "x is there twice"),
        (r#"[{"$group":{"_id":"$k","_id":"$n"}}]"#, "_id is there twice"),
        (r#"[{"$sort":{"n":1,"\u006e":-1}}]"#, "n is there twice"),
        (r#"[{"$facet":{"a":[{"$count":"x"}],"a":[]}}]"#, "a is there twice"),
        (r#"[{"$match":{"n":{"$gt":1,"$gt":2}}}]"#, "$gt is there twice"),
    ] {
        let told = told(&sales, pipeline);
        assert!(told == answer || (!answer.starts_with('{') && told.contains(answer)), "{pipeline}\n{told}\n{answer}");
    }
    let overflow = r#"[{"$unwind":"$l"},{"$group":{"_id":null,"s":{"$sum":"$n"},"t":{"$avg":"$n"}}}]"#;
    sales.put("e", r#"{"n":1e308,"l":1}"#).unwrap();
    assert!(told(&sales, overflow).contains("s of a group is out of range"), "{}", told(&sales, overflow));
}

#[test]
fn an_index_answers_alone_and_memory_is_bounded() {
    let sales = Store::memory().unwrap().collection("sales").unwrap();
    sales.create_index(IndexSpec::new("i", "land").then("total"), |_| {}).unwrap();
    for number in 0..2000 {
        sales.put(&format!("d{number}"), format!(r#"{{"land":"L{number}","total":{number}}}"#)).unwrap();
    }
    let by_land = Pipeline::new().group(["land"], [("sum", Fold::sum("total"))]);
    let query = Query::new().matching("land", ValueRange::prefix("L19")).matching("total", ValueRange::anything());
    let plan = sales.explain(&query.clone().select(["land", "total"])).unwrap();
    assert!(plan.covering, "{plan}");
    assert_eq!(sales.aggregate(&query, &by_land).unwrap().len(), 111);
    let few = by_land
        .clone()
        .having(Selector::at("sum", ValueRange::above(1990)))
        .sort([("sum", Direction::Backward)])
        .limit(2);
    assert_eq!(
        sales.aggregate(&query, &few).unwrap(),
        [r#"{"land":"L1999","sum":1999}"#, r#"{"land":"L1998","sum":1998}"#]
    );
    let refused = sales.aggregate(&Query::new(), &by_land.bytes_max(10_000));
    assert!(matches!(refused, Err(Error::AggregateTooLarge { max: 10_000 })));
}

#[test]
fn groups_are_the_same_whatever_indexes_there_are() {
    let index = || IndexSpec::new("i", "land").then("total");
    let other = IndexSpec { collation: Collation::Binary, ..index() };
    let single = IndexSpec::new("i", "land");
    let unique = IndexSpec { unique: true, ..index() };
    let by_land = Pipeline::new().group(["land"], [("sum", Fold::sum("total")), ("number", Fold::Count)]);
    let count = Pipeline::new().group(["land"], [("number", Fold::Count)]);
    for lacking in [false, true] {
        let answers =
            [None, Some(index()), Some(other.clone()), Some(single.clone()), Some(unique.clone())].map(|spec| {
                let sales = Store::memory().unwrap().collection("sales").unwrap();
                for number in 0..90 {
                    let land = number % 3;
                    sales.put(&format!("d{number}"), format!(r#"{{"land":"L{land}","total":{number}}}"#)).unwrap();
                }
                if lacking {
                    sales.put("e", r#"{"total":5}"#).unwrap();
                }
                if let Some(spec) = spec {
                    sales.create_index(spec, |_| {}).unwrap();
                }
                [&by_land, &count].map(|pipeline| sales.aggregate(&Query::new(), pipeline).unwrap())
            });
        assert_eq!(answers[0][0].len(), 3 + usize::from(lacking));
        for answer in &answers {
            assert_eq!(answer, &answers[0]);
        }
    }
}

#[test]
fn values_of_every_kind_are_folded_alike_from_keys_and_from_documents() {
    // Some of these have other texts than their keys decode to, so that rows of the index have them.
    let totals = ["1", "-2", "0.5", "3.0", "1e2", "-0", "null", "true", r#""a""#, r#""\u0041""#, "[1]", ""];
    let kinds = [r#""L""#, r#""l""#, "1", "null", r#"{"a":[1]}"#];
    let folds = [
        ("sum", Fold::sum("total")),
        ("mean", Fold::Average("total".into_path())),
        ("least", Fold::Min("total".into_path())),
        ("most", Fold::Max("total".into_path())),
        ("other", Fold::Max("other".into_path())),
        ("all", Fold::Distinct("total".into_path())),
        ("number", Fold::Count),
    ];
    let by_kind = Pipeline::new().group(["kind", "other"], folds);
    // A member of a group's id is not there without a value, which null is.
    let named = r#"[{"$group":{"_id":{"kind":"$kind","total":"$total"},"number":{"$sum":1}}}]"#;
    let named = Pipeline::from_json(named).unwrap();
    let answer = |spec: Option<IndexSpec>, collation: Collation| {
        let sales = Store::memory().unwrap().collection("sales").unwrap();
        let mut number = 0;
        for kind in kinds {
            for total in totals {
                number += 1;
                let total = if total.is_empty() { String::new() } else { format!(r#","total":{total}"#) };
                let body = format!(r#"{{"kind":{kind},"other":{}{total}}}"#, number % 3);
                sales.put(&format!("d{number:03}"), body).unwrap();
            }
        }
        if let Some(spec) = spec {
            sales.create_index(spec, |_| {}).unwrap();
        }
        [&by_kind, &named].map(|pipeline| sales.aggregate(&Query::new().collated(collation), pipeline).unwrap())
    };
    let index = || IndexSpec::new("i", "kind").then("total").then("other");
    for collation in [Collation::Unicode, Collation::Binary] {
        let expected = answer(None, collation);
        assert_eq!([expected[0].len(), expected[1].len()], [15, kinds.len() * totals.len()]);
        for spec in [
            index().collated(collation),
            index(),
            IndexSpec::new("i", "kind").then_descending("total").then("other").collated(collation),
        ] {
            assert_eq!(answer(Some(spec), collation), expected, "{collation:?}");
        }
    }
}

/// Pipelines whose groups an index may have all values of: matched first, of members of members, twice grouped.
const OF_INDEXES: [&str; 8] = [
    r#"[{"$group":{"_id":"$c.land","n":{"$sum":1},"most":{"$max":"$total"}}}]"#,
    r#"[{"$match":{"kind":"k1"}},{"$group":{"_id":"$c.land","n":{"$sum":1},"least":{"$min":"$total"}}}]"#,
    r#"[{"$match":{"kind":"k1","total":{"$gt":3}}},{"$group":{"_id":"$c.land","all":{"$addToSet":"$total"}}}]"#,
    r#"[{"$match":{"kind":{"$in":["k0","k2"]},"total":{"$gt":1}}},
        {"$group":{"_id":{"land":"$c.land","kind":"$kind"},"n":{"$sum":1}}},
        {"$group":{"_id":"$_id.kind","lands":{"$sum":1},"n":{"$sum":"$n"},"land":{"$max":"$_id.land"}}}]"#,
    r#"[{"$match":{"kind":"k1","c.land":{"$gte":"A"}}},{"$group":{"_id":"$c.land","sum":{"$sum":"$total"}}},
        {"$sort":{"sum":-1,"_id":1}},{"$skip":1},{"$limit":2}]"#,
    r#"[{"$match":{"kind":"k1"}},{"$group":{"_id":"$total","n":{"$sum":1}}},{"$sort":{"_id":-1}},{"$limit":3},
        {"$project":{"n":1}}]"#,
    r#"[{"$group":{"_id":"$kind","first":{"$min":"$total"}}},{"$match":{"first":{"$gt":-9}}},{"$sort":{"first":1}}]"#,
    r#"[{"$match":{"kind":"k2"}},{"$group":{"_id":null,"n":{"$sum":1},"mean":{"$avg":"$total"}}},{"$count":"rows"}]"#,
];

#[test]
fn groups_of_an_index_are_those_of_documents_in_random_stores() {
    // No two are equal; the keys of some do not give their texts, and one is too long for a row.
    let long = format!("2.{}1", "0".repeat(5000));
    let totals =
        ["1", "7.50", "1732147206833468", "-3", "12e1", r#""\u0041""#, r#""B""#, "null", "[1.0,2]", "{}", &long];
    let lands = [r#""A""#, r#""B""#, "null", r#"{"x":1}"#, "5"];
    for seed in 1..=12 {
        let mut chance = Chance(seed * 7919);
        let sales = Store::memory().unwrap().collection("sales").unwrap();
        for number in 0..300 {
            let mut members = Vec::new();
            members.extend((!chance.one_in(12)).then(|| format!(r#""kind":"k{}""#, chance.below(3))));
            let land = chance.pick(&lands);
            members.extend(match chance.below(8) {
                0 => None,
                1 => Some(format!(r#""c":[{{"land":{land}}},{{"land":"A"}}]"#)),
                2 => Some(r#""c":{}"#.to_owned()),
                _ => Some(format!(r#""c":{{"land":{land}}}"#)),
            });
            members.extend((!chance.one_in(10)).then(|| format!(r#""total":{}"#, chance.pick(&totals))));
            sales.put(&format!("d{number:03}"), format!("{{{}}}", members.join(","))).unwrap();
        }
        let answers = |through: Query| {
            let answer = |text: &&str| sales.aggregate(&through, &Pipeline::from_json(*text).unwrap()).unwrap();
            OF_INDEXES.iter().map(answer).collect::<Vec<_>>()
        };
        let expected = answers(Query::new().without_indexes());
        let spec = match seed % 4 {
            0 => IndexSpec::new("i", "kind").then("c.land").then_descending("total"),
            1 => IndexSpec::new("i", "kind").then("c.land").then("total").collated(Collation::Binary),
            2 => IndexSpec::new("i", "kind").then("total").then("c.land"),
            _ => IndexSpec::new("i", "kind").then("c.land").then("total"),
        };
        sales.create_index(spec, |_| {}).unwrap();
        for (asked, (found, expected)) in OF_INDEXES.iter().zip(answers(Query::new()).iter().zip(&expected)) {
            assert_eq!(found, expected, "seed {seed}: {asked}");
        }
        assert!(expected.iter().all(|rows| !rows.is_empty()));
    }
}

#[test]
fn facets_are_several_answers_of_one_reading() {
    let sales = Store::memory().unwrap().collection("sales").unwrap();
    for (id, kind, n) in [("a", "x", 1), ("b", "y", 2), ("c", "x", 3)] {
        sales.put(id, format!(r#"{{"kind":"{kind}","n":{n}}}"#)).unwrap();
    }
    let text = r#"[{"$match":{"n":{"$gt":0}}},{"$facet":{
        "kinds":[{"$group":{"_id":"$kind","n":{"$sum":"$n"}}},{"$sort":{"_id":1}}],
        "top":[{"$sort":{"n":-1}},{"$limit":1},{"$project":{"n":1}}],
        "none":[{"$match":{"n":9}}], "all":[{"$count":"n"}]}}]"#;
    let pipeline = Pipeline::from_json(text).unwrap();
    assert_eq!(
        sales.aggregate(&Query::new(), &pipeline).unwrap(),
        [r#"{"kinds":[{"_id":"x","n":4},{"_id":"y","n":2}],"top":[{"n":3}],"none":[],"all":[{"n":3}]}"#]
    );
    let refused = sales.aggregate(&Query::new(), &pipeline.bytes_max(100));
    assert!(matches!(refused, Err(Error::AggregateTooLarge { max: 100 })), "{refused:?}");
    for text in [
        r#"[{"$facet":{}}]"#,
        r#"[{"$facet":[]}]"#,
        r#"[{"$facet":{"a":{}}}]"#,
        r#"[{"$facet":{"a":[{"$facet":{"b":[]}}]}}]"#,
        &format!(r#"[{{"$facet":{{"a":[{}{{"$limit":1}}]}}}}]"#, r#"{"$limit":1},"#.repeat(31)),
        &format!("[{}]", [r#"{"$facet":{"a":[{"$skip":1},{"$skip":1}]}}"#; 11].join(",")),
    ] {
        assert!(matches!(Pipeline::from_json(text), Err(Error::BadSelector { .. })), "{text}");
    }
}
