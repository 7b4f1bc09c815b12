//! What a guard is shown: the document as it is to be and the leaf that it stands on, with their attachments.

use std::sync::{Arc, Mutex};

use recension::{Expect, Guard, Proposed, ReplicatedWrite, Result, Store, Validator, Write};
use serde_json::Value;

#[derive(Default)]
struct Recorder(Mutex<Vec<(Value, Value)>>);

impl Guard for Recorder {
    fn validate(&self, _: &Validator<'_>, proposed: &Proposed<'_>) -> Result<()> {
        let json = |text: &str| serde_json::from_str(text).unwrap();
        let old = proposed.old.map_or(Value::Null, json);
        self.0.lock().unwrap().push((json(proposed.new), old));
        Ok(())
    }

    fn check_design(&self, _: &str, _: &str) -> Result<()> {
        Ok(())
    }
}

impl Recorder {
    fn last(&self) -> (Value, Value) {
        self.0.lock().unwrap().last().unwrap().clone()
    }
}

#[test]
fn a_guard_sees_attachments_and_the_leaf_that_is_edited() {
    let recorder = Arc::new(Recorder::default());
    let store = Store::memory().unwrap().guarded(Arc::clone(&recorder) as Arc<dyn Guard>);
    let collection = store.collection("c").unwrap();
    collection.put("_design/v", r#"{"validate_doc_update":"f"}"#).unwrap();
    collection.put("a", r#"{"n":1}"#).unwrap();
    assert_eq!(recorder.last().1, Value::Null);
    collection.attach("a", Expect::Anything, "x.txt", "text/plain", &b"hello"[..]).unwrap();
    let (new, old) = recorder.last();
    assert_eq!((&new["_attachments"]["x.txt"]["length"], &old["n"]), (&5.into(), &1.into()));
    assert_eq!(old.get("_attachments"), None);
    let (body, winner) = (r#"{"_attachments":{"x.txt":{"stub":true}},"n":2}"#, collection.get("a").unwrap().unwrap());
    let write = Write::from_json(body).unwrap().renamed("a").unwrap().expecting(Expect::Revision(winner.rev));
    collection.write(write).unwrap();
    let (new, old) = recorder.last();
    assert_eq!(new["_attachments"]["x.txt"]["stub"], true);
    assert_eq!(old["_attachments"]["x.txt"]["digest"], new["_attachments"]["x.txt"]["digest"]);
    // A losing leaf that is edited is what was there.
    let losing = ReplicatedWrite::from_json(r#"{"_id":"a","_rev":"1-00","by":"other"}"#).unwrap();
    collection.replication().merge_revisions([losing]).unwrap().pop().unwrap().unwrap();
    let write = Write::from_json(r#"{"by":"third"}"#).unwrap().renamed("a").unwrap();
    collection.write(write.expecting(Expect::Leaf("1-00".parse().unwrap()))).unwrap();
    let (new, old) = recorder.last();
    assert_eq!((&new["by"], &old["by"]), (&"third".into(), &"other".into()));
    let edit = r#"{"_id":"a","_rev":"3-00","_revisions":{"start":3,"ids":["00","zz"]},"by":"far"}"#;
    collection
        .replication()
        .merge_revisions([ReplicatedWrite::from_json(edit).unwrap()])
        .unwrap()
        .pop()
        .unwrap()
        .unwrap();
    let (new, old) = recorder.last();
    assert_eq!((&new["by"], &old["n"]), (&"far".into(), &2.into()), "it stands on no leaf: the winner; {old}");
}
