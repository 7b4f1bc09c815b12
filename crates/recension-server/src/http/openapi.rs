//! `/_openapi.json`: the server's endpoints, for people and tools. It is made from one table, which the tests compare
//! with the table of access. A new route without a line here fails there.

use std::fmt::Write as _;
use std::sync::LazyLock;

use recension::json::quote;

use crate::answer::Answer;
use crate::dispatch::only;
use crate::error::Result;
use crate::request::Request;

/// `/_openapi.json`
pub(crate) fn endpoint(request: &Request) -> Result<Answer> {
    static TEXT: LazyLock<String> = LazyLock::new(description);
    only(request, "GET,HEAD")?;
    Ok(Answer::ok(TEXT.as_str()))
}

/// The parameters and answers of an operation.
struct Operation {
    method: &'static str,
    path: &'static str,
    summary: &'static str,
    /// Parameters of the query: `name:type`, separated by blanks.
    query: &'static str,
    /// The body, as a JSON schema; empty: none.
    body: &'static str,
    /// The successful answers, with their forms.
    answers: &'static [(u16, Form)],
}

/// The body of an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    None,
    Object,
    Array,
    /// Any JSON.
    Json,
    /// JSON, or if the client asks for it, lines or a table.
    List,
    Text,
    /// Bytes as they were stored.
    Bytes,
}

const OK: &[(u16, Form)] = &[(200, Form::Object)];
const CREATED: &[(u16, Form)] = &[(201, Form::Object), (202, Form::Object)];
const WRITTEN: &[(u16, Form)] = &[(200, Form::Object), (201, Form::Object), (202, Form::Object)];
const HEAD: &[(u16, Form)] = &[(200, Form::None), (304, Form::None)];
const BYTES: &[(u16, Form)] = &[(200, Form::Bytes), (201, Form::Bytes)];
const ROWS: &[(u16, Form)] = &[(200, Form::List)];
const LIST: &[(u16, Form)] = &[(200, Form::List), (304, Form::None)];

const DOCUMENT: &str = r#"{"type":"object"}"#;
const BACKUP: &str = r#"{"type":"object","properties":{"have":{"type":"array"}}}"#;
const KEYS: &str = r#"{"type":"object","properties":{"keys":{"type":"array"}}}"#;
const QUERIES: &str =
    r#"{"type":"object","required":["queries"],"properties":{"queries":{"type":"array","items":{"type":"object"}}}}"#;
const REVS: &str = r#"{"type":"object","additionalProperties":{"type":"array","items":{"type":"string"}}}"#;
const BULK: &str = r#"{"type":"object","required":["docs"],"properties":{"docs":{"type":"array","items":{"type":"object"}},"new_edits":{"type":"boolean"}}}"#;
const BULK_GET: &str = r#"{"type":"object","required":["docs"],"properties":{"docs":{"type":"array","items":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"rev":{"type":"string"},"atts_since":{"type":"array","items":{"type":"string"}}}}}}}"#;
const SECURITY: &str = r#"{"type":"object","properties":{"admins":{"type":"object","properties":{"names":{"type":"array","items":{"type":"string"}},"roles":{"type":"array","items":{"type":"string"}}}},"members":{"type":"object","properties":{"names":{"type":"array","items":{"type":"string"}},"roles":{"type":"array","items":{"type":"string"}}}}}}"#;
const TOKEN: &str = r#"{"type":"object","required":["name","rights"],"additionalProperties":false,"properties":{"name":{"type":"string"},"databases":{"type":"array","items":{"type":"string"}},"rights":{"enum":["read","write","admin","server"]},"expires_seconds":{"type":"integer","minimum":0}}}"#;
const LOG_IN: &str = r#"{"type":"object","required":["name","password"],"properties":{"name":{"type":"string"},"password":{"type":"string"}}}"#;
const IDS: &str = r#"{"type":"object","required":["ids"],"properties":{"ids":{"type":"array","minItems":1,"maxItems":1000,"items":{"type":"string"}}}}"#;
const REPLICATION: &str = r#"{"type":"object","required":["source","target"],"properties":{"source":{},"target":{},"continuous":{"type":"boolean"},"create_target":{"type":"boolean"},"cancel":{"type":"boolean"},"doc_ids":{"type":"array","items":{"type":"string"}},"selector":{"type":"object"},"filter":{"type":"string"}}}"#;
const FIND: &str = r#"{"type":"object","required":["selector"],"properties":{"selector":{"type":"object"},"fields":{"type":"array","items":{"type":"string"}},"sort":{"type":"array"},"limit":{"type":"integer","minimum":0},"skip":{"type":"integer","minimum":0},"bookmark":{"type":"string"},"use_index":{},"allow_fallback":{"type":"boolean"},"execution_stats":{"type":"boolean"},"conflicts":{"type":"boolean"}}}"#;
const PIPELINE: &str =
    r#"{"type":"object","required":["pipeline"],"properties":{"pipeline":{"type":"array","items":{"type":"object"}}}}"#;
const UPDATE_BY: &str = r#"{"type":"object","required":["selector"],"properties":{"selector":{"type":"object"},"merge":{"type":"object"},"patch":{"type":"array"},"dry_run":{"type":"boolean"},"limit":{"type":"integer","minimum":0}}}"#;
const DELETE_BY: &str = r#"{"type":"object","required":["selector"],"properties":{"selector":{"type":"object"},"dry_run":{"type":"boolean"},"limit":{"type":"integer","minimum":0}}}"#;
const INDEX: &str = r#"{"type":"object","required":["index"],"properties":{"index":{"type":"object","required":["fields"],"properties":{"fields":{"type":"array"},"partial_filter_selector":{"type":"object"}}},"ddoc":{"type":"string"},"name":{"type":"string"},"type":{"enum":["json"]}}}"#;
const DOCIDS: &str =
    r#"{"type":"object","required":["docids"],"properties":{"docids":{"type":"array","items":{"type":"string"}}}}"#;
const NUMBER: &str = r#"{"type":"integer","minimum":1}"#;
const EXPIRY: &str = r#"{"type":["string","null"]}"#;
const CONSUMER: &str = r#"{"type":"object","additionalProperties":false,"properties":{"since":{"type":"string"},"acknowledge_seconds":{"type":"integer","minimum":1,"maximum":86400},"dead_letters":{"type":"object","required":["database","after"],"additionalProperties":false,"properties":{"database":{"type":"string"},"after":{"type":"integer","minimum":1}}},"deletions":{"type":"boolean"}}}"#;
const FETCH: &str = r#"{"type":"object","additionalProperties":false,"properties":{"max":{"type":"integer","minimum":1,"maximum":1000},"wait_seconds":{"type":"integer","minimum":0}}}"#;
const MESSAGES: &str = r#"{"type":"object","required":["messages"],"properties":{"messages":{"type":"array","maxItems":1000,"items":{"type":"object","required":["id","seq"],"properties":{"id":{"type":"string"},"seq":{"type":"integer"}}}}}}"#;
const GIVE_BACK: &str = r#"{"type":"object","required":["messages"],"properties":{"after_seconds":{"type":"integer","minimum":0},"messages":{"type":"array","maxItems":1000,"items":{"type":"object","required":["id","seq"],"properties":{"id":{"type":"string"},"seq":{"type":"integer"}}}}}}"#;
const STRING: &str = r#"{"type":"string"}"#;
const ANY: &str = "{}";
const EMPTY: &str = r#"{"type":"object"}"#;

const LIST_QUERY: &str = "key:json keys:json startkey:json endkey:json inclusive_end:boolean descending:boolean \
    limit:integer skip:integer include_docs:boolean attachments:boolean att_encoding_info:boolean conflicts:boolean \
    update_seq:boolean fields:string at:string";
const NAMES_QUERY: &str = "startkey:json endkey:json descending:boolean limit:integer skip:integer";
const FEED_QUERY: &str = "feed:feed since:string limit:integer descending:boolean heartbeat:integer timeout:timeout";
const CHANGES_QUERY: &str = "feed:feed since:string limit:integer descending:boolean heartbeat:integer timeout:timeout \
    style:style include_docs:boolean attachments:boolean att_encoding_info:boolean conflicts:boolean \
    seq_interval:integer filter:filter doc_ids:json";
const READ_QUERY: &str = "rev:string revs:boolean revs_info:boolean open_revs:json latest:boolean conflicts:boolean \
    deleted_conflicts:boolean meta:boolean local_seq:boolean attachments:boolean atts_since:json \
    att_encoding_info:boolean at:string";
const VIEW_QUERY: &str = "key:json keys:json startkey:json startkey_docid:string endkey:json endkey_docid:string \
    inclusive_end:boolean descending:boolean limit:integer skip:integer reduce:boolean group:boolean \
    group_level:integer include_docs:boolean attachments:boolean att_encoding_info:boolean conflicts:boolean \
    update:string update_seq:boolean at:string";
const WRITE_QUERY: &str = "rev:string new_edits:boolean batch:string";

macro_rules! operations {
    ($($method:ident $path:literal, $summary:literal, $query:expr, $body:expr, $answers:expr;)*) => {
        &[$(Operation {
            method: stringify!($method), path: $path, summary: $summary, query: $query, body: $body, answers: $answers,
        }),*]
    };
}

/// Every operation of this server, except those that it answers with 501.
const OPERATIONS: &[Operation] = operations! {
    get "/", "The server's name and version", "", "", OK;
    get "/_up", "Whether the server is ready", "", "", OK;
    get "/_uuids", "Identifiers for new documents", "count:integer", "", OK;
    get "/_openapi.json", "This description", "", "", OK;
    get "/_session", "The present user", "", "", OK;
    post "/_session", "Logs in: the answer has a \
        cookie", "next:string", LOG_IN, &[(200, Form::Object), (302, Form::Object)];
    delete "/_session", "Logs out", "", "", OK;
    get "/_tokens", "The API tokens", "", "", OK;
    post "/_tokens", "Makes an API token, and shows its text only this once", "", TOKEN, &[(201, Form::Object)];
    delete "/_tokens/{token}", "Revokes an API token", "", "", OK;
    get "/_all_dbs", "The names of all databases", NAMES_QUERY, "", &[(200, Form::Array)];
    get "/_dbs_info", "Information on every database", "", "", &[(200, Form::Array)];
    post "/_dbs_info", "Information on some databases", "", KEYS, &[(200, Form::Array)];
    get "/_db_updates", "Databases that were made, written to and dropped", FEED_QUERY, "", &[(200, Form::Json)];
    get "/_active_tasks", "The tasks that run in the background", "", "", &[(200, Form::Array)];
    post "/_backup", "A backup of the whole store: its files as a stream, except those that the client \
        has", "", BACKUP, &[(200, Form::Bytes)];
    post "/_replicate", "Replicates from one database to another, once or until it is \
        cancelled", "", REPLICATION, &[(200, Form::Object), (202, Form::Object)];
    get "/_scheduler/jobs", "The replications that run", "limit:integer skip:integer", "", OK;
    get "/_scheduler/jobs/{job}", "A replication that runs", "", "", OK;
    get "/_scheduler/docs", "The replications that the documents of _replicator ask for", "limit:integer \
        skip:integer", "", OK;
    get "/_scheduler/docs/_replicator", "The same, by the name of the database", "limit:integer skip:integer", "", OK;
    get "/_scheduler/docs/_replicator/{id}", "The replication that a document asks for", "", "", OK;
    get "/_cluster_setup", "Whether the server is set up: it is", "", "", OK;
    get "/_membership", "The nodes: one", "", "", OK;
    get "/_metrics", "Metrics for Prometheus", "", "", &[(200, Form::Text)];
    get "/_node/{node}/_prometheus", "Metrics for Prometheus", "", "", &[(200, Form::Text)];
    get "/_node/{node}/_config", "All settings", "", "", OK;
    get "/_node/{node}/_config/{section}", "The settings of a section", "", "", OK;
    get "/_node/{node}/_config/{section}/{setting}", "A setting", "", "", &[(200, Form::Json)];
    put "/_node/{node}/_config/{section}/{setting}", "Changes a setting", "", STRING, &[(200, Form::Json)];
    delete "/_node/{node}/_config/{section}/{setting}", "Resets a setting", "", "", &[(200, Form::Json)];
    get "/{db}", "Information on the database", "", "", OK;
    head "/{db}", "Whether there is the database", "", "", HEAD;
    put "/{db}", "Makes the database", "partitioned:boolean", "", CREATED;
    delete "/{db}", "Drops the database", "", "", OK;
    post "/{db}", "Writes a document under its own id or a new one", "batch:string", DOCUMENT, CREATED;
    get "/{db}/{id}", "A document", READ_QUERY, "", &[(200, Form::Json), (304, Form::None)];
    head "/{db}/{id}", "Whether there is a document, and its revision", READ_QUERY, "", HEAD;
    put "/{db}/{id}", "Writes a document", WRITE_QUERY, DOCUMENT, WRITTEN;
    delete "/{db}/{id}", "Deletes a document", "rev:string", "", OK;
    patch "/{db}/{id}", "Changes a document by a JSON merge patch or a JSON patch", "rev:string", DOCUMENT, OK;
    get "/{db}/{id}/_history", "The revisions that a document has had", "limit:integer include_docs:boolean \
        at:string", "", LIST;
    get "/{db}/{id}/{attachment}", "An attachment", "rev:string \
        at:string", "", &[(200, Form::Bytes), (206, Form::Bytes), (304, Form::None)];
    put "/{db}/{id}/{attachment}", "Writes an attachment", "rev:string", ANY, CREATED;
    delete "/{db}/{id}/{attachment}", "Deletes an attachment", "rev:string", "", OK;
    get "/{db}/_design/{name}", "A design document", READ_QUERY, "", &[(200, Form::Json), (304, Form::None)];
    put "/{db}/_design/{name}", "Writes a design document", WRITE_QUERY, DOCUMENT, WRITTEN;
    delete "/{db}/_design/{name}", "Deletes a design document", "rev:string", "", OK;
    get "/{db}/_design/{name}/_info", "Information on the views of a design document", "", "", OK;
    get "/{db}/_design/{name}/_view/{view}", "Rows of a view", VIEW_QUERY, "", ROWS;
    post "/{db}/_design/{name}/_view/{view}", "Rows of a view", VIEW_QUERY, KEYS, ROWS;
    post "/{db}/_design/{name}/_view/{view}/queries", "Several questions to a view", "", QUERIES, OK;
    get "/{db}/_design/{name}/_show/{function}/{id}", "A document as a function shows it", "", "", BYTES;
    get "/{db}/_design/{name}/_list/{function}/{view}", "Rows of a view as a function lists them", "", "", BYTES;
    put "/{db}/_design/{name}/_update/{function}/{id}", "Updates a document by a function", "", ANY, BYTES;
    get "/{db}/_design/{name}/_rewrite/{path}", "Passes a request on by the rules of a design document", "", "", BYTES;
    get "/{db}/_local/{name}", "A local document, which no replica gets", "", "", OK;
    put "/{db}/_local/{name}", "Writes a local document", "rev:string", DOCUMENT, WRITTEN;
    delete "/{db}/_local/{name}", "Deletes a local document", "rev:string", "", OK;
    get "/{db}/_all_docs", "Documents by id", LIST_QUERY, "", LIST;
    post "/{db}/_all_docs", "Documents by id", LIST_QUERY, KEYS, LIST;
    post "/{db}/_all_docs/queries", "Several lists of documents", "", QUERIES, OK;
    get "/{db}/_design_docs", "Design documents by id", LIST_QUERY, "", LIST;
    post "/{db}/_design_docs", "Design documents by id", LIST_QUERY, KEYS, LIST;
    post "/{db}/_design_docs/queries", "Several lists of design documents", "", QUERIES, OK;
    get "/{db}/_local_docs", "Local documents by id", LIST_QUERY, "", OK;
    post "/{db}/_local_docs", "Local documents by id", LIST_QUERY, KEYS, OK;
    post "/{db}/_bulk_docs", "Writes many documents in one commit", "atomic:boolean", BULK, &[(201, Form::Array)];
    post "/{db}/_bulk_get", "Many revisions in one answer", "revs:boolean latest:boolean attachments:boolean \
        att_encoding_info:boolean", BULK_GET, OK;
    post "/{db}/_revs_diff", "Which of some revisions are missing here", "", REVS, OK;
    post "/{db}/_missing_revs", "Which of some revisions are missing here, in an older form", "", REVS, OK;
    get "/{db}/_changes", "The changes", CHANGES_QUERY, "", &[(200, Form::List)];
    post "/{db}/_changes", "The changes", CHANGES_QUERY, r#"{"type":"object","properties":{"doc_ids":{"type":"array","items":{"type":"string"}},"selector":{"type":"object"}}}"#, &[(200, Form::List)];
    post "/{db}/_find", "Documents that a selector selects", "at:string", FIND, OK;
    post "/{db}/_explain", "How a query would be carried out", "at:string", FIND, OK;
    post "/{db}/_aggregate", "Counts, sums and the like of groups of documents", "at:string", PIPELINE, OK;
    post "/{db}/_update_by_query", "Changes every document that a selector selects", "", UPDATE_BY, OK;
    post "/{db}/_delete_by_query", "Deletes every document that a selector selects", "", DELETE_BY, OK;
    get "/{db}/_index", "The indexes that design documents define", "limit:integer skip:integer at:string", "", OK;
    post "/{db}/_index", "Makes an index", "", INDEX, OK;
    post "/{db}/_index/_bulk_delete", "Deletes the indexes of some design documents", "", DOCIDS, OK;
    delete "/{db}/_index/{design}/json/{name}", "Deletes an index", "", "", OK;
    delete "/{db}/_index/{design}/text/{name}", "Deletes an index of words", "", "", OK;
    post "/{db}/_partition/{partition}/_find", "Documents of a partition that a selector \
        selects", "at:string", FIND, OK;
    post "/{db}/_partition/{partition}/_explain", "How a query of a partition would be carried \
        out", "at:string", FIND, OK;
    get "/{db}/_partition/{partition}", "Information on a partition", "", "", OK;
    get "/{db}/_partition/{partition}/_all_docs", "Documents of a partition by id", LIST_QUERY, "", LIST;
    post "/{db}/_partition/{partition}/_all_docs", "Documents of a partition by id", LIST_QUERY, KEYS, LIST;
    get "/{db}/_partition/{partition}/_design/{name}/_view/{view}", "Rows of a view, of a \
        partition", VIEW_QUERY, "", ROWS;
    post "/{db}/_purge", "Removes revisions as if they had never been", "", REVS, CREATED;
    get "/{db}/_erase", "The erasures: when, and how many documents", "", "", OK;
    post "/{db}/_erase", "Removes documents from every moment", "settle:boolean", IDS, OK;
    get "/{db}/_purged_infos", "The purged revisions", "", "", OK;
    get "/{db}/_purged_infos_limit", "How many purges are remembered", "", "", &[(200, Form::Json)];
    put "/{db}/_purged_infos_limit", "Sets how many purges are remembered", "", NUMBER, OK;
    get "/{db}/_access", "The rule by which users read and write documents", "explain:boolean", "", OK;
    put "/{db}/_access", "Sets the access rule", "", EMPTY, OK;
    delete "/{db}/_access", "Removes the access rule", "", "", OK;
    get "/{db}/_leaves", "All leaves after a position, in one stream of lines", "since:string", "", &[(200, Form::None)];
    get "/{db}/_schema", "The JSON Schema that documents have to fit", "history:boolean at:string", "", OK;
    put "/{db}/_schema", "Sets the JSON Schema, or tests existing documents", "check:boolean", EMPTY, OK;
    delete "/{db}/_schema", "Removes the JSON Schema", "", "", OK;
    get "/{db}/_security", "Which users and roles may use the database", "", "", OK;
    put "/{db}/_security", "Sets which users and roles may use the database", "", SECURITY, OK;
    post "/{db}/_compact", "Gives up the bodies of revisions that are no leaves", "", EMPTY, &[(202, Form::Object)];
    post "/{db}/_view_cleanup", "Drops rows of views that no design document has", "", EMPTY, &[(202, Form::Object)];
    post "/{db}/_ensure_full_commit", "Does nothing: acknowledged writes are durable already", "", EMPTY, CREATED;
    get "/{db}/_revs_limit", "How many revisions of a document are remembered", "", "", &[(200, Form::Json)];
    put "/{db}/_revs_limit", "Sets how many revisions of a document are remembered", "", NUMBER, OK;
    get "/{db}/_retention", "How much of the past is kept", "", "", &[(200, Form::Json)];
    put "/{db}/_retention", "Sets how much of the past is kept", "", STRING, &[(200, Form::Json)];
    get "/{db}/_expiry", "Which member says when a document is deleted", "", "", &[(200, Form::Json)];
    put "/{db}/_expiry", "Sets which member says when a document is deleted", "", EXPIRY, &[(200, Form::Json)];
    get "/{db}/_topics", "The topics that somebody listens to; feed=eventsource listens", "match:string", "", OK;
    post "/{db}/_topics/{topic}", "Says something to who listens to a topic", "", ANY, OK;
    get "/{db}/_consumers", "The names of the database's consumers", "", "", OK;
    put "/{db}/_consumers/{consumer}", "Makes a consumer, or serves it \
        otherwise", "", CONSUMER, &[(200, Form::Object), (201, Form::Object)];
    get "/{db}/_consumers/{consumer}", "How a consumer is served, and where it stands", "", "", OK;
    delete "/{db}/_consumers/{consumer}", "Forgets a consumer", "", "", OK;
    post "/{db}/_consumers/{consumer}/fetch", "Hands out the next messages", "", FETCH, OK;
    post "/{db}/_consumers/{consumer}/acknowledge", "Messages were dealt with", "", MESSAGES, OK;
    post "/{db}/_consumers/{consumer}/give_back", "Messages were not dealt with", "", GIVE_BACK, OK;
};

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
    let mut paths: Vec<&str> = OPERATIONS.iter().map(|operation| operation.path).collect();
    paths.dedup();
    for (number, path) in paths.iter().enumerate() {
        let comma = if number == 0 { "" } else { "," };
        // Writing to a String cannot fail, here and below.
        let _ = write!(out, "{comma}{}:{{\"parameters\":[{}]", quote(path), of_path(path));
        for operation in OPERATIONS.iter().filter(|operation| operation.path == *path) {
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

impl Operation {
    fn describe(&self, out: &mut String) {
        let _ = write!(out, ",\"{}\":{{\"summary\":{}", self.method, quote(self.summary));
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
