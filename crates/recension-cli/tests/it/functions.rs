//! Validation functions hold for the command line and for Apocrypha as they do over HTTP; whoever has the store without
//! JavaScript is told so.

use recension::Error;

use crate::common::Place;

const DESIGN: &str = "{\"validate_doc_update\":\"function(doc, old, user) { if (doc.n < 0) \
                      throw({forbidden: user.roles[0] + ' says no'}); }\"}";

#[test]
fn what_a_validation_function_refuses_is_not_written_by_any_command() {
    let place = Place::new();
    place.ok(&["--store", "s", "put", "c", "_design/v", DESIGN]);
    place.ok(&["--store", "s", "put", "c", "good", r#"{"n":1}"#]);
    let refused = place.fails(5, &["--store", "s", "put", "c", "bad", r#"{"n":-1}"#]);
    assert!(refused.contains("_admin says no"), "{refused}");
    place.file("docs.jsonl", "{\"_id\":\"x\",\"n\":2}\n{\"_id\":\"y\",\"n\":-2}\n");
    let imported = place.run(&["--store", "s", "import", "c", "docs.jsonl"]);
    assert_ne!(imported.code, 0, "{imported:?}");
    let listed = place.ok(&["--store", "s", "export", "c"]);
    assert!(listed.contains("good") && !listed.contains("\"bad\"") && !listed.contains("\"y\""), "{listed}");
    // A library without JavaScript says what is missing, and the design document can still be taken away.
    let store = recension::open(&place.path().join("s").display().to_string()).unwrap();
    let collection = store.collection("c").unwrap();
    let error = collection.put("z", r#"{"n":3}"#).unwrap_err();
    assert!(matches!(&error, Error::NoGuard { design, .. } if design == "_design/v"), "{error}");
    let rev = collection.get("_design/v").unwrap().unwrap().rev;
    collection.delete("_design/v", &rev).unwrap();
    collection.put("z", r#"{"n":3}"#).unwrap();
}

#[test]
fn a_design_document_that_does_not_compile_is_refused() {
    let place = Place::new();
    let broken = r#"{"views":{"v":{"map":"function(doc) {"}}}"#;
    let refused = place.fails(5, &["--store", "s", "put", "c", "_design/v", broken]);
    assert!(refused.contains("compilation_error"), "{refused}");
}
