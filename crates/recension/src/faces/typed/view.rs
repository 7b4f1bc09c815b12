//! Typed views: a type maps the documents of another, and its keys and values come back as their types.

use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::codec::Codec;
use super::{DocumentType, Typed, TypedAt};
use crate::engine::Direction;
use crate::faces::typed::Entry;
use crate::kernel::rows::view_rows::ViewRow;
use crate::kernel::view::mapper::{MapInput, Mapper, View};
use crate::kernel::view::range::{ViewEdge, ViewRange};
use crate::kernel::view::read::ViewAt;
use crate::kernel::view::reduced::{Grouping, Reducer, Reduction};
use recension_values::error::{Error, Result};
use recension_values::json::quote;
use recension_values::view::{Emitted, ViewOptions};

/// A view of documents of a type: how they are mapped and reduced.
///
/// ```
/// use recension::{Document, DocumentView, Result, Store};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Document, Serialize, Deserialize)]
/// #[recension(collection = "products")]
/// struct Product {
///     #[recension(id)]
///     id: String,
///     kind: String,
///     price: u32,
/// }
///
/// struct ByPrice;
///
/// impl DocumentView for ByPrice {
///     type Document = Product;
///     type Key = (String, u32);
///     type Value = u32;
///     const NAME: &'static str = "by price";
///
///     fn map(product: &Product, emit: &mut dyn FnMut((String, u32), u32)) {
///         emit((product.kind.clone(), product.price), 1);
///     }
///
///     fn reduce(counts: &[u32]) -> Option<u32> {
///         Some(counts.iter().sum())
///     }
/// }
///
/// # fn main() -> Result<()> {
/// let products = Store::memory()?.typed::<Product>()?;
/// for (id, kind, price) in [("a", "tea", 3), ("b", "tea", 5), ("c", "cake", 4)] {
///     products.put(&Product { id: id.into(), kind: kind.into(), price })?;
/// }
/// let view = products.view::<ByPrice>()?;
/// let cheap = view.range(("tea".to_owned(), 0)..("tea".to_owned(), 4))?;
/// assert_eq!(cheap.iter().map(|row| row.id.as_str()).collect::<Vec<_>>(), ["a"]);
/// assert_eq!(view.grouped(1)?, [(serde_json::json!(["cake"]), 1), (serde_json::json!(["tea"]), 2)]);
/// # Ok(()) }
/// ```
pub trait DocumentView: 'static {
    /// The documents.
    type Document: DocumentType + 'static;
    /// The type of keys, which order the rows, in CouchDB's order of JSON values.
    type Key: Serialize + DeserializeOwned;
    /// The type of values.
    type Value: Serialize + DeserializeOwned;

    /// Its name among the views of the collection.
    const NAME: &'static str;

    /// The version of [`DocumentView::map`]. It must be increased whenever `map` emits other rows for any document:
    /// rows of
    /// another version are not read.
    const VERSION: u32 = 1;

    /// Emits the rows of a document. It must emit the same for the same document, whenever it is called.
    fn map(document: &Self::Document, emit: &mut dyn FnMut(Self::Key, Self::Value));

    /// Reduces values, of rows or already reduced, to one. The outcome must not depend on how they are grouped. `None`,
    /// which is the default: the view is not reduced.
    fn reduce(_values: &[Self::Value]) -> Option<Self::Value> {
        None
    }
}

/// A row of a typed view.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypedViewRow<K, V> {
    /// The document.
    pub id: String,
    /// The key.
    pub key: K,
    /// The value.
    pub value: V,
}

/// The rows of a typed view.
pub type TypedViewRows<V> = Vec<TypedViewRow<<V as DocumentView>::Key, <V as DocumentView>::Value>>;

/// A typed view as of one commit.
pub struct TypedView<V: DocumentView> {
    view: ViewAt,
    codec: Codec<V::Document>,
}

impl<T: DocumentType> Typed<T> {
    /// A view as of now: its rows are brought up to date first; see
    /// [`Views::get`](crate::Views::get).
    pub fn view<V: DocumentView<Document = T>>(&self) -> Result<TypedView<V>>
    where
        T: 'static,
    {
        let view = self.collection.views().get(&view_of::<V>(&self.codec))?;
        Ok(TypedView { view, codec: self.codec.clone() })
    }
}

impl<T: DocumentType> TypedAt<T> {
    /// A view as of this moment; see [`CollectionAt::view`](crate::CollectionAt::view).
    pub fn view<V: DocumentView<Document = T>>(&self) -> Result<TypedView<V>>
    where
        T: 'static,
    {
        let view = self.reader.view(&view_of::<V>(&self.codec))?;
        Ok(TypedView { view, codec: self.codec.clone() })
    }
}

impl<V: DocumentView> TypedView<V> {
    /// The view without the types.
    pub fn untyped(&self) -> &ViewAt {
        &self.view
    }

    /// All rows.
    pub fn all(&self) -> Result<TypedViewRows<V>> {
        self.rows(&ViewRange::default())
    }

    /// The rows of a key.
    pub fn key(&self, key: &V::Key) -> Result<TypedViewRows<V>> {
        self.rows(&ViewRange::key(json::<V>(key)?))
    }

    /// The rows of a range of keys.
    pub fn range(&self, keys: impl RangeBounds<V::Key>) -> Result<TypedViewRows<V>> {
        let edge = |bound: Bound<&V::Key>| -> Result<Option<ViewEdge>> {
            Ok(match bound {
                Bound::Unbounded => None,
                Bound::Included(key) => Some(ViewEdge { key: json::<V>(key)?, id: None, inclusive: true }),
                Bound::Excluded(key) => Some(ViewEdge { key: json::<V>(key)?, id: None, inclusive: false }),
            })
        };
        let range =
            ViewRange { start: edge(keys.start_bound())?, end: edge(keys.end_bound())?, ..ViewRange::default() };
        self.rows(&range)
    }

    /// The rows whose keys begin with a text (if they are texts), or with some elements (if they are arrays or tuples).
    pub fn prefix(&self, prefix: &impl Serialize) -> Result<TypedViewRows<V>> {
        self.rows(&beginning_with(&json::<V>(prefix)?))
    }

    /// The rows of any range, in any direction.
    pub fn rows(&self, range: &ViewRange) -> Result<TypedViewRows<V>> {
        self.view.rows(range)?.map(|row| row.and_then(typed_row::<V>)).collect()
    }

    /// The same with the documents that emitted them, as of the same moment.
    pub fn documents(&self, range: &ViewRange) -> Result<Vec<Entry<V::Document>>> {
        let mut entries = Vec::new();
        for row in self.view.rows(range)? {
            let row = row?;
            if let Some(document) = self.view.collection().get(&row.id)? {
                entries.push(Entry::of(&self.codec, &document)?);
            }
        }
        Ok(entries)
    }

    /// All rows, reduced; `None` if there are none.
    pub fn reduced(&self) -> Result<Option<V::Value>> {
        self.reduced_in(&ViewRange::default())
    }

    /// The rows of a range, reduced; `None` if there are none.
    pub fn reduced_in(&self, range: &ViewRange) -> Result<Option<V::Value>> {
        let mut groups = self.view.reduced(range, Grouping::All, &reduction::<V>())?;
        groups.next().transpose()?.map(|group| read::<V, _>(&group.value)).transpose()
    }

    /// The rows, reduced in groups of keys whose first `elements` elements are equal; 0: in groups of equal keys.
    pub fn grouped<K: DeserializeOwned>(&self, elements: usize) -> Result<Vec<(K, V::Value)>> {
        let grouping = if elements == 0 { Grouping::Exact } else { Grouping::Level(elements) };
        let range = ViewRange { direction: Direction::Forward, ..ViewRange::default() };
        let groups = self.view.reduced(&range, grouping, &reduction::<V>())?;
        groups
            .map(|group| {
                let group = group?;
                Ok((read::<V, _>(&group.key)?, read::<V, _>(&group.value)?))
            })
            .collect()
    }
}

fn view_of<V: DocumentView>(codec: &Codec<V::Document>) -> View {
    let function = format!("rust:{}:{}", V::VERSION, V::NAME);
    let mapper: TypedMapper<V> = TypedMapper { codec: codec.clone(), of: PhantomData };
    View::new(&function, ViewOptions::default(), Arc::new(mapper)).named(format!("rust/{}", V::NAME))
}

fn reduction<V: DocumentView>() -> Reduction {
    Reduction::Own(Arc::new(TypedReducer::<V>(PhantomData)))
}

fn failed<V: DocumentView>(why: &dyn std::fmt::Display) -> Error {
    Error::Function { error: "view".to_owned(), reason: format!("{}: {why}", V::NAME) }
}

fn json<V: DocumentView>(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| failed::<V>(&error))
}

fn read<V: DocumentView, D: DeserializeOwned>(text: &str) -> Result<D> {
    serde_json::from_str(text).map_err(|error| failed::<V>(&error))
}

fn typed_row<V: DocumentView>(row: ViewRow) -> Result<TypedViewRow<V::Key, V::Value>> {
    Ok(TypedViewRow { id: row.id, key: read::<V, _>(&row.key)?, value: read::<V, _>(&row.value)? })
}

/// The rows whose keys begin with a text or with the elements of an array.
fn beginning_with(prefix: &str) -> ViewRange {
    // It sorts behind every other character, and behind every value that is not an object with such a member.
    const LAST: &str = "\u{ffff}";
    let end = match prefix.strip_suffix(']') {
        Some("[") => format!("[{{{}:{{}}}}]", quote(LAST)),
        Some(elements) => format!("{elements},{{{}:{{}}}}]", quote(LAST)),
        None => match prefix.strip_suffix('"') {
            Some(text) => format!("{text}{LAST}\""),
            None => return ViewRange::key(prefix),
        },
    };
    ViewRange { start: Some(ViewEdge::at(prefix)), end: Some(ViewEdge::at(end)), ..ViewRange::default() }
}

struct TypedMapper<V: DocumentView> {
    codec: Codec<V::Document>,
    of: PhantomData<fn() -> V>,
}

impl<V: DocumentView> Mapper for TypedMapper<V> {
    fn map(&self, documents: &[MapInput]) -> Result<Vec<Vec<Emitted>>> {
        let map = |input: &MapInput| {
            let value = self.codec.decode(&input.document)?;
            let (mut rows, mut failure) = (Vec::new(), None);
            V::map(&value, &mut |key, value| match (json::<V>(&key), json::<V>(&value)) {
                (Ok(key), Ok(value)) => rows.push(Emitted { key, value }),
                (Err(error), _) | (_, Err(error)) => failure = Some(error),
            });
            failure.map_or(Ok(rows), Err)
        };
        documents.iter().map(map).collect()
    }

    fn in_commit(&self) -> bool {
        true
    }
}

struct TypedReducer<V>(PhantomData<fn() -> V>);

impl<V: DocumentView> TypedReducer<V> {
    fn of(values: &[V::Value]) -> Result<String> {
        let reduced = V::reduce(values).ok_or_else(|| failed::<V>(&"it is not reduced; write DocumentView::reduce"))?;
        json::<V>(&reduced)
    }
}

impl<V: DocumentView> Reducer for TypedReducer<V> {
    fn reduce(&self, rows: &[(String, String, String)]) -> Result<String> {
        let values: Vec<V::Value> = rows.iter().map(|(_, _, value)| read::<V, _>(value)).collect::<Result<_>>()?;
        Self::of(&values)
    }

    fn rereduce(&self, values: &[String]) -> Result<String> {
        let values: Vec<V::Value> = values.iter().map(|value| read::<V, _>(value)).collect::<Result<_>>()?;
        Self::of(&values)
    }
}
