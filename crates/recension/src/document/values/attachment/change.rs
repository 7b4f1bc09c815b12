//! What writes say of attachments: one more, one less, all as before.

use super::upload::Upload;
use super::{AttachmentInfo, Following};
use crate::document::values::error::Result;
use crate::document::values::replicated::ReplicatedWrite;
use crate::document::values::write::{Expect, Write};

impl Write {
    /// The document `id` shall say what it says, with changed attachments: see [`Write::attach`] and
    /// [`Write::detach`]. If there is no document, it is made, with the body `{}`.
    pub fn same_body(id: &str, expect: Expect) -> Result<Self> {
        let mut write = Self::from_json("{}")?.with_id(id)?.expecting(expect).keep_attachments();
        write.same_body = true;
        Ok(write)
    }

    /// The document shall have this attachment. It takes the place of one of that name, or comes first.
    ///
    /// # Errors
    /// [`Error::BadName`](crate::document::Error::BadName);
    /// [`Error::TooManyAttachments`](crate::document::Error::TooManyAttachments).
    pub fn attach(mut self, name: &str, upload: Upload) -> Result<Self> {
        self.attachments.attach(name, upload)?;
        Ok(self)
    }

    /// The document shall have this attachment, whose bytes a document or a revision of the collection has: another
    /// one's, or an older one's. It comes after those that were named before.
    ///
    /// # Errors
    /// As [`Write::attach`]; the write fails with [`Error::ContentGone`](crate::document::Error::ContentGone) if no
    /// document has the bytes any more.
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
