//! Settings: short texts under names, kept beside a collection's documents and dropped with it. Servers and programs
//! keep facts about the collection in them; they are not replicated. Also: making an empty collection.

use crate::engine::Seq;
use crate::faces::collection::Collection;
use crate::faces::commit::in_one_commit;
use crate::faces::handles::Settings;
use crate::kernel::read::reader::CollectionAt;
use crate::kernel::rows::side;
use crate::kernel::write::writer::Writer;
use recension_values::at::At;
use recension_values::error::{Error, Result};
use recension_values::limits::{NAME_BYTES_MAX, SETTING_BYTES_MAX, SETTING_VERSIONS_MAX};

fn key(name: &str) -> Result<Vec<u8>> {
    let bad = |why| Error::BadName { what: "setting", name: name.chars().take(80).collect(), why };
    if name.is_empty() || name.len() > NAME_BYTES_MAX {
        return Err(bad("a name has 1 to 238 bytes"));
    }
    Ok([&[side::SETTING], name.as_bytes()].concat())
}

impl CollectionAt {
    /// The setting `name`; `None` if there is none. One read of the engine.
    pub fn setting(&self, name: &str) -> Result<Option<String>> {
        let key = key(name)?;
        let Some(entry) = &self.entry else { return Ok(None) };
        let Some(row) = self.snapshot.get(entry.side, &key)? else { return Ok(None) };
        String::from_utf8(row.bytes.into_owned()).map(Some).map_err(|_| Error::DamagedRow {
            what: format!("the setting {name} of {}", self.name),
            why: "it is not UTF-8",
        })
    }
}

impl CollectionAt {
    /// Several settings. Where another process owns the store they are read together.
    pub fn settings<const N: usize>(&self, names: [&str; N]) -> Result<[Option<String>; N]> {
        if let Some(entry) = &self.entry {
            let keys = names.iter().map(|name| key(name)).collect::<Result<Vec<_>>>()?;
            self.snapshot.announce(&keys.iter().map(|key| (entry.side, key.as_slice())).collect::<Vec<_>>());
        }
        let mut found = [const { None }; N];
        for (name, found) in names.into_iter().zip(&mut found) {
            *found = self.setting(name)?;
        }
        Ok(found)
    }
}

impl Settings<'_> {
    /// The values of a setting, each with its first commit, newest first; `None`: there was none.
    pub fn history(self, name: &str) -> Result<Vec<(Seq, Option<String>)>> {
        let key = key(name)?;
        let now = self.collection.at(At::Now)?;
        let Some(entry) = &now.entry else { return Ok(Vec::new()) };
        let mut versions = Vec::new();
        for version in now.snapshot.versions(entry.side, &key).take(SETTING_VERSIONS_MAX) {
            let version = version?;
            let text = version.value.and_then(|value| String::from_utf8(value.into_owned()).ok());
            versions.push((version.seq, text));
        }
        Ok(versions)
    }

    /// The setting `name`; `None` if there is none.
    pub fn get(self, name: &str) -> Result<Option<String>> {
        self.collection.at(At::Now)?.setting(name)
    }

    /// The design documents that have validation functions.
    pub fn validators(self) -> Result<Vec<String>> {
        self.collection.at(At::Now)?.validators()
    }

    /// Sets a setting of the collection, or with `None` removes it. Backups contain it, replicas do not.
    ///
    /// # Errors
    /// [`Error::BadName`]; [`Error::BadField`] for a text beyond the limit.
    pub fn set(self, name: &str, value: Option<&str>) -> Result<()> {
        let key = key(name)?;
        if value.is_some_and(|value| value.len() > SETTING_BYTES_MAX) {
            return Err(Error::BadField { field: "setting", expected: "a text of 64 KiB at most" });
        }
        let write = |writer: &mut Writer<'_>| {
            let side = writer.entry_or_new()?.side;
            match value {
                Some(value) => writer.view.put(side, &key, value.as_bytes().to_vec()),
                None => writer.view.delete(side, &key),
            }
            Ok(())
        };
        in_one_commit(self.collection, write).map(|_| ())
    }
}

impl Collection {
    /// Makes the collection, empty, with settings; returns whether this call made it.
    ///
    /// A collection that is not made in this way is made with its first document.
    pub fn make(&self, settings: &[(&str, &str)]) -> Result<bool> {
        let rows: Vec<(Vec<u8>, &str)> =
            settings.iter().map(|(name, value)| Ok((key(name)?, *value))).collect::<Result<_>>()?;
        let make = |writer: &mut Writer<'_>| {
            let missing = writer.entry.is_none();
            if missing {
                let side = writer.entry_or_new()?.side;
                for (key, value) in &rows {
                    writer.view.put(side, key, value.as_bytes().to_vec());
                }
            }
            Ok(missing)
        };
        in_one_commit(self, make).map(|(made, _)| made)
    }
}
