//! Branches and tags of the store, for server admins: made, opened, compared, merged after a look at what a merge would
//! do, and dropped. What changes something is a request to `/_branches`, `/_tags` or `/_merge`.

use minijinja::context;
use minijinja::value::Serde;
use recension::json::Change;
use recension::{At, ConflictedMerge, DocumentDiff, MergeOptions, Merged, Store};
use serde::Serialize;

use super::difference;
use super::frame::Frame;
use super::search::{Field, OfRows};
use recension_app::auth::Session;
use recension_app::request::Request;
use recension_pages::links::{Parameters, in_console};
use recension_wire::answer::Answer;
use recension_wire::error::Result;

const HERE: &str = "/_utils/-/branches";
/// Documents that are compared on a page, changes that are shown of each, and conflicts of a merge.
const DIFFERENCES_MAX: usize = 100;
const CHANGES_MAX: usize = 20;
const CONFLICTS_MAX: usize = 100;

/// A branch or a tag as it is listed; its moment in microseconds.
#[derive(Serialize)]
struct Listed {
    name: String,
    from: String,
    seq: u64,
    time: Option<u64>,
}

/// `/_utils/-/branches`
pub(super) async fn page(request: &Request, session: &Session) -> Result<Answer> {
    let store = request.app.databases.store(session.server_admin()?);
    let text = request.query.get("q").unwrap_or_default().to_owned();
    let (of_search, mistake) = OfRows::read(&text);
    let read = request.app.blocking(move || {
        let time = |of: &str, seq: recension::engine::Seq| {
            let own = store.open_branch(of).ok()?;
            Some(own.engine().snapshot_at(seq).ok()?.time().ok()?.0)
        };
        let mut branches = Vec::new();
        for branch in store.branches()? {
            let from = store.name_of_branch(branch.parent)?.unwrap_or_else(dropped);
            let time = time(&from, branch.fork);
            branches.push(Listed { name: branch.name, from, seq: branch.fork.0, time });
        }
        let mut tags = Vec::new();
        for tag in store.tags()? {
            let from = store.name_of_branch(tag.branch)?.unwrap_or_else(dropped);
            let time = time(&from, tag.seq);
            tags.push(Listed { name: tag.name, from, seq: tag.seq.0, time });
        }
        Ok((branches, tags))
    });
    let (branches, tags) = read.await?;
    let is_of = |one: &&Listed| {
        of_search.finds(&serde_json::json!({ "name": one.name, "from": one.from, "commit": one.seq }).to_string())
    };
    let field = Field {
        text: &text,
        placeholder: "a part of a name",
        path: HERE,
        carried: &Parameters::default(),
        offers: &[],
    };
    let values = context! {
        field => field.values(mistake.as_ref()),
        names => branches.iter().map(|one| one.name.clone()).collect::<Vec<_>>(),
        branches => Serde(branches.iter().filter(is_of).collect::<Vec<_>>()),
        tags => Serde(tags.iter().filter(is_of).collect::<Vec<_>>()),
    };
    Ok(Frame::begin(request, session, "Branches", None, "Branches", false).page("branches", values))
}

/// What stands for the name of a branch that is no more.
fn dropped() -> String {
    "(dropped)".to_owned()
}

/// `/_utils/-/branch-diff?from=main&to=idea`: what is different on a branch, document by document, member by member.
pub(super) async fn compare(request: &Request, session: &Session) -> Result<Answer> {
    let store = request.app.databases.store(session.server_admin()?);
    let (from, to) = ends(request, "to");
    let (before, after) = (from.clone(), to.clone());
    let read = request.app.blocking(move || {
        let (before, after) = (store.open_branch(&before)?, store.open_branch(&after)?);
        let mut found = Vec::new();
        for one in before.diff_from(At::Now, &after, At::Now)?.take(DIFFERENCES_MAX + 1) {
            let (db, different) = one?;
            let changes = different.changes()?;
            found.push((db, different, changes));
        }
        Ok(found)
    });
    let found = read.await?;
    let document = |(db, different, changes): &(String, DocumentDiff, Vec<Change>)| {
        context! {
            page => in_console(&on(db, &to), &different.id), name => format!("{} / {}", on(db, &to), different.id),
            before => different.before.is_some(), after => different.after.is_some(),
            changes => changes.iter().take(CHANGES_MAX).map(difference::shown).collect::<Vec<_>>(),
            more => changes.len().saturating_sub(CHANGES_MAX),
        }
    };
    let values = context! {
        documents => found.iter().take(DIFFERENCES_MAX).map(document).collect::<Vec<_>>(),
        more_of => found.len().saturating_sub(DIFFERENCES_MAX), from, to,
    };
    Ok(Frame::begin(request, session, "Compare branches", None, "Branches", false).page("branch-diff", values))
}

/// A database on a branch.
fn on(db: &str, branch: &str) -> String {
    if branch == "main" { db.to_owned() } else { format!("{db}@{branch}") }
}

/// `/_utils/-/merge?from=idea&into=main`: what a merge would do, with its conflicts, and the button that merges.
pub(super) async fn merge(request: &Request, session: &Session) -> Result<Answer> {
    let store = request.app.databases.store(session.server_admin()?);
    let (from, into) = ends(request, "into");
    let (source, target) = (from.clone(), into.clone());
    let look = request.app.blocking(move || looked(&store, &source, &target));
    let merged = look.await?;
    let conflict = |one: &ConflictedMerge| {
        let places = one.places.iter().map(|place| {
            context! {
                path => place.path.to_string(), base => place.base.as_deref(), ours => place.ours.as_deref(),
                theirs => place.theirs.as_deref(),
            }
        });
        let db = on(&one.collection, &into);
        let name = format!("{db} / {}", one.id);
        context! { page => in_console(&db, &one.id), name, places => places.collect::<Vec<_>>() }
    };
    let values = context! {
        taken => merged.taken, combined => merged.combined, conflicted => merged.conflicted, dropped => merged.dropped,
        conflicts => merged.conflicts.iter().take(CONFLICTS_MAX).map(conflict).collect::<Vec<_>>(),
        more_of => merged.conflicts.len().saturating_sub(CONFLICTS_MAX),
        body => serde_json::json!({ "from": from, "into": into }).to_string(), from, into,
    };
    Ok(Frame::begin(request, session, "Merge", None, "Branches", false).page("merge", values))
}

fn looked(store: &Store, from: &str, into: &str) -> Result<Merged> {
    let (from, into) = (store.open_branch(from)?, store.open_branch(into)?);
    Ok(into.merge_from(&from, &MergeOptions { dry_run: true, ..MergeOptions::default() })?)
}

/// The branches that the query names; the main line where it names none.
fn ends(request: &Request, to: &str) -> (String, String) {
    let text = |name: &str| request.query.get(name).filter(|text| !text.is_empty()).unwrap_or("main").to_owned();
    (text("from"), text(to))
}
