//! Documents changed by what shall be different in them, compared between moments, and brought back.

use std::collections::BTreeMap;

use proptest::prelude::*;
use recension::engine::Seq;
use recension::json::JsonPatch;
use recension::{
    At, Collection, Error, Expect, IndexSpec, ListOptions, Query, ReplicatedWrite, RevId, Store, ValueRange,
};

fn menu() -> Collection {
    Store::memory().unwrap().collection("menu").unwrap()
}

fn body(collection: &Collection, id: &str) -> String {
    collection.get(id).unwrap().unwrap().body.into_owned()
}

fn on_threads(threads: usize, work: impl Fn(usize) + Sync) {
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let work = &work;
            scope.spawn(move || work(thread));
        }
    });
}

#[test]
fn a_patched_document_is_what_its_text_would_be_if_it_were_put() {
    let many: Vec<String> = (0..100).map(|n| format!("\"member {n}\":[{n},{n}.0,\"\\n{n}\",1e{n}]")).collect();
    let many = format!("{{{}}}", many.join(","));
    for (text, patch) in [
        (many.as_str(), r#"{"member 7":null,"member 50":{"a":1,"b":null},"new":-0,"member 99":"x"}"#),
        (r#"{"a":{"b":[1,255],"\u0063":1.50},"d":12345678901234567890}"#, r#"{"a":{"c":{"e":{}}},"\u0064":[]}"#),
        ("{}", r#"{"a":{"b":null,"c":null}}"#),
        (r#"{"a":1,"b":2,"c":3}"#, r#"{"c":null,"a":null}"#),
        (r#"{"a":[{"b":"},{"}],"c":"\"}"}"#, r#"{"c":0}"#),
        (r#"{"_replication_state":"on","a":1}"#, r#"{"_replication_state":"off"}"#),
    ] {
        let (patched, put) = (menu(), menu());
        for collection in [&patched, &put] {
            collection.put("x", text).unwrap();
        }
        let rev = patched.merge_patch("x", Expect::Anything, patch).unwrap().rev;
        let now = body(&patched, "x");
        assert_eq!(now, recension::json::merge_patch(text, patch).unwrap());
        assert_eq!((put.put("x", &now).unwrap().rev, body(&put, "x")), (rev, now), "{text} with {patch}");
        let added = JsonPatch::from_json(r#"[{"op":"add","path":"/added","value":[0,"\u00e9"]}]"#).unwrap();
        let rev = patched.patch("x", Expect::Anything, &added).unwrap().rev;
        assert_eq!(put.put("x", body(&patched, "x")).unwrap().rev, rev, "{text}");
    }
    // A change that names a revision is one of that revision.
    let menu_of = |text: &str| {
        let menu = menu();
        let first = menu.put("x", text).unwrap().rev;
        (menu.put("x", r#"{"a":2}"#).unwrap().rev, first, menu)
    };
    let (now, before, menu_then) = menu_of(r#"{"a":1}"#);
    for (named, is_refused) in [(before, true), (now, false)] {
        let text = format!(r#"{{"_rev":"{named}","b":1}}"#);
        let steps = format!(r#"[{{"op":"add","path":"/_rev","value":"{named}"}}]"#);
        let (of, all) = (menu_of(r#"{"a":1}"#).2, Query::new());
        let refused = [
            of.merge_patch("x", Expect::Anything, &text).is_err(),
            menu_of(r#"{"a":1}"#).2.patch("x", Expect::Anything, &JsonPatch::from_json(&steps).unwrap()).is_err(),
            menu_of(r#"{"a":1}"#).2.update("x", |_| Ok(text.clone())).is_err(),
            menu_of(r#"{"a":1}"#).2.upsert("x", |_| Ok(text.clone())).is_err(),
            menu_of(r#"{"a":1}"#).2.update_matching(&all, |_, _| Ok(Some(text.clone()))).is_err(),
            menu_of(r#"{"a":1}"#).2.replace("x", &now, &text).is_err(),
        ];
        assert_eq!(refused, [is_refused; 6], "{named}");
        assert_eq!(of.get("x").unwrap().unwrap().rev == now, is_refused);
    }
    assert_eq!(body(&menu_then, "x"), r#"{"a":2}"#);
    // A member that no body may have is refused, whatever it is spelt like.
    for patch in [r#"{"_x":1}"#, r#"{"\u005fx":1}"#, r#"{"_deleted":true}"#, r#"{"a":1e400}"#, "[]"] {
        let menu = menu();
        menu.put("x", r#"{"a":1}"#).unwrap();
        assert!(menu.merge_patch("x", Expect::Anything, patch).is_err(), "{patch}");
        assert_eq!(body(&menu, "x"), r#"{"a":1}"#);
    }
}

#[test]
fn patches_closures_and_their_expectations() {
    let menu = menu();
    let first = menu.put("pizza", r#"{"price":9.50,"tags":["a"]}"#).unwrap();
    let patch = JsonPatch::from_json(r#"[{"op":"add","path":"/tags/-","value":"b"}]"#).unwrap();
    let second = menu.patch("pizza", Expect::Revision(first.rev), &patch).unwrap();
    assert_eq!(second.rev, menu.get("pizza").unwrap().unwrap().rev);
    assert_eq!((second.seq, second.rev.generation()), (Seq(first.seq.0 + 1), 2));
    assert!(matches!(menu.patch("pizza", Expect::Revision(first.rev), &patch), Err(Error::Conflict { .. })));
    menu.merge_patch("pizza", Expect::Anything, r#"{"price":null,"vegan":true}"#).unwrap();
    assert_eq!(body(&menu, "pizza"), r#"{"tags":["a","b"],"vegan":true}"#);
    menu.update("pizza", |body| Ok(body.replace("true", "false"))).unwrap();
    menu.upsert("pizza", |body| Ok(body.unwrap().replace("\"a\",", ""))).unwrap();
    menu.upsert("soup", |body| Ok(body.map_or(r#"{"new":1}"#.to_owned(), str::to_owned))).unwrap();
    assert_eq!(
        (body(&menu, "pizza").as_str(), body(&menu, "soup").as_str()),
        (r#"{"tags":["b"],"vegan":false}"#, r#"{"new":1}"#)
    );

    let head = menu.store().engine().head();
    let fails = JsonPatch::from_json(r#"[{"op":"remove","path":"/vegan"},{"op":"remove","path":"/x"}]"#).unwrap();
    for error in [
        menu.patch("pizza", Expect::Anything, &fails).unwrap_err(),
        menu.patch("nothing", Expect::Anything, &fails).unwrap_err(),
        menu.patch("nothing", Expect::Revision(first.rev), &fails).unwrap_err(),
        menu.patch("pizza", Expect::Absent, &patch).unwrap_err(),
        menu.merge_patch("pizza", Expect::Anything, "[]").unwrap_err(),
        menu.merge_patch("pizza", Expect::Anything, r#"{"_deleted":true}"#).unwrap_err(),
        menu.update("pizza", |_| Err(Error::abort("no"))).unwrap_err(),
        menu.update("nothing", |body| Ok(body.to_owned())).unwrap_err(),
    ] {
        assert!(!error.to_string().is_empty());
    }
    assert_eq!(menu.store().engine().head(), head, "nothing of them was written");
}

#[test]
fn a_change_of_many_documents_deletes_none_and_gives_none_another_id() {
    let menu = menu();
    menu.put("pizza", r#"{"n":1}"#).unwrap();
    let head = menu.store().engine().head();
    for (name, body) in [
        ("_deleted", r#"{"n":1,"_deleted":true}"#),
        ("_deleted", r#"{"n":1,"_deleted":false}"#),
        ("_id", r#"{"_id":"soup"}"#),
        ("_rev", r#"{"_rev":"1-967a00dff5e02add41819138abb3284d"}"#),
        ("_attachments", r#"{"_attachments":{}}"#),
        ("_foo", r#"{"_foo":1}"#),
    ] {
        let error = menu.update_matching(&Query::new(), |_, _| Ok(Some(body.to_owned()))).unwrap_err();
        assert!(error.to_string().contains(name), "{body}: {error}");
    }
    assert_eq!((body(&menu, "pizza").as_str(), menu.store().engine().head()), (r#"{"n":1}"#, head));
}

#[test]
fn a_change_of_many_documents_that_stops_says_where_and_what_was_changed_before() {
    let menu = menu();
    for i in 0..2500 {
        menu.put(&format!("{i:04}"), format!(r#"{{"list":{}}}"#, if i < 2200 { "[]" } else { "1" })).unwrap();
    }
    let patch = JsonPatch::from_json(r#"[{"op":"add","path":"/list/-","value":1}]"#).unwrap();
    let error = menu.update_matching(&Query::new(), |_, body| patch.apply(body).map(Some)).unwrap_err();
    let there = menu.count_matching(&Query::new().matching("list[]", ValueRange::equal(1))).unwrap();
    assert!((1000..=2200).contains(&there), "{there}");
    assert!(
        matches!(&error, Error::Stopped { written, id: Some(id), .. } if *written == there && id == "2200"),
        "{error:?}"
    );
    assert!(matches!(error.cause(), Error::Patch(_)));
    let says = format!("{there} documents were changed and stay so; then it stopped: document \"2200\": operation 0");
    assert!(error.to_string().starts_with(&says), "{error}");
    // What the same commit wrote beside a document that is refused is counted too.
    menu.create_index(IndexSpec::unique("n", "n"), |_| {}).unwrap();
    menu.put("0100", r#"{"n":"0001"}"#).unwrap();
    let named = |id: &str, _: &str| Ok((id < "0010").then(|| format!(r#"{{"n":"{id}"}}"#)));
    let error = menu.update_matching(&Query::new(), named).unwrap_err();
    assert!(matches!(&error, Error::Stopped { written: 9, .. }), "{error:?}");
}

#[test]
fn patches_of_many_threads_are_all_kept() {
    let menu = menu();
    menu.put("n", r#"{"list":[]}"#).unwrap();
    on_threads(4, |thread| {
        for turn in 0..25 {
            let patch = format!(r#"[{{"op":"add","path":"/list/-","value":{}}}]"#, thread * 25 + turn);
            menu.patch("n", Expect::Anything, &JsonPatch::from_json(patch).unwrap()).unwrap();
        }
    });
    let list: serde_json::Value = serde_json::from_str(&body(&menu, "n")).unwrap();
    let mut numbers: Vec<_> = list["list"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..100).collect::<Vec<_>>());
}

#[test]
fn what_a_query_finds_is_changed_or_deleted_and_the_rest_is_not() {
    let menu = menu();
    for i in 0..2500 {
        menu.put(&format!("{i:04}"), format!(r#"{{"n":{i}}}"#)).unwrap();
    }
    let low = Query::new().matching("n", ValueRange::below(1500));
    // One of them is written by others after it was found.
    let other = menu.clone();
    let changed = menu
        .update_matching(&low, |id, body| {
            if id == "0007" {
                other.put("0007", r#"{"n":7,"mine":true}"#).unwrap();
            }
            Ok((id != "0008").then(|| body.replace('}', ",\"x\":1}")))
        })
        .unwrap();
    assert_eq!((changed.written, changed.left_alone), (1498, vec!["0007".to_owned()]));
    assert_eq!(body(&menu, "1499"), r#"{"n":1499,"x":1}"#);
    assert_eq!((body(&menu, "0008").as_str(), body(&menu, "1500").as_str()), (r#"{"n":8}"#, r#"{"n":1500}"#));
    assert_eq!(menu.delete_matching(&low).unwrap().written, 1500);
    assert_eq!(menu.count().unwrap(), 1000);
}

#[test]
fn a_document_is_compared_between_revisions_and_moments() {
    let menu = menu();
    let first = menu.put("p", r#"{"a":1,"b":[1,2]}"#).unwrap();
    let second = menu.put("p", r#"{"a":1.0,"b":[2]}"#).unwrap();
    let gone = menu.delete("p", &second.rev).unwrap();
    let paths = |from, to| {
        let diff = menu.diff("p", from, to).unwrap();
        diff.changes().unwrap().iter().map(|change| change.path.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(menu.diff("p", first.rev, second.rev).unwrap().changes().unwrap().len(), 2);
    assert_eq!(paths(At::Seq(first.seq), At::Seq(second.seq)), ["/a", "/b/0"]);
    assert_eq!(paths(At::Seq(second.seq), At::Now), [""]);
    assert_eq!(paths(At::Seq(Seq::ZERO), At::Seq(first.seq)), [""]);
    assert_eq!(paths(At::Now, At::Seq(gone.seq)), [""; 0]);
    assert!(menu.diff("p", gone.rev, At::Now).unwrap().before.is_none());
    assert!(matches!(menu.diff("q", first.rev, At::Now), Err(Error::NoSuchRevision { .. })));
}

/// Every document, by id.
fn bodies(collection: &Collection, at: At) -> BTreeMap<String, String> {
    let list = collection.at(at).unwrap().list(&ListOptions::default()).unwrap();
    list.map(|document| document.unwrap()).map(|d| (d.id.into_owned(), d.body.into_owned())).collect()
}

#[test]
fn a_restored_store_says_what_it_said_with_the_indexes_of_now() {
    let store = Store::memory().unwrap();
    let (menu, staff) = (store.collection("menu").unwrap(), store.collection("staff").unwrap());
    let by_price = IndexSpec::new("price", "price");
    staff.create_index(IndexSpec::unique("badge", "badge"), |_| {}).unwrap();
    for i in 0..2200 {
        menu.put(&format!("{i:04}"), format!(r#"{{"price":{i}}}"#)).unwrap();
    }
    staff.put("ada", r#"{"badge":1}"#).unwrap();
    let then = staff.put("bob", r#"{"badge":2}"#).unwrap();
    let before = (bodies(&menu, At::Now), bodies(&staff, At::Now));

    menu.create_index(by_price.clone(), |_| {}).unwrap();
    menu.update_matching(&Query::new(), |_, _| Ok(Some(r#"{"price":0}"#.to_owned()))).unwrap();
    menu.put("new", r#"{"price":1}"#).unwrap();
    store.drop_collection("staff").unwrap();
    store.collection("later").unwrap().put("x", "{}").unwrap();

    let restored = store.restore_to(At::Seq(then.seq)).unwrap();
    // One of them said the same all the time.
    assert_eq!((restored.restored, restored.deleted), (2201, 2));
    assert!(restored.commits > 1, "it does not fit into one");
    assert_eq!((bodies(&menu, At::Now), bodies(&staff, At::Now)), before);
    assert_eq!(store.collection("later").unwrap().count().unwrap(), 0);
    assert_eq!(menu.indexes().unwrap()[0].spec, by_price);
    assert_eq!(staff.indexes().unwrap()[0].spec.name, "badge");
    let query = Query::new().matching("price", ValueRange::at_least(2000));
    assert_eq!(menu.find(&query).unwrap().count(), 200);
    assert!(staff.put("eve", r#"{"badge":2}"#).is_err(), "the index holds what was restored");
    // Nothing is different any more.
    assert_eq!(store.restore_to(At::Seq(then.seq)).unwrap().commits, 0);
}

#[test]
fn what_a_query_found_then_is_restored_and_the_rest_is_left_alone() {
    let menu = menu();
    menu.put("a", r#"{"n":1}"#).unwrap();
    menu.put("b", r#"{"n":2}"#).unwrap();
    let then = menu.put("c", r#"{"n":9}"#).unwrap();
    for id in ["a", "b", "c", "d"] {
        menu.put(id, r#"{"n":0}"#).unwrap();
    }
    menu.delete("b", &menu.get("b").unwrap().unwrap().rev).unwrap();
    let query = Query::new().matching("n", ValueRange::below(5));
    let restored = menu.restore_matching(&query, At::Seq(then.seq)).unwrap();
    assert_eq!((restored.restored, restored.deleted, restored.commits), (2, 0, 1));
    let now: Vec<_> = bodies(&menu, At::Now).into_values().collect();
    assert_eq!(now, [r#"{"n":1}"#, r#"{"n":2}"#, r#"{"n":0}"#, r#"{"n":0}"#]);
}

#[test]
fn a_document_that_was_not_there_goes_with_all_of_its_conflicts() {
    let menu = menu();
    let then = menu.put("other", "{}").unwrap();
    menu.put("x", r#"{"mine":1}"#).unwrap();
    for digit in ["a", "b"] {
        let rev = digit.repeat(32);
        let theirs = format!(r#"{{"_id":"x","_rev":"1-{rev}","_revisions":{{"start":1,"ids":["{rev}"]}},"theirs":1}}"#);
        let merged = menu.replication().merge_revisions(vec![ReplicatedWrite::from_json(theirs).unwrap()]).unwrap();
        assert!(merged.iter().all(Result::is_ok), "{merged:?}");
    }
    assert_eq!(menu.replication().leaves("x").unwrap().len(), 3);
    assert_eq!(menu.restore_to(At::Seq(then.seq)).unwrap().deleted, 1);
    assert_eq!(menu.get("x").unwrap(), None);
}

#[test]
fn values_of_a_unique_index_go_back_in_the_order_in_which_they_can() {
    let menu = menu();
    menu.create_index(IndexSpec::unique("n", "n"), |_| {}).unwrap();
    menu.put("a", r#"{"n":1}"#).unwrap();
    let then = menu.put("b", r#"{"n":2}"#).unwrap();
    // Each has the value that the one before it had: restoring the first one first cannot be.
    menu.put("b", r#"{"n":3}"#).unwrap();
    menu.put("a", r#"{"n":2}"#).unwrap();
    menu.put("c", r#"{"n":1}"#).unwrap();
    assert_eq!(menu.restore_to(At::Seq(then.seq)).unwrap().commits, 1);
    assert_eq!((body(&menu, "a").as_str(), body(&menu, "b").as_str()), (r#"{"n":1}"#, r#"{"n":2}"#));
    // Exchanged values have no such order.
    let then = menu.store().engine().head();
    menu.put("a", r#"{"n":9}"#).unwrap();
    menu.put("b", r#"{"n":1}"#).unwrap();
    menu.put("a", r#"{"n":2}"#).unwrap();
    let head = menu.store().engine().head();
    assert!(matches!(menu.restore_to(At::Seq(then)), Err(Error::NotUnique { .. })));
    assert_eq!(menu.store().engine().head(), head);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Random writes, some of them after the collection was made anew: differences are those of the two lists, in both
    /// directions, and a restored collection is what it was.
    #[test]
    fn differences_between_moments_are_those_of_the_lists(
        steps in prop::collection::vec((0_u8..6, 0_u8..4, 0_u8..12), 1..40),
        moments in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
    ) {
        let store = Store::memory().unwrap();
        let menu = store.collection("menu").unwrap();
        let mut seqs = vec![Seq::ZERO];
        for (id, value, kind) in steps {
            let id = id.to_string();
            match (kind, menu.get(&id).unwrap()) {
                (0, _) => drop(store.drop_collection("menu").unwrap()),
                (1..4, Some(document)) => drop(menu.delete(&id, &document.rev).unwrap()),
                _ => drop(menu.put(&id, format!(r#"{{"v":{value}}}"#)).unwrap()),
            }
            seqs.push(store.engine().head());
        }
        let (from, to) = (At::Seq(seqs[moments.0.index(seqs.len())]), At::Seq(seqs[moments.1.index(seqs.len())]));
        let (before, after) = (bodies(&menu, from), bodies(&menu, to));
        let mut patched = before.clone();
        for difference in menu.diff_between(from, to).unwrap() {
            let difference = difference.unwrap();
            let text = |side: Option<recension::Document<'static>>| side.map(|document| document.body.into_owned());
            prop_assert_eq!(text(difference.before), patched.remove(&difference.id));
            if let Some(after) = text(difference.after) {
                patched.insert(difference.id, after);
            }
        }
        prop_assert_eq!(patched, after);
        if from == At::Seq(Seq::ZERO) {
            let refused = matches!(menu.restore_to(from), Err(Error::BadMoment { .. }));
            prop_assert!(refused);
        } else {
            menu.restore_to(from).unwrap();
            prop_assert_eq!(bodies(&menu, At::Now), before);
        }
    }
}

#[test]
fn changing_what_a_query_finds_keeps_attachments() {
    let menu = Store::memory().unwrap().collection("menu").unwrap();
    menu.put("a", r#"{"n":1}"#).unwrap();
    menu.attach("a", Expect::Anything, "x", "image/png", &b"bytes"[..]).unwrap();
    menu.update_matching(&Query::new(), |_, _| Ok(Some(r#"{"n":2}"#.to_owned()))).unwrap();
    let document = menu.get("a").unwrap().unwrap();
    assert_eq!((&*document.body, document.attachments.len()), (r#"{"n":2}"#, 1));
}

#[test]
fn a_patch_of_a_losing_revision_stands_on_it() {
    let menu = Store::memory().unwrap().collection("menu").unwrap();
    let rev = |text: &str| RevId::with_suffix(1, text).unwrap();
    for (suffix, body) in [("b", r#"{"price":1,"of":"winner"}"#), ("a", r#"{"price":2,"of":"loser"}"#)] {
        menu.replication()
            .merge_revisions([ReplicatedWrite::new("pizza", rev(suffix), &[], false, body).unwrap()])
            .unwrap();
    }
    let patch = JsonPatch::from_json(r#"[{"op":"replace","path":"/price","value":3}]"#).unwrap();
    let first = menu.patch("pizza", Expect::Revision(rev("a")), &patch).unwrap();
    assert_eq!(first.rev.generation(), 2);
    // Two revisions long, it wins now; the one that won before is the loser.
    assert_eq!(menu.get("pizza").unwrap().unwrap().body, r#"{"price":3,"of":"loser"}"#);
    assert_eq!(menu.conflicts("pizza").unwrap(), [rev("b")]);
    menu.merge_patch("pizza", Expect::Revision(rev("b")), r#"{"price":4}"#).unwrap();
    assert_eq!(menu.conflicts("pizza").unwrap().len(), 1);
    for taken in [rev("a"), rev("b"), rev("c")] {
        let refused = menu.patch("pizza", Expect::Revision(taken), &patch);
        assert!(matches!(refused, Err(Error::Conflict { .. })), "{taken}: {refused:?}");
    }
    let said: Vec<String> = menu
        .replication()
        .leaves("pizza")
        .unwrap()
        .iter()
        .map(|leaf| menu.replication().get_revision("pizza", &leaf.rev).unwrap().unwrap().body)
        .collect();
    assert!(said.contains(&r#"{"price":4,"of":"winner"}"#.to_owned()), "{said:?}");
}

#[test]
fn the_documents_in_conflict_are_listed_with_the_losers() {
    let menu = Store::memory().unwrap().collection("menu").unwrap();
    let merge = |id: &str, generation, suffix: &str, deleted| {
        let rev = RevId::with_suffix(generation, suffix).unwrap();
        menu.replication().merge_revisions([ReplicatedWrite::new(id, rev, &[], deleted, "{}").unwrap()]).unwrap();
        rev
    };
    let listed = || -> Vec<(String, Vec<RevId>)> {
        menu.at(At::Now)
            .unwrap()
            .conflicted()
            .map(|found| found.map(|found| (found.id, found.conflicts)).unwrap())
            .collect()
    };
    assert_eq!(listed(), []);
    for id in ["a", "a\0b", "z"] {
        menu.put(id, "{}").unwrap();
    }
    let (one, two) = (merge("a\0b", 1, "a", false), merge("a\0b", 2, "b", false));
    merge("a", 1, "a", true);
    merge("y", 1, "c", true);
    merge("y", 1, "d", true);
    let last = merge("z", 7, "d", false);
    let winner = menu.get("a\0b").unwrap().unwrap().rev;
    assert_eq!(winner, two);
    let first = menu.replication().leaves("z").unwrap()[1].rev;
    let found = listed();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].0 == "a\0b" && found[0].1.contains(&one) && found[0].1.len() == 2, "{found:?}");
    assert_eq!(found[1], ("z".to_owned(), vec![first]));
    assert_eq!(menu.get("z").unwrap().unwrap().rev, last);
}
