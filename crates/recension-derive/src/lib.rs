//! `#[derive(Document)]`: what a Rust type declares about the collection that its values are kept in. The
//! types and traits that the derived code names are those of the `recension` crate, which re-exports this macro.
#![warn(missing_docs)]

mod declare;
mod names;
mod read;

use proc_macro::TokenStream;

/// Declares the documents that a struct's values are: writes its `recension::document::DocumentType`.
///
/// The struct has named fields, and implements `serde::Serialize` and `serde::Deserialize`. Members are named as
/// serde names them (`rename`, `rename_all`).
///
/// On the struct, in `#[recension(...)]`:
///
/// | attribute | meaning | |---|---| | `collection = "accounts"` | the collection; the struct's name in `snake_case`
/// where it is left out | | `version = 2` | the version of the documents' schema, 1 where it is left out | |
/// `version_field = "v"` | the member that keeps it, from version 2 on; else `schema_version` | | `index(path =
/// "address.city", name = "by-city", unique)` | an index on a path that is no field of its own; `name` and `unique`
/// may be left out | | `index(paths("address.city", "-balance"))` | one on several paths, one after the other; with
/// `-` before it, a path is ordered downwards | | `index(path = "due", only(path = "state", equal = "open"))` | the
/// same of the documents only that meet a condition, or several: `equal`, `at_least`, `above`, `at_most`, `below`
/// with text, a number, `true` or `false`; or `exists` |
///
/// On a field:
///
/// | attribute | meaning | |---|---| | `id` | the document's id; one field has it. A string, an integer, or an
/// `Option` of one (`None`: an id is made) | | `rev` | the document's revision: `Option<RevId>` or `Option<String>`.
/// Filled when a value is read, and expected when it is written | | `index`, `index(name = "by-name", only(..))` | an
/// index on the field | | `unique`, `unique(name = "by-name", only(..))` | an index on the field in which each value
/// belongs to one document |
///
/// The id and the revision are no members of the stored body.
#[proc_macro_derive(Document, attributes(recension))]
pub fn derive_document(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    declare::expand(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}
