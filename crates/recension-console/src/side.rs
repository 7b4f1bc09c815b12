//! The bar beside every page: the databases that its reader may read, with their counts, on the branch that the page is
//! of. It tells no other names.

use minijinja::{Value, context};
use recension::Result as Read;

use recension_app::auth::{Access, Session};
use recension_app::request::Request;
use recension_wire::error::Result;

/// Databases in the bar; the page of databases has them all.
const SHOWN_MAX: usize = 60;

/// What the bar shows.
#[derive(Clone, Debug, Default)]
pub(super) struct Side {
    databases: Vec<(String, u64)>,
    more: bool,
    branch: Option<String>,
}

/// Reads it, for a page of a database or of none.
pub(super) async fn of(request: &Request, session: &Session, db: Option<&str>) -> Result<Side> {
    let of_database = db.and_then(|db| db.rsplit_once('@')).map(|(_, branch)| branch);
    let branch = of_database.or_else(|| request.query.get("branch").filter(|branch| !branch.is_empty()));
    let branch = branch.map(str::to_owned);
    let own = session.clone();
    let read = move || {
        let mut names = own.readable()?;
        names.retain(|name| !name.starts_with('_'));
        let more = names.len() > SHOWN_MAX;
        let counted = |name: String| {
            let name = branch.as_ref().map_or(name.clone(), |branch| format!("{name}@{branch}"));
            let count: Read<u64> = own.database(&name, Access::Member).ok()?.opened().count();
            Some((name, count.ok()?))
        };
        let databases = names.into_iter().take(SHOWN_MAX).filter_map(counted).collect();
        Ok(Side { databases, more, branch })
    };
    request.app.blocking(read).await
}

impl Side {
    /// As `head.html` has it.
    pub(super) fn values(&self) -> Value {
        let databases = self.databases.iter().map(|(name, count)| Value::from((name.as_str(), *count)));
        context! {
            databases => databases.collect::<Vec<_>>(), more => self.more, branch => self.branch.as_deref(),
        }
    }
}
