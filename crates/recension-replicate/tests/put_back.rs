//! A side of a running replication is put back to an older copy: what the copy does not have comes again, although the
//! run was further.

use std::io::Read;
use std::sync::Arc;

use parking_lot::Mutex;
use recension::Collection;
use recension_replicate::{
    Changed, Control, Document, End, Feed, Fetched, Local, Missing, Open, Options, Page, Refusal, Result, Wanted,
    replicate,
};

type Happening = Box<dyn FnOnce() + Send>;

/// A side at a fixed address, behind which another store may come.
struct Address {
    name: &'static str,
    now: Arc<Mutex<Arc<Local>>>,
    /// What happens once, after this number of documents was written here.
    after: Mutex<Option<(usize, Happening)>>,
}

impl Address {
    fn of(name: &'static str, collection: &Collection) -> Self {
        let now = Arc::new(Mutex::new(Arc::new(Local::new(collection.clone()))));
        Address { name, now, after: Mutex::default() }
    }

    fn after(&self, documents: usize, happens: impl FnOnce() + Send + 'static) {
        *self.after.lock() = Some((documents, Box::new(happens)));
    }

    fn now(&self) -> Arc<Local> {
        self.now.lock().clone()
    }

    fn put_back(&self, copy: &Collection) {
        *self.now.lock() = Arc::new(Local::new(copy.clone()));
    }
}

impl End for Address {
    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn identity(&self) -> String {
        self.name.to_owned()
    }

    fn prepare(&self, create: bool, control: &Control) -> Result<()> {
        self.now().prepare(create, control)
    }

    fn changes(&self, feed: Feed<'_>) -> Result<Page> {
        self.now().changes(feed)
    }

    fn revs_diff(&self, changes: &[Changed], control: &Control) -> Result<Vec<Missing>> {
        self.now().revs_diff(changes, control)
    }

    fn fetch(&self, wanted: &[Wanted], attachments: bool, control: &Control) -> Result<Vec<Fetched>> {
        self.now().fetch(wanted, attachments, control)
    }

    fn attachment(&self, document: &Document, name: &str, control: &Control) -> Result<Box<dyn Read + Send>> {
        self.now().attachment(document, name, control)
    }

    fn write(&self, documents: &[Document], control: &Control) -> Result<Vec<Refusal>> {
        let refusals = self.now().write(documents, control)?;
        let happens = {
            let mut after = self.after.lock();
            if let Some((left, _)) = after.as_mut() {
                *left = left.saturating_sub(documents.len());
            }
            after.take_if(|(left, _)| *left == 0)
        };
        if let Some((_, happens)) = happens {
            happens();
        }
        Ok(refusals)
    }

    fn write_attached(
        &self,
        document: &Document,
        known: u32,
        open: &Open<'_>,
        control: &Control,
    ) -> Result<Option<Refusal>> {
        self.now().write_attached(document, known, open, control)
    }

    fn local(&self, name: &str, control: &Control) -> Result<Option<String>> {
        self.now().local(name, control)
    }

    fn put_local(&self, name: &str, body: &str, control: &Control) -> Result<()> {
        self.now().put_local(name, body, control)
    }
}

fn collection(folder: &std::path::Path) -> Collection {
    recension::open(folder.to_str().unwrap()).unwrap().collection("notes").unwrap()
}

fn copy(of: &Collection, to: &std::path::Path) -> Collection {
    of.store().engine().backup(to).unwrap();
    collection(to)
}

/// Waits for commits of a store until something is so.
fn until(there: &Collection, is_so: impl Fn(&Collection) -> bool) {
    let engine = there.store().engine();
    loop {
        let head = engine.head();
        if is_so(there) {
            return;
        }
        assert!(engine.wait_beyond(head, std::time::Duration::from_mins(1)) > head, "nothing comes");
    }
}

fn has(id: &str) -> impl Fn(&Collection) -> bool {
    move |there| there.get(id).unwrap().is_some()
}

/// Neither has a checkpoint yet, or both have one that the copy has too: only the documents tell.
#[test]
fn a_side_that_is_put_back_before_the_next_checkpoint_is_noticed() {
    for (target_is_put_back, has_checkpoint) in [(true, false), (true, true), (false, false), (false, true)] {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let (here, there) = (collection(&at("here")), collection(&at("there")));
        here.put("first", "{}").unwrap();
        there.put("its own", "{}").unwrap();
        let (source, target) = (Address::of("here", &here), Address::of("there", &there));
        let options = Options { create_target: true, batch: 1, ..Options::default() };
        if has_checkpoint {
            replicate(&source, &target, &options, &Control::default()).unwrap();
        }
        let copied = copy(if target_is_put_back { &there } else { &here }, &at("copy"));
        for id in ["a", "b", "c"] {
            here.put(id, "{}").unwrap();
        }
        let side = if target_is_put_back { &target } else { &source };
        let (now, to) = (side.now.clone(), copied.clone());
        target.after(if has_checkpoint { 3 } else { 4 }, move || {
            if !target_is_put_back {
                // As many others, so that the positions are the same.
                for id in ["x", "y", "z"] {
                    to.put(id, "{}").unwrap();
                }
            }
            *now.lock() = Arc::new(Local::new(to));
        });
        replicate(&source, &target, &options, &Control::default()).unwrap();
        let expected = if target_is_put_back { ["first", "a", "b", "c"] } else { ["first", "x", "y", "z"] };
        for id in expected {
            let shown = if target_is_put_back { &copied } else { &there };
            assert!(has(id)(shown), "{id} {target_is_put_back} {has_checkpoint}");
        }
    }
}

/// What was purged at the target comes again, once.
#[test]
fn a_purge_under_a_running_replication_does_not_hold_it_up() {
    let folder = tempfile::tempdir().unwrap();
    let (here, there) = (collection(&folder.path().join("here")), collection(&folder.path().join("there")));
    here.put("a", "{}").unwrap();
    let (source, target) = (Address::of("here", &here), Address::of("there", &there));
    let of = there.clone();
    target.after(1, move || {
        let rev = of.get("a").unwrap().unwrap().rev;
        of.replication().purge("a", &[rev]).unwrap();
    });
    let options = Options { create_target: true, ..Options::default() };
    let done = replicate(&source, &target, &options, &Control::default()).unwrap();
    assert_eq!(done.statistics.docs_written, 2);
    assert!(has("a")(&there));
}

/// Changes a document of `here` whenever one is written at `target`, this many times.
fn change_with_each_write(target: &Arc<Address>, here: Collection, left: u32) {
    let again = target.clone();
    target.after(1, move || {
        here.put("hot", format!("{{\"left\":{left}}}")).unwrap();
        if left > 1 {
            change_with_each_write(&again, here, left - 1);
        }
    });
}

/// The revision that was told is not known any more when it is asked for, each time another one.
#[test]
fn a_document_that_always_changes_where_few_revisions_are_kept_does_not_hold_it_up() {
    let folder = tempfile::tempdir().unwrap();
    let (here, there) = (collection(&folder.path().join("here")), collection(&folder.path().join("there")));
    here.settings().set_revs_limit(1).unwrap();
    here.put("hot", "{}").unwrap();
    let (source, target) = (Address::of("here", &here), Arc::new(Address::of("there", &there)));
    change_with_each_write(&target, here, 20);
    let options = Options { create_target: true, ..Options::default() };
    let done = replicate(&source, &*target, &options, &Control::default()).unwrap();
    assert_eq!(done.statistics.docs_written, 2);
}

#[test]
fn a_running_replication_goes_on_where_a_side_that_was_put_back_has_been() {
    for target_is_put_back in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let (here, there) = (collection(&at("here")), collection(&at("there")));
        here.put("first", "{}").unwrap();
        let (source, target) = (Address::of("here", &here), Address::of("there", &there));
        let once = Options { create_target: true, ..Options::default() };
        let first = replicate(&source, &target, &once, &Control::default()).unwrap();
        let copied = copy(if target_is_put_back { &there } else { &here }, &at("copy"));
        let control = Control::default();
        std::thread::scope(|scope| {
            let running = scope.spawn(|| {
                let live = Options { live: true, ..Options::default() };
                replicate(&source, &target, &live, &control).unwrap();
            });
            here.put("lost", "{}").unwrap();
            until(&there, has("lost"));
            // Both sides have a checkpoint of this run. It is written to the source last.
            until(&here, |here| {
                let text = Local::new(here.clone()).local(&first.id, &Control::default()).unwrap();
                !text.unwrap().contains(&format!("{{\"session_id\":\"{}\",\"source", first.session_id))
            });
            let (written, shown) = if target_is_put_back {
                target.put_back(&copied);
                (&here, &copied)
            } else {
                // It is written past what the run has seen of it.
                copied.put("other", "{}").unwrap();
                for n in 1..9 {
                    copied.put("filler", format!("{{\"n\":{n}}}")).unwrap();
                }
                source.put_back(&copied);
                (&copied, &there)
            };
            written.put("last", "{}").unwrap();
            until(shown, has("last"));
            until(shown, has(if target_is_put_back { "lost" } else { "other" }));
            control.stop();
            here.put("end", "{}").unwrap();
            copied.put("end", "{}").unwrap();
            running.join().unwrap();
        });
    }
}
