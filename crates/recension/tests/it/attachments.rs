//! Attachments through the public interface: what goes in comes out, now and in the past; each content is there once,
//! as long as a document has it; revisions, digests and stubs are CouchDB's.

use std::io::{Cursor, Read};
use std::sync::Arc;
use std::thread;

use proptest::prelude::*;
use recension::engine::{Clock, Direction, Engine, KeyRange, ManualClock, MemoryEngine, Timestamp, TreeId};
use recension::{At, Collection, Encoding, Error, Expect, ReplicatedWrite, RevId, Store, Write};

/// The side tree of the first collection of a store.
const SIDE: TreeId = TreeId(3);
const CHUNK: usize = 64 * 1024;
const MIB: usize = 1 << 20;

fn bytes(len: usize) -> Vec<u8> {
    (0..len as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

fn all(mut reader: impl Read) -> Vec<u8> {
    let mut out = Vec::new();
    reader.read_to_end(&mut out).unwrap();
    out
}

fn menu() -> Collection {
    Store::memory().unwrap().collection("menu").unwrap()
}

fn rows(collection: &Collection, kind: u8) -> usize {
    let snapshot = collection.store().engine().snapshot().unwrap();
    snapshot.range(SIDE, &KeyRange::prefix([kind]), Direction::Forward).count()
}

fn contents_chunks_references_uploads(collection: &Collection) -> [usize; 4] {
    [4, 5, 6, 8].map(|kind| rows(collection, kind))
}

fn agrees(collection: &Collection) {
    assert_eq!(collection.store().check(At::Now).unwrap().problems, []);
}

#[test]
fn an_attachment_of_any_length_is_read_as_it_was_written() {
    let collection = menu();
    let lengths = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, MIB - 1, MIB, MIB + 1, 3 * MIB, 3 * MIB + 5];
    for (number, len) in lengths.into_iter().enumerate() {
        for (content_type, encoding) in [("image/png", Encoding::Identity), ("text/plain", Encoding::Gzip)] {
            let (id, data) = (format!("{number}-{encoding:?}"), bytes(len));
            collection.attach(&id, Expect::Absent, "a/b c", content_type, &data[..]).unwrap();
            let reader = collection.attachment(&id, "a/b c").unwrap().unwrap();
            let info = reader.info().clone();
            assert_eq!((info.length(), info.encoding(), info.revpos), (len as u64, encoding, 1));
            assert_eq!(all(reader), data, "{id}");
            let stored = all(collection.attachment(&id, "a/b c").unwrap().unwrap().stored());
            assert_eq!(stored.len() as u64, info.stored_length());
            assert_eq!(encoding == Encoding::Identity, stored == data && len > 0 || (len == 0 && stored.is_empty()));
            assert!(collection.attachment(&id, "b").unwrap().is_none());
        }
    }
    agrees(&collection);
    assert_eq!(rows(&collection, 8), 0);
}

/// The steps of the recorded scenario "standalone" that concern documents (attachments.json).
#[test]
fn revisions_digests_and_stubs_are_couchdbs() {
    let collection = menu();
    let binary: Vec<u8> = (0..64).collect();
    let a1 = collection.attach("a", Expect::Anything, "x.bin", "application/octet-stream", &binary[..]).unwrap();
    assert_eq!(a1.rev.to_string(), "1-2c8b704dc99950f1724bf446ea7a6729");
    let x = r#""x.bin":{"content_type":"application/octet-stream","revpos":1,"digest":"md5-stP1a8GX/ZhdWWUHm15xSA==","length":64,"stub":true}"#;
    let expected = format!(r#"{{"_id":"a","_rev":"{}","_attachments":{{{x}}}}}"#, a1.rev);
    assert_eq!(collection.get("a").unwrap().unwrap().to_json(), expected);

    let again = collection.attach("a", Expect::Absent, "x.bin", "image/png", &b"zz"[..]);
    assert!(matches!(again, Err(Error::Conflict { .. })));
    let text = "Hello, attachments! ".repeat(30);
    let a2 = collection.attach("a", Expect::Leaf(a1.rev), "y.txt", "text/plain", text.as_bytes()).unwrap();
    assert_eq!(a2.rev.to_string(), "2-1364eb62d8830a40bcfa41c3d34f31b1");
    let names = |infos: Vec<recension::AttachmentInfo>| -> Vec<(String, u32, u64)> {
        infos.into_iter().map(|info| (info.name.clone(), info.revpos, info.length())).collect()
    };
    let both = [("y.txt".to_owned(), 2, 600), ("x.bin".to_owned(), 1, 64)];
    assert_eq!(names(collection.attachments("a").unwrap()), both);

    assert!(matches!(collection.detach("a", &a1.rev, "y.txt"), Err(Error::Conflict { .. })));
    let a3 = collection.detach("a", &a2.rev, "y.txt").unwrap();
    assert_eq!(a3.rev.to_string(), "3-3dbe99c17cee382f330ca242a1c398f6");
    assert_eq!(names(collection.attachments("a").unwrap()), both[1..]);
    assert!(collection.attachment("a", "y.txt").unwrap().is_none());
    assert_eq!(all(collection.attachment_of("a", &a2.rev, "y.txt").unwrap().unwrap()), text.as_bytes());
    assert_eq!(all(collection.attachment_of("a", &a1.rev, "x.bin").unwrap().unwrap()), binary);
    assert!(matches!(collection.detach("a", &a3.rev, "nope"), Err(Error::NoSuchAttachment { .. })));
    assert!(matches!(
        collection.attach("b", Expect::Anything, "_x", "text/plain", &b"x"[..]),
        Err(Error::BadName { .. })
    ));
    let b1 = collection.attach("b", Expect::Anything, "e", "application/x-empty", &b""[..]).unwrap();
    assert_eq!(b1.rev.to_string(), "1-b2e30b7c56b43957d98797289bfd3162");
    let c1 = collection.attach("c", Expect::Anything, "noct", "application/octet-stream", &b"abc"[..]).unwrap();
    assert_eq!(c1.rev.to_string(), "1-dd00392727a0e947c8b634c2b0ef8baa");
    let unknown = Expect::Leaf("1-11111111111111111111111111111111".parse().unwrap());
    assert!(matches!(collection.attach("q", unknown, "n", "image/png", &b"x"[..]), Err(Error::Conflict { .. })));
    agrees(&collection);
}

#[test]
fn an_update_keeps_what_it_names_as_stubs_and_drops_the_rest() {
    let collection = menu();
    let body = r#"{"n":1,"_attachments":{"a":{"data":"YQ==","content_type":"image/png"},"b":{"data":"Yg=="},"j":1}}"#;
    let first = collection.put("d", body).unwrap();
    assert_eq!(contents_chunks_references_uploads(&collection), [2, 2, 2, 0]);
    let stub =
        |name: &str, rev: &RevId| format!(r#"{{"n":2,"_rev":"{rev}","_attachments":{{"{name}":{{"stub":true}}}}}}"#);
    assert!(matches!(collection.put("d", stub("c", &first.rev)), Err(Error::MissingStub { .. })));
    let second = collection.put("d", stub("b", &first.rev)).unwrap();
    let infos = collection.attachments("d").unwrap();
    assert_eq!((infos.len(), infos[0].name.as_str(), infos[0].revpos), (1, "b", 1));
    assert_eq!(contents_chunks_references_uploads(&collection), [1, 1, 1, 0]);
    // Convenience of the embedded kind, and changes of the body alone.
    collection.write(Write::put("d", r#"{"n":3}"#).unwrap().keep_attachments()).unwrap();
    collection.update("d", |_| Ok(r#"{"n":4}"#.to_owned())).unwrap();
    assert_eq!(all(collection.attachment("d", "b").unwrap().unwrap()), b"b");
    collection.put("d", r#"{"n":5}"#).unwrap();
    assert_eq!(collection.attachments("d").unwrap(), []);
    assert_eq!(contents_chunks_references_uploads(&collection), [0; 4]);
    // The past has them; and they come back from there.
    let then = collection.at(At::Seq(first.seq)).unwrap();
    assert_eq!(all(then.attachment("d", "a").unwrap().unwrap()), b"a");
    let restored = collection.restore("d", &second.rev).unwrap();
    assert_eq!(all(collection.attachment("d", "b").unwrap().unwrap()), b"b");
    collection.delete("d", &restored.rev).unwrap();
    assert_eq!(contents_chunks_references_uploads(&collection), [0; 4]);
    collection.restore_to(At::Seq(first.seq)).unwrap();
    assert_eq!(all(collection.attachment("d", "a").unwrap().unwrap()), b"a");
    agrees(&collection);
}

#[test]
fn equal_contents_are_there_once_until_the_last_document_drops_them() {
    let collection = menu();
    let data = bytes(2 * MIB + 10);
    for id in ["a", "b", "c"] {
        collection.attach(id, Expect::Absent, "x", "image/png", &data[..]).unwrap();
        assert_eq!(contents_chunks_references_uploads(&collection)[..2], [1, 33], "{id}");
    }
    collection.attach("a", Expect::Anything, "y", "image/jpeg", &data[..]).unwrap();
    assert_eq!(contents_chunks_references_uploads(&collection), [1, 33, 3, 0]);
    agrees(&collection);
    for (id, left) in [("a", [1, 33, 2, 0]), ("b", [1, 33, 1, 0]), ("c", [0; 4])] {
        assert_eq!(all(collection.attachment(id, "x").unwrap().unwrap()), data);
        let rev = collection.get(id).unwrap().unwrap().rev;
        collection.delete(id, &rev).unwrap();
        assert_eq!(contents_chunks_references_uploads(&collection), left, "{id}");
        agrees(&collection);
    }
}

#[test]
fn an_upload_that_is_not_used_goes_and_a_used_one_can_be_used_again() {
    let collection = menu();
    let data = bytes(3 * MIB);
    let upload = collection.uploads().add(&data[..], "image/png").unwrap();
    assert_eq!(contents_chunks_references_uploads(&collection), [0, 48, 0, 1]);
    agrees(&collection);
    drop(upload.clone());
    for id in ["a", "b"] {
        collection.write(Write::put(id, "{}").unwrap().attach("x", upload.clone()).unwrap()).unwrap();
        assert_eq!(all(collection.attachment(id, "x").unwrap().unwrap()), data);
    }
    drop(upload);
    assert_eq!(contents_chunks_references_uploads(&collection), [1, 48, 2, 0]);
    drop(collection.uploads().add(&data[..], "image/png").unwrap());
    assert_eq!(contents_chunks_references_uploads(&collection), [1, 48, 2, 0]);
    let elsewhere =
        collection.store().collection("other").unwrap().uploads().add(&bytes(2 * MIB + 1)[..], "a/b").unwrap();
    let write = Write::put("e", "{}").unwrap().attach("x", elsewhere).unwrap();
    assert!(matches!(collection.write(write), Err(Error::UploadGone)));
    agrees(&collection);
}

/// Reads so much and then fails.
struct Broken(usize);

impl Read for Broken {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let count = self.0.min(out.len());
        self.0 -= count;
        out[..count].fill(7);
        if count == 0 { Err(std::io::Error::other("the line is dead")) } else { Ok(count) }
    }
}

#[test]
fn an_upload_that_is_broken_off_leaves_nothing_and_one_whose_process_died_is_swept_after_a_day() {
    let clock = Arc::new(ManualClock::new(Timestamp(1_000_000)));
    let engine = Arc::new(MemoryEngine::new());
    let store = Store::with_clock(engine.clone() as Arc<dyn Engine>, clock.clone() as Arc<dyn Clock>).unwrap();
    let collection = store.collection("menu").unwrap();
    let error = collection.attach("a", Expect::Absent, "x", "image/png", Broken(5 * MIB)).unwrap_err();
    assert!(error.to_string().contains("the line is dead"));
    assert_eq!(contents_chunks_references_uploads(&collection), [0; 4]);
    assert!(collection.get("a").unwrap().is_none());

    let upload = collection.uploads().add(&bytes(30 * MIB)[..], "image/png").unwrap();
    let late = Write::put("late", "{}").unwrap().attach("x", upload.clone()).unwrap();
    std::mem::forget(upload);
    assert_eq!(contents_chunks_references_uploads(&collection), [0, 480, 0, 1]);
    let hour = 3600 * 1_000_000;
    clock.set(Timestamp(1_000_000 + 23 * hour));
    collection.uploads().add(&b"x"[..], "image/png").unwrap();
    assert_eq!(rows(&collection, 5), 480);
    clock.set(Timestamp(1_000_000 + 25 * hour));
    collection.uploads().add(&b"x"[..], "image/png").unwrap();
    assert_eq!(contents_chunks_references_uploads(&collection), [0; 4]);
    assert!(matches!(collection.write(late), Err(Error::UploadGone)));
    agrees(&collection);
}

#[test]
fn replicated_revisions_bring_their_attachments_and_losing_leaves_keep_theirs() {
    let collection = menu();
    let doc = |rev: &str, ids: &str, attachments: &str| {
        let start = &rev[..1];
        ReplicatedWrite::from_json(format!(
            r#"{{"_id":"d","_rev":"{rev}","_revisions":{{"start":{start},"ids":[{ids}]}},"_attachments":{{{attachments}}}}}"#
        ))
        .unwrap()
    };
    let merge = |write| collection.replication().merge_revisions([write]).unwrap().remove(0);
    merge(doc("1-a", r#""a""#, r#""x":{"data":"YQ==","content_type":"image/png","revpos":1}"#)).unwrap();
    // The first child of 1-a has it as a stub, the other one other bytes.
    merge(doc("2-b", r#""b","a""#, r#""x":{"stub":true}"#)).unwrap();
    let followed = doc("2-c", r#""c","a""#, r#""y":{"follows":true,"content_type":"text/plain","encoding":"gzip"}"#);
    assert!(followed.following()[0].gzip);
    assert!(matches!(merge(followed.clone()), Err(Error::BadAttachment { .. })));
    let plain = collection.attach("t", Expect::Absent, "t", "text/plain", &b"hello"[..]).unwrap();
    let gzip = all(collection.attachment("t", "t").unwrap().unwrap().stored());
    let upload = collection.uploads().add_gzip(Cursor::new(gzip), "text/plain").unwrap();
    merge(followed.attach("y", upload).unwrap()).unwrap();
    let rev = |text: &str| text.parse::<RevId>().unwrap();
    assert_eq!(all(collection.attachment("d", "y").unwrap().unwrap()), b"hello");
    assert_eq!(all(collection.attachment_of("d", &rev("2-b"), "x").unwrap().unwrap()), b"a");
    assert_eq!(contents_chunks_references_uploads(&collection), [2, 2, 3, 0]);
    agrees(&collection);
    collection.delete("t", &plain.rev).unwrap();
    // The winner goes, and with it the only document that has the text.
    collection.replication().purge("d", &[rev("2-c")]).unwrap();
    assert_eq!(contents_chunks_references_uploads(&collection), [1, 1, 1, 0]);
    assert_eq!(all(collection.attachment("d", "x").unwrap().unwrap()), b"a");
    let missing = doc("3-d", r#""d","b""#, r#""z":{"stub":true}"#);
    assert!(matches!(merge(missing), Err(Error::MissingStub { .. })));
    collection.replication().purge("d", &[rev("2-b")]).unwrap();
    assert_eq!(contents_chunks_references_uploads(&collection), [0; 4]);
    agrees(&collection);
}

#[test]
fn new_bytes_come_with_the_revision_that_brings_them_whatever_was_sent() {
    let collection = menu();
    let revposes = |id: &str| {
        let infos = collection.attachments(id).unwrap();
        infos.into_iter().map(|info| (info.name.clone(), info.revpos)).collect::<Vec<_>>()
    };
    let write = |rev: Option<RevId>, attachments: &str| {
        let rev = rev.map_or_else(String::new, |rev| format!(r#""_rev":"{rev}","#));
        let text = format!(r#"{{{rev}"_id":"d","_attachments":{{{attachments}}}}}"#);
        collection.write(Write::from_json(text).unwrap()).unwrap().rev
    };
    let first = write(None, r#""a":{"data":"YQ==","revpos":7},"b":{"data":"Yg=="}"#);
    assert_eq!(revposes("d"), [("a".to_owned(), 1), ("b".to_owned(), 1)]);
    // As clients send what they have read, with other bytes in one of them.
    let second = write(Some(first), r#""a":{"data":"YWE=","revpos":1},"b":{"stub":true,"revpos":1,"length":9}"#);
    assert_eq!(revposes("d"), [("a".to_owned(), 2), ("b".to_owned(), 1)]);
    let text = format!(r#"{{"_id":"d","_rev":"{second}","_attachments":{{"b":{{"follows":true,"revpos":1}}}}}}"#);
    let upload = collection.uploads().add(&b"bb"[..], "image/png").unwrap();
    let followed = Write::from_json(text).unwrap().keep_attachments().attach("b", upload).unwrap();
    collection.write(followed).unwrap();
    assert_eq!(revposes("d"), [("b".to_owned(), 3), ("a".to_owned(), 2)]);
    // A replica says itself with which revision its bytes came.
    let replicated = |generation: u32, attachment: &str| {
        let ids = (1..=generation).rev().map(|at| format!(r#""{at}""#)).collect::<Vec<_>>().join(",");
        let text = format!(
            r#"{{"_id":"r","_rev":"{generation}-{generation}","_revisions":{{"start":{generation},"ids":[{ids}]}},
                "_attachments":{{"a":{{{attachment}}}}}}}"#
        );
        collection.replication().merge_revisions([ReplicatedWrite::from_json(text).unwrap()]).unwrap().remove(0)
    };
    replicated(4, r#""data":"YWE=","revpos":2"#).unwrap();
    assert_eq!(revposes("r"), [("a".to_owned(), 2)]);
    // A stub of other bytes than are known here is not taken for those.
    assert!(matches!(replicated(5, r#""stub":true,"revpos":5,"length":3"#), Err(Error::MissingStub { .. })));
    replicated(5, r#""stub":true,"revpos":2,"length":2"#).unwrap();
    assert_eq!(revposes("r"), [("a".to_owned(), 2)]);
    agrees(&collection);
}

#[test]
fn what_a_losing_leaf_alone_has_goes_with_it() {
    let collection = menu();
    let merge = |body: &str| {
        let write = ReplicatedWrite::from_json(body).unwrap();
        collection.replication().merge_revisions([write]).unwrap().remove(0).unwrap()
    };
    merge(r#"{"_id":"d","_rev":"1-a","_attachments":{"x":{"data":"YQ==","content_type":"image/png","revpos":1}}}"#);
    merge(r#"{"_id":"d","_rev":"1-b"}"#);
    assert_eq!(collection.get("d").unwrap().unwrap().rev.to_string(), "1-b");
    assert_eq!(contents_chunks_references_uploads(&collection), [1, 1, 1, 0]);
    collection.delete("d", &"1-a".parse().unwrap()).unwrap();
    assert_eq!(contents_chunks_references_uploads(&collection), [0; 4]);
    agrees(&collection);
}

#[test]
fn writers_who_attach_and_detach_equal_contents_at_once_never_lose_or_leave_one() {
    let collection = menu();
    thread::scope(|scope| {
        for worker in 0..4_u32 {
            let collection = collection.clone();
            scope.spawn(move || {
                let mut random = worker + 1;
                for _ in 0..60 {
                    random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    let (id, which) = (format!("d{}", random >> 13 & 3), (random >> 20 & 1) as usize);
                    // One that waits in memory, and one that is uploaded.
                    let data = bytes([100_000, MIB + 100_000][which]);
                    if random >> 27 & 1 == 0 {
                        collection.attach(&id, Expect::Anything, "x", "image/png", &data[..]).unwrap();
                    } else {
                        collection.put(&id, "{}").unwrap();
                    }
                }
            });
        }
    });
    agrees(&collection);
    assert_eq!(rows(&collection, 8), 0);
    for n in 0..4 {
        if let Some(reader) = collection.attachment(&format!("d{n}"), "x").unwrap() {
            let len = reader.info().length() as usize;
            assert_eq!(all(reader), bytes(len));
        }
    }
}

#[test]
fn a_transaction_sees_and_commits_attachments_with_everything_else() {
    let collection = menu();
    let data = bytes(2 * MIB);
    let upload = collection.uploads().add(&data[..], "image/png").unwrap();
    collection
        .store()
        .transaction(|tx| {
            let menu = tx.collection("menu")?;
            menu.write(Write::put("a", "{}")?.attach("x", upload.clone())?)?;
            assert_eq!(all(menu.reader()?.attachment("a", "x")?.unwrap()), data);
            menu.put("b", r#"{"_attachments":{"y":{"data":"YQ=="}}}"#)?;
            let staged = menu.put("b", "{}")?;
            menu.delete("b", &staged.rev)
        })
        .unwrap();
    assert_eq!(contents_chunks_references_uploads(&collection), [1, 32, 1, 0]);
    let aborted = collection.store().transaction(|tx| {
        tx.collection("menu")?.put("c", r#"{"_attachments":{"y":{"data":"YQ=="}}}"#)?;
        Err::<(), _>(Error::abort("enough"))
    });
    assert!(aborted.is_err());
    assert_eq!(contents_chunks_references_uploads(&collection), [1, 32, 1, 0]);
    agrees(&collection);
}

#[test]
fn a_chunk_that_was_changed_or_lost_is_an_error_of_the_read_and_a_finding_of_the_check() {
    use recension::engine::Batch;
    for content_type in ["image/png", "text/plain"] {
        let collection = menu();
        collection.attach("a", Expect::Absent, "x", content_type, &bytes(3 * CHUNK)[..]).unwrap();
        let engine = collection.store().engine().clone();
        let row = {
            let snapshot = engine.snapshot().unwrap();
            let row = snapshot.range(SIDE, &KeyRange::prefix([5]), Direction::Forward).next().unwrap().unwrap();
            (row.key.to_vec(), row.value.to_vec())
        };
        let mut changed = row.1.clone();
        changed[1000] ^= 1;
        for value in [changed, row.1[..row.1.len() - 1].to_vec()] {
            let mut batch = Batch::new();
            batch.put(SIDE, &row.0, &value);
            engine.commit(batch).unwrap();
            let read = collection.attachment("a", "x").unwrap().unwrap().read_to_end(&mut Vec::new());
            assert!(read.is_err(), "{content_type}");
            assert!(!collection.store().check(At::Now).unwrap().problems.is_empty(), "{content_type}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn any_range_of_an_attachment_is_that_part_of_it(
        len in 0_usize..200_000, start in 0_u64..210_000, length in 0_u64..210_000, text in any::<bool>(), step in 1_usize..70_000,
    ) {
        let (collection, data) = (menu(), bytes(len));
        let content_type = if text { "text/plain" } else { "image/png" };
        collection.attach("a", Expect::Absent, "x", content_type, &data[..]).unwrap();
        let mut reader = collection.attachment("a", "x").unwrap().unwrap().range(start..start + length);
        let from = (start as usize).min(len);
        let to = ((start + length) as usize).min(len);
        let (mut out, mut block): (Vec<u8>, Vec<u8>) = (Vec::new(), vec![0; step]);
        loop {
            let count = reader.read(&mut block).unwrap();
            if count == 0 { break; }
            out.extend(&block[..count]);
        }
        prop_assert_eq!(&out[..], &data[from..to]);
    }
}

#[test]
fn a_write_unless_the_document_says_so_already_writes_where_something_differs_and_checks_what_it_expects() {
    let collection = menu();
    let unless_same = |body: &str| Write::put("d", body).unwrap().unless_same();
    let revision = |write: Write| {
        let before = collection.store().engine().head();
        let rev = collection.write(write).unwrap().rev;
        (rev.generation(), collection.store().engine().head() > before)
    };
    assert_eq!(revision(unless_same(r#"{"n":1}"#)), (1, true));
    assert_eq!(revision(unless_same(r#"{ "n": 1 }"#)), (1, false));
    assert_eq!(revision(unless_same(r#"{"n":1.0}"#)), (2, true));
    // What stays and what goes with a write is a difference, too.
    let attached =
        unless_same(r#"{"n":1.0}"#).attach("x", collection.uploads().add(&b"x"[..], "a/b").unwrap()).unwrap();
    assert_eq!(revision(attached), (3, true));
    assert_eq!(revision(unless_same(r#"{"n":1.0}"#).keep_attachments()), (3, false));
    assert_eq!(revision(unless_same(r#"{"n":1.0}"#)), (4, true));
    assert_eq!(revision(unless_same(r#"{"n":1.0}"#)), (4, false));
    let refused = collection.write(unless_same(r#"{"n":1.0}"#).expecting(Expect::Absent));
    assert!(matches!(refused, Err(Error::Conflict { .. })));
    let rev = collection.get("d").unwrap().unwrap().rev;
    collection.write(Write::delete("d", &rev).unwrap().unless_same()).unwrap();
    assert_eq!(revision(unless_same("{}")), (6, true));
    agrees(&collection);
}
