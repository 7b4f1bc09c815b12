//! A body as serde sees it: id and revision are members before the others, and the schema's version is left out. The
//! body is not copied.

use std::borrow::Cow;
use std::fmt;

use serde::de::value::{BorrowedStrDeserializer, CowStrDeserializer};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::text_value::TextValue;

/// An object, and what is put before its members and left out of them.
pub(super) struct WithFields<'de, D> {
    pub(super) body: D,
    pub(super) id: (&'static str, &'de str),
    pub(super) rev: Option<(&'static str, String)>,
    /// A member that the value does not see.
    pub(super) hidden: Option<&'static str>,
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for WithFields<'de, D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        let fields = Fields { visitor, id: Some(self.id), rev: self.rev, hidden: self.hidden };
        self.body.deserialize_map(fields)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, D::Error> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// Visits the object.
struct Fields<'de, V> {
    visitor: V,
    id: Option<(&'static str, &'de str)>,
    rev: Option<(&'static str, String)>,
    hidden: Option<&'static str>,
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Fields<'de, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        let Fields { visitor, id, rev, hidden } = self;
        visitor.visit_map(Members { map, id, rev, hidden, value: None })
    }
}

/// Its members, one at a time.
struct Members<'de, A> {
    map: A,
    /// The id, until it was visited.
    id: Option<(&'static str, &'de str)>,
    rev: Option<(&'static str, String)>,
    hidden: Option<&'static str>,
    /// The value of the field whose name was answered last.
    value: Option<Cow<'de, str>>,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Members<'de, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        let id = self.id.take().map(|(name, id)| (name, Cow::Borrowed(id)));
        if let Some((name, value)) = id.or_else(|| self.rev.take().map(|(name, rev)| (name, Cow::Owned(rev)))) {
            self.value = Some(value);
            return seed.deserialize(BorrowedStrDeserializer::new(name)).map(Some);
        }
        let Some(hidden) = self.hidden else { return self.map.next_key_seed(seed) };
        loop {
            let Some(name) = self.map.next_key_seed(Name)? else { return Ok(None) };
            if name != hidden {
                return seed.deserialize(CowStrDeserializer::new(name)).map(Some);
            }
            self.map.next_value::<IgnoredAny>()?;
        }
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        match self.value.take() {
            Some(text) => seed.deserialize(TextValue::new(text)),
            None => self.map.next_value_seed(seed),
        }
    }
}

/// Reads a member's name, borrowed if possible.
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a member")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(name.to_owned()))
    }

    fn visit_borrowed_str<E: Error>(self, name: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(name))
    }
}
