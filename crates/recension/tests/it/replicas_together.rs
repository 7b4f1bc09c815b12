//! Many revisions of one document that come in one request: they make what they make one by one, and are bounded.

use proptest::prelude::*;
use recension::{At, Collection, Error, ReplicatedWrite, RevId};

use crate::replicas::{people, rev};

/// Paths of a document, newest first: of one or two generations to four, over few names, so that they meet and
/// disagree.
fn paths() -> impl Strategy<Value = Vec<(Vec<usize>, bool)>> {
    prop::collection::vec((prop::collection::vec(0..3_usize, 1..5), prop::bool::weighted(0.2)), 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn revisions_that_come_together_make_what_they_make_one_by_one(paths in paths()) {
        let writes: Vec<ReplicatedWrite> = paths
            .iter()
            .map(|(names, deleted)| {
                // What a revision says follows from its name, as it does where revisions are hashes.
                let path: Vec<RevId> = (1..=names.len())
                    .rev()
                    .map(|generation| rev(&format!("{generation}-{}", ["a", "b", "c"][names[generation - 1]])))
                    .collect();
                let body = format!("{{\"n\":\"{}\"}}", path[0]);
                ReplicatedWrite::new("a", path[0], &path[1..], *deleted, body).unwrap()
            })
            .collect();
        let (together, alone) = (people(), people());
        let merged = together.replication().merge_revisions(writes.clone()).unwrap();
        let changed: Vec<bool> = merged.into_iter().map(|one| one.unwrap().is_some()).collect();
        let mut changed_alone = Vec::new();
        for write in writes.clone() {
            changed_alone.push(alone.replication().merge_revisions([write]).unwrap().pop().unwrap().unwrap().is_some());
        }
        prop_assert_eq!(changed, changed_alone);
        prop_assert_eq!(leaves_and_bodies(&together), leaves_and_bodies(&alone));
        prop_assert_eq!(together.store().check(At::Now).unwrap().problems.len(), 0);
        // And they are known then.
        for result in together.replication().merge_revisions(writes).unwrap() {
            prop_assert!(result.unwrap().is_none());
        }
    }
}

fn leaves_and_bodies(collection: &Collection) -> Vec<String> {
    let at = collection.at(At::Now).unwrap();
    let leaves = at.leaves("a").unwrap();
    let told = leaves.iter().enumerate().map(|(number, leaf)| {
        let revision = at.get_revision("a", &leaf.rev).unwrap().unwrap();
        assert_eq!(at.leaf_revision("a", leaf, number == 0).unwrap().as_ref(), Some(&revision));
        format!("{leaf:?} {} {:?}", revision.body, at.ancestry("a", &leaf.rev).unwrap())
    });
    told.collect()
}

#[test]
fn attachments_of_branches_that_come_together_are_all_there() {
    let people = people();
    let json = |rev: &str, of: &str| {
        let text =
            format!(r#"{{"_id":"a","_rev":"{rev}","_attachments":{{"file":{{"content_type":"x/y","data":"{of}"}}}}}}"#);
        ReplicatedWrite::from_json(text).unwrap()
    };
    // Two branches with the same bytes, and one with others.
    let writes = [json("1-a", "YQ=="), json("1-b", "YQ=="), json("1-c", "Yg==")];
    for result in people.replication().merge_revisions(writes).unwrap() {
        assert!(result.unwrap().is_some());
    }
    let at = people.at(At::Now).unwrap();
    for (number, leaf) in at.leaves("a").unwrap().iter().enumerate() {
        let revision = at.leaf_revision("a", leaf, number == 0).unwrap().unwrap();
        let mut bytes = Vec::new();
        let mut reader = at.open_attachment(&revision.attachments[0]).unwrap();
        std::io::Read::read_to_end(&mut reader, &mut bytes).unwrap();
        assert_eq!(bytes, if leaf.rev == rev("1-c") { b"b" } else { b"a" });
    }
    // A child that keeps what its parent brings stands on it, also where both come together.
    let child = r#"{"_id":"b","_rev":"2-b","_revisions":{"start":2,"ids":["b","a"]},
        "_attachments":{"file":{"stub":true,"content_type":"x/y"}}}"#;
    let parent = r#"{"_id":"b","_rev":"1-a","_attachments":{"file":{"content_type":"x/y","data":"YQ=="}}}"#;
    let both = [parent, child].map(|text| ReplicatedWrite::from_json(text).unwrap());
    for result in people.replication().merge_revisions(both).unwrap() {
        assert!(result.unwrap().is_some());
    }
    assert_eq!(people.store().check(At::Now).unwrap().problems.len(), 0);
}

#[test]
fn a_document_has_a_bounded_number_of_branches_and_stays_writable_at_the_bound() {
    const MAX: usize = 10_000;
    let people = people();
    let branch = |n: usize| ReplicatedWrite::new("a", rev(&format!("1-{n:08x}")), &[], false, "{}").unwrap();
    let refused = |results: Vec<Result<Option<recension::Written>, Error>>| {
        results.into_iter().filter(|one| matches!(one, Err(Error::TooManyBranches { max: MAX, .. }))).count()
    };
    assert_eq!(
        refused(people.replication().merge_revisions((0..=MAX).map(branch)).unwrap()),
        MAX + 1,
        "what came together"
    );
    assert_eq!(people.replication().leaves("a").unwrap(), []);
    assert_eq!(refused(people.replication().merge_revisions((0..MAX).map(branch)).unwrap()), 0);
    assert_eq!(people.replication().leaves("a").unwrap().len(), MAX);
    assert_eq!(refused(people.replication().merge_revisions([branch(MAX)]).unwrap()), 1);
    let message = people.replication().merge_revisions([branch(MAX)]).unwrap().pop().unwrap().unwrap_err().to_string();
    assert!(message.contains("more than 10000 branches") && message.contains("purge"), "{message}");
    // What makes no new branch is written, and who purges some has room again.
    people.put("a", r#"{"n":1}"#).unwrap();
    assert_eq!(people.replication().leaves("a").unwrap().len(), MAX);
    people.replication().purge("a", &[rev("1-00000000")]).unwrap();
    assert_eq!(refused(people.replication().merge_revisions([branch(MAX)]).unwrap()), 0);
}
