//! The texts in a row of an index, of values whose keys do not give them. Pure. Layout: docs/documents-format.md,
//! "Trees of indexes".

use crate::kernel::rows::index_keys::Damaged;
use recension_values::byte_reader::ByteReader;
use recension_values::index_spec::IndexSpec;

/// First byte of a row's value: the texts of all values follow, or of those alone that the key does not give, or only
/// the document has them.
pub(super) const TEXTS: u8 = 1;
pub(super) const OWN_TEXTS: u8 = 2;
pub(super) const TEXTS_IN_DOCUMENT: u8 = 0;

/// Where the text of a part's value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OwnText<'r> {
    /// The key decodes to it.
    OfKey,
    Text(&'r str),
    InDocument,
}

/// The text of the value of a single part by the value of a row.
pub(crate) fn own_text(value: &[u8], part: usize) -> std::result::Result<OwnText<'_>, Damaged> {
    match value.split_first() {
        None => Ok(OwnText::OfKey),
        Some((&TEXTS_IN_DOCUMENT, [])) => Ok(OwnText::InDocument),
        Some((&OWN_TEXTS, own)) if !own.is_empty() => {
            let found = own_texts(own).find(|own| own.map_or(true, |(of, _)| of == part));
            found.map_or(Ok(OwnText::OfKey), |found| found.map(|(_, text)| OwnText::Text(text)))
        }
        Some((&TEXTS, own)) => {
            let mut reader = ByteReader::new(own);
            let mut next = || reader.u32().and_then(|length| reader.take(length as usize)).ok_or(Damaged);
            for _ in 0..part {
                next()?;
            }
            std::str::from_utf8(next()?).map(OwnText::Text).map_err(|_| Damaged)
        }
        Some(_) => Err(Damaged),
    }
}

/// The parts whose texts a row has, with these. Ends after damage.
pub(super) fn own_texts(own: &[u8]) -> impl Iterator<Item = std::result::Result<(usize, &str), Damaged>> {
    let mut reader = ByteReader::new(own);
    std::iter::from_fn(move || {
        if reader.is_empty() {
            return None;
        }
        let mut next = || {
            let (part, length) = (reader.byte()?, reader.u16()?);
            Some((usize::from(part), std::str::from_utf8(reader.take(usize::from(length))?).ok()?))
        };
        let own = next().ok_or(Damaged);
        if own.is_err() {
            reader = ByteReader::new(&[]);
        }
        Some(own)
    })
}

/// Reads the texts of all single parts; `None` if they are damaged.
pub(super) fn take_all_texts(spec: &IndexSpec, own: &[u8], texts: &mut [String]) -> Option<()> {
    let mut reader = ByteReader::new(own);
    for (part, text) in spec.parts.iter().zip(texts) {
        let length = reader.u32()? as usize;
        let own = std::str::from_utf8(reader.take(length)?).ok()?;
        if !part.path.is_multiple() {
            own.clone_into(text);
        }
    }
    reader.is_empty().then_some(())
}
