//! The declaration of a struct.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Error, Field, Fields, Result};

use crate::names::{check_name, path_to, renamed, snake_case};
use crate::read::{Index, OfField, OfSerde, Only, of_field, of_serde, of_struct};

pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let fields = named_fields(input)?;
    let declared = of_struct(&input.attrs)?;
    let rename_all = of_serde(&input.attrs)?.rename_all.map(|rule| rule.value());
    let (mut id, mut rev, mut indexes) = (None, None, Vec::new());
    for field in fields {
        let OfField { id: is_id, rev: is_rev, indexes: own } = of_field(&field.attrs)?;
        if !is_id && !is_rev && own.is_empty() {
            continue;
        }
        let name = member_name(field, rename_all.as_deref())?;
        if (is_id || is_rev) && !own.is_empty() {
            return Err(Error::new_spanned(
                field,
                "the id and the revision are no members of the body, and need no index",
            ));
        }
        if is_id && id.replace(name.clone()).is_some() {
            return Err(Error::new_spanned(field, "two fields are the id; one is"));
        }
        if is_rev && rev.replace(name.clone()).is_some() {
            return Err(Error::new_spanned(field, "two fields are the revision; one is"));
        }
        for index in &own {
            indexes.push(declaration(index, &[path_to(&name)], &name, field)?);
        }
    }
    let Some(id) = id else {
        let message = "a document has an id: mark the field that holds it with #[recension(id)]";
        return Err(Error::new_spanned(&input.ident, message));
    };
    for index in &declared.indexes {
        let paths: Vec<String> = index.paths.iter().map(syn::LitStr::value).collect();
        indexes.push(declaration(index, &paths, &default_name(&paths), index.paths.first())?);
    }
    let collection = match declared.collection {
        Some(name) => name.value(),
        None => snake_case(&input.ident.to_string()),
    };
    check_name(&collection).map_err(|why| {
        let message = format!("{why}; name the collection with #[recension(collection = \"...\")]");
        Error::new_spanned(&input.ident, message)
    })?;
    let rev = rev.map_or_else(|| quote!(None), |rev| quote!(Some(#rev)));
    let version = declared.version.unwrap_or(1);
    let version_field = declared.version_field.map_or_else(|| "schema_version".to_owned(), |field| field.value());
    Ok(implementation(
        input,
        &quote! {
            const COLLECTION: &'static str = #collection;
            const ID_FIELD: &'static str = #id;
            const REV_FIELD: ::core::option::Option<&'static str> = #rev;
            const VERSION: u32 = #version;
            const VERSION_FIELD: &'static str = #version_field;
            const INDEXES: &'static [::recension::DeclaredIndex] = &[#(#indexes),*];
        },
    ))
}

/// The error, and an implementation that never runs: without it, each use of the type would be an error of its own.
pub(crate) fn refused(input: &DeriveInput, error: &Error) -> TokenStream {
    let told = error.to_compile_error();
    let stands_in = implementation(
        input,
        &quote! {
            const COLLECTION: &'static str = "";
            const ID_FIELD: &'static str = "";
        },
    );
    quote!(#told #stands_in)
}

fn implementation(input: &DeriveInput, items: &TokenStream) -> TokenStream {
    let ident = &input.ident;
    let mut of_impl = input.generics.clone();
    if of_impl.type_params().next().is_some() {
        // Serde decides which bounds it needs on the type's parameters.
        of_impl.make_where_clause().predicates.push(syn::parse_quote! {
            Self: ::recension::serde::Serialize + ::recension::serde::de::DeserializeOwned
        });
    }
    let (_, arguments, _) = input.generics.split_for_impl();
    let (generics, _, conditions) = of_impl.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #generics ::recension::DocumentType for #ident #arguments #conditions {
            #items
        }
    }
}

fn named_fields(input: &DeriveInput) -> Result<impl Iterator<Item = &Field>> {
    match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) => Ok(fields.named.iter()),
            _ => Err(Error::new_spanned(&input.ident, "a document's fields have names")),
        },
        _ => Err(Error::new_spanned(&input.ident, "a document is a struct; implement DocumentType by hand for others")),
    }
}

fn member_name(field: &Field, rename_all: Option<&str>) -> Result<String> {
    let OfSerde { rename, not_a_member, .. } = of_serde(&field.attrs)?;
    if let Some(word) = not_a_member {
        return Err(Error::new_spanned(
            field,
            format!("serde's {word} keeps this field from being a member of the document"),
        ));
    }
    if let Some(name) = rename {
        return Ok(name.value());
    }
    let ident = field.ident.as_ref().map(ToString::to_string).unwrap_or_default();
    let ident = ident.strip_prefix("r#").unwrap_or(&ident);
    match rename_all {
        None => Ok(ident.to_owned()),
        Some(rule) => {
            renamed(ident, rule).ok_or_else(|| Error::new_spanned(field, format!("serde has no rule {rule:?}")))
        }
    }
}

/// The paths without the marks of their directions.
fn default_name(paths: &[String]) -> String {
    let names: Vec<&str> = paths.iter().map(|path| path.strip_prefix('-').unwrap_or(path)).collect();
    names.join("+")
}

fn declaration(index: &Index, paths: &[String], default_name: &str, at: impl quote::ToTokens) -> Result<TokenStream> {
    let name = index.name.as_ref().map_or_else(|| default_name.to_owned(), syn::LitStr::value);
    check_name(&name).map_err(|why| {
        Error::new_spanned(&at, format!("{name:?} cannot name an index: {why}; give it one with index(name = \"...\")"))
    })?;
    let unique = index.unique;
    let only = index.only.iter().map(|Only { path, values, json }| {
        let values = format_ident!("{values}");
        let json = json.as_ref().map(|json| quote!((#json)));
        quote!((#path, ::recension::DeclaredValues::#values #json))
    });
    Ok(quote!(::recension::DeclaredIndex {
        name: #name,
        paths: &[#(#paths),*],
        unique: #unique,
        only: &[#(#only),*],
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        let input: DeriveInput = syn::parse_str(text).unwrap();
        expand(&input).unwrap_err().to_string()
    }

    #[test]
    fn a_type_that_is_refused_is_one_error() {
        let input: DeriveInput = syn::parse_str("struct A<T> { b: T }").unwrap();
        let told = refused(&input, &expand(&input).unwrap_err()).to_string();
        assert_eq!(told.matches("compile_error").count(), 1, "{told}");
        assert!(told.contains("DocumentType for A < T >"), "its uses are no errors: {told}");
        syn::parse_str::<syn::File>(&told).unwrap();
    }

    #[test]
    fn a_struct_that_declares_no_document_is_refused_with_a_reason() {
        for (text, part) in [
            ("enum A { B }", "a document is a struct"),
            ("struct A(u8);", "fields have names"),
            ("struct A { b: u8 }", "#[recension(id)]"),
            ("struct A { #[recension(id)] b: u8, #[recension(id)] c: u8 }", "two fields are the id"),
            ("struct A { #[recension(id, index)] b: u8 }", "need no index"),
            ("struct A { #[recension(ident)] b: u8 }", "expected id, rev, index or unique"),
            ("struct A { #[recension(id)] #[serde(skip)] b: u8 }", "serde's skip keeps this field"),
            ("struct A { #[recension(id)] #[serde(rename(serialize = \"x\"))] b: u8 }", "one name for a member"),
            ("#[recension(collection = \"a b\")] struct A { #[recension(id)] b: u8 }", "a name is made of"),
            ("#[recension(collection = \"a\", collection = \"b\")] struct A { #[recension(id)] b: u8 }", "twice"),
            ("#[recension(version = 0)] struct A { #[recension(id)] b: u8 }", "from 1"),
            ("#[recension(version_field = \"_v\")] struct A { #[recension(id)] b: u8 }", "starts with _"),
            ("#[recension(index)] struct A { #[recension(id)] b: u8 }", "an index has a path"),
            ("#[recension(index(path = \"\"))] struct A { #[recension(id)] b: u8 }", "the path is empty"),
            (
                "#[recension(index(path = \"a\", only(path = \"b\")))] struct A { #[recension(id)] b: u8 }",
                "only(path =",
            ),
            ("#[recension(index(path = \"a\", only(equal = 1)))] struct A { #[recension(id)] b: u8 }", "only(path ="),
            (
                "#[recension(index(path = \"a\", only(path = \"b\", equal = b'1')))] struct A { #[recension(id)] b: u8 \
                 }",
                "expected text",
            ),
            (
                "#[recension(index(path = \"a\", only(path = \"b\", like = 1)))] struct A { #[recension(id)] b: u8 }",
                "one of exists",
            ),
            ("#[recension(colection = \"a\")] struct A { #[recension(id)] b: u8 }", "expected collection"),
            ("#[recension(index(path = \"a[0]\"))] struct A { #[recension(id)] b: u8 }", "give it one"),
            ("struct A { #[recension(id)] b: u8, #[recension(index = \"x\")] c: u8 }", "index(name ="),
            ("struct A { #[recension(id)] b: u8, #[recension(index(path = \"x\"))] c: u8 }", "that field's path"),
            ("struct Ä { #[recension(id)] b: u8 }", "name the collection"),
        ] {
            let message = refusal(text);
            assert!(message.contains(part), "{text}: {message}");
        }
    }

    #[test]
    fn members_are_named_as_serde_names_them() {
        let input: DeriveInput = syn::parse_str(
            "#[recension(version = 3, index(paths(\"address.city\", \"-type\")),
                 index(path = \"a\", only(path = \"b\", equal = \"\\\"\\n\"), only(path = \"c\", above = -1.5), \
                 only(path = \"d\", exists)))]
             #[serde(rename_all = \"camelCase\", deny_unknown_fields, default = \"make\")]
             struct BankAccount<T> {
                 #[recension(id)] #[serde(rename = \"_id\")] id: String,
                 #[recension(rev)] the_rev: Option<String>,
                 #[recension(unique)] first_name: T,
                 #[recension(index(name = \"by-type\"))] r#type: u8,
                 #[serde(skip)] other: u8,
             }",
        )
        .unwrap();
        let written = expand(&input).unwrap().to_string();
        for part in [
            "impl < T > :: recension :: DocumentType for BankAccount < T > where Self : :: recension :: \
             serde :: Serialize",
            "COLLECTION : & 'static str = \"bank_account\"",
            "ID_FIELD : & 'static str = \"_id\"",
            "= Some (\"theRev\")",
            "VERSION : u32 = 3u32",
            "name : \"firstName\" , paths : & [\"firstName\"] , unique : true",
            "name : \"by-type\" , paths : & [\"type\"] , unique : false",
            "name : \"address.city+type\" , paths : & [\"address.city\" , \"-type\"] , unique : false , only : & []",
            "(\"b\" , :: recension :: DeclaredValues :: Equal (\"\\\"\\\\\\\"\\\\u000a\\\"\"))",
            "(\"c\" , :: recension :: DeclaredValues :: Above (\"-1.5\"))",
            "(\"d\" , :: recension :: DeclaredValues :: Exists)",
        ] {
            assert!(written.contains(part), "{part} in {written}");
        }
    }
}
