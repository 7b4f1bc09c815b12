//! The attachments of a write: adding one, removing one, keeping all.

use super::upload::Upload;
use super::{AttachmentInfo, Following};
use crate::error::Result;
use crate::replicated::ReplicatedWrite;
use crate::write::{Expect, Write};

impl Write {
    /// A write that keeps the body of the document `id` and changes its attachments: see [`Write::attach`] and
    /// [`Write::detach`]. If there is no document, it is made, with the body `{}`.
    pub fn same_body(id: &str, expect: Expect) -> Result<Self> {
        let mut write = Self::from_json("{}")?.with_id(id)?.expecting(expect).keep_attachments();
        write.same_body = true;
        Ok(write)
    }

    /// Adds this attachment. It replaces one with its name, or comes first.
    ///
    /// # Errors
    /// `Error::BadName`;
    /// `Error::TooManyAttachments`.
    pub fn attach(mut self, name: &str, upload: Upload) -> Result<Self> {
        self.attachments.attach(name, upload)?;
        Ok(self)
    }

    /// Adds an attachment whose bytes the collection has already, in another document or in an older revision. It comes
    /// after those that were named before.
    ///
    /// # Errors
    /// As [`Write::attach`]; the write fails with `Error::ContentGone` if no
    /// document has the bytes any more.
    pub fn attach_known(mut self, info: &AttachmentInfo) -> Result<Self> {
        self.attachments.push_known(info.clone())?;
        Ok(self)
    }

    /// Keeps the document's present attachments, besides those that the write names. Without this, the document loses
    /// them.
    #[must_use]
    pub fn keep_attachments(mut self) -> Self {
        self.attachments.keep();
        self
    }

    /// Removes the attachment `name`, which the document must have, and keeps the others.
    #[must_use]
    pub fn detach(mut self, name: &str) -> Self {
        self.attachments.keep();
        self.attachments.detach(name);
        self
    }

    /// The attachments that the document announced (`"follows": true`) and that have not been passed to
    /// [`Write::attach`] yet.
    pub fn following(&self) -> Vec<Following> {
        self.attachments.following()
    }
}

impl ReplicatedWrite {
    /// Adds this attachment to the revision. It replaces one with its name, or comes first.
    ///
    /// # Errors
    /// As [`Write::attach`].
    pub fn attach(mut self, name: &str, upload: Upload) -> Result<Self> {
        self.attachments.attach(name, upload)?;
        Ok(self)
    }

    /// The attachments that the revision announced (`"follows": true`) and that have not been added yet.
    pub fn following(&self) -> Vec<Following> {
        self.attachments.following()
    }
}
