//! `#[derive(Document)]` declares the collection of a Rust type's values. The types and traits in the derived code are
//! those of the `recension` crate, which re-exports this macro.
#![warn(missing_docs)]

mod declare;
mod names;
mod read;

use proc_macro::TokenStream;

/// Declares the documents of a struct's values: implements `recension::DocumentType`.
///
/// The struct has named fields, and implements `serde::Serialize` and `serde::Deserialize`. Members are named as
/// serde names them (`rename`, `rename_all`).
///
/// On the struct, in `#[recension(...)]`:
///
/// - `collection = "accounts"`: the collection. If it is left out, the struct's name in `snake_case`.
/// - `version = 2`: the version of the documents' schema. If it is left out, 1.
/// - `version_field = "v"`: the member that keeps the version, from version 2 on. If it is left out, `schema_version`.
/// - `index(path = "address.city", name = "by-city", unique)`: an index on a path that is not a field of its own.
///   `name` and `unique` may be left out.
/// - `index(paths("address.city", "-balance"))`: an index on several paths, one after the other. With `-` before it, a
///   path is ordered downwards.
/// - `index(path = "due", only(path = "state", equal = "open"))`: an index on only the documents that meet a condition,
///   or several: `equal`, `at_least`, `above`, `at_most`, `below` with text, a number, `true` or `false`; or `exists`.
///
/// On a field:
///
/// - `id`: the document's id. One field has it: a string, an integer, or an `Option` of one (`None`: an id is made).
/// - `rev`: the document's revision, `Option<RevId>` or `Option<String>`. It is filled when a value is read, and
///   expected when it is written.
/// - `index`, `index(name = "by-name", only(..))`: an index on the field.
/// - `unique`, `unique(name = "by-name", only(..))`: an index on the field in which each value belongs to one document.
///
/// The id and the revision are not members of the stored body.
#[proc_macro_derive(Document, attributes(recension))]
pub fn derive_document(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    declare::expand(&input).unwrap_or_else(|error| declare::refused(&input, &error)).into()
}
