//! The bar beside every page: the databases that its reader may read, with their counts, on the branch that the page is
//! of. It tells no other names.

use recension::Result as Read;

use super::frame::grouped;
use crate::auth::{Access, Session};
use crate::error::Result;
use crate::html::icons;
use crate::html::links::Parameters;
use crate::html::writer::Html;
use crate::request::Request;
use crate::route::encode;

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
    /// Writes it; `db` is the database that the page is of, `at` its moment.
    pub(super) fn write(&self, db: Option<&str>, at: &Parameters, html: &mut Html) {
        html.tag("<nav class=\"side\" id=\"side\" aria-label=\"Databases\"><p class=\"all\">");
        icons::of("Databases", html);
        html.link("/_utils/", "All databases").tag("</p>");
        if let Some(branch) = &self.branch {
            html.tag("<p>on the branch <bdi>").text(branch).tag("</bdi> ").link("/_utils/", "leave it").tag("</p>");
        }
        html.tag("<ul>\n");
        for (name, count) in &self.databases {
            let to = at.on(&format!("/_utils/{}", encode(name)));
            html.tag("<li><a href=\"").to(&to).tag(if db == Some(name) { "\" aria-current=\"true\">" } else { "\">" });
            html.tag("<bdi>")
                .text(name)
                .tag("</bdi> <span class=\"number\">")
                .text(grouped(*count))
                .tag("</span></a></li>\n");
        }
        html.tag("</ul>");
        if self.more {
            html.tag("<p>").link("/_utils/", "All databases").tag("</p>");
        }
        html.tag("</nav>\n");
    }
}
