//! Who somebody is, and what that is made of: names and roles, passwords as they are kept, keys of tokens, the admins
//! and members of a database. Pure: nothing here reads a store, a setting or a request.

pub mod admins;
pub(crate) mod jwt;
#[cfg(test)]
mod jwt_cases;
mod jwt_text;
pub mod password;
pub mod random;
pub mod security;

/// The identity of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The name; `None`: anonymous.
    pub name: Option<String>,
    /// Roles; `_admin` is a server admin's.
    pub roles: Vec<String>,
}

impl Identity {
    /// A server admin.
    pub fn server_admin(name: &str) -> Self {
        Identity { name: Some(name.to_owned()), roles: vec!["_admin".to_owned()] }
    }

    /// Whether it is a server admin.
    pub fn is_server_admin(&self) -> bool {
        self.roles.iter().any(|role| role == "_admin")
    }
}
