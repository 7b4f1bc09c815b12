//! The rule of a database: selectors for reading and for writing, in which the user's name and roles stand as
//! variables. Pure.

use recension::conditions::similar;
use recension::json::minify_naming_repeats;
use recension::{Collation, Document, Path, Selector, SelectorTest};
use serde_json::Value;

use super::served::{Served, served};
use recension_app::identity::Identity;
use recension_wire::error::{ApiError, Result};

/// Stands for the user's name.
const NAME: &str = "$user.name";

/// Stands for the list of the user's roles.
const ROLES: &str = "$user.roles";

/// The operators whose operand may be the list of roles.
const OF_LISTS: [&str; 3] = ["$in", "$nin", "$all"];

/// A rule, for any user.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rule {
    read: Value,
    /// `None`: a document that may be read may be written.
    write: Option<Value>,
}

/// A rule for one user.
pub(super) struct Tests {
    read: Test,
    write: Test,
    /// What an index of access finds the documents by that may be read; `None`: the rule's form does not say.
    served: Option<Served>,
}

/// The documents that a test lets through.
pub(super) enum Test {
    /// There is no rule.
    All,
    Selected(Box<SelectorTest>, Selector),
    Nothing,
}

impl Rule {
    /// Reads a rule: `{"read": selector, "write": selector}`.
    pub(super) fn read(text: &str) -> Result<Self> {
        let bad = |why: &str| ApiError::bad_request(format!("An access rule {why}."));
        let repeated = minify_naming_repeats(text.as_bytes()).map_err(|_| ApiError::bad_json())?.1;
        if let Some(name) = repeated {
            return Err(bad(&format!("has each member once in an object, and `{name}` is there twice")));
        }
        let value: Value = serde_json::from_str(text).map_err(|_| ApiError::bad_json())?;
        let Value::Object(mut members) = value else { return Err(bad("is an object")) };
        let read = members.remove("read").ok_or_else(|| bad("has a member `read`, which is a selector"))?;
        let write = members.remove("write");
        if let Some(name) = members.keys().next() {
            return Err(bad(&format!("has the members `read` and `write`, and no `{name}`")));
        }
        for part in [Some(&read), write.as_ref()].into_iter().flatten() {
            if let Some(name) = unknown_variable(part) {
                return Err(bad(&format!("has the variables `{NAME}` and `{ROLES}`, and no `{name}`")));
            }
            if has_misplaced_roles(part, false) {
                let form = r#"{"$in": "$user.roles"}"#;
                return Err(bad(&format!("has `{ROLES}`, a list, behind `$in`, `$nin` or `$all`, as in {form}")));
            }
        }
        let rule = Rule { read, write };
        // It is tried with somebody's name.
        rule.parsed(&somebody())?;
        Ok(rule)
    }

    /// As JSON.
    pub(super) fn to_json(&self) -> String {
        let mut members = serde_json::Map::from_iter([("read".to_owned(), self.read.clone())]);
        if let Some(write) = &self.write {
            members.insert("write".to_owned(), write.clone());
        }
        Value::Object(members).to_string()
    }

    /// The paths of an index of access that serves it; `None`: it is of another form.
    pub(super) fn paths(&self) -> Option<Vec<Path>> {
        self.served(&somebody()).map(|served| served.into_iter().map(|(path, _)| path).collect())
    }

    fn served(&self, user: &Identity) -> Option<Served> {
        let mut read = self.read.clone();
        fill_in(&mut read, user);
        served(&read)
    }

    fn parsed(&self, user: &Identity) -> Result<(Selector, Selector)> {
        let of = |rule: &Value| -> Result<Selector> {
            let mut rule = rule.clone();
            fill_in(&mut rule, user);
            Ok(Selector::from_json(rule.to_string())?)
        };
        Ok((of(&self.read)?, of(self.write.as_ref().unwrap_or(&self.read))?))
    }
}

/// A text that was meant to be a variable, and is none: no document would ever have it.
fn unknown_variable(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) if text == NAME || text == ROLES => None,
        Value::String(text) if text.starts_with("$user") || text.contains("$user.") => Some(text),
        Value::String(text) if text.starts_with('$') => similar(text, [NAME, ROLES].into_iter()).map(|_| text.as_str()),
        Value::Array(elements) => elements.iter().find_map(unknown_variable),
        Value::Object(members) => members.values().find_map(unknown_variable),
        _ => None,
    }
}

/// Whether the list of roles stands where a list is compared with one value. `fits`: it may stand here.
fn has_misplaced_roles(value: &Value, fits: bool) -> bool {
    match value {
        Value::String(text) => text == ROLES && !fits,
        Value::Array(elements) => elements.iter().any(|element| has_misplaced_roles(element, false)),
        Value::Object(members) => {
            members.iter().any(|(name, member)| has_misplaced_roles(member, OF_LISTS.contains(&name.as_str())))
        }
        _ => false,
    }
}

/// Any user, to try rules with.
fn somebody() -> Identity {
    Identity { name: Some("somebody".to_owned()), roles: vec!["some".to_owned()] }
}

/// Puts a user's name and roles in the place of the variables.
fn fill_in(value: &mut Value, user: &Identity) {
    match value {
        Value::String(text) if text == NAME => *value = Value::from(user.name.clone()),
        Value::String(text) if text == ROLES => *value = Value::from(user.roles.clone()),
        Value::Array(elements) => elements.iter_mut().for_each(|element| fill_in(element, user)),
        Value::Object(members) => members.values_mut().for_each(|member| fill_in(member, user)),
        _ => {}
    }
}

impl Tests {
    /// The tests of a rule's text, or of no rule, for a user. A text that cannot be read lets nothing through.
    pub(super) fn of(rule: Option<&str>, user: Option<&Identity>) -> Self {
        let Some(rule) = rule else { return Tests { read: Test::All, write: Test::All, served: None } };
        let read = |user| {
            let rule = Rule::read(rule).ok()?;
            Some((rule.parsed(user).ok()?, rule.served(user)))
        };
        let parsed = user.filter(|user| user.name.is_some()).and_then(read);
        let test = |selector: Selector| Test::Selected(Box::new(selector.test(Collation::Unicode)), selector);
        match parsed {
            Some(((read, write), served)) => Tests { read: test(read), write: test(write), served },
            None => Tests { read: Test::Nothing, write: Test::Nothing, served: Some(Vec::new()) },
        }
    }

    pub(super) fn reads(&self) -> &Test {
        &self.read
    }

    /// What an index of access finds the documents by that may be read; `None`: the rule's form does not say.
    pub(super) fn served(&self) -> Option<&Served> {
        self.served.as_ref()
    }

    pub(super) fn writes(&self) -> &Test {
        &self.write
    }
}

impl Test {
    /// Whether it lets a document through. Design documents are read by all, and written by admins.
    pub(super) fn takes(&self, document: &Document<'_>) -> bool {
        match self {
            Test::All => true,
            Test::Selected(test, _) => test.selects(document),
            Test::Nothing => false,
        }
    }

    /// The selector, if there is one.
    pub(super) fn selector(&self) -> Option<&Selector> {
        match self {
            Test::Selected(_, selector) => Some(selector),
            Test::All | Test::Nothing => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    fn document(body: &'static str) -> Document<'static> {
        Document {
            id: "a".into(),
            rev: "1-a".parse().unwrap(),
            seq: recension::engine::Seq(1),
            deleted: false,
            body: Cow::Borrowed(body),
            attachments: Vec::new(),
        }
    }

    #[test]
    fn variables_are_the_users() {
        let rule = r#"{"read":{"$or":[{"owner":"$user.name"},{"team":{"$in":"$user.roles"}}]},
            "write":{"owner":"$user.name"}}"#;
        let ada = Identity { name: Some("ada".to_owned()), roles: vec!["x".to_owned(), "y".to_owned()] };
        let tests = Tests::of(Some(rule), Some(&ada));
        for (body, reads, writes) in [
            (r#"{"owner":"ada"}"#, true, true),
            (r#"{"owner":"bob","team":"y"}"#, true, false),
            (r#"{"owner":"bob","team":"z"}"#, false, false),
            (r#"{"owner":"$user.name"}"#, false, false),
            ("{}", false, false),
        ] {
            assert_eq!(tests.reads().takes(&document(body)), reads, "{body}");
            assert_eq!(tests.writes().takes(&document(body)), writes, "{body}");
        }
        let nobody = Identity::default();
        assert!(!Tests::of(Some(rule), Some(&nobody)).reads().takes(&document(r#"{"owner":null}"#)));
        assert!(!Tests::of(Some(rule), None).reads().takes(&document("{}")));
        assert!(Tests::of(None, None).reads().takes(&document("{}")));
    }

    #[test]
    fn what_is_no_rule_is_refused() {
        for name in ["$user.nam", "$user.role", "$usr.name", "$user"] {
            assert!(Rule::read(&format!(r#"{{"read":{{"a":{{"$in":["x","{name}"]}}}}}}"#)).is_err(), "{name}");
        }
        assert!(Rule::read(r#"{"read":{"price":"$5"}}"#).is_ok());
        for test in [
            r#"{"$in":["$user.roles"]}"#,
            r#"{"$in":["all","$user.roles"]}"#,
            r#""$user.roles""#,
            r#"{"$eq":"$user.roles"}"#,
            r#""org.couchdb.user:$user.name""#,
        ] {
            assert!(Rule::read(&format!(r#"{{"read":{{"a":{test}}}}}"#)).is_err(), "{test}");
        }
        for operator in OF_LISTS {
            assert!(Rule::read(&format!(r#"{{"read":{{"a":{{"{operator}":"$user.roles"}}}}}}"#)).is_ok(), "{operator}");
        }
        for text in ["", "[]", "{}", r#"{"read":{"$x":1}}"#, r#"{"read":{},"other":1}"#, r#"{"read":{},"write":7}"#] {
            assert!(Rule::read(text).is_err(), "{text}");
        }
        let rule = Rule::read(r#"{"read":{"a":"$user.name"}}"#).unwrap();
        assert_eq!(Rule::read(&rule.to_json()).unwrap(), rule);
    }
}
