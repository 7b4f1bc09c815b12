//! Queries by scan and by index, at present and in the past.

use crate::common::Place;
use serde_json::Value;

fn cities() -> Place {
    let place = Place::new();
    let text = r#"[
        {"_id":"porto","name":"Porto","country":"PT","population":252687,"geo":{"lat":41.1},"names":["Oporto","Porto"]},
        {"_id":"lisbon","name":"Lisbon","country":"PT","population":517802,"geo":{"lat":38.7}},
        {"_id":"piaui","name":"Porto","country":"BR","population":12052,"geo":{"lat":-3.9}},
        {"_id":"atlantis","name":"Atlantis","population":null},
        {"_id":"tokyo","name":"東京","country":"JP","population":9733276,"geo":{"lat":35.7}}
    ]"#;
    place.ok_with(&["import", "cities"], text.as_bytes());
    place
}

fn ids(out: &str) -> Vec<String> {
    out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["_id"].as_str().unwrap().to_owned()).collect()
}

const QUERIES: [(&[&str], &[&str]); 35] = [
    (&["name = Porto"], &["piaui", "porto"]),
    (&[r#"name = "Porto" and country = PT"#], &["porto"]),
    (&["name = 東京"], &["tokyo"]),
    (&["name = Nowhere"], &[]),
    (&["population > 252687", "--sort", "population"], &["lisbon", "tokyo"]),
    (&["population >= 252687", "--sort", "-population"], &["tokyo", "lisbon", "porto"]),
    (&["population < 252687", "--sort", "population"], &["piaui"]),
    (&["population >= 12052 and population <= 252687", "--sort", "population"], &["piaui", "porto"]),
    (&["geo.lat < 0"], &["piaui"]),
    (&["population = null"], &["atlantis"]),
    (&["country = PT", "--sort", "population", "--limit", "1"], &["porto"]),
    (&["country = PT", "--sort", "population", "--skip", "1"], &["lisbon"]),
    (&[], &["atlantis", "lisbon", "piaui", "porto", "tokyo"]),
    (&["country in [PT, JP, XX]"], &["lisbon", "porto", "tokyo"]),
    (&["country in []"], &[]),
    (&["name prefix Po"], &["piaui", "porto"]),
    (&["name prefix po"], &[]),
    (&["names contains Oporto"], &["porto"]),
    (&["names[] > P"], &["porto"]),
    (&["country exists and geo missing"], &[]),
    (&["country missing"], &["atlantis"]),
    (&["population is number and country = BR"], &["piaui"]),
    (&["country = BR or name = Atlantis"], &["atlantis", "piaui"]),
    (&["name = Porto and (country = PT or population > 1000000)"], &["porto"]),
    (&["not name = Porto"], &["atlantis", "lisbon", "tokyo"]),
    (&["not (name = Porto or country = JP)"], &["lisbon"]),
    (&["country != PT", "--sort", "country"], &["piaui", "tokyo"]),
    (&["country not in [PT, BR]"], &["tokyo"]),
    (&["name like 'P_rt%' and country like PT"], &["porto"]),
    (&["name ilike 'l%' or name ~ 'tis$'"], &["atlantis", "lisbon"]),
    (&["name ailike 'PÖR%' and country = PT"], &["porto"]),
    (&["name ailike '%ísb%' or name ailike atlántis"], &["atlantis", "lisbon"]),
    (&["not names contains Oporto and names exists"], &[]),
    (&["--sort", "country,-population"], &["piaui", "tokyo", "lisbon", "porto"]),
    (&["country = PT", "--sort", "country,-population", "--fields", "population"], &["lisbon", "porto"]),
];

#[test]
fn a_query_gives_the_same_documents_by_scan_and_by_index() {
    let place = cities();
    for indexed in [false, true] {
        for (query, expected) in QUERIES {
            let out = place.ok(&[&["find", "cities"], query].concat());
            let mut found = ids(&out);
            if !query.contains(&"--sort") {
                found.sort();
            }
            assert_eq!(found, expected, "{query:?}");
        }
        for member in ["name", "population", "geo.lat", "country", "country,-population", "names[]"] {
            // The second round asks the same of the indexes.
            let created = place.run(&["index", "create", "cities", member]);
            assert!(indexed || created.code == 0, "{member}: {}", created.err);
        }
    }
}

#[test]
fn a_remark_says_whether_an_index_was_used() {
    let place = cities();
    let scan = place.run(&["find", "cities", "name = Porto"]);
    assert!(scan.err.contains("2 documents in") && scan.err.contains("scan"), "{}", scan.err);
    place.ok(&["index", "create", "cities", "name"]);
    let index = place.run(&["find", "cities", "name = Porto"]);
    assert!(index.err.contains("index") && index.err.contains("name"), "{}", index.err);
    assert_eq!(ids(&index.out), ids(&scan.out));
    assert_eq!(place.run(&["find", "cities", "name = Porto", "--quiet"]).err, "");
}

#[test]
fn fields_and_count_say_less() {
    let place = cities();
    let out = place.ok(&["find", "cities", "name = 東京", "--fields", "name,geo.lat,missing"]);
    assert_eq!(out, "{\"_id\":\"tokyo\",\"name\":\"東京\",\"geo.lat\":35.7}\n");
    assert_eq!(place.ok(&["find", "cities", "country = PT", "--count"]), "{\"count\":2}\n");
    assert_eq!(place.ok(&["find", "cities", "country = PT", "--count", "--table"]), "2\n");
}

#[test]
fn a_table_of_comma_separated_values_loses_no_member_silently() {
    let place = Place::new();
    let first: String = (0..120).map(|n| format!("{{\"_id\":\"{n:03}\",\"n\":{n}}}\n")).collect();
    place.ok_with(&["import", "c"], format!("{first}{{\"_id\":\"120\",\"late\":1}}\n").as_bytes());
    let told = place.run(&["find", "c", "--csv"]);
    assert!(told.code == 0 && told.out.starts_with("_id,n\n000,0\n"), "{}", told.out);
    assert!(told.err.contains("no column is there for \"late\""), "{}", told.err);
    // A table without rows has its header, too.
    assert_eq!(place.ok(&["find", "c", "n = 1000", "--csv", "--fields", "n,late"]), "_id,n,late\n");
    place.fails(2, &["find", "c", "--csv", "--json"]);
    place.fails(2, &["find", "c", "--csv", "--table"]);
    // Nor does an export; what cannot be said in a table is told.
    place.file("f.txt", "hello");
    place.ok(&["attach", "put", "c", "000", "f.txt", "f.txt"]);
    let told = place.run(&["export", "c", "--csv"]);
    assert!(told.code == 0 && told.err.contains("the attachments of 1 document are left out"), "{}", told.err);
    place.fails(2, &["export", "c", "--csv", "--fields", "n", "--revisions"]);
    assert!(place.fails(2, &["export", "c", "--csv", "--fields", "n,n"]).contains("n is twice"));
    assert!(place.ok(&["export", "c", "--csv", "--fields", "_id,_rev", "--where", "n = 1"]).contains("\n001,1-"));
    // What is not a table is not read as one.
    place.file("lines", "{\"a\":1}\n");
    for option in [&["--types", "a=text"][..], &["--delimiter", ";"], &["--missing", "NA"]] {
        let refused = place.fails(2, &[&["import", "d", "lines"], option].concat());
        assert!(refused.contains("is for tables") && refused.contains(option[0]), "{refused}");
    }
    place.ok(&["index", "create", "c", "n", "--where", "n > 5"]);
    assert!(place.ok(&["index", "list", "c"]).contains("n, where n > 5"));
    for (name, text) in [("nameless", r#"{"":1}"#), ("zero", r#"{"a\u0000b":1}"#)] {
        place.ok(&["put", name, "x", text]);
        assert!(place.fails(2, &["find", name, "--csv"]).contains("can be no column"), "{name}");
    }
}

#[test]
fn a_query_of_the_past_sees_the_past() {
    let place = cities();
    let before = serde_json::from_str::<Value>(&place.ok(&["stats"])).unwrap()["seq"].to_string();
    place.ok(&["index", "create", "cities", "name"]);
    place.ok(&["put", "cities", "porto", "--merge", r#"{"name":"Cale"}"#]);
    place.ok(&["delete", "cities", "piaui"]);
    assert_eq!(ids(&place.ok(&["find", "cities", "name = Porto"])), Vec::<String>::new());
    let mut then = ids(&place.ok(&["find", "cities", "name = Porto", "--at", &before]));
    then.sort();
    assert_eq!(then, ["piaui", "porto"]);
    assert_eq!(ids(&place.ok(&["find", "cities", "name = Cale"])), ["porto"]);
}

#[test]
fn a_table_shows_what_fits_and_says_what_more_there_is() {
    let place = Place::new();
    let lines: String = (0..40)
        .map(|n| format!("{{\"_id\":\"{n:02}\",\"n\":{n},\"long\":\"{}\"}}\n", "x".repeat(90)))
        .collect::<Vec<_>>()
        .concat();
    place.ok_with(&["import", "c"], lines.as_bytes());
    let ended = place.run(&["find", "c", "--table"]);
    assert_eq!(ended.out.lines().count(), 2 + 25, "{}", ended.out);
    assert!(ended.out.lines().next().unwrap().contains("_id"), "{}", ended.out);
    assert!(ended.out.contains("xxx…") && !ended.out.contains(&"x".repeat(60)));
    assert!(ended.err.contains("more follow"), "{}", ended.err);
    let all = place.run(&["find", "c", "--table", "--limit", "0"]);
    assert_eq!(all.out.lines().count(), 2 + 40);
    assert!(!all.err.contains("more follow"));
    assert!(!place.run(&["find", "c", "--table", "--limit", "40"]).err.contains("more follow"));
}

#[test]
fn control_characters_do_not_reach_a_table() {
    let place = Place::new();
    place.ok(&["put", "c", "x", r#"{"a":"\u001b[2Jgone\nnext"}"#]);
    let out = place.ok(&["find", "c", "--table"]);
    assert!(out.contains("·[2Jgone·next") && !out.contains('\u{1b}'), "{out:?}");
}

#[test]
fn a_collection_that_is_not_there_is_not_found() {
    let place = cities();
    for args in [&["find", "towns"][..], &["export", "towns"], &["index", "list", "towns"]] {
        assert!(place.fails(1, args).contains("recension collections"), "{args:?}");
    }
}

#[test]
fn indexes_are_listed_dropped_and_may_be_unique() {
    let place = cities();
    assert!(place.fails(3, &["index", "create", "cities", "name", "--unique"]).contains("unique"));
    place.ok(&["index", "create", "cities", "geo.lat", "--unique", "--name", "latitude"]);
    let listed: Value = serde_json::from_str(&place.ok(&["index", "list", "cities"])).unwrap();
    assert_eq!(
        (&listed["index"], &listed["member"], &listed["unique"]),
        (&"latitude".into(), &"geo.lat".into(), &true.into())
    );
    let message = place.fails(3, &["put", "cities", "other", r#"{"geo":{"lat":41.1}}"#]);
    assert!(message.contains("latitude") && message.contains("porto"), "{message}");
    assert_eq!(place.run(&["get", "cities", "other"]).code, 1);
    place.ok(&["index", "drop", "cities", "latitude"]);
    place.ok(&["put", "cities", "other", r#"{"geo":{"lat":41.1}}"#]);
    assert_eq!(place.run(&["index", "drop", "cities", "latitude"]).code, 1);
}

#[test]
fn a_reader_that_has_heard_enough_ends_the_command_quietly() {
    let place = Place::new();
    let lines: String =
        (0..20_000).map(|n| format!("{{\"n\":{n},\"text\":\"{}\"}}\n", "x".repeat(50))).collect::<Vec<_>>().concat();
    place.ok_with(&["import", "c"], lines.as_bytes());
    for command in [&["find", "c"][..], &["export", "c"]] {
        let mut child = place
            .command(command)
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{command:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{command:?}");
    }
}

#[test]
fn a_cursor_goes_on_as_of_the_same_moment() {
    let place = cities();
    let whole = ids(&place.ok(&["find", "cities", "--sort", "name"]));
    let mut found = Vec::new();
    let mut more: Vec<String> = Vec::new();
    loop {
        let mut args = vec!["find", "cities", "--sort", "name", "--limit", "2"];
        args.extend(more.iter().map(String::as_str));
        let ended = place.run(&args);
        assert_eq!(ended.code, 0, "{}", ended.err);
        found.extend(ids(&ended.out));
        let Some((_, cursor)) = ended.err.trim().split_once("--cursor ") else { break };
        more = vec!["--cursor".to_owned(), cursor.to_owned()];
        // What others do meanwhile is not seen.
        place.ok(&["put", "cities", &format!("new-{}", found.len()), r#"{"name":"Zzz"}"#]);
    }
    assert_eq!((found.len(), &found), (5, &whole));
    let said = place.fails(2, &["find", "cities", "--cursor", "nonsense"]);
    assert!(said.contains("cursor"), "{said}");
}

#[test]
fn an_explanation_names_the_way_and_the_others() {
    let place = cities();
    place.ok(&["index", "create", "cities", "country,-population"]);
    place.ok(&["index", "create", "cities", "name", "--where", "country = PT", "--binary"]);
    let query = ["country = PT", "--sort", "-population"];
    let plan: Value = serde_json::from_str(&place.ok(&[&["explain", "cities"], &query[..]].concat())).unwrap();
    assert_eq!((&plan["index"], &plan["sort"]), (&"country+population".into(), &"index".into()), "{plan}");
    let told = place.ok(&[&["explain", "cities", "--table"], &query[..]].concat());
    for words in ["index country+population", "bounded by: country", "scan of every document", "chosen"] {
        assert!(told.contains(words), "{words}: {told}");
    }
    let scan: Value = serde_json::from_str(&place.ok(&["explain", "cities", "country = PT", "--scan"])).unwrap();
    assert_eq!(scan["index"], Value::Null);
    let listed = place.ok(&["index", "list", "cities"]);
    assert!(listed.contains(r#""member":"country, population descending""#), "{listed}");
    assert!(place.run(&["find", "cities", "country = PT", "--through", "nothing"]).code != 0);
    place.fails(1, &["explain", "towns"]);
    place.fails(2, &["index", "create", "cities", "x", "--where", "y missing"]);
    // Brackets within a path are no part of the index's name.
    place.ok(&["index", "create", "cities", "parts[].name"]);
    place.ok(&["index", "drop", "cities", "parts.name"]);
}

#[test]
fn where_nothing_is_found_it_is_said_what_may_have_been_meant() {
    let place = cities();
    place.ok_with(&["import", "orders"], br#"{"_id":"1","items":[{"sku":"a"}]}"#);
    let remark = place.run(&["find", "orders", "items.sku = a"]).err;
    assert!(remark.contains("items is an array: items[].sku looks into each of its elements"), "{remark}");
    assert_eq!(ids(&place.ok(&["find", "orders", "items[].sku = a"])), ["1"]);
    for command in [
        ["find", "cities", "--fields", "nmae"].as_slice(),
        &["find", "cities", "--sort", "nmae"],
        &["find", "cities", "--csv", "--fields", "country,nmae"],
        &["export", "cities", "--csv", "--fields", "_id,nmae"],
        &["export", "cities", "--where", "nmae = Porto"],
        &["aggregate", "cities", "--by", "nmae"],
        &["aggregate", "cities", "--by", "country", "--sum", "nmae"],
        &["aggregate", "cities", "nmae = Porto", "--by", "country"],
        &["index", "create", "cities", "nmae"],
    ] {
        let remark = place.run(command).err;
        assert!(remark.contains("no document that was looked at has a member nmae; there is name"), "{remark}");
    }
    let remark = place.run(&["find", "cities", "--fields", "country,geo.lat,names"]).err;
    assert!(!remark.contains("looked at"), "{remark}");
    let refused =
        place.fails(2, &["aggregate", "cities", "--by", "country", "--sum", "population", "--sort", "population"]);
    assert!(refused.contains("no column population to sort by: there are country, sum_population"), "{refused}");
    let having = &["aggregate", "cities", "--by", "country", "--sum", "population", "--having", "population > 1"];
    assert!(place.fails(2, having).contains("no column population for --having: there are country, sum_population"));
    for twice in [&["--by", "country,country"][..], &["--sum", "population,population"], &["--by", "count", "--count"]]
    {
        let refused = place.fails(2, &[&["aggregate", "cities"], twice].concat());
        assert!(refused.contains("two columns of the groups are named"), "{twice:?}: {refused}");
    }
    assert!(place.fails(2, &["aggregate", "cities", "[{\"$count\": \"n\"}]"]).contains("--pipeline '[{"));
}

#[test]
fn what_a_condition_finds_is_written_as_a_table_and_exported() {
    let place = cities();
    let csv =
        place.ok(&["find", "cities", "country = PT", "--sort", "-population", "--fields", "name,geo.lat", "--csv"]);
    assert_eq!(csv, "_id,name,geo.lat\nlisbon,Lisbon,38.7\nporto,Porto,41.1\n");
    let all = place.ok(&["find", "cities", "country = BR", "--csv"]);
    assert_eq!(all, "_id,name,country,population,geo\npiaui,Porto,BR,12052,\"{\"\"lat\"\":-3.9}\"\n");
    let exported = place.ok(&["export", "cities", "--where", "country = PT or country = JP", "--sort", "-population"]);
    assert_eq!(ids(&exported), ["tokyo", "lisbon", "porto"]);
    let csv = place.ok(&["export", "cities", "--where", "name = Porto", "--csv", "--fields", "_id,population"]);
    assert_eq!(csv, "_id,population\npiaui,12052\nporto,252687\n");
}

#[test]
fn documents_are_changed_and_deleted_by_condition_after_a_question() {
    let place = cities();
    let merge = ["update", "cities", "name = Porto", "--merge", r#"{"harbour":true}"#];
    assert!(place.fails(2, &merge).contains("--yes does it without asking"));
    assert_eq!(place.ok(&[&merge[..], &["--dry-run"]].concat()), "{\"would_change\":2,\"left_alone\":[]}\n");
    assert_eq!(ids(&place.ok(&["find", "cities", "harbour = true"])), [""; 0]);
    assert_eq!(place.ok(&[&merge[..], &["--yes"]].concat()), "{\"changed\":2,\"left_alone\":[]}\n");
    assert_eq!(place.ok(&[&merge[..], &["--yes"]].concat()), "{\"changed\":0,\"left_alone\":[]}\n");
    let patch = r#"[{"op":"remove","path":"/harbour"}]"#;
    place.ok(&["update", "cities", "harbour = true", "--patch", patch, "--yes"]);
    assert!(place.fails(2, &["update", "cities", "name = Porto"]).contains("--merge"));
    assert!(place.fails(2, &["delete", "cities", "--where", "country = PT"]).contains("--yes"));
    let deleted = place.ok(&["delete", "cities", "--where", "country = PT or country = JP", "--yes"]);
    assert_eq!(deleted, "{\"deleted\":3,\"left_alone\":[]}\n");
    assert_eq!(ids(&place.ok(&["find", "cities", "--sort", "_id"])), ["atlantis", "piaui"]);
    // A change that stops names the document.
    let add = ["update", "cities", "name exists", "--patch", r#"[{"op":"add","path":"/no/x","value":1}]"#, "--yes"];
    assert!(place.fails(5, &add).contains("document \"atlantis\": operation 0 (add) of the JSON patch"));
    // If there is nothing to do, nobody is asked.
    let none = ["nme = Porto", "name = Nowhere"];
    for condition in none {
        assert_eq!(place.ok(&["delete", "cities", condition]), "{\"deleted\":0,\"left_alone\":[]}\n");
        let update = ["update", "cities", condition, "--merge", r#"{"n":1}"#];
        assert_eq!(place.ok(&update), "{\"changed\":0,\"left_alone\":[]}\n");
    }
}

#[test]
fn a_change_by_condition_deletes_nothing() {
    let place = cities();
    for (option, change, named) in [
        ("--merge", r#"{"_deleted":true}"#, "recension delete"),
        ("--merge", r#"{"n":1,"_rev":"1-a"}"#, "_rev"),
        ("--merge", r#"{"_attachments":null}"#, "_attachments"),
        ("--patch", r#"[{"op":"add","path":"/_deleted","value":true}]"#, "recension delete"),
        ("--patch", r#"[{"op":"replace","path":"","value":{"_id":"x"}}]"#, "_id"),
    ] {
        let refused = place.fails(2, &["update", "cities", "name = Porto", option, change, "--yes"]);
        assert!(refused.contains(named), "{change}: {refused}");
    }
    assert_eq!(ids(&place.ok(&["find", "cities", "name = Porto", "--sort", "_id"])), ["piaui", "porto"]);
    let groups = ["aggregate", "cities", "country exists", "--by", "country", "--count", "--limit"];
    let number = |limit| place.ok(&[&groups[..], &[limit]].concat()).lines().count();
    assert_eq!((number("0"), number("2")), (3, 2));
}

#[test]
fn groups_are_counted_and_summed_up() {
    let place = cities();
    let rows =
        place.ok(&["aggregate", "cities", "country exists", "--by", "country", "--count", "--sum", "population"]);
    let expected = "{\"country\":\"BR\",\"count\":1,\"sum_population\":12052}\n\
                    {\"country\":\"JP\",\"count\":1,\"sum_population\":9733276}\n\
                    {\"country\":\"PT\",\"count\":2,\"sum_population\":770489}\n";
    assert_eq!(rows, expected);
    let most = [
        "--by",
        "country",
        "--max",
        "geo.lat",
        "--having",
        "max_geo.lat > 0",
        "--sort",
        "-max_geo.lat",
        "--limit",
        "1",
    ];
    assert_eq!(
        place.ok(&[&["aggregate", "cities"], &most[..]].concat()),
        "{\"country\":\"PT\",\"max_geo.lat\":41.1}\n"
    );
    assert_eq!(
        place.ok(&["aggregate", "cities", "--by", "names[]"]),
        "{\"names\":\"Oporto\",\"count\":1}\n{\"names\":\"Porto\",\"count\":1}\n"
    );
    let pipeline = r#"[{"$match":{"name":"Porto"}},{"$count":"n"}]"#;
    assert_eq!(place.ok(&["aggregate", "cities", "--pipeline", pipeline]), "{\"n\":2}\n");
    let table = place.ok(&["--table", "aggregate", "cities", "--avg", "population"]);
    assert!(table.contains("avg_population"), "{table}");
}

#[test]
fn words_are_found_wherever_they_stand_in_a_text() {
    let place = Place::new();
    place.ok(&["put", "notes", "a", r#"{"text":"Hot soup, and rice"}"#]);
    place.ok(&["put", "notes", "b", r#"{"text":"hot tea"}"#]);
    for (condition, ids) in [
        ("text words 'SOUP hot'", "a"),
        ("text words 'hot -rice'", "b"),
        (r#"text words '"hot te*"'"#, "b"),
        ("not text words tea", "a"),
    ] {
        let found = place.ok(&["find", "notes", condition, "--fields", "_id"]);
        assert_eq!(found.trim(), format!(r#"{{"_id":"{ids}"}}"#), "{condition}");
    }
    let refused = place.fails(2, &["find", "notes", "text words '-tea'"]);
    assert!(refused.contains("names none that must be there"), "{refused}");
}

#[test]
fn words_of_several_members_go_by_an_index_and_come_by_relevance() {
    let place = Place::new();
    place.ok(&["put", "notes", "a", r#"{"title":"Rice","text":"with a soup, and more rice, and a soup"}"#]);
    place.ok(&["put", "notes", "b", r#"{"title":"Soups"}"#]);
    place.ok(&["put", "notes", "c", r#"{"title":"Tea"}"#]);
    let asked = "title, text words soup in english";
    assert_eq!(ids(&place.ok(&["find", "notes", asked, "--sort", "_id"])), ["a", "b"]);
    let refused = place.fails(5, &["find", "notes", asked, "--by-relevance"]);
    assert!(refused.contains("needs an index of words"), "{refused}");
    place.ok(&["index", "create", "notes", "title,text", "--text=english", "--name", "words"]);
    assert!(place.ok(&["index", "list", "notes"]).contains("title, text, words (english)"));
    assert_eq!(ids(&place.ok(&["find", "notes", asked, "--by-relevance"])), ["b", "a"]);
    let plan = place.ok(&["explain", "notes", asked, "--by-relevance"]);
    assert!(plan.contains("\"words\":\"soup\"") && plan.contains("\"sort\":\"relevance\""), "{plan}");
    for (condition, what) in [
        ("title, text = soup", "expected words"),
        ("title words soup in klingon", "it is plain, danish"),
        ("title, words soup", "expected"),
    ] {
        assert!(place.fails(2, &["find", "notes", condition]).contains(what), "{condition}");
    }
}

#[test]
fn words_are_marked_in_the_texts_where_they_stand() {
    let place = Place::new();
    place.ok(&["put", "notes", "a", r#"{"title":"Rice","text":"with hot soup, and more"}"#]);
    place.ok(&["put", "notes", "b", r#"{"title":"Soups","text":"none"}"#]);
    let asked = "title, text words soup in english";
    let found = place.ok(&["find", "notes", asked, "--highlight", "--sort", "_id"]);
    let found: Vec<serde_json::Value> = found.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(found[0]["_highlights"], serde_json::json!({ "text": ["with hot <em>soup</em>, and more"] }));
    assert_eq!(found[1]["_highlights"], serde_json::json!({ "title": ["<em>Soups</em>"] }));
    assert_eq!(found[1]["title"], "Soups");
    let table = place.ok(&["--table", "find", "notes", asked, "--highlight"]);
    assert!(table.contains("text: with hot **soup**, and more") && table.contains("title: **Soups**"), "{table}");
    place.fails(2, &["find", "notes", asked, "--highlight", "--csv"]);
    assert!(place.fails(2, &["find", "notes", "n > 1", "--highlight"]).contains("asks for no words"));
}
