//! The attachments that a write wants its document to have. Pure: the attachments of the parent revision are an
//! argument.

use super::info::{AttachmentInfo, ContentHash, check_name};
use super::upload::Upload;
use crate::error::{Error, Result};
use crate::limits::ATTACHMENTS_MAX;

/// The attachments of a write. By default the document gets none.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Wanted {
    /// The attachments that the write names, in their order.
    items: Vec<Item>,
    /// Whether the other attachments of the parent stay, after the named ones.
    keep: bool,
    /// Attachments of the parent that are removed although the others stay. They must exist.
    detached: Vec<String>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Item {
    name: String,
    /// The number of the revision that the attachment came with, as given by a replica.
    revpos: Option<u32>,
    source: Source,
}

/// Where an attachment's bytes come from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// The parent has an attachment of that name, of this many bytes if that was said.
    Stub {
        length: Option<u64>,
    },
    /// They will be uploaded.
    Follows(Box<Following>),
    Upload(Upload),
    /// The bytes of an attachment that some document of the collection has.
    Known(Box<AttachmentInfo>),
}

/// An attachment whose bytes are sent after the document itself (`"follows": true`).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Following {
    /// Its name.
    pub name: String,
    /// Its media type.
    pub content_type: String,
    /// Whether its bytes come gzipped. `Uploads::add_gzip` takes them
    /// then.
    pub gzip: bool,
    /// How many bytes will come, if that was said.
    pub length: Option<u64>,
    /// Their MD5, if that was said.
    pub md5: Option<[u8; 16]>,
}

impl Wanted {
    pub fn is_nothing(&self) -> bool {
        self.items.is_empty() && !self.keep && self.detached.is_empty()
    }

    /// Whether a document without attachments stays so.
    pub fn brings_none(&self) -> bool {
        self.items.is_empty() && self.detached.is_empty()
    }

    /// The same for a revision that is made here: new bytes come with it, whatever number was sent, and a stub is what
    /// the parent has, if it has it since the revision that the stub names. Clients send what they have read.
    #[must_use]
    pub fn made_here(mut self) -> Self {
        for item in &mut self.items {
            match &mut item.source {
                Source::Stub { length } => *length = None,
                _ => item.revpos = None,
            }
        }
        self
    }

    /// The same for a revision of a replica, whose stubs are what the collection has of these names.
    #[must_use]
    pub fn of_replica(mut self) -> Self {
        for item in self.items.iter_mut().filter(|item| matches!(item.source, Source::Stub { .. })) {
            item.revpos = None;
        }
        self
    }

    /// Whether attachments that the write does not name stay.
    pub fn keeps(&self) -> bool {
        self.keep
    }

    /// Whether attachments of the parent are taken over, by name or all of them.
    pub fn takes_over(&self) -> bool {
        self.keep || self.items.iter().any(|item| matches!(item.source, Source::Stub { .. }))
    }

    /// Names an attachment after those that were named before.
    pub fn push(&mut self, name: String, revpos: Option<u32>, source: Source) -> Result<()> {
        check_name(&name)?;
        self.items.retain(|item| item.name != name);
        if self.items.len() == ATTACHMENTS_MAX {
            return Err(Error::TooManyAttachments { max: ATTACHMENTS_MAX });
        }
        self.items.push(Item { name, revpos, source });
        Ok(())
    }

    /// Names an attachment: in its former place if it was named before, else in front, as CouchDB does.
    pub fn attach(&mut self, name: &str, upload: Upload) -> Result<()> {
        check_name(name)?;
        let source = Source::Upload(upload);
        let full = self.items.len() == ATTACHMENTS_MAX;
        match self.items.iter_mut().find(|item| item.name == name) {
            Some(item) => item.source = source,
            None if full => return Err(Error::TooManyAttachments { max: ATTACHMENTS_MAX }),
            None => self.items.insert(0, Item { name: name.to_owned(), revpos: None, source }),
        }
        Ok(())
    }

    pub fn keep(&mut self) {
        self.keep = true;
    }

    pub fn detach(&mut self, name: &str) {
        self.detached.push(name.to_owned());
    }

    /// Names an attachment whose bytes the collection has, or had when the attachment was read.
    pub fn push_known(&mut self, info: AttachmentInfo) -> Result<()> {
        self.push(info.name.clone(), None, Source::Known(Box::new(info)))
    }

    /// The attachments whose bytes have not come yet.
    pub fn following(&self) -> Vec<Following> {
        let following = |item: &Item| match &item.source {
            Source::Follows(following) => Some((**following).clone()),
            _ => None,
        };
        self.items.iter().filter_map(following).collect()
    }

    pub fn uploads(&self) -> impl Iterator<Item = &Upload> {
        self.items.iter().filter_map(|item| match &item.source {
            Source::Upload(upload) => Some(upload),
            _ => None,
        })
    }

    /// About how many bytes of memory it takes.
    pub fn size_bytes(&self) -> usize {
        self.uploads().map(Upload::size_bytes).sum()
    }

    /// The attachments of the revision with number `generation` of the document `id`; `parent` has the parent's.
    pub fn resolve(&self, id: &str, generation: u32, parent: &[AttachmentInfo]) -> Result<Vec<AttachmentInfo>> {
        let of_parent = |name: &str| parent.iter().find(|info| info.name == name);
        for name in &self.detached {
            of_parent(name).ok_or_else(|| Error::NoSuchAttachment { id: id.to_owned(), name: name.clone() })?;
        }
        let mut infos = Vec::with_capacity(self.items.len());
        for Item { name, revpos, source } in &self.items {
            let known = *revpos;
            let revpos = revpos.filter(|revpos| (1..=generation).contains(revpos)).unwrap_or(generation);
            let (content_type, content) = match source {
                // Another length: the replica means other bytes, and has to send them.
                Source::Stub { length } => {
                    let meant = |info: &&AttachmentInfo| {
                        length.is_none_or(|length| length == info.length())
                            && known.is_none_or(|known| known == info.revpos)
                    };
                    let missing = || Error::MissingStub { id: id.to_owned(), name: name.clone() };
                    infos.push(of_parent(name).filter(meant).ok_or_else(missing)?.clone());
                    continue;
                }
                Source::Follows(_) => {
                    return Err(Error::BadAttachment { name: name.clone(), why: "its bytes did not follow" });
                }
                Source::Upload(upload) => (upload.content_type(), upload.content()),
                Source::Known(info) => (&*info.content_type, info.content),
            };
            let content_type = content_type.to_owned();
            infos.push(AttachmentInfo { name: name.clone(), content_type, revpos, content });
        }
        if self.keep {
            let named = |name: &str| self.items.iter().any(|item| item.name == name);
            let kept = parent.iter().filter(|info| !named(&info.name) && !self.detached.contains(&info.name));
            infos.extend(kept.cloned());
        }
        if infos.len() > ATTACHMENTS_MAX {
            return Err(Error::TooManyAttachments { max: ATTACHMENTS_MAX });
        }
        Ok(infos)
    }

    /// An upload of these bytes.
    pub fn upload_of(&self, sha256: &ContentHash) -> impl Iterator<Item = &Upload> {
        self.uploads().filter(move |upload| upload.content().sha256 == *sha256)
    }
}
