//! A document as it is answered: the stored text, with the members that begin with `_` put around it. The text is not
//! parsed.

use std::fmt;

use recension::json::write_quoted;
use recension::{AttachmentInfo, CollectionAt, Document, RevId, Revision, RevisionStatus};

use super::compacted::is_available;
use recension_wire::error::Result;
use recension_wire::query::Query;

/// Where text is written behind bytes that were written before.
pub(crate) struct Behind<'v>(pub(crate) &'v mut Vec<u8>);

impl fmt::Write for Behind<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

/// The members that are asked for besides the document.
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // the protocol's flags
pub(crate) struct Extras {
    pub(crate) revs: bool,
    pub(crate) revs_info: bool,
    pub(crate) conflicts: bool,
    pub(crate) deleted_conflicts: bool,
    pub(crate) local_seq: bool,
}

impl Extras {
    /// From a query.
    pub(crate) fn of(query: &Query) -> Self {
        let meta = query.is_true("meta");
        // Conflicts are the winner's: CouchDB tells them nobody who names a revision.
        let of_winner = query.get("rev").is_none();
        Extras {
            revs: query.is_true("revs"),
            revs_info: meta || query.is_true("revs_info"),
            conflicts: of_winner && (meta || query.is_true("conflicts")),
            deleted_conflicts: of_winner && (meta || query.is_true("deleted_conflicts")),
            local_seq: query.is_true("local_seq"),
        }
    }

    /// The same without members that are about the winner.
    pub(crate) fn of_any_leaf(self) -> Self {
        Extras { conflicts: false, deleted_conflicts: false, revs_info: false, ..self }
    }
}

/// A revision that is to be answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown<'r> {
    pub(crate) id: &'r str,
    pub(crate) rev: RevId,
    pub(crate) seq: u64,
    pub(crate) deleted: bool,
    pub(crate) body: &'r str,
    pub(crate) attachments: &'r [AttachmentInfo],
}

impl<'r> Shown<'r> {
    /// A document as it was read.
    pub(crate) fn of_document(document: &'r Document<'_>) -> Self {
        Shown {
            id: &document.id,
            rev: document.rev,
            seq: document.seq.0,
            deleted: document.deleted,
            body: &document.body,
            attachments: &document.attachments,
        }
    }

    /// A revision of the document `id`.
    pub(crate) fn of(id: &'r str, revision: &'r Revision) -> Self {
        Shown {
            id,
            rev: revision.rev,
            seq: revision.seq.0,
            deleted: revision.deleted,
            body: &revision.body,
            attachments: &revision.attachments,
        }
    }

    /// As JSON: `_id` and `_rev`, the stored members as they are, and then the extras.
    pub(crate) fn to_json(self, at: &CollectionAt, extras: Extras) -> Result<String> {
        let mut out = String::with_capacity(self.body.len() + self.id.len() + 96);
        self.write_json(at, extras, &mut out)?;
        Ok(out)
    }

    /// The same, behind what was written before. Writing itself cannot fail, here and below.
    pub(crate) fn write_json(self, at: &CollectionAt, extras: Extras, out: &mut impl fmt::Write) -> Result<()> {
        let members = self.body.strip_prefix('{').and_then(|body| body.strip_suffix('}')).unwrap_or_default();
        let _ = out.write_str("{\"_id\":");
        let _ = write_quoted(self.id, out);
        let _ = out.write_str(",\"_rev\":\"");
        let _ = self.rev.write_to(out);
        let _ = out.write_char('"');
        if !members.is_empty() {
            let _ = out.write_char(',');
            let _ = out.write_str(members);
        }
        if self.deleted {
            let _ = out.write_str(",\"_deleted\":true");
        }
        if extras.revs {
            self.write_revisions(at, out)?;
        }
        if extras.revs_info {
            self.write_revs_info(at, out)?;
        }
        if extras.local_seq {
            let _ = write!(out, ",\"_local_seq\":{}", self.seq);
        }
        if extras.conflicts {
            write_revs("_conflicts", &at.conflicts(self.id)?, out);
        }
        if extras.deleted_conflicts {
            write_revs("_deleted_conflicts", &at.deleted_conflicts(self.id)?, out);
        }
        if !self.attachments.is_empty() {
            let _ = out.write_str(&super::inline::stubs(self.attachments));
        }
        let _ = out.write_char('}');
        Ok(())
    }

    fn write_revisions(self, at: &CollectionAt, out: &mut impl fmt::Write) -> Result<()> {
        let path = at.ancestry(self.id, &self.rev)?.unwrap_or_default();
        let ids: Vec<String> = path.iter().map(|rev| format!("\"{}\"", rev.suffix())).collect();
        let _ = write!(out, ",\"_revisions\":{{\"start\":{},\"ids\":[{}]}}", self.rev.generation(), ids.join(","));
        Ok(())
    }

    fn write_revs_info(self, at: &CollectionAt, out: &mut impl fmt::Write) -> Result<()> {
        let mut rows = Vec::new();
        for (rev, status) in at.ancestry_status(self.id, &self.rev)?.unwrap_or_default() {
            let status = match status {
                // A compacted body still exists, but is not given out.
                RevisionStatus::Available | RevisionStatus::Deleted if !is_available(at, self.id, &rev)? => "missing",
                RevisionStatus::Available => "available",
                RevisionStatus::Deleted => "deleted",
                RevisionStatus::Missing => "missing",
            };
            rows.push(format!("{{\"rev\":\"{rev}\",\"status\":\"{status}\"}}"));
        }
        let _ = write!(out, ",\"_revs_info\":[{}]", rows.join(","));
        Ok(())
    }
}

fn write_revs(name: &str, revs: &[RevId], out: &mut impl fmt::Write) {
    if !revs.is_empty() {
        let revs: Vec<String> = revs.iter().map(|rev| format!("\"{rev}\"")).collect();
        let _ = write!(out, ",\"{name}\":[{}]", revs.join(","));
    }
}
