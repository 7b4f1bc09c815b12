//! Branches and tags of the store, for server admins: made, opened, compared, merged after a look at what a merge would
//! do, and dropped. What changes something is a request to `/_branches`, `/_tags` or `/_merge`.

use minijinja::context;
use minijinja::value::Serde;
use recension::json::Change;
use recension::{At, ConflictedMerge, DocumentDiff, MergeOptions, Merged, Store};
use serde::Serialize;

use super::difference;
use super::form::{self, About};
use super::frame::{Frame, empty, grouped, table, table_end};
use super::search::{Field, OfRows};
use crate::answer::Answer;
use crate::auth::Session;
use crate::error::Result;
use crate::html::links::{Parameters, in_console};
use crate::html::writer::Html;
use crate::request::Request;

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
    let mut frame = Frame::begin(request, session, "Compare branches", None, "Branches", false);
    let html = &mut frame.html;
    html.tag("<p class=\"summary\">").link(HERE, "All branches").tag(" · what is on <bdi>").text(&to);
    html.tag("</bdi> and not on <bdi>").text(&from).tag("</bdi> · ");
    let into = Parameters::default().with("from", &to).with("into", &from);
    html.link(&into.on("/_utils/-/merge"), "Merge it").tag("</p>\n");
    if found.is_empty() {
        empty("Nothing is different.", html);
        return Ok(frame.end());
    }
    table("Differences", &["Document", "What happened", "Where", "Before", "After"], html);
    for (db, different, changes) in found.iter().take(DIFFERENCES_MAX) {
        changed(db, &to, different, changes, html);
    }
    table_end(html);
    if found.len() > DIFFERENCES_MAX {
        html.tag("<p>There are more: <code>recension diff --with</code> lists all of them.</p>\n");
    }
    Ok(frame.end())
}

fn changed(db: &str, branch: &str, different: &DocumentDiff, changes: &[Change], html: &mut Html) {
    let what = match (&different.before, &different.after) {
        (None, _) => "<td class=\"made\">made",
        (_, None) => "<td class=\"gone\">deleted",
        _ => "<td>changed",
    };
    for (number, Change { path, before, after }) in changes.iter().take(CHANGES_MAX).enumerate() {
        html.tag("<tr><th scope=\"row\">");
        if number == 0 {
            let db = if branch == "main" { db.to_owned() } else { format!("{db}@{branch}") };
            html.link(&in_console(&db, &different.id), format!("{db} / {}", different.id));
        }
        html.tag("</th>").tag(if number == 0 { what } else { "<td>" }).tag("</td><td><code>").show(path);
        html.tag("</code></td><td class=\"gone\">");
        difference::side(before.as_deref(), html);
        html.tag("</td><td class=\"made\">");
        difference::side(after.as_deref(), html);
        html.tag("</td></tr>\n");
    }
    if changes.len() > CHANGES_MAX {
        html.tag("<tr><td colspan=\"5\">and ").show(changes.len() - CHANGES_MAX).tag(" more</td></tr>\n");
    }
}

/// `/_utils/-/merge?from=idea&into=main`: what a merge would do, with its conflicts, and the button that merges.
pub(super) async fn merge(request: &Request, session: &Session) -> Result<Answer> {
    let store = request.app.databases.store(session.server_admin()?);
    let (from, into) = ends(request, "into");
    let (source, target) = (from.clone(), into.clone());
    let look = request.app.blocking(move || looked(&store, &source, &target));
    let merged = look.await?;
    let mut frame = Frame::begin(request, session, "Merge", None, "Branches", false);
    let html = &mut frame.html;
    html.tag("<p class=\"summary\">").link(HERE, "All branches").tag(" · <bdi>").text(&from);
    html.tag("</bdi> into <bdi>").text(&into).tag("</bdi> · ");
    let compare = Parameters::default().with("from", &into).with("to", &from);
    html.link(&compare.on("/_utils/-/branch-diff"), "Compare them").tag("</p>\n<p>").text(grouped(merged.taken));
    html.tag(" documents would be taken as they are on the branch, ").text(grouped(merged.combined));
    html.tag(" merged by member, and ").text(grouped(merged.conflicted)).tag(" are in conflict.</p>\n");
    for name in &merged.dropped {
        html.tag("<p class=\"advice\">The database <bdi>").text(name);
        html.tag("</bdi> was dropped on the branch. It stays: drop it yourself.</p>\n");
    }
    conflicts(&merged.conflicts, &into, html);
    let base = serde_json::json!({ "from": from, "into": into }).to_string();
    let about = [About::Base(&base), About::Then(HERE), About::Said("The branch was merged.")];
    form::begin("POST", "/_merge", &about, html);
    if merged.conflicted > 0 {
        html.tag(
            "<label>Conflicts <select data-at=\"conflicts\"><option value=\"fields\">stay, to be resolved document ",
        );
        html.tag("by document</option><option value=\"theirs\">are won by the branch that is merged</option>");
        html.tag("<option value=\"ours\">are won by the other</option></select></label>");
    }
    form::end("Merge", html);
    Ok(frame.end())
}

fn looked(store: &Store, from: &str, into: &str) -> Result<Merged> {
    let (from, into) = (store.open_branch(from)?, store.open_branch(into)?);
    Ok(into.merge_from(&from, &MergeOptions { dry_run: true, ..MergeOptions::default() })?)
}

fn conflicts(all: &[ConflictedMerge], into: &str, html: &mut Html) {
    if all.is_empty() {
        return;
    }
    table("Conflicts", &["Document", "Where", "Both come from", "Here", "On the branch"], html);
    for conflict in all.iter().take(CONFLICTS_MAX) {
        for place in &conflict.places {
            let db =
                if into == "main" { conflict.collection.clone() } else { format!("{}@{into}", conflict.collection) };
            html.tag("<tr><th scope=\"row\">");
            html.link(&in_console(&db, &conflict.id), format!("{db} / {}", conflict.id)).tag("</th><td><code>");
            html.show(&place.path).tag("</code>");
            for value in [&place.base, &place.ours, &place.theirs] {
                html.tag("</td><td>");
                difference::side(value.as_deref(), html);
            }
            html.tag("</td></tr>\n");
        }
    }
    table_end(html);
    if all.len() > CONFLICTS_MAX {
        html.tag("<p>And ").show(all.len() - CONFLICTS_MAX).tag(" more documents.</p>\n");
    }
}

/// The branches that the query names; the main line where it names none.
fn ends(request: &Request, to: &str) -> (String, String) {
    let text = |name: &str| request.query.get(name).filter(|text| !text.is_empty()).unwrap_or("main").to_owned();
    (text("from"), text(to))
}
