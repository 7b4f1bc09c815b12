//! The attachments of a collection's documents: reading them, and changing one attachment of a document.

use std::io::Read;

use crate::faces::collection::Collection;
use crate::kernel::attachment::AttachmentReader;
use crate::kernel::read::reader::CollectionAt;
use recension_values::at::At;
use recension_values::attachment::info::check_name;
use recension_values::attachment::wanted::{Source, Wanted};
use recension_values::attachment::{AttachmentInfo, Encoding};
use recension_values::error::{Error, Result};
use recension_values::model::Written;
use recension_values::revid::RevId;
use recension_values::write::{Expect, Write, check_id};

/// How often a restore looks for the bytes of a revision, if other writers keep deleting them.
const RESTORE_ATTEMPTS: u32 = 3;

impl Collection {
    /// Gives a document an attachment, which replaces one of the same name. The document is made if it does not exist.
    ///
    /// # Errors
    /// [`Error::Conflict`] if it is not as expected; as [`Uploads::add`](crate::Uploads::add) and [`Write::attach`].
    pub fn attach(
        &self,
        id: &str,
        expect: Expect,
        name: &str,
        content_type: &str,
        bytes: impl Read,
    ) -> Result<Written> {
        check_name(name)?;
        let write = Write::same_body(id, expect)?;
        self.write(write.attach(name, self.uploads().add(bytes, content_type)?)?)
    }

    /// Deletes an attachment of the document `id`, which is at `rev`.
    ///
    /// # Errors
    /// [`Error::Conflict`] if it is at another revision; [`Error::NoSuchAttachment`].
    pub fn detach(&self, id: &str, rev: &RevId, name: &str) -> Result<Written> {
        self.write(Write::same_body(id, Expect::Revision(*rev))?.detach(name))
    }

    /// Makes a new revision with the body and the attachments of an old one, whatever the document says now.
    ///
    /// # Errors
    /// [`Error::NoSuchRevision`], [`Error::RevisionIsDeletion`]; as [`Collection::put`].
    pub fn restore(&self, id: &str, rev: &RevId) -> Result<Written> {
        check_id(id)?;
        let reader = self.at(At::Now)?;
        let found = reader.revision(id, rev)?.ok_or_else(|| Error::NoSuchRevision { id: id.to_owned(), rev: *rev })?;
        if found.deleted {
            return Err(Error::RevisionIsDeletion { id: id.to_owned(), rev: *rev });
        }
        let mut again = false;
        for _ in 0..RESTORE_ATTEMPTS {
            let mut write = Write::put(id, &found.body)?.expecting(Expect::Anything);
            write.attachments = self.restored(&reader, &found.attachments, again)?;
            match self.write(write) {
                Err(Error::ContentGone) => again = true,
                done => return done,
            }
        }
        Err(Error::Busy { attempts: RESTORE_ATTEMPTS })
    }

    /// The attachments of an older revision, for a new write. `uploaded`: no document has their bytes any more, so they
    /// are uploaded again.
    pub(crate) fn restored(
        &self,
        reader: &CollectionAt,
        attachments: &[AttachmentInfo],
        uploaded: bool,
    ) -> Result<Wanted> {
        let mut wanted = Wanted::default();
        for info in attachments {
            if uploaded {
                let stored = reader.open_attachment(info)?.stored();
                let upload = match info.encoding() {
                    Encoding::Gzip => self.uploads().add_gzip(stored, &info.content_type)?,
                    Encoding::Identity => self.upload_identity(stored, &info.content_type)?,
                };
                wanted.push(info.name.clone(), None, Source::Upload(upload))?;
            } else {
                wanted.push_known(info.clone())?;
            }
        }
        Ok(wanted)
    }

    /// The attachments of a document, in its order; none if there is no document.
    pub fn attachments(&self, id: &str) -> Result<Vec<AttachmentInfo>> {
        self.at(At::Now)?.attachments(id)
    }

    /// An attachment of a document, as of now. Later writes do not change what the reader answers.
    pub fn attachment(&self, id: &str, name: &str) -> Result<Option<AttachmentReader>> {
        self.at(At::Now)?.attachment(id, name)
    }

    /// An attachment of a revision of a document; see [`CollectionAt::attachment_of`].
    pub fn attachment_of(&self, id: &str, rev: &RevId, name: &str) -> Result<Option<AttachmentReader>> {
        self.at(At::Now)?.attachment_of(id, rev, name)
    }
}
