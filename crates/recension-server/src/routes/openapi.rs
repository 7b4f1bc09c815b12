//! `/_openapi.json`: the server's endpoints, for people and tools. It is made from the table of routes.

use std::fmt::Write as _;
use std::sync::LazyLock;

use recension::json::quote;

use super::{Form, ROUTES, Route};
use recension_app::request::{Request, only};
use recension_wire::answer::Answer;
use recension_wire::error::Result;

/// `/_openapi.json`
pub(crate) fn endpoint(request: &Request) -> Result<Answer> {
    static TEXT: LazyLock<String> = LazyLock::new(description);
    only(request, "GET,HEAD")?;
    Ok(Answer::ok(TEXT.as_str()))
}

/// The rows that are described: those with a method that `OpenAPI` knows.
fn described() -> impl Iterator<Item = &'static Route> {
    ROUTES.iter().filter(|route| !matches!(route.method, "any" | "copy"))
}

/// The table as an `OpenAPI` 3.1 document.
fn description() -> String {
    let mut out = format!(
        "{{\"openapi\":\"3.1.0\",\"info\":{{\"title\":\"Recension\",\"version\":\"{}\",\"description\":{}}},\
         \"security\":[{{}},{{\"basic\":[]}},{{\"cookie\":[]}},{{\"bearer\":[]}}],\"paths\":{{",
        env!("CARGO_PKG_VERSION"),
        quote(
            "The supported part of the HTTP interface of Apache CouchDB 3, and additions to it. Documents also have \
             the method COPY, which OpenAPI does not know."
        ),
    );
    let mut paths: Vec<&str> = described().map(|operation| operation.path).collect();
    paths.dedup();
    for (number, path) in paths.iter().enumerate() {
        let comma = if number == 0 { "" } else { "," };
        // Writing to a String cannot fail, here and below.
        let _ = write!(out, "{comma}{}:{{\"parameters\":[{}]", quote(path), of_path(path));
        for operation in described().filter(|operation| operation.path == *path) {
            operation.describe(&mut out);
        }
        out.push('}');
    }
    out.push_str(
        "},\"components\":{\"schemas\":{\"Error\":{\"type\":\"object\",\"required\":[\"error\",\"reason\"],\"properties\":\
         {\"error\":{\"type\":\"string\"},\"reason\":{}}}},\"securitySchemes\":{\"basic\":{\"type\":\"http\",\"scheme\":\
         \"basic\"},\"bearer\":{\"type\":\"http\",\"scheme\":\"bearer\"},\"cookie\":{\"type\":\"apiKey\",\"in\":\"cookie\",\
         \"name\":\"AuthSession\"}}}}",
    );
    out
}

/// The parameters that stand in a path.
fn of_path(path: &str) -> String {
    let names = path.split('{').skip(1).filter_map(|part| part.split('}').next());
    let described = names.map(|name| {
        let quoted = quote(name);
        format!(
            "{{\"name\":{quoted},\"in\":\"path\",\"required\":true,\"schema\":{{\"type\":\"string\",\"minLength\":1}}}}"
        )
    });
    described.collect::<Vec<_>>().join(",")
}

impl Route {
    fn describe(&self, out: &mut String) {
        let _ = write!(
            out,
            ",\"{}\":{{\"summary\":{},\"x-right\":\"{}\",\"x-limited-users\":{}",
            self.method,
            quote(self.summary),
            self.right.name(),
            self.limited
        );
        let query: Vec<String> = self.query.split_whitespace().map(of_query).collect();
        let _ = write!(out, ",\"parameters\":[{}]", query.join(","));
        let content_type = match (self.method, self.path) {
            ("patch", _) => "application/merge-patch+json",
            ("put", path) if path.ends_with("{attachment}") => "application/octet-stream",
            _ => "application/json",
        };
        if !self.body.is_empty() {
            let body = self.body;
            let _ = write!(out, ",\"requestBody\":{{\"content\":{{\"{content_type}\":{{\"schema\":{body}}}}}}}");
        }
        out.push_str(",\"responses\":{");
        for (status, form) in self.answers {
            let _ = write!(out, "\"{status}\":{{\"description\":\"\"{}}},", form.content());
        }
        out.push_str("\"4XX\":{\"description\":\"what is wrong\"");
        if self.method != "head" {
            let content = ",\"content\":{\"application/json\":{\"schema\":{\"$ref\":\"#/components/schemas/Error\"}}}";
            out.push_str(content);
        }
        out.push_str("}}}");
    }
}

/// `name:type` as a parameter of the query.
fn of_query(parameter: &str) -> String {
    let (name, kind) = parameter.split_once(':').unwrap_or((parameter, "string"));
    let value = match kind {
        "boolean" => "\"schema\":{\"type\":\"boolean\"}",
        "integer" => "\"schema\":{\"type\":\"integer\",\"minimum\":0}",
        "json" => "\"content\":{\"application/json\":{\"schema\":{}}}",
        "feed" => "\"schema\":{\"enum\":[\"normal\",\"longpoll\",\"continuous\",\"eventsource\"]}",
        "style" => "\"schema\":{\"enum\":[\"main_only\",\"all_docs\"]}",
        "filter" => "\"schema\":{\"enum\":[\"_doc_ids\",\"_selector\",\"_design\"]}",
        "timeout" => "\"schema\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":60000}",
        _ => "\"schema\":{\"type\":\"string\"}",
    };
    format!("{{\"name\":\"{name}\",\"in\":\"query\",{value}}}")
}

impl Form {
    fn content(self) -> &'static str {
        match self {
            Form::None => "",
            Form::Object => ",\"content\":{\"application/json\":{\"schema\":{\"type\":\"object\"}}}",
            Form::Array => ",\"content\":{\"application/json\":{\"schema\":{\"type\":\"array\"}}}",
            Form::Json => {
                ",\"content\":{\"application/json\":{\"schema\":{}},\"multipart/mixed\":{},\"multipart/related\":{},\"text/event-stream\":{}}"
            }
            Form::List => {
                ",\"content\":{\"application/json\":{\"schema\":{}},\"application/x-ndjson\":{},\"text/csv\":{},\"text/event-stream\":{}}"
            }
            Form::Text => ",\"content\":{\"text/plain\":{}}",
            Form::Bytes => ",\"content\":{\"*/*\":{}}",
        }
    }
}
