//! Reading the attachments of a document as of one commit.

use crate::kernel::attachment::AttachmentReader;
use crate::kernel::attachment::rows::damaged;
use crate::kernel::read::reader::CollectionAt;
use recension_values::attachment::AttachmentInfo;
use recension_values::error::Result;
use recension_values::revid::RevId;

impl CollectionAt {
    /// The attachments of a document, in its order; none if there is no document.
    pub fn attachments(&self, id: &str) -> Result<Vec<AttachmentInfo>> {
        Ok(self.get(id)?.map(|document| document.attachments).unwrap_or_default())
    }

    /// An attachment of a document; `None` if there is none of that name.
    pub fn attachment(&self, id: &str, name: &str) -> Result<Option<AttachmentReader>> {
        self.open_named(self.attachments(id)?, name)
    }

    /// An attachment of a revision of a document. The revision may be the winner, another leaf or an older one.
    pub fn attachment_of(&self, id: &str, rev: &RevId, name: &str) -> Result<Option<AttachmentReader>> {
        let attachments = self.get_revision(id, rev)?.map(|revision| revision.attachments);
        self.open_named(attachments.unwrap_or_default(), name)
    }

    fn open_named(&self, attachments: Vec<AttachmentInfo>, name: &str) -> Result<Option<AttachmentReader>> {
        let info = attachments.into_iter().find(|info| info.name == name);
        info.map(|info| self.open_attachment(&info)).transpose()
    }

    /// The bytes of an attachment that a document or a revision of this collection names.
    pub fn open_attachment(&self, info: &AttachmentInfo) -> Result<AttachmentReader> {
        let missing = || damaged(&info.content.sha256, "the collection that it should be in does not exist");
        let tree = self.entry.as_ref().map(|entry| entry.side).ok_or_else(missing)?;
        AttachmentReader::open(self.snapshot.clone(), tree, info.clone())
    }
}
