//! What is asked for, as `index.js` says it: one JSON object for all calls.

use std::ops::Bound;

use recension::engine::Direction;
use recension::{At, Cursor, ListOptions, Pipeline, Query, Selector};
use recension_bindings::{Refused, Result};
use serde::Deserialize;
use serde_json::value::RawValue;

#[derive(Deserialize, Default)]
#[allow(clippy::struct_excessive_bools)] // the options of a list
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct QueryOptions {
    selector: Option<Box<RawValue>>,
    sort: Vec<(String, Descending)>,
    limit: Option<usize>,
    skip: usize,
    pub(crate) fields: Option<Vec<String>>,
    after: Option<String>,
    at: Option<String>,
    pipeline: Option<Box<RawValue>>,
    start: Option<String>,
    end: Option<String>,
    prefix: Option<String>,
    descending: bool,
    /// Of a list: the bodies are not wanted.
    pub(crate) ids: bool,
    /// Of a list: deleted documents, too.
    deleted: bool,
    /// Of a list: the end belongs to it.
    through: bool,
}

/// A direction: `asc` or `desc`.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Descending {
    Asc,
    Desc,
}

impl QueryOptions {
    pub(crate) fn read(text: &str) -> Result<Self> {
        serde_json::from_str(text).map_err(|error| {
            let why = if error.to_string().contains("unknown field") {
                "an option has a name that is not known"
            } else {
                "an option has a value of the wrong type"
            };
            Refused::Wrong(why)
        })
    }

    pub(crate) fn at(&self) -> Result<At> {
        Ok(self.at.as_deref().map_or(Ok(At::Now), str::parse)?)
    }

    pub(crate) fn query(&self) -> Result<Query> {
        let mut query = Query::new().skip(self.skip);
        if let Some(selector) = &self.selector {
            query = query.selecting(Selector::from_json(selector.get())?);
        }
        for (path, direction) in &self.sort {
            query = query.sort(path.as_str(), direction_of(*direction == Descending::Desc));
        }
        if let Some(limit) = self.limit {
            query = query.limit(limit);
        }
        if let Some(fields) = &self.fields {
            query = query.select(fields.iter().map(String::as_str));
        }
        if let Some(after) = &self.after {
            query = query.after(after.parse::<Cursor>()?);
        }
        Ok(query)
    }

    pub(crate) fn pipeline(&self) -> Result<Pipeline> {
        match &self.pipeline {
            Some(pipeline) => Ok(Pipeline::from_json(pipeline.get())?),
            None => Err(Refused::Wrong("a pipeline is wanted: a list of stages")),
        }
    }

    pub(crate) fn list(&self) -> ListOptions {
        let end = if self.through { Bound::Included } else { Bound::Excluded };
        let mut options = match &self.prefix {
            Some(prefix) => ListOptions::prefix(prefix),
            None => ListOptions {
                start: self.start.clone().map_or(Bound::Unbounded, Bound::Included),
                end: self.end.clone().map_or(Bound::Unbounded, end),
                ..ListOptions::default()
            },
        };
        options.limit = self.limit;
        options.deleted = self.deleted;
        options.direction = direction_of(self.descending);
        options
    }
}

fn direction_of(descending: bool) -> Direction {
    if descending { Direction::Backward } else { Direction::Forward }
}
