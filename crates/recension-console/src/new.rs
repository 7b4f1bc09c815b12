//! `/_utils/{db}/new`: a document that is written, or the documents of a file (`?from=file`). A page of its own, so
//! that a browser without scripts has the rows of a list first. A document is shown beside the list when it is made.

use minijinja::context;

use super::frame::Frame;
use recension_app::auth::{Access, Session};
use recension_app::request::Request;
use recension_wire::answer::Answer;
use recension_wire::error::Result;
use recension_wire::route::encode;

/// The page.
pub(super) fn page(request: &Request, session: &Session, db: &str) -> Result<Answer> {
    session.database(db, Access::Member)?;
    let of_file = request.query.get("from") == Some("file");
    let title = if of_file { "Import a file" } else { "New document" };
    let values = context! { of_file, to => format!("/{}", encode(db)), list => format!("/_utils/{}", encode(db)) };
    Ok(Frame::begin(request, session, title, Some(db), "Documents", false).page("new", values))
}
