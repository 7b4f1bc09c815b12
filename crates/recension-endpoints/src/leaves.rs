//! `/{db}/_leaves`: all leaves of documents that changed behind a position, in one stream of lines, for a first
//! replication between two Recensions. A line is a revision as `_bulk_get` answers it, or a position: if the stream
//! breaks off, the next one continues there. CouchDB has none. Format: docs/src/replication.md.

use std::fmt::Write as _;

use http::StatusCode;
use recension::{Changes, CollectionAt, Position};

use super::reading::{Extras, Shown};
use super::sequence::Sequence;
use super::streaming;
use recension_app::auth::databases::Database;
use recension_app::request::{Request, only};
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::LEAVES_BETWEEN_POSITIONS;

/// `/{db}/_leaves?since=`
pub async fn endpoint(request: Request, db: Database) -> Result<Answer> {
    only(&request, "GET")?;
    let none = || ApiError::new(StatusCode::BAD_REQUEST, "bad_request", "a stream of leaves begins at a position");
    let since = Sequence::parse(request.query.get("since"))?.ok_or_else(none)?.position;
    let at = db.opened().clone();
    // As for a feed of changes: it is of a store that has gone back to an older copy.
    let since = if since.seq() > at.seq() { Position::START } else { since };
    let rows = Lines { changes: at.changes(since), at, since_position: 0, ended: false };
    streaming::bytes(&request.app, "application/x-ndjson", Vec::new(), rows, "").await
}

struct Lines {
    at: CollectionAt,
    changes: Changes,
    /// Changes since the last line with a position.
    since_position: usize,
    ended: bool,
}

impl streaming::Rows for Lines {
    fn write_next(&mut self, out: &mut Vec<u8>) -> Result<bool> {
        if self.ended {
            return Ok(false);
        }
        let Some(change) = self.changes.next().transpose()? else {
            self.ended = true;
            let position = Position::from(self.at.seq());
            out.extend_from_slice(format!("{{\"last_seq\":\"{position}\",\"done\":true}}\n").as_bytes());
            return Ok(true);
        };
        let extras = Extras { revs: true, ..Extras::default() };
        let mut text = String::new();
        for (number, leaf) in self.at.leaves(&change.id)?.into_iter().enumerate() {
            if let Some(revision) = self.at.leaf_revision(&change.id, &leaf, number == 0)? {
                text.push_str(&Shown::of(&change.id, &revision).to_json(&self.at, extras)?);
                text.push('\n');
            }
        }
        self.since_position += 1;
        if self.since_position >= LEAVES_BETWEEN_POSITIONS {
            self.since_position = 0;
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{{\"last_seq\":\"{}\"}}", change.position());
        }
        out.extend_from_slice(text.as_bytes());
        Ok(true)
    }
}
