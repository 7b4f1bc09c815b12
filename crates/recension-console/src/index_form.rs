//! Indexes are made here by choosing members, and dropped by their names. The page's form says what is meant, and this
//! makes the request to `_index` of it that any client could send.

use recension::conditions::{self, ConditionError};
use recension::{IndexSpec, Language, json};
use serde::Deserialize;
use serde_json::{Value, json};

use recension_app::auth::{Access, Session};
use recension_app::request::Request;
use recension_endpoints::mango::index;
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};
use recension_wire::members::object_of;

const BODY_BYTES_MAX: usize = 64 * 1024;
/// The languages of words (`recension::Language`), the usual one first.
pub(super) const LANGUAGES: &str =
    "plain english german french spanish portuguese italian dutch danish swedish norwegian finnish russian";

/// What the form says.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    #[serde(default)]
    members: Vec<String>,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    only: String,
    #[serde(default)]
    language: String,
    /// The index that is dropped instead, by its name in the store.
    drop: Option<String>,
}

/// `POST /_utils/{db}/indexes`
pub(super) async fn endpoint(request: &mut Request, session: &Session, db: &str) -> Result<Answer> {
    super::is_json(request)?;
    let database = session.database(db, Access::Admin)?;
    let body = request.bytes_up_to(BODY_BYTES_MAX).await?;
    let wanted: Wanted = object_of(&body)?;
    request
        .app
        .blocking(move || {
            let Some(stored) = &wanted.drop else {
                return match of_some(&wanted)? {
                    Some(spec) => Ok(database.collection().create_index(spec, |_| {}).map(|()| done())?),
                    None => index::create(&database, definition(&wanted)?.as_bytes()),
                };
            };
            match index::named(&database, stored)? {
                Some((ddoc, name)) => drop(index::remove(&database, &ddoc, Some(&name))?),
                None => database.collection().drop_index(stored)?,
            }
            Ok(done())
        })
        .await
}

fn done() -> Answer {
    Answer::ok(r#"{"ok":true}"#)
}

fn members(wanted: &Wanted) -> Result<Vec<&str>> {
    let members: Vec<&str> = wanted.members.iter().map(|member| member.trim()).filter(|it| !it.is_empty()).collect();
    if members.is_empty() {
        return Err(ApiError::bad_request("Choose a member that the index is of"));
    }
    Ok(members)
}

/// The index of some documents only, as `recension index create` makes it: conditions are no selectors of Mango. It is
/// of this store, and of no design document.
fn of_some(wanted: &Wanted) -> Result<Option<IndexSpec>> {
    let bad = |error: ConditionError| ApiError::bad_request(error.to_string());
    let only = conditions::of_index(wanted.only.trim()).map_err(bad)?;
    if only.is_empty() {
        return Ok(None);
    }
    let members = members(wanted)?;
    let name = Some(wanted.name.trim()).filter(|name| !name.is_empty());
    let name = name.map_or_else(|| members.join("+").replace("[]", ""), str::to_owned);
    let paths = members.iter().map(|member| conditions::parse_path(member).map_err(bad)).collect::<Result<Vec<_>>>()?;
    let mut spec = match wanted.kind.as_str() {
        "words" => IndexSpec::words(name, paths, Language::named(&wanted.language)?),
        _ => {
            let mut paths = paths.into_iter();
            let first = paths.next().ok_or_else(ApiError::bad_json)?;
            paths.fold(IndexSpec::new(name, first), IndexSpec::then)
        }
    };
    spec.unique = wanted.kind == "unique";
    Ok(Some(only.into_iter().fold(spec, IndexSpec::only_where)))
}

/// The request to `_index`.
fn definition(wanted: &Wanted) -> Result<String> {
    let members = members(wanted)?;
    let mut index = json!({ "fields": members });
    let of_type = match wanted.kind.as_str() {
        "values" | "" => "json",
        "unique" => {
            index["unique"] = Value::Bool(true);
            "json"
        }
        "words" => {
            index["language"] = json!(if wanted.language.is_empty() { "plain" } else { &wanted.language });
            "text"
        }
        other => return Err(ApiError::bad_request(format!("An index is of values, unique or words, not {other}"))),
    };
    let name = Some(wanted.name.trim()).filter(|name| !name.is_empty());
    let name = name.map(|name| format!(",\"name\":{}", json::quote(name))).unwrap_or_default();
    Ok(format!("{{\"index\":{index},\"type\":\"{of_type}\"{name}}}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(text: &str) -> String {
        definition(&serde_json::from_str(text).unwrap()).unwrap_or_else(|error| error.reason.to_string())
    }

    #[test]
    fn what_is_chosen_becomes_a_request() {
        for (form, request) in [
            (
                r#"{"members":["a","b.c",""],"name":"x"}"#,
                r#"{"index":{"fields":["a","b.c"]},"type":"json","name":"x"}"#,
            ),
            (r#"{"members":["a"],"kind":"unique"}"#, r#"{"index":{"fields":["a"],"unique":true},"type":"json"}"#),
            (
                r#"{"members":["a"],"kind":"words","language":"german"}"#,
                r#"{"index":{"fields":["a"],"language":"german"},"type":"text"}"#,
            ),
            (r#"{"members":[" "]}"#, "Choose a member that the index is of"),
            (r#"{"members":["a"],"kind":"odd"}"#, "An index is of values, unique or words, not odd"),
        ] {
            assert_eq!(made(form), request);
        }
        let some = |text: &str| of_some(&serde_json::from_str(text).unwrap());
        assert_eq!(some(r#"{"members":["a"]}"#).unwrap(), None);
        let partial = some(r#"{"members":["a","b"],"only":"state = open and n > 1"}"#).unwrap().unwrap();
        assert_eq!((partial.name.as_str(), partial.parts.len(), partial.filter.len()), ("a+b", 2, 2));
        for (only, told) in [("n >", "^"), ("n = 1 or n = 2", "joined by and")] {
            let text = format!(r#"{{"members":["a"],"only":"{only}"}}"#);
            let error = of_some(&serde_json::from_str(&text).unwrap()).unwrap_err();
            assert!(error.reason.contains(told), "{}", error.reason);
        }
        for language in LANGUAGES.split(' ') {
            recension::Language::named(language).unwrap();
        }
    }
}
