//! The parameters of a view, from the query and the body, with CouchDB's words for invalid ones. Pure.

use recension::engine::Direction;
use recension::{Collation, Grouping, ViewEdge, ViewRange};
use serde_json::value::RawValue;

use crate::body::elements;
use crate::inline::Inline;
use crate::list_options::{Parameters, Update, keys_and_range};
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::VIEW_KEYS_MAX;

/// The parameters of a view.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)] // the protocol's flags
pub(crate) struct ViewQuery {
    /// The ranges, read one after the other: one, or one for each of `keys`.
    pub(crate) ranges: Vec<ViewRange>,
    pub(crate) limit: u64,
    pub(crate) skip: u64,
    pub(crate) include_docs: bool,
    pub(crate) conflicts: bool,
    pub(crate) inline: Inline,
    pub(crate) update_seq: bool,
    pub(crate) update: Update,
    /// The groups in which rows are reduced; `None`: they are not reduced.
    pub(crate) grouping: Option<Grouping>,
    /// The columns of a table that are of the documents.
    pub(crate) fields: Vec<String>,
}

impl ViewQuery {
    /// Reads the parameters for a view in an order of keys. `reduces`: whether the view has a reduction.
    pub(crate) fn read(
        asked: &Parameters<'_>,
        reduces: bool,
        order: Collation,
        partition: Option<&str>,
    ) -> Result<Self> {
        let flag = |name: &str| asked.flag(name, false);
        let descending = flag("descending")?;
        let grouping = asked.grouping(reduces)?;
        let mut keys = keys(asked)?;
        // One key is the key of a range.
        let one = keys.take_if(|keys| keys.len() == 1).and_then(|keys| keys.into_iter().next());
        if keys.is_some() && grouping.is_some_and(|grouping| grouping != Grouping::Exact) {
            return Err(ApiError::query_parse("Multi-key fetches for reduce views must use `group=true`"));
        }
        let key = asked.json("key")?.or(one);
        let start = key.clone().or(asked.json_of(&["startkey", "start_key"])?);
        let end = key.clone().or(asked.json_of(&["endkey", "end_key"])?);
        let id = |names: &[&str]| -> Option<String> {
            let text = asked.get(names)?;
            Some(serde_json::from_str::<String>(text).unwrap_or_else(|_| text.to_owned()))
        };
        let first =
            |key| ViewEdge { key, id: id(&["startkey_docid", "start_key_doc_id", "start_key_docid"]), inclusive: true };
        let inclusive = asked.flag("inclusive_end", true)?;
        let last = |key| ViewEdge { key, id: id(&["endkey_docid", "end_key_doc_id", "end_key_docid"]), inclusive };
        let edges = |start: Option<String>, end: Option<String>| {
            let (first, last) = (start.map(first), end.map(last));
            if descending { (last, first) } else { (first, last) }
        };
        let (start, end) = edges(start, end);
        if let (Some(start), Some(end)) = (&start, &end)
            && order.key(&start.key)? > order.key(&end.key)?
        {
            return Err(if descending { ApiError::empty_range_backwards() } else { ApiError::empty_range() });
        }
        let direction = if descending { Direction::Backward } else { Direction::Forward };
        let partition = partition.map(str::to_owned);
        let whole = ViewRange { start, end, partition, direction };
        if keys.as_ref().is_some_and(|keys| !keys.is_empty()) && (whole.start.is_some() || whole.end.is_some()) {
            return Err(keys_and_range());
        }
        let ranges = match keys {
            None => vec![whole],
            Some(mut keys) => {
                if descending && grouping.is_none() {
                    keys.reverse();
                }
                let of_key = |key: String| {
                    let (start, end) = edges(Some(key.clone()), Some(key));
                    ViewRange { start, end, partition: whole.partition.clone(), direction }
                };
                keys.into_iter().map(of_key).collect()
            }
        };
        let include_docs = flag("include_docs")?;
        if include_docs && grouping.is_some() {
            return Err(ApiError::query_parse("`include_docs` is invalid for reduce"));
        }
        let conflicts = flag("conflicts")?;
        if asked.get(&["conflicts"]).is_some() && grouping.is_some() {
            return Err(ApiError::query_parse("`conflicts` is invalid for reduce views."));
        }
        let number = |name: &str| asked.number(name).map(|number| number.map(|number| number as u64));
        Ok(ViewQuery {
            ranges,
            limit: number("limit")?.unwrap_or(u64::MAX),
            skip: number("skip")?.unwrap_or(0),
            include_docs,
            conflicts,
            inline: Inline::in_rows(flag("attachments")?, flag("att_encoding_info")?),
            update_seq: flag("update_seq")?,
            update: asked.update()?,
            grouping,
            fields: Vec::new(),
        })
    }
}

fn keys(asked: &Parameters<'_>) -> Result<Option<Vec<String>>> {
    let Some(text) = asked.get(&["keys"]) else { return Ok(None) };
    let raw: &RawValue = serde_json::from_str(text).map_err(|_| ApiError::bad_json())?;
    let not_an_array = || {
        if asked.is_in_body("keys") {
            ApiError::bad_request("`keys` member must be an array.")
        } else {
            ApiError::query_parse("`keys` must be an array of strings.")
        }
    };
    let keys = elements(raw)?.ok_or_else(not_an_array)?;
    if keys.len() > VIEW_KEYS_MAX {
        return Err(ApiError::bad_request(format!("`keys` has {VIEW_KEYS_MAX} elements at most")));
    }
    keys.into_iter().map(|key| super::super::list_options::checked_json(key.get())).collect::<Result<_>>().map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use recension_wire::query::Query;

    fn read(text: &str, reduces: bool) -> Result<ViewQuery> {
        let query = Query::parse(text)?;
        ViewQuery::read(&Parameters::new(&query, Vec::new()), reduces, Collation::Unicode, None)
    }

    #[test]
    fn what_does_not_read_is_refused_in_couchdbs_words() {
        for (text, reduces, reason) in [
            ("group=true", false, "Invalid use of grouping on a map view."),
            ("reduce=false&group=true", true, "Invalid use of grouping on a map view."),
            ("limit=-1", false, "Invalid value for positive integer: \"-1\""),
            ("reduce=true", false, "Reduce is invalid for map-only views."),
            ("include_docs=true", true, "`include_docs` is invalid for reduce"),
            ("keys={}", false, "`keys` must be an array of strings."),
            ("keys=[1,2]&startkey=1", false, &*keys_and_range().reason),
            ("group=false&group_level=1", true, "Can't specify group=false and group_level>0 at the same time"),
            ("conflicts=true", true, "`conflicts` is invalid for reduce views."),
            ("stable=no", true, "Invalid value for `stable`."),
            ("keys=[1,2]", true, "Multi-key fetches for reduce views must use `group=true`"),
            ("startkey=[", false, "invalid UTF-8 JSON"),
            ("group_level=exact", true, "Invalid value for integer: \"exact\""),
            ("startkey=5&endkey=3", false, &*ApiError::empty_range().reason),
        ] {
            assert_eq!(read(text, reduces).unwrap_err().reason, reason, "{text}");
        }
        assert!(read("startkey=5&endkey=3&descending=true", false).is_ok());
        assert_eq!(read("group_level=2", true).unwrap().grouping, Some(Grouping::Level(2)));
        let ranges = read("keys=[1,2]&descending=true&startkey_docid=b&endkey_docid=a", false).unwrap().ranges;
        let edge = |edge: &Option<ViewEdge>| edge.clone().map(|edge| (edge.key, edge.id)).unwrap_or_default();
        let edges: Vec<_> = ranges.iter().map(|range| (edge(&range.start), edge(&range.end))).collect();
        let own = |key: &str, id: &str| (key.to_owned(), Some(id.to_owned()));
        assert_eq!(edges, [(own("2", "a"), own("2", "b")), (own("1", "a"), own("1", "b"))]);
        assert_eq!(read("stale=ok", true).unwrap().update, Update::Never);
    }

    proptest! {
        #[test]
        fn any_query_is_read_or_refused(
            names in prop::collection::vec("key|keys|startkey|endkey_docid|group|group_level|limit|update", 0..5),
            values in prop::collection::vec("[\\[\\]{}\",0-9a-z%-]{0,8}", 5),
        ) {
            let pairs: Vec<String> = names.iter().zip(values).map(|(name, value)| format!("{name}={value}")).collect();
            let _ = read(&pairs.join("&"), true);
            let _ = read(&pairs.join("&"), false);
        }
    }
}
