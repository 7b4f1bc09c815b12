//! A stored body as serde reads it. Numbers come to a type as exactly as the type holds them, whatever features of
//! `serde_json` the program has switched on.

use std::borrow::Cow;
use std::fmt;

use serde::de::value::MapDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess, SeqAccess, Unexpected,
    VariantAccess, Visitor,
};
use serde::{Deserialize, forward_to_deserialize_any};

use super::text_value::TextValue;
use recension_values::json::{Cursor, Number, Text};

/// Levels of nested arrays and objects, as many as `serde_json` allows: more could exhaust the stack.
const DEPTH_MAX: usize = 128;

/// The name by which `serde_json` asks for the raw text of a value.
const RAW_VALUE: &str = "$serde_json::private::RawValue";

const OUT_OF_RANGE: &str = "number out of range";

/// The reason for which a body is no value of a type, and the place.
#[derive(Debug)]
pub(super) struct Misfit(Box<Problem>);

#[derive(Debug)]
struct Problem {
    why: String,
    /// The byte behind the last one that was read.
    offset: Option<usize>,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Problem { why, offset } = &*self.0;
        f.write_str(why)?;
        // A stored body is one line.
        offset.map_or(Ok(()), |offset| write!(f, " at line 1 column {offset}"))
    }
}

impl std::error::Error for Misfit {}

impl serde::de::Error for Misfit {
    fn custom<T: fmt::Display>(why: T) -> Self {
        Misfit(Box::new(Problem { why: why.to_string(), offset: None }))
    }
}

type Result<T> = std::result::Result<T, Misfit>;

/// Reads a body from front to back. A stored body is minified JSON: it was parsed and checked when it was written.
pub(super) struct Body<'de> {
    cursor: Cursor<'de>,
    /// Arrays and objects that are open.
    depth: usize,
}

impl<'de> Body<'de> {
    pub(super) fn of(text: &'de str) -> Self {
        Body { cursor: Cursor::new(text), depth: 0 }
    }

    #[inline]
    fn peek(&self) -> u8 {
        // No value begins with a zero byte, so the end of the text is an error wherever a value is expected.
        self.cursor.peek().unwrap_or(0)
    }

    /// Passes a byte that must come next.
    #[inline]
    fn pass(&mut self, byte: u8) -> Result<()> {
        if self.peek() != byte {
            return Err(self.broken());
        }
        self.cursor.at += 1;
        Ok(())
    }

    #[cold]
    fn broken(&self) -> Misfit {
        self.at_here(Misfit::custom("the body is no JSON, or the type does not read all of it"))
    }

    #[cold]
    fn at_here(&self, mut misfit: Misfit) -> Misfit {
        misfit.0.offset.get_or_insert(self.cursor.at);
        misfit
    }

    /// Adds the place to an error that has none.
    #[inline]
    fn here<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|misfit| self.at_here(misfit))
    }

    #[inline]
    fn string(&mut self) -> Result<Cow<'de, str>> {
        let text = self.cursor.string();
        text.map(Text::decode).ok_or_else(|| self.broken())
    }

    /// The name of a member, and its colon.
    #[inline]
    fn name<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value> {
        if self.peek() != b'"' {
            return Err(self.broken());
        }
        let name = self.string()?;
        let name = seed.deserialize(TextValue::new(name));
        let name = self.here(name)?;
        self.pass(b':')?;
        Ok(name)
    }

    #[inline]
    fn word(&mut self, word: &str) -> Result<()> {
        let rest = self.cursor.text.as_bytes().get(self.cursor.at..).unwrap_or_default();
        if !rest.starts_with(word.as_bytes()) {
            return Err(self.broken());
        }
        self.cursor.at += word.len();
        Ok(())
    }

    #[inline]
    fn number(&mut self) -> Number<'de> {
        let (text, start) = (self.cursor.text, self.cursor.at);
        let mut integer = true;
        while let Some(byte) = self.cursor.peek() {
            match byte {
                b'0'..=b'9' | b'-' => {}
                b'.' | b'e' | b'E' | b'+' => integer = false,
                _ => break,
            }
            self.cursor.at += 1;
        }
        Number { text: text.get(start..self.cursor.at).unwrap_or_default(), integer }
    }

    /// Reads an array or an object. Its visitor must read all of it.
    #[inline]
    fn inside<T>(&mut self, end: u8, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == DEPTH_MAX {
            return Err(Misfit::custom("recursion limit exceeded"));
        }
        self.depth += 1;
        self.cursor.at += 1;
        let value = read(self)?;
        self.pass(end)?;
        self.depth -= 1;
        Ok(value)
    }

    #[inline]
    fn value<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        match self.peek() {
            b'"' => match self.string()? {
                Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
                Cow::Owned(text) => visitor.visit_string(text),
            },
            b'-' | b'0'..=b'9' => visit_number(self.number(), visitor),
            b'{' => self.inside(b'}', |body| visitor.visit_map(Members { body, first: true })),
            b'[' => self.inside(b']', |body| visitor.visit_seq(Elements { body, first: true })),
            b't' => self.word("true").and_then(|()| visitor.visit_bool(true)),
            b'f' => self.word("false").and_then(|()| visitor.visit_bool(false)),
            b'n' => self.word("null").and_then(|()| visitor.visit_unit()),
            _ => Err(self.broken()),
        }
    }

    /// The text of a value, which is passed over.
    fn raw(&mut self) -> Result<&'de str> {
        let (text, start) = (self.cursor.text, self.cursor.at);
        let passed = self.cursor.skip_value();
        passed.and_then(|()| text.get(start..self.cursor.at)).ok_or_else(|| self.broken())
    }
}

/// A number as the widest type that holds it.
#[inline]
fn visit_number<'de, V: Visitor<'de>>(number: Number<'de>, visitor: V) -> Result<V::Value> {
    // No integer can be minus zero.
    if number.integer && number.text != "-0" {
        if let Ok(value) = number.text.parse() {
            return visitor.visit_u64(value);
        }
        if let Ok(value) = number.text.parse() {
            return visitor.visit_i64(value);
        }
    }
    let double = number.to_f64();
    if double.is_finite() { visitor.visit_f64(double) } else { Err(Misfit::custom(OUT_OF_RANGE)) }
}

macro_rules! exactly {
    ($($method:ident $visit:ident $of:ty, $fits:expr;)*) => {$(
        #[inline]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            if !matches!(self.peek(), b'-' | b'0'..=b'9') {
                return self.deserialize_any(visitor);
            }
            let number = self.number();
            let fits: fn(&$of) -> bool = $fits;
            let value = match number.text.parse::<$of>() {
                Ok(value) if fits(&value) => visitor.$visit(value),
                Ok(_) => Err(Misfit::custom(OUT_OF_RANGE)),
                Err(_) => visit_number(number, visitor),
            };
            self.here(value)
        }
    )*};
}

impl<'de> Deserializer<'de> for &mut Body<'de> {
    type Error = Misfit;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let value = self.value(visitor);
        self.here(value)
    }

    exactly! {
        deserialize_i128 visit_i128 i128, |_| true;
        deserialize_u128 visit_u128 u128, |_| true;
        deserialize_f32 visit_f32 f32, |value| value.is_finite();
        deserialize_f64 visit_f64 f64, |value| value.is_finite();
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.peek() {
            b'n' => self.word("null").and_then(|()| visitor.visit_none()),
            _ => visitor.visit_some(self),
        }
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value> {
        if name == RAW_VALUE {
            let text = self.raw()?;
            return visitor.visit_map(MapDeserializer::new(std::iter::once((RAW_VALUE, text))));
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        let value = match self.peek() {
            b'"' => self.string().and_then(|name| visitor.visit_enum(name.into_deserializer())),
            b'{' => self.inside(b'}', |body| visitor.visit_enum(Choice(body))),
            _ => Err(Misfit::invalid_type(Unexpected::Other("another value"), &"a string or an object")),
        };
        self.here(value)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        if self.peek() != b'"' {
            return self.deserialize_any(visitor);
        }
        let value = self.string().and_then(|text| TextValue::<Misfit>::new(text).deserialize_bytes(visitor));
        self.here(value)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.raw()?;
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 char str string unit unit_struct seq tuple tuple_struct map struct identifier
    }
}

/// The elements of an array.
struct Elements<'b, 'de> {
    body: &'b mut Body<'de>,
    first: bool,
}

impl<'de> SeqAccess<'de> for Elements<'_, 'de> {
    type Error = Misfit;

    #[inline]
    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        if self.body.peek() == b']' {
            return Ok(None);
        }
        if !std::mem::replace(&mut self.first, false) {
            self.body.pass(b',')?;
        }
        seed.deserialize(&mut *self.body).map(Some)
    }
}

/// The members of an object.
struct Members<'b, 'de> {
    body: &'b mut Body<'de>,
    first: bool,
}

impl<'de> MapAccess<'de> for Members<'_, 'de> {
    type Error = Misfit;

    #[inline]
    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        if self.body.peek() == b'}' {
            return Ok(None);
        }
        if !std::mem::replace(&mut self.first, false) {
            self.body.pass(b',')?;
        }
        let name = self.body.name(seed)?;
        Ok(Some(name))
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value> {
        seed.deserialize(&mut *self.body)
    }
}

/// An object of one member, whose name is that of a variant.
struct Choice<'b, 'de>(&'b mut Body<'de>);

impl<'de> EnumAccess<'de> for Choice<'_, 'de> {
    type Error = Misfit;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self)> {
        let name = self.0.name(seed)?;
        Ok((name, self))
    }
}

impl<'de> VariantAccess<'de> for Choice<'_, 'de> {
    type Error = Misfit;

    fn unit_variant(self) -> Result<()> {
        <()>::deserialize(self.0)
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value> {
        seed.deserialize(self.0)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value> {
        self.0.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value> {
        self.0.deserialize_any(visitor)
    }
}

#[cfg(test)]
mod tests;
