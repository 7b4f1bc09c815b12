//! `/_branches`, `/_tags`, `/_merge`, `/_diff`: branches of the whole store, for server admins. The databases of a
//! branch are `/{db}@{branch}`: `databases.rs` opens them. CouchDB has none of it.

use std::sync::Arc;

use http::{Method, StatusCode};
use recension::engine::BranchId;
use recension::json::{MergeRules, Pointer, quote};
use recension::{At, Conflicts, Document, DocumentDiff, MergeOptions, Store};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::streaming;
use recension_app::auth::Session;
use recension_app::request::Request;
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};
use recension_wire::members::object_of;
use recension_wire::query::Query;

/// Longest request, in bytes.
const BODY_BYTES_MAX: usize = 64 * 1024;
/// Differences of one answer.
const DIFFERENCES_MAX: u64 = 1000;
/// The main line, where branches are named.
const MAIN: &str = "main";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewBranch {
    name: String,
    /// The branch that it begins as; the main line.
    from: Option<String>,
    at: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Renamed {
    name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MergeAsked {
    from: String,
    into: Option<String>,
    #[serde(default)]
    conflicts: Choice,
    #[serde(default)]
    dry_run: bool,
    /// Places of numbers that count.
    #[serde(default)]
    counters: Vec<String>,
    /// Members that elements of arrays are told apart by.
    identities: Option<Vec<String>>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Choice {
    #[default]
    Fields,
    Ours,
    Theirs,
    Abort,
}

/// `/_branches`: `GET` lists them, `POST` makes one, `PUT /_branches/{branch}` renames it, `DELETE` drops it.
pub async fn branches(mut request: Request, session: &Session, rest: &[&str]) -> Result<Answer> {
    let store = request.app.databases.store(session.server_admin()?);
    match (request.method().clone(), rest) {
        (Method::GET, []) => {
            let all = request.app.blocking(move || listed(&store)).await?;
            Ok(Answer::ok(json!({ "branches": all }).to_string()))
        }
        (Method::POST, []) => {
            let NewBranch { name, from, at } = body(&mut request).await?;
            let made = request.app.blocking(move || {
                let parent = store.open_branch(from.as_deref().unwrap_or(MAIN))?;
                parent.branch(&name, moment(at.as_deref())?)?;
                let all = listed(&store)?;
                all.into_iter().find(|branch| branch["name"] == name).ok_or_else(ApiError::missing)
            });
            Ok(Answer::json(StatusCode::CREATED, made.await?.to_string()))
        }
        (Method::PUT, [name]) => {
            let (name, Renamed { name: to }) = ((*name).to_owned(), body(&mut request).await?);
            changed(&request, name, move |store, name| Ok(store.rename_branch(name, &to)?), store).await
        }
        (Method::DELETE, [name]) => {
            changed(&request, (*name).to_owned(), |store, name| Ok(store.drop_branch(name)?), store).await
        }
        (_, []) => Err(ApiError::method_not_allowed("GET,POST")),
        (_, [_]) => Err(ApiError::method_not_allowed("PUT,DELETE")),
        _ => Err(ApiError::missing()),
    }
}

async fn changed(
    request: &Request,
    name: String,
    change: impl FnOnce(&Store, &str) -> Result<()> + Send + 'static,
    store: Store,
) -> Result<Answer> {
    let work = move || {
        store.open_branch(&name)?;
        change(&store, &name)
    };
    request.app.blocking(work).await?;
    Ok(Answer::ok(r#"{"ok":true}"#))
}

/// `/_tags`: `GET` lists them, `POST` names a moment, `DELETE /_tags/{tag}` takes the name away.
pub async fn tags(mut request: Request, session: &Session, rest: &[&str]) -> Result<Answer> {
    let store = request.app.databases.store(session.server_admin()?);
    match (request.method().clone(), rest) {
        (Method::GET, []) => {
            let all = request.app.blocking(move || {
                let of = |tag: recension::engine::TagInfo| {
                    Ok(json!({ "name": tag.name, "branch": store.name_of_branch(tag.branch)?, "seq": tag.seq.0 }))
                };
                store.tags()?.into_iter().map(of).collect::<Result<Vec<Value>>>()
            });
            Ok(Answer::ok(json!({ "tags": all.await? }).to_string()))
        }
        (Method::POST, []) => {
            let NewBranch { name, from, at } = body(&mut request).await?;
            let tag = request.app.blocking(move || {
                let of = store.open_branch(from.as_deref().unwrap_or(MAIN))?;
                Ok(of.tag(&name, moment(at.as_deref())?)?)
            });
            let tag = tag.await?;
            Ok(Answer::json(StatusCode::CREATED, json!({ "name": tag.name, "seq": tag.seq.0 }).to_string()))
        }
        (Method::DELETE, [name]) => {
            let name = (*name).to_owned();
            let removed = request.app.blocking(move || Ok(store.untag(&name)?)).await?;
            if removed { Ok(Answer::ok(r#"{"ok":true}"#)) } else { Err(ApiError::missing()) }
        }
        (_, []) => Err(ApiError::method_not_allowed("GET,POST")),
        (_, [_]) => Err(ApiError::method_not_allowed("DELETE")),
        _ => Err(ApiError::missing()),
    }
}

/// `POST /_merge`
pub async fn merge(mut request: Request, session: &Session) -> Result<Answer> {
    let store = request.app.databases.store(session.server_admin()?);
    let asked: MergeAsked = body(&mut request).await?;
    let place = |text: &String| -> Result<Vec<String>> {
        let place: Pointer =
            text.parse().map_err(|error: recension::Error| ApiError::bad_request(error.to_string()))?;
        Ok(place.tokens().to_vec())
    };
    let counters = asked.counters.iter().map(place).collect::<Result<_>>()?;
    let usual = MergeRules::default();
    let rules =
        MergeRules { counters, identities: asked.identities.unwrap_or(usual.identities), ..MergeRules::default() };
    let conflicts = match asked.conflicts {
        Choice::Fields => Conflicts::Fields,
        Choice::Ours => Conflicts::Ours,
        Choice::Theirs => Conflicts::Theirs,
        Choice::Abort => Conflicts::Abort,
    };
    let options = MergeOptions { conflicts, dry_run: asked.dry_run, rules };
    let databases = Arc::clone(&request.app.databases);
    let merged = request.app.blocking(move || {
        let (from, into) = (store.open_branch(&asked.from)?, store.open_branch(asked.into.as_deref().unwrap_or(MAIN))?);
        let merged = into.merge_from(&from, &options)?;
        if into.branch_name().is_none() && !options.dry_run && !merged.made.is_empty() {
            databases.note_what_was_missed()?;
        }
        Ok(merged)
    });
    let merged = merged.await?;
    let aborted = matches!(conflicts, Conflicts::Abort) && merged.conflicted > 0 && !asked.dry_run;
    let status = if aborted { StatusCode::CONFLICT } else { StatusCode::OK };
    Ok(Answer::json(status, merged.to_json("db")))
}

/// `GET /_diff?from=main&to=idea`: the documents that differ, a page at a time.
pub async fn diff(request: Request, session: &Session) -> Result<Answer> {
    let store = request.app.databases.store(session.server_admin()?);
    let of = |query: &Query, name: &str| query.get(name).map(str::to_owned);
    let query = &request.query;
    let [from, to, from_at, to_at] = ["from", "to", "from_at", "to_at"].map(|name| of(query, name));
    let limit = query.number("limit")?.unwrap_or(DIFFERENCES_MAX);
    if limit > DIFFERENCES_MAX {
        let reason = format!("`limit` is {DIFFERENCES_MAX} at most; `skip` gives the next page");
        return Err(ApiError::query_parse(reason));
    }
    let skip = query.number("skip")?.unwrap_or(0);
    let open = move || -> Result<(Vec<u8>, Differences)> {
        let before = store.open_branch(from.as_deref().unwrap_or(MAIN))?;
        let after = store.open_branch(to.as_deref().unwrap_or(MAIN))?;
        let (from_at, to_at) = (moment(from_at.as_deref())?, moment(to_at.as_deref())?);
        if from_at == to_at && before.branch_name() == after.branch_name() {
            let reason = "Both sides are the same: `from` and `to` name branches, `from_at` and `to_at` moments.";
            return Err(ApiError::query_parse(reason));
        }
        let found = before.diff_from(from_at, &after, to_at)?.skip(usize::try_from(skip).unwrap_or(usize::MAX));
        let rows = Differences { found: Box::new(found), left: limit, any: false, ended: false };
        Ok((b"{\"differences\":[".to_vec(), rows))
    };
    streaming::opened(&request.app, "application/json", open, "}\n").await
}

type Found = recension::Result<(String, DocumentDiff)>;

/// The rows of a difference, made while they are sent; the last says whether there are more.
struct Differences {
    found: Box<dyn Iterator<Item = Found> + Send>,
    left: u64,
    any: bool,
    ended: bool,
}

impl Iterator for Differences {
    type Item = Result<String>;

    fn next(&mut self) -> Option<Result<String>> {
        if self.ended {
            return None;
        }
        let next = self.found.next().transpose().map_err(ApiError::from);
        let row = match next {
            Err(error) => return Some(Err(error)),
            Ok(Some((collection, difference))) if self.left > 0 => difference_text(&collection, &difference),
            Ok(last) => {
                self.ended = true;
                return Some(Ok(format!("],\"more\":{}", last.is_some())));
            }
        };
        self.left -= 1;
        let comma = if std::mem::replace(&mut self.any, true) { ",\n" } else { "" };
        Some(Ok(format!("{comma}{row}")))
    }
}

fn difference_text(collection: &str, difference: &DocumentDiff) -> String {
    let side = |document: &Option<Document<'static>>| match document {
        Some(document) => {
            let digests = document.attachments.iter().map(|it| format!("{}:{}", quote(&it.name), quote(&it.digest())));
            let digests = match digests.collect::<Vec<_>>().join(",") {
                none if none.is_empty() => none,
                all => format!(",\"attachments\":{{{all}}}"),
            };
            format!("{{\"rev\":\"{}\",\"body\":{}{digests}}}", document.rev, document.body)
        }
        None => "null".to_owned(),
    };
    let (before, after) = (side(&difference.before), side(&difference.after));
    let (db, id) = (quote(collection), quote(&difference.id));
    format!("{{\"db\":{db},\"id\":{id},\"before\":{before},\"after\":{after}}}")
}

fn listed(store: &Store) -> Result<Vec<Value>> {
    let all = store.branches()?;
    let name = |id: BranchId| all.iter().find(|branch| branch.id == id).map_or("main", |branch| &branch.name);
    Ok(all.iter().map(|one| json!({ "name": one.name, "from": name(one.parent), "seq": one.fork.0 })).collect())
}

/// The databases of a branch, as paths name them.
pub(crate) fn database_names(store: &Store, branch: &str) -> Result<Vec<String>> {
    let all = store.open_branch(branch)?.collections(At::Now)?.into_iter().map(|collection| collection.name);
    let of_branch = if branch == MAIN { String::new() } else { format!("@{branch}") };
    Ok(all.filter(|name| !name.starts_with('_')).map(|name| format!("{name}{of_branch}")).collect())
}

fn moment(text: Option<&str>) -> Result<At> {
    text.map_or(Ok(At::Now), recension_app::request::moment)
}

async fn body<T: DeserializeOwned>(request: &mut Request) -> Result<T> {
    object_of(&request.bytes_up_to(BODY_BYTES_MAX).await?)
}
