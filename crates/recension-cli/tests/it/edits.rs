//! Patches, differences, going back, conflicts, purging.

use crate::common::Place;
use recension::{ReplicatedWrite, Store};
use serde_json::{Value, json};

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn filled() -> Place {
    let place = Place::new();
    place.ok(&["put", "menu", "pizza", r#"{"price":9.50,"toppings":["ham"]}"#]);
    place
}

#[test]
fn a_patch_comes_from_an_argument_a_file_or_standard_input() {
    let place = filled();
    let file = place.file("patch.json", r#"[{"op":"add","path":"/toppings/-","value":"corn"}]"#);
    place.ok(&["patch", "menu", "pizza", r#"{"vegan":false}"#]);
    place.ok(&["patch", "menu", "pizza", "--json-patch", "--file", &file]);
    let rev = value(&place.ok_with(&["patch", "menu", "pizza"], br#"{"vegan":null}"#))["rev"].clone();
    let body = place.ok(&["get", "menu", "pizza"]);
    assert!(body.ends_with("\"price\":9.50,\"toppings\":[\"ham\",\"corn\"]}\n"), "{body}");
    place.ok(&["patch", "menu", "pizza", "{}", "--rev", rev.as_str().unwrap()]);
    for (code, args, message) in [
        (3, &["patch", "menu", "pizza", "{}", "--rev", rev.as_str().unwrap()][..], "revision"),
        (1, &["patch", "menu", "slug", "{}"], "slug"),
        (5, &["patch", "menu", "pizza", "--json-patch", r#"[{"op":"remove","path":"/x"}]"#], "/x"),
        (5, &["patch", "menu", "pizza", "--json-patch", "{}"], "array"),
        (5, &["patch", "menu", "pizza", "[]"], "--json-patch"),
        (5, &["patch", "menu", "pizza", "{"], "line 1"),
        (6, &["patch", "menu", "pizza", "--file", "missing"], "opening missing"),
    ] {
        let said = place.fails(code, args);
        assert!(said.contains(message), "{args:?}: {said}");
    }
    assert_eq!(place.ok(&["get", "menu", "pizza"]).matches("corn").count(), 1);
}

#[test]
fn a_difference_is_of_revisions_moments_or_a_collection() {
    let place = filled();
    place.ok(&["put", "menu", "pizza", r#"{"price":10,"toppings":["ham","corn"]}"#]);
    place.ok(&["put", "menu", "slug", r#"{"price":1}"#]);
    let changes = "{\"path\":\"/price\",\"before\":9.50,\"after\":10}\n{\"path\":\"/toppings/1\",\"after\":\"corn\"}\n";
    let history = place.ok(&["history", "menu", "pizza"]);
    let first = value(history.lines().nth(1).unwrap())["rev"].as_str().unwrap().to_owned();
    for args in [&[][..], &["--from", "1"], &["--from", &first], &["--from", &first, "--to", "2"]] {
        assert_eq!(place.ok(&[&["diff", "menu", "pizza"], args].concat()), changes, "{args:?}");
    }
    assert_eq!(place.ok(&["diff", "menu", "pizza", "--from", "2"]), "");
    assert_eq!(place.ok(&["diff", "menu", "slug"]), "{\"path\":\"\",\"after\":{\"price\":1}}\n");
    let all = place.ok(&["diff", "menu", "--from", "1"]);
    let what: Vec<_> = all.lines().map(|line| (value(line)["_id"].clone(), value(line)["what"].clone())).collect();
    assert_eq!(what, [(json!("pizza"), json!("changed")), (json!("slug"), json!("created"))]);
    let people = place.ok(&["diff", "menu", "--from", "1", "--table"]);
    assert_eq!(people, "changed \"pizza\"\n  ~ /price: 9.50 -> 10\n  + /toppings/1: \"corn\"\ncreated \"slug\"\n");
    // There and back.
    let patch = place.ok(&["diff", "menu", "pizza", "--from", "2", "--to", "1", "--json-patch"]);
    place.ok_with(&["patch", "menu", "pizza", "--json-patch"], patch.as_bytes());
    assert_eq!(place.ok(&["diff", "menu", "pizza", "--from", "1"]), "");
    for (code, args) in [
        (1, &["diff", "menu", "nobody"][..]),
        (1, &["diff", "nothing", "--from", "1"]),
        (1, &["diff", "menu", "pizza", "--from", "9-9999"]),
        (2, &["diff", "menu"]),
        (2, &["diff", "menu", "--from", &first]),
        (2, &["diff", "menu", "pizza", "--from", "long ago"]),
    ] {
        place.fails(code, args);
    }
}

#[test]
fn a_moment_in_the_future_is_refused_by_every_command_that_reads_at_one() {
    let place = filled();
    for args in [
        &["get", "menu", "pizza"][..],
        &["find", "menu"],
        &["export", "menu"],
        &["history", "menu", "pizza"],
        &["collections"],
        &["changes", "menu"],
        &["conflicts", "menu"],
        &["restore", "menu", "pizza"],
    ] {
        let said = place.fails(2, &[args, &["--at", "2999-01-01"]].concat());
        assert!(said.contains("is in the future"), "{args:?}: {said}");
    }
    place.fails(2, &["diff", "menu", "pizza", "--from", "2999-01-01"]);
    place.fails(2, &["get", "menu", "pizza", "--at", "17"]);
    // A commit's own time never is.
    let time = value(&place.ok(&["put", "menu", "pizza", "{}"]))["time"].as_str().unwrap().to_owned();
    place.ok(&["get", "menu", "pizza", "--at", &time]);
}

#[test]
fn a_query_a_collection_and_the_store_go_back_to_a_moment() {
    let place = filled();
    place.ok(&["put", "people", "ada", r#"{"n":1}"#]);
    place.ok(&["put", "menu", "pizza", r#"{"price":-1}"#]);
    place.ok(&["put", "menu", "slug", r#"{"price":0}"#]);
    place.ok(&["put", "people", "ada", r#"{"n":2}"#]);
    assert!(place.fails(2, &["restore", "menu", "--at", "2"]).contains("--yes"));
    assert!(place.fails(2, &["restore", "--all", "--at", "2"]).contains("--yes"));
    assert!(place.ok(&["get", "menu", "slug"]).contains("\"price\":0"), "nothing was done unasked");
    let none = place.run(&["restore", "menu", "--where", "prise = 9.5", "--at", "2"]);
    assert!(none.code == 0 && none.err.contains("has a member prise"), "{none:?}");
    let restored = place.ok(&["restore", "menu", "--where", "price = 9.5", "--at", "2"]);
    assert_eq!(restored, "{\"restored\":1,\"deleted\":0,\"commits\":1}\n");
    let restored = place.ok(&["restore", "--all", "--at", "2", "--yes"]);
    assert_eq!(restored, "{\"restored\":1,\"deleted\":1,\"commits\":1}\n");
    assert!(place.ok(&["get", "people", "ada"]).contains("\"n\":1"));
    place.fails(1, &["get", "menu", "slug"]);
    assert_eq!(value(&place.ok(&["restore", "menu", "--at", "5", "-y"]))["restored"], 2);
    place.fails(1, &["restore", "nothing", "--at", "1", "--yes"]);
    place.fails(2, &["restore", "--all", "--at", "1", "menu"]);
    place.fails(2, &["restore", "menu", "--rev", "1-a"]);
}

#[test]
fn conflicts_are_listed_shown_and_decided() {
    let place = filled();
    {
        let store = Store::on(recension_engines::open(place.path().join("recension.store").to_str().unwrap()).unwrap());
        let menu = store.unwrap().collection("menu").unwrap();
        let first = menu.get("pizza").unwrap().unwrap().rev;
        let write =
            |rev: &str, body: &str| ReplicatedWrite::new("pizza", rev.parse().unwrap(), &[first], false, body).unwrap();
        let writes = [write("2-aa", r#"{"price":1}"#), write("2-bb", r#"{"price":2}"#)];
        assert!(menu.replication().merge_revisions(writes).unwrap().iter().all(Result::is_ok));
    }
    place.ok(&["put", "menu", "slug", "{}"]);
    let listed = place.ok(&["conflicts", "menu"]);
    assert_eq!(value(&listed), json!({"id": "pizza", "winner": "2-bb", "conflicts": ["2-aa"]}));
    assert_eq!(place.ok(&["conflicts", "menu", "--at", "1"]), "");
    let leaves = place.ok(&["conflicts", "menu", "pizza"]);
    assert_eq!(leaves, "{\"rev\":\"2-bb\",\"state\":\"winner\"}\n{\"rev\":\"2-aa\",\"state\":\"conflict\"}\n");
    let bodies = place.ok(&["conflicts", "menu", "pizza", "--bodies"]);
    assert_eq!(bodies.lines().map(|line| value(line)["price"].clone()).collect::<Vec<_>>(), [2, 1]);
    place.fails(1, &["conflicts", "menu", "pizza", "--pick", "2-cc"]);
    place.ok(&["conflicts", "menu", "pizza", "--pick", "2-aa"]);
    assert_eq!(value(&place.ok(&["get", "menu", "pizza"]))["price"], 1);
    assert_eq!(place.ok(&["conflicts", "menu"]), "");
    place.fails(1, &["conflicts", "menu", "nobody"]);
    place.fails(1, &["conflicts", "nothing"]);
}

#[test]
fn a_purge_is_asked_for_and_leaves_no_deletion() {
    let place = filled();
    assert!(place.fails(2, &["purge", "menu", "pizza"]).contains("--yes"));
    place.ok(&["get", "menu", "pizza"]);
    place.fails(1, &["purge", "menu", "pizza", "--rev", "1-a", "--yes"]);
    let purged = value(&place.ok(&["purge", "menu", "pizza", "--yes"]));
    assert_eq!(purged["purged"].as_array().unwrap().len(), 1);
    place.fails(1, &["get", "menu", "pizza"]);
    assert_eq!(place.ok(&["changes", "menu"]), "");
    place.ok(&["get", "menu", "pizza", "--at", "1"]);
    place.fails(1, &["purge", "menu", "pizza", "--yes"]);
}

#[test]
fn the_whole_store_is_compared_between_two_moments() {
    let place = Place::new();
    place.ok(&["put", "menu", "pizza", r#"{"price":1}"#]);
    place.ok(&["put", "people", "ada", r#"{"n":1}"#]);
    place.ok(&["put", "menu", "pizza", r#"{"price":2}"#]);
    place.ok(&["delete", "people", "ada"]);
    place.ok(&["put", "wine", "red", "{}"]);
    let all = place.run(&["diff", "--from", "2", "--to", "4"]);
    assert_eq!(
        all.out,
        "{\"collection\":\"menu\",\"_id\":\"pizza\",\"what\":\"changed\",\"changes\":\
         [{\"path\":\"/price\",\"before\":1,\"after\":2}]}\n\
         {\"collection\":\"people\",\"_id\":\"ada\",\"what\":\"deleted\",\"changes\":\
         [{\"path\":\"\",\"before\":{\"n\":1}}]}\n"
    );
    assert!(all.err.contains("2 documents different"), "{}", all.err);
    assert!(place.ok(&["diff", "--from", "4", "--table"]).contains("created wine \"red\""));
    assert_eq!(place.ok(&["diff", "--from", "5"]), "");
    place.fails(2, &["diff"]);
}
