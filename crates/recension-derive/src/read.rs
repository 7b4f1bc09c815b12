//! Reads the attributes of a struct and its fields: ours, and those of serde that decide how members are named.

use std::fmt::Write as _;

use syn::meta::ParseNestedMeta;
use syn::{Attribute, Error, Lit, LitInt, LitStr, Result, Token};

use crate::names::check_name;

/// An index, as an attribute declares it.
pub(crate) struct Index {
    pub(crate) name: Option<LitStr>,
    /// `None` on a field, whose path is its name. Several paths if the index orders by one after the other.
    pub(crate) paths: Vec<LitStr>,
    pub(crate) unique: bool,
    /// The conditions of a partial index.
    pub(crate) only: Vec<Only>,
}

/// A condition of a partial index.
pub(crate) struct Only {
    pub(crate) path: LitStr,
    /// The variant of `DeclaredValues`.
    pub(crate) values: &'static str,
    /// The JSON text to compare with; `None`: the path must exist.
    pub(crate) json: Option<String>,
}

/// The attributes of a struct.
#[derive(Default)]
pub(crate) struct OfStruct {
    pub(crate) collection: Option<LitStr>,
    pub(crate) version: Option<u32>,
    pub(crate) version_field: Option<LitStr>,
    pub(crate) indexes: Vec<Index>,
}

/// The attributes of a field.
#[derive(Default)]
pub(crate) struct OfField {
    pub(crate) id: bool,
    pub(crate) rev: bool,
    pub(crate) indexes: Vec<Index>,
}

/// The attributes of serde.
#[derive(Default)]
pub(crate) struct OfSerde {
    pub(crate) rename: Option<LitStr>,
    pub(crate) rename_all: Option<LitStr>,
    /// The attribute that leaves a field out of the text, or spreads it there.
    pub(crate) not_a_member: Option<&'static str>,
}

pub(crate) fn of_struct(attributes: &[Attribute]) -> Result<OfStruct> {
    let mut found = OfStruct::default();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("recension")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("collection") {
                once(&meta, found.collection.is_some())?;
                found.collection = Some(name(&meta)?);
            } else if meta.path.is_ident("version") {
                once(&meta, found.version.is_some())?;
                let number: LitInt = meta.value()?.parse()?;
                let version = number.base10_parse::<u32>().ok().filter(|version| *version > 0);
                found.version = Some(
                    version.ok_or_else(|| Error::new(number.span(), "versions are numbers from 1 to 4294967295"))?,
                );
            } else if meta.path.is_ident("version_field") {
                once(&meta, found.version_field.is_some())?;
                let field: LitStr = meta.value()?.parse()?;
                if field.value().is_empty() || field.value().starts_with('_') {
                    return Err(Error::new(field.span(), "the member has a name, and none that starts with _"));
                }
                found.version_field = Some(field);
            } else if meta.path.is_ident("index") {
                let index = index(&meta)?;
                if index.paths.is_empty() {
                    return Err(meta.error("on a struct, an index has a path: index(path = \"address.city\")"));
                }
                found.indexes.push(index);
            } else {
                return Err(meta.error("expected collection, version, version_field or index"));
            }
            Ok(())
        })?;
    }
    Ok(found)
}

pub(crate) fn of_field(attributes: &[Attribute]) -> Result<OfField> {
    let mut found = OfField::default();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("recension")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("id") {
                found.id = true;
            } else if meta.path.is_ident("rev") {
                found.rev = true;
            } else if meta.path.is_ident("index") || meta.path.is_ident("unique") {
                let mut index = index(&meta)?;
                if let Some(path) = index.paths.first() {
                    return Err(Error::new(path.span(), "an index on a field is on that field's path"));
                }
                index.unique |= meta.path.is_ident("unique");
                found.indexes.push(index);
            } else {
                return Err(meta.error("expected id, rev, index or unique"));
            }
            Ok(())
        })?;
    }
    Ok(found)
}

pub(crate) fn of_serde(attributes: &[Attribute]) -> Result<OfSerde> {
    let mut found = OfSerde::default();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("rename") {
                found.rename = both_ways(&meta)?;
            } else if meta.path.is_ident("rename_all") {
                found.rename_all = both_ways(&meta)?;
            } else {
                for word in ["skip", "skip_serializing", "skip_deserializing", "flatten"] {
                    if meta.path.is_ident(word) {
                        found.not_a_member = Some(word);
                    }
                }
                // Other attributes of serde are skipped, with their values.
                if meta.input.peek(Token![=]) {
                    meta.value()?.parse::<syn::Expr>()?;
                } else if meta.input.peek(syn::token::Paren) {
                    let inside;
                    syn::parenthesized!(inside in meta.input);
                    inside.parse::<proc_macro2::TokenStream>()?;
                }
            }
            Ok(())
        })?;
    }
    Ok(found)
}

/// Reads `rename = "x"`, or `rename(serialize = "x", deserialize = "x")` if both names are the same.
fn both_ways(meta: &ParseNestedMeta<'_>) -> Result<Option<LitStr>> {
    if meta.input.peek(Token![=]) {
        return meta.value()?.parse().map(Some);
    }
    let (mut written, mut read) = (None, None);
    meta.parse_nested_meta(|meta| {
        let name: LitStr = meta.value()?.parse()?;
        *(if meta.path.is_ident("serialize") { &mut written } else { &mut read }) = Some(name);
        Ok(())
    })?;
    match (&written, &read) {
        (Some(a), Some(b)) if a.value() == b.value() => Ok(written),
        _ => Err(meta.error("a document has one name for a member, whether it is written or read")),
    }
}

fn once(meta: &ParseNestedMeta<'_>, already: bool) -> Result<()> {
    if already { Err(meta.error("this is declared twice")) } else { Ok(()) }
}

fn name(meta: &ParseNestedMeta<'_>) -> Result<LitStr> {
    let name: LitStr = meta.value()?.parse()?;
    check_name(&name.value()).map_err(|why| Error::new(name.span(), why))?;
    Ok(name)
}

fn index(meta: &ParseNestedMeta<'_>) -> Result<Index> {
    let mut index = Index { name: None, paths: Vec::new(), unique: false, only: Vec::new() };
    if meta.input.peek(syn::token::Paren) {
        meta.parse_nested_meta(|inner| {
            if inner.path.is_ident("name") {
                index.name = Some(name(&inner)?);
            } else if inner.path.is_ident("path") {
                index.paths.push(inner.value()?.parse()?);
            } else if inner.path.is_ident("paths") {
                let list;
                syn::parenthesized!(list in inner.input);
                index.paths.extend(list.parse_terminated(<LitStr as syn::parse::Parse>::parse, Token![,])?);
            } else if inner.path.is_ident("unique") {
                index.unique = true;
            } else if inner.path.is_ident("only") {
                index.only.push(only(&inner)?);
            } else {
                return Err(inner.error("expected name, path, paths, unique or only"));
            }
            Ok(())
        })?;
    } else if meta.input.peek(Token![=]) {
        return Err(Error::new(meta.input.span(), "an index's name is written index(name = \"by-name\")"));
    }
    if let Some(path) = index.paths.iter().find(|path| path.value().is_empty()) {
        return Err(Error::new(path.span(), "the path is empty"));
    }
    Ok(index)
}

/// `only(path = "state", equal = "open")`.
fn only(meta: &ParseNestedMeta<'_>) -> Result<Only> {
    const VALUES: [(&str, &str); 5] =
        [("equal", "Equal"), ("at_least", "AtLeast"), ("above", "Above"), ("at_most", "AtMost"), ("below", "Below")];
    let (mut path, mut values) = (None, None);
    meta.parse_nested_meta(|inner| {
        if inner.path.is_ident("path") {
            once(&inner, path.is_some())?;
            path = Some(inner.value()?.parse::<LitStr>()?);
            return Ok(());
        }
        once(&inner, values.is_some())?;
        if inner.path.is_ident("exists") {
            values = Some(("Exists", None));
        } else if let Some((_, variant)) = VALUES.iter().find(|(word, _)| inner.path.is_ident(word)) {
            values = Some((*variant, Some(json(inner.value()?)?)));
        } else {
            return Err(inner.error("expected path, and one of exists, equal, at_least, above, at_most, below"));
        }
        Ok(())
    })?;
    let incomplete = || meta.error("a condition is written only(path = \"state\", equal = \"open\")");
    let (values, json) = values.ok_or_else(incomplete)?;
    Ok(Only { path: path.ok_or_else(incomplete)?, values, json })
}

/// A literal as JSON.
fn json(input: syn::parse::ParseStream<'_>) -> Result<String> {
    let minus = input.parse::<Option<Token![-]>>()?;
    let literal: Lit = input.parse()?;
    match (&literal, minus.is_some()) {
        (Lit::Str(text), false) => Ok(quoted(&text.value())),
        (Lit::Bool(value), false) => Ok(value.value.to_string()),
        (Lit::Int(number), minus) => Ok(format!("{}{}", if minus { "-" } else { "" }, number.base10_digits())),
        (Lit::Float(number), minus) => Ok(format!("{}{}", if minus { "-" } else { "" }, number.base10_digits())),
        _ => Err(Error::new(literal.span(), "expected text, a number, true or false")),
    }
}

fn quoted(text: &str) -> String {
    let mut json = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => json.extend(['\\', character]),
            // Writing to a String cannot fail.
            control if control < ' ' => drop(write!(json, "\\u{:04x}", u32::from(control))),
            other => json.push(other),
        }
    }
    json.push('"');
    json
}
