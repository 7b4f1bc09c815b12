//! Changing one attachment of a document, which else stays as it is.

use std::io::Read;

use super::upload::Upload;
use super::wanted::Wanted;
use super::{AttachmentInfo, Following};
use crate::document::write::check_id;
use crate::document::{At, Collection, CollectionAt, Error, Expect, ReplicatedWrite, Result, RevId, Write, Written};

/// How often the bytes of a restored revision are looked for, where others keep taking them away.
const RESTORE_ATTEMPTS: u32 = 3;

impl Write {
    /// The document `id` shall say what it says, with changed attachments: see [`Write::attach`] and
    /// [`Write::detach`]. Where there is no document, it is made, with the body `{}`.
    pub fn same_body(id: &str, expect: Expect) -> Result<Self> {
        let mut write = Self::from_json("{}")?.with_id(id)?.expecting(expect).keep_attachments();
        write.same_body = true;
        Ok(write)
    }

    /// The document shall have this attachment. It takes the place of one of that name, or comes first.
    ///
    /// # Errors
    /// [`Error::BadName`]; [`Error::TooManyAttachments`].
    pub fn attach(mut self, name: &str, upload: Upload) -> Result<Self> {
        self.attachments.attach(name, upload)?;
        Ok(self)
    }

    /// The document shall have this attachment, whose bytes a document or a revision of the collection has: another
    /// one's, or an older one's. It comes after those that were named before.
    ///
    /// # Errors
    /// As [`Write::attach`]; the write fails with [`Error::ContentGone`] where no document has the bytes any more.
    pub fn attach_known(mut self, info: &AttachmentInfo) -> Result<Self> {
        self.attachments.push_known(info.clone())?;
        Ok(self)
    }

    /// The document shall keep the attachments that it has, besides those that the write names. Without this it
    /// loses them.
    #[must_use]
    pub fn keep_attachments(mut self) -> Self {
        self.attachments.keep();
        self
    }

    /// The document, which has an attachment `name`, shall not have it any more and keep the others.
    #[must_use]
    pub fn detach(mut self, name: &str) -> Self {
        self.attachments.keep();
        self.attachments.detach(name);
        self
    }

    /// The attachments that the document announced (`"follows": true`) and that [`Write::attach`] has not been
    /// given yet.
    pub fn following(&self) -> Vec<Following> {
        self.attachments.following()
    }
}

impl ReplicatedWrite {
    /// The revision has this attachment. It takes the place of one of that name, or comes first.
    ///
    /// # Errors
    /// As [`Write::attach`].
    pub fn attach(mut self, name: &str, upload: Upload) -> Result<Self> {
        self.attachments.attach(name, upload)?;
        Ok(self)
    }

    /// The attachments that the revision announced (`"follows": true`) and that have not been given yet.
    pub fn following(&self) -> Vec<Following> {
        self.attachments.following()
    }
}

impl Collection {
    /// Gives a document an attachment, which replaces one of that name. The document is made where there is none.
    ///
    /// # Errors
    /// [`Error::Conflict`] where it is not as expected; as [`Collection::upload`] and [`Write::attach`].
    pub fn attach(
        &self,
        id: &str,
        expect: Expect,
        name: &str,
        content_type: &str,
        bytes: impl Read,
    ) -> Result<Written> {
        super::info::check_name(name)?;
        let write = Write::same_body(id, expect)?;
        self.write(write.attach(name, self.upload(bytes, content_type)?)?)
    }

    /// Takes an attachment away from the document `id`, which is at `rev`.
    ///
    /// # Errors
    /// [`Error::Conflict`] where it is at another revision; [`Error::NoSuchAttachment`].
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

    /// Old attachments, wanted again: `uploaded` again where no document has their bytes any more.
    pub(in crate::document) fn restored(
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
                    super::Encoding::Gzip => self.upload_gzip(stored, &info.content_type)?,
                    super::Encoding::Identity => self.upload_identity(stored, &info.content_type)?,
                };
                wanted.push(info.name.clone(), None, super::wanted::Source::Upload(upload))?;
            } else {
                wanted.push_known(info.clone())?;
            }
        }
        Ok(wanted)
    }
}
