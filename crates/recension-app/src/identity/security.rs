//! `_security`: the admins and members of a database. It is a setting of the collection, and dropped with it.

use recension::conditions::similar;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Identity;
use recension_wire::error::{ApiError, Result};
use recension_wire::members::refuse_repeated;

/// The name of the setting.
pub const SETTING: &str = "security";

/// The members that say who is who.
const GROUPS: [&str; 3] = ["admins", "members", "readers"];

/// The name of the setting that holds a database's access rule.
pub const ACCESS: &str = "access";

/// The security of new databases: only server admins may read and write. CouchDB's since 3.0.
pub const DEFAULT: &str = r#"{"members":{"roles":["_admin"]},"admins":{"roles":["_admin"]}}"#;

/// Names and roles.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Group {
    names: Vec<String>,
    roles: Vec<String>,
}

impl Group {
    fn has(&self, identity: &Identity) -> bool {
        identity.name.as_ref().is_some_and(|name| self.names.contains(name))
            || identity.roles.iter().any(|role| self.roles.contains(role))
    }

    fn is_empty(&self) -> bool {
        self.names.is_empty() && self.roles.is_empty()
    }
}

/// A `_security` object, as far as the server looks into it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Security {
    admins: Group,
    /// CouchDB 1.1 and before it called them readers.
    #[serde(alias = "readers")]
    members: Group,
}

impl Security {
    /// Refuses what is no `_security` object, in CouchDB's words: an object that is stored must not let anybody in, or
    /// lock anybody out, by a slip.
    pub fn check(body: &[u8]) -> Result<()> {
        let object: Value = serde_json::from_slice(body).map_err(|_| ApiError::bad_json())?;
        let object = object.as_object().ok_or_else(|| ApiError::bad_request("Body must be a JSON object"))?;
        refuse_repeated(body)?;
        if object.contains_key("members") && object.contains_key("readers") {
            return Err(ApiError::bad_request("`readers` is the old name of `members`: give one of them"));
        }
        // Programs keep members of their own there, but not one that was meant to be one of these.
        for name in object.keys().filter(|name| !GROUPS.contains(&name.as_str())) {
            if let Some(meant) = similar(name, GROUPS.into_iter()) {
                let reason = format!("_security has no member `{name}`; perhaps `{meant}` is meant");
                return Err(ApiError::bad_request(reason));
            }
        }
        for name in GROUPS {
            let Some(group) = object.get(name) else { continue };
            let group = group.as_object().ok_or_else(|| {
                ApiError::bad_request(format!("{name} must be a JSON object with `names` and `roles`"))
            })?;
            if let Some(other) = group.keys().find(|kind| !matches!(kind.as_str(), "names" | "roles")) {
                let reason = format!("{name} has `names` and `roles`, and no `{other}`");
                return Err(ApiError::bad_request(reason));
            }
            for kind in ["names", "roles"] {
                let is_list = |list: &Value| list.as_array().is_some_and(|list| list.iter().all(Value::is_string));
                if !group.get(kind).is_none_or(is_list) {
                    return Err(ApiError::bad_request(format!("{kind} must be a JSON list of strings")));
                }
            }
        }
        Ok(())
    }

    /// As a database's setting says.
    ///
    /// # Errors
    /// 400 if it does not read.
    pub fn of(setting: Option<&str>) -> Result<Self> {
        serde_json::from_str(setting.unwrap_or(DEFAULT)).map_err(|_| ApiError::bad_request("Bad _security object"))
    }

    /// Whether server admins are the only admins and members.
    pub(crate) fn is_of_server_admins(&self) -> bool {
        let own = |group: &Group| group.names.is_empty() && group.roles.iter().all(|role| role == "_admin");
        own(&self.admins) && own(&self.members) && !self.members.is_empty()
    }

    /// Whether somebody is admin of the database. Server admins are.
    pub fn is_admin(&self, identity: &Identity) -> bool {
        identity.is_server_admin() || self.admins.has(identity)
    }

    /// Whether somebody is a member. If no names and roles are set, everybody is.
    pub(crate) fn is_member(&self, identity: &Identity) -> bool {
        self.members.is_empty() || self.members.has(identity)
    }
}
