//! Every endpoint: method, path, who is let in, whether it is there for limited users, its handler, and what
//! `/_openapi.json` says of it. A new endpoint is a file in `http/`, its handler in `handlers.rs`, and a row here.

use super::Right::{Admins, Everybody, Members, Metrics, ServerAdmins};
use super::{Form, Route, handlers as h};

const OK: &[(u16, Form)] = &[(200, Form::Object)];
const UP: &[(u16, Form)] = &[(200, Form::Object), (503, Form::Object)];
const CREATED: &[(u16, Form)] = &[(201, Form::Object), (202, Form::Object)];
const WRITTEN: &[(u16, Form)] = &[(200, Form::Object), (201, Form::Object), (202, Form::Object)];
const HEAD: &[(u16, Form)] = &[(200, Form::None), (304, Form::None)];
const BYTES: &[(u16, Form)] = &[(200, Form::Bytes), (201, Form::Bytes)];
const ROWS: &[(u16, Form)] = &[(200, Form::List)];
const LIST: &[(u16, Form)] = &[(200, Form::List), (304, Form::None)];

const DOCUMENT: &str = r#"{"type":"object"}"#;
const BACKUP: &str = r#"{"type":"object","properties":{"have":{"type":"array"},"earlier":{"type":"object"}}}"#;
const KEYS: &str = r#"{"type":"object","properties":{"keys":{"type":"array"}}}"#;
const QUERIES: &str =
    r#"{"type":"object","required":["queries"],"properties":{"queries":{"type":"array","items":{"type":"object"}}}}"#;
const REVS: &str = r#"{"type":"object","additionalProperties":{"type":"array","items":{"type":"string"}}}"#;
const BULK: &str = r#"{"type":"object","required":["docs"],"properties":{"docs":{"type":"array","items":{"type":"object"}},"new_edits":{"type":"boolean"}}}"#;
const BULK_GET: &str = r#"{"type":"object","required":["docs"],"properties":{"docs":{"type":"array","items":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"rev":{"type":"string"},"atts_since":{"type":"array","items":{"type":"string"}}}}}}}"#;
const SECURITY: &str = r#"{"type":"object","properties":{"admins":{"type":"object","properties":{"names":{"type":"array","items":{"type":"string"}},"roles":{"type":"array","items":{"type":"string"}}}},"members":{"type":"object","properties":{"names":{"type":"array","items":{"type":"string"}},"roles":{"type":"array","items":{"type":"string"}}}}}}"#;
const TOKEN: &str = r#"{"type":"object","required":["name","rights"],"additionalProperties":false,"properties":{"name":{"type":"string"},"databases":{"type":"array","items":{"type":"string"}},"rights":{"enum":["metrics","read","write","admin","server"]},"expires_seconds":{"type":"integer","minimum":0}}}"#;
const BRANCH: &str = r#"{"type":"object","required":["name"],"additionalProperties":false,"properties":{"name":{"type":"string"},"from":{"type":"string"},"at":{"type":"string"}}}"#;
const RENAMED: &str =
    r#"{"type":"object","required":["name"],"additionalProperties":false,"properties":{"name":{"type":"string"}}}"#;
const MERGE: &str = r#"{"type":"object","required":["from"],"additionalProperties":false,"properties":{"from":{"type":"string"},"into":{"type":"string"},"conflicts":{"enum":["fields","ours","theirs","abort"]},"dry_run":{"type":"boolean"},"counters":{"type":"array","items":{"type":"string"}},"identities":{"type":"array","items":{"type":"string"}}}}"#;
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
const NAMES_QUERY: &str = "key:json keys:json startkey:json endkey:json inclusive_end:boolean descending:boolean \
    limit:integer skip:integer branch:string";
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
const SCHEDULER_QUERY: &str = "limit:integer skip:integer descending:boolean states:string";
const WRITE_QUERY: &str = "rev:string new_edits:boolean batch:string";

const NOT_THERE: &[(u16, Form)] = &[(501, Form::Object)];
const SEARCH: &str = "Full-text search";
const SHARDS: &str = "Sharding";
const STATISTICS: &str = "This part of the node's statistics";
const RESTARTING: &str = "Restarting by request";

/// There for limited users, too.
#[allow(non_upper_case_globals)] // it stands in rows
const served: bool = true;
/// Not there for limited users.
#[allow(non_upper_case_globals)] // it stands in rows
const refused: bool = false;

macro_rules! routes {
    ($($method:ident $path:literal $right:ident $policy:ident $handler:expr,
        $summary:expr, $query:expr, $body:expr, $answers:expr;)*) => {
        &[$(Route {
            method: stringify!($method), path: $path, right: $right, limited: $policy,
            handler: $handler, summary: $summary, query: $query, body: $body, answers: $answers,
        }),*]
    };
}

/// The rows. Those of one path are together; of those that fit a request, the one with its method and the longest path
/// counts. `served` or `refused`: whether limited users have it.
pub(crate) const ROUTES: &[Route] = routes! {
    get "/" Everybody refused h::root,
        "The server's name and version", "", "", OK;
    get "/_up" Everybody refused h::up,
        "Whether the server is ready, and takes writes; for those who only read: `reads=true`", "reads:boolean", "", UP;
    get "/_uuids" Everybody refused h::uuids,
        "Identifiers for new documents", "count:integer", "", OK;
    get "/_openapi.json" Everybody refused h::description,
        "This description", "", "", OK;
    get "/_session" Everybody refused h::session,
        "The present user", "", "", OK;
    post "/_session" Everybody refused h::session,
        "Logs in: the answer has a cookie", "next:string", LOG_IN, &[(200, Form::Object), (302, Form::Object)];
    delete "/_session" Everybody refused h::session,
        "Logs out", "", "", OK;
    get "/_tokens" ServerAdmins refused h::tokens,
        "The API tokens", "", "", OK;
    post "/_tokens" ServerAdmins refused h::tokens,
        "Makes an API token, and shows its text only this once", "", TOKEN, &[(201, Form::Object)];
    delete "/_tokens/{token}" ServerAdmins refused h::tokens,
        "Revokes an API token", "", "", OK;
    get "/_branches" ServerAdmins refused h::branches,
        "The branches of the store; their databases are at /{db}@{branch}", "", "", OK;
    post "/_branches" ServerAdmins refused h::branches,
        "Makes a branch, of another one or of the main line, now or at a moment", "", BRANCH, &[(201, Form::Object)];
    put "/_branches/{branch}" ServerAdmins refused h::branches,
        "Gives a branch another name", "", RENAMED, OK;
    delete "/_branches/{branch}" ServerAdmins refused h::branches,
        "Drops a branch with everything that was written on it", "", "", OK;
    get "/_tags" ServerAdmins refused h::tags,
        "The tags: names of moments, which stay readable", "", "", OK;
    post "/_tags" ServerAdmins refused h::tags,
        "Gives a moment a name, which at=tag:name reads", "", BRANCH, &[(201, Form::Object)];
    delete "/_tags/{tag}" ServerAdmins refused h::tags,
        "Takes a name away", "", "", OK;
    post "/_merge" ServerAdmins refused h::merge,
        "Merges a branch into another one, or tells what that would do", "", MERGE, OK;
    get "/_diff" ServerAdmins refused h::diff,
        "The documents that differ between two branches or moments",
        "from:string to:string from_at:string to_at:string limit:integer skip:integer", "", OK;
    get "/_all_dbs" ServerAdmins refused h::all_dbs,
        "The names of all databases", NAMES_QUERY, "", &[(200, Form::Array)];
    get "/_dbs_info" ServerAdmins refused h::dbs_info,
        "Information on every database", "", "", &[(200, Form::Array)];
    post "/_dbs_info" Everybody refused h::dbs_info,
        "Information on some databases", "", KEYS, &[(200, Form::Array)];
    get "/_db_updates" ServerAdmins refused h::db_updates,
        "Databases that were made, written to and dropped", FEED_QUERY, "", &[(200, Form::Json)];
    get "/_active_tasks" ServerAdmins refused h::active_tasks,
        "The tasks that run in the background", "", "", &[(200, Form::Array)];
    post "/_backup" ServerAdmins refused h::backup,
        "A backup of the whole store: its files as a stream, except those that the client has",
        "", BACKUP, &[(200, Form::Bytes)];
    post "/_replicate" ServerAdmins refused h::replicate,
        "Replicates from one database to another, once or until it is cancelled",
        "", REPLICATION, &[(200, Form::Object), (202, Form::Object)];
    get "/_scheduler/jobs" ServerAdmins refused h::scheduler,
        "The replications that run", "limit:integer skip:integer", "", OK;
    get "/_scheduler/jobs/{job}" ServerAdmins refused h::scheduler,
        "A replication that runs", "", "", OK;
    get "/_scheduler/docs" ServerAdmins refused h::scheduler,
        "The replications that the documents of _replicator ask for", SCHEDULER_QUERY, "", OK;
    get "/_scheduler/docs/_replicator" ServerAdmins refused h::scheduler,
        "The same, by the name of the database", SCHEDULER_QUERY, "", OK;
    get "/_scheduler/docs/_replicator/{id}" ServerAdmins refused h::scheduler,
        "The replication that a document asks for", "", "", OK;
    get "/_cluster_setup" ServerAdmins refused h::cluster_setup,
        "Whether the server is set up: it is", "", "", OK;
    get "/_membership" ServerAdmins refused h::membership,
        "The nodes: one", "", "", OK;
    get "/_metrics" Metrics refused h::metrics,
        "Metrics for Prometheus", "", "", &[(200, Form::Text)];
    get "/_node/{node}/_prometheus" Metrics refused h::metrics,
        "Metrics for Prometheus", "", "", &[(200, Form::Text)];
    get "/_node/{node}/_stats" Metrics refused h::node,
        "What the node has counted, by CouchDB's names; further parts of the path select", "", "", &[(200, Form::Json)];
    get "/_node/{node}/_system" Metrics refused h::node,
        "The process: how long it runs, memory, threads", "", "", OK;
    get "/_node/{node}/_versions" ServerAdmins refused h::node,
        "Versions of what the server is built of", "", "", OK;
    get "/_node/{node}/_config" ServerAdmins refused h::node,
        "All settings", "", "", OK;
    get "/_node/{node}/_config/{section}" ServerAdmins refused h::node,
        "The settings of a section", "", "", OK;
    get "/_node/{node}/_config/{section}/{setting}" ServerAdmins refused h::node,
        "A setting", "", "", &[(200, Form::Json)];
    put "/_node/{node}/_config/{section}/{setting}" ServerAdmins refused h::node,
        "Changes a setting", "", STRING, &[(200, Form::Json)];
    delete "/_node/{node}/_config/{section}/{setting}" ServerAdmins refused h::node,
        "Resets a setting", "", "", &[(200, Form::Json)];
    get "/{db}" Members served h::database,
        "Information on the database", "at:string", "", OK;
    head "/{db}" Members served h::database,
        "Whether there is the database", "at:string", "", HEAD;
    put "/{db}" ServerAdmins refused h::database,
        "Makes the database", "partitioned:boolean", "", CREATED;
    delete "/{db}" ServerAdmins refused h::database,
        "Drops the database", "", "", OK;
    post "/{db}" Members served h::new_document,
        "Writes a document under its own id or a new one", "batch:string", DOCUMENT, CREATED;
    get "/{db}/{id}" Members served h::read_document,
        "A document", READ_QUERY, "", &[(200, Form::Json), (304, Form::None)];
    head "/{db}/{id}" Members served h::read_document,
        "Whether there is a document, and its revision", READ_QUERY, "", HEAD;
    put "/{db}/{id}" Members served h::document,
        "Writes a document", WRITE_QUERY, DOCUMENT, WRITTEN;
    delete "/{db}/{id}" Members served h::document,
        "Deletes a document", "rev:string", "", OK;
    patch "/{db}/{id}" Members refused h::document,
        "Changes a document by a JSON merge patch or a JSON patch", "rev:string", DOCUMENT, OK;
    copy "/{db}/{id}" Members refused h::document,
        "Copies a document", "rev:string", "", CREATED;
    get "/{db}/{id}/_history" Members refused h::history,
        "The revisions that a document has had", "limit:integer include_docs:boolean at:string", "", LIST;
    get "/{db}/{id}/{attachment}" Members served h::attachment,
        "An attachment", "rev:string at:string", "", &[(200, Form::Bytes), (206, Form::Bytes), (304, Form::None)];
    put "/{db}/{id}/{attachment}" Members refused h::attachment,
        "Writes an attachment", "rev:string", ANY, CREATED;
    delete "/{db}/{id}/{attachment}" Members refused h::attachment,
        "Deletes an attachment", "rev:string", "", OK;
    get "/{db}/_design/{name}" Members served h::read_document,
        "A design document", READ_QUERY, "", &[(200, Form::Json), (304, Form::None)];
    put "/{db}/_design/{name}" Members served h::document,
        "Writes a design document", WRITE_QUERY, DOCUMENT, WRITTEN;
    delete "/{db}/_design/{name}" Members served h::document,
        "Deletes a design document", "rev:string", "", OK;
    get "/{db}/_design/{name}/_info" Members refused h::design_info,
        "Information on the views of a design document", "at:string", "", OK;
    get "/{db}/_design/{name}/_view/{view}" Members served h::view,
        "Rows of a view", VIEW_QUERY, "", ROWS;
    post "/{db}/_design/{name}/_view/{view}" Members served h::view,
        "Rows of a view", VIEW_QUERY, KEYS, ROWS;
    post "/{db}/_design/{name}/_view/{view}/queries" Members served h::view,
        "Several questions to a view", "", QUERIES, OK;
    get "/{db}/_design/{name}/_show/{function}/{id}" Members served h::show,
        "A document as a function shows it", "at:string", "", BYTES;
    post "/{db}/_design/{name}/_show/{function}/{id}" Members served h::show,
        "A document as a function shows it", "at:string", ANY, BYTES;
    get "/{db}/_design/{name}/_list/{function}/{view}" Members served h::list,
        "Rows of a view as a function lists them", "at:string", "", BYTES;
    post "/{db}/_design/{name}/_list/{function}/{view}" Members served h::list,
        "Rows of a view as a function lists them", "at:string", ANY, BYTES;
    put "/{db}/_design/{name}/_update/{function}/{id}" Members served h::update,
        "Updates a document by a function", "", ANY, BYTES;
    post "/{db}/_design/{name}/_update/{function}" Members served h::update,
        "Makes or updates a document by a function", "", ANY, BYTES;
    get "/{db}/_design/{name}/_rewrite/{path}" Members refused h::rewrite,
        "Passes a request on by the rules of a design document", "", "", BYTES;
    get "/{db}/_local/{name}" Members served h::local,
        "A local document, which no replica gets", "", "", OK;
    put "/{db}/_local/{name}" Members served h::local,
        "Writes a local document", "rev:string", DOCUMENT, WRITTEN;
    delete "/{db}/_local/{name}" Members served h::local,
        "Deletes a local document", "rev:string", "", OK;
    copy "/{db}/_local/{name}" Members refused h::local,
        "Copies a local document", "", "", CREATED;
    get "/{db}/_all_docs" Members served h::all_docs,
        "Documents by id", LIST_QUERY, "", LIST;
    post "/{db}/_all_docs" Members served h::all_docs,
        "Documents by id", LIST_QUERY, KEYS, LIST;
    post "/{db}/_all_docs/queries" Members served h::all_docs,
        "Several lists of documents", "", QUERIES, OK;
    get "/{db}/_design_docs" Members served h::all_docs,
        "Design documents by id", LIST_QUERY, "", LIST;
    post "/{db}/_design_docs" Members served h::all_docs,
        "Design documents by id", LIST_QUERY, KEYS, LIST;
    post "/{db}/_design_docs/queries" Members served h::all_docs,
        "Several lists of design documents", "", QUERIES, OK;
    get "/{db}/_local_docs" Members refused h::local_docs,
        "Local documents by id", LIST_QUERY, "", OK;
    post "/{db}/_local_docs" Members refused h::local_docs,
        "Local documents by id", LIST_QUERY, KEYS, OK;
    post "/{db}/_local_docs/queries" Members refused h::local_docs,
        "Several lists of local documents", "", QUERIES, OK;
    post "/{db}/_bulk_docs" Members served h::bulk_docs,
        "Writes many documents in one commit", "atomic:boolean", BULK, &[(201, Form::Array)];
    post "/{db}/_bulk_get" Members served h::bulk_get,
        "Many revisions in one answer",
        "revs:boolean latest:boolean attachments:boolean att_encoding_info:boolean", BULK_GET, OK;
    post "/{db}/_revs_diff" Members served h::revs_diff,
        "Which of some revisions are missing here", "", REVS, OK;
    post "/{db}/_missing_revs" Members served h::missing_revs,
        "Which of some revisions are missing here, in an older form", "", REVS, OK;
    get "/{db}/_changes" Members served h::changes,
        "The changes", CHANGES_QUERY, "", &[(200, Form::List)];
    post "/{db}/_changes" Members served h::changes,
        "The changes",
        CHANGES_QUERY, r#"{"type":"object","properties":{"doc_ids":{"type":"array","items":{"type":"string"}},"selector":{"type":"object"}}}"#, &[(200, Form::List)];
    post "/{db}/_find" Members served h::find,
        "Documents that a selector selects", "at:string", FIND, OK;
    post "/{db}/_explain" Members served h::find,
        "How a query would be carried out", "at:string", FIND, OK;
    post "/{db}/_aggregate" Members served h::aggregate,
        "Counts, sums and the like of groups of documents", "at:string", PIPELINE, ROWS;
    post "/{db}/_update_by_query" Members refused h::by_query,
        "Changes every document that a selector selects", "", UPDATE_BY, OK;
    post "/{db}/_delete_by_query" Members refused h::by_query,
        "Deletes every document that a selector selects", "", DELETE_BY, OK;
    get "/{db}/_index" Members served h::indexes,
        "The indexes that design documents define", "limit:integer skip:integer at:string", "", OK;
    post "/{db}/_index" Admins refused h::indexes,
        "Makes an index", "", INDEX, OK;
    post "/{db}/_index/_bulk_delete" Admins refused h::indexes,
        "Deletes the indexes of some design documents", "", DOCIDS, OK;
    delete "/{db}/_index/{design}/json/{name}" Admins refused h::indexes,
        "Deletes an index", "", "", OK;
    delete "/{db}/_index/{design}/text/{name}" Admins refused h::indexes,
        "Deletes an index of words", "", "", OK;
    post "/{db}/_partition/{partition}/_find" Members served h::partition,
        "Documents of a partition that a selector selects", "at:string", FIND, OK;
    post "/{db}/_partition/{partition}/_explain" Members served h::partition,
        "How a query of a partition would be carried out", "at:string", FIND, OK;
    get "/{db}/_partition/{partition}" Members served h::partition,
        "Information on a partition", "", "", OK;
    get "/{db}/_partition/{partition}/_all_docs" Members served h::partition,
        "Documents of a partition by id", LIST_QUERY, "", LIST;
    post "/{db}/_partition/{partition}/_all_docs" Members served h::partition,
        "Documents of a partition by id", LIST_QUERY, KEYS, LIST;
    get "/{db}/_partition/{partition}/_design/{name}/_view/{view}" Members served h::partition,
        "Rows of a view, of a partition", VIEW_QUERY, "", ROWS;
    post "/{db}/_purge" ServerAdmins refused h::purge,
        "Removes revisions as if they had never been", "", REVS, CREATED;
    get "/{db}/_erase" ServerAdmins refused h::erase,
        "The erasures: when, and how many documents", "", "", OK;
    post "/{db}/_erase" ServerAdmins refused h::erase,
        "Removes documents from every moment", "settle:boolean", IDS, OK;
    get "/{db}/_purged_infos" Members refused h::purge,
        "The purged revisions", "", "", OK;
    get "/{db}/_purged_infos_limit" ServerAdmins refused h::purge,
        "How many purges are remembered", "", "", &[(200, Form::Json)];
    put "/{db}/_purged_infos_limit" ServerAdmins refused h::purge,
        "Sets how many purges are remembered", "", NUMBER, OK;
    get "/{db}/_access" Admins refused h::access,
        "The rule by which users read and write documents", "explain:boolean", "", OK;
    put "/{db}/_access" Admins refused h::access,
        "Sets the access rule", "", EMPTY, OK;
    delete "/{db}/_access" Admins refused h::access,
        "Removes the access rule", "", "", OK;
    get "/{db}/_leaves" Members refused h::leaves,
        "All leaves after a position, in one stream of lines", "since:string", "", &[(200, Form::None)];
    get "/{db}/_schema" Members refused h::schema,
        "The JSON Schema that documents have to fit", "history:boolean at:string", "", OK;
    put "/{db}/_schema" Admins refused h::schema,
        "Sets the JSON Schema, or tests existing documents", "check:boolean", EMPTY, OK;
    delete "/{db}/_schema" Admins refused h::schema,
        "Removes the JSON Schema", "", "", OK;
    get "/{db}/_security" Members refused h::security,
        "Which users and roles may use the database", "", "", OK;
    put "/{db}/_security" Admins refused h::security,
        "Sets which users and roles may use the database", "", SECURITY, OK;
    post "/{db}/_compact" Admins refused h::maintenance,
        "Gives up the bodies of revisions that are no leaves", "", EMPTY, &[(202, Form::Object)];
    post "/{db}/_view_cleanup" Admins refused h::view_cleanup,
        "Drops rows of views that no design document has", "", EMPTY, &[(202, Form::Object)];
    post "/{db}/_ensure_full_commit" Members served h::full_commit,
        "Does nothing: acknowledged writes are durable already", "", EMPTY, CREATED;
    get "/{db}/_revs_limit" Members refused h::maintenance,
        "How many revisions of a document are remembered", "", "", &[(200, Form::Json)];
    put "/{db}/_revs_limit" Admins refused h::maintenance,
        "Sets how many revisions of a document are remembered", "", NUMBER, OK;
    get "/{db}/_retention" Members refused h::retention,
        "How much of the past is kept", "", "", &[(200, Form::Json)];
    put "/{db}/_retention" Admins refused h::retention,
        "Sets how much of the past is kept", "", STRING, &[(200, Form::Json)];
    get "/{db}/_expiry" Members refused h::expiry,
        "Which member says when a document is deleted", "", "", &[(200, Form::Json)];
    put "/{db}/_expiry" Admins refused h::expiry,
        "Sets which member says when a document is deleted", "", EXPIRY, &[(200, Form::Json)];
    get "/{db}/_topics" Members refused h::topics,
        "The topics that somebody listens to; feed=eventsource listens", "match:string feed:feed", "", &[(200, Form::Json)];
    post "/{db}/_topics/{topic}" Members refused h::topics,
        "Says something to who listens to a topic", "", ANY, OK;
    get "/{db}/_consumers" Members refused h::consumers,
        "The names of the database's consumers", "", "", OK;
    put "/{db}/_consumers/{consumer}" Admins refused h::consumers,
        "Makes a consumer, or serves it otherwise", "", CONSUMER, &[(200, Form::Object), (201, Form::Object)];
    get "/{db}/_consumers/{consumer}" Members refused h::consumers,
        "How a consumer is served, and where it stands", "", "", OK;
    delete "/{db}/_consumers/{consumer}" Admins refused h::consumers,
        "Forgets a consumer", "", "", OK;
    post "/{db}/_consumers/{consumer}/fetch" Members refused h::consumers,
        "Hands out the next messages", "", FETCH, OK;
    post "/{db}/_consumers/{consumer}/acknowledge" Members refused h::consumers,
        "Messages were dealt with", "", MESSAGES, OK;
    post "/{db}/_consumers/{consumer}/give_back" Members refused h::consumers,
        "Messages were not dealt with", "", GIVE_BACK, OK;
    get "/{db}/_shards" Members refused h::shards,
        "The ranges of ids and their nodes: one range, one node", "", "", OK;
    post "/{db}/_sync_shards" ServerAdmins refused h::shards,
        "Does nothing: there is one node", "", EMPTY, &[(202, Form::Object)];
    // What OpenAPI does not know or does not name.
    any "/_utils" Everybody refused h::console, "The console", "", "", OK;
    any "/_node/{node}" ServerAdmins refused h::node, "The node's name", "", "", OK;
    any "/{db}/_temp_view" Members refused h::temporary_view, "Gone, as in CouchDB", "", "", OK;
    any "/{db}/_design/{name}/{attachment}" Members refused h::design_attachment, "An attachment of a design document", "at:string", "", OK;
    // What CouchDB has and this server does not: 501, after the right was asked.
    any "/_reshard" ServerAdmins refused h::not_there, SHARDS, "", "", NOT_THERE;
    any "/_search_analyze" ServerAdmins refused h::not_there, SEARCH, "", "", NOT_THERE;
    any "/_nouveau_analyze" ServerAdmins refused h::not_there, SEARCH, "", "", NOT_THERE;
    any "/_node/{node}/_smoosh" ServerAdmins refused h::not_there, STATISTICS, "", "", NOT_THERE;
    any "/_node/{node}/_restart" ServerAdmins refused h::not_there, RESTARTING, "", "", NOT_THERE;
    any "/{db}/_search_cleanup" Admins refused h::not_there, SEARCH, "", "", NOT_THERE;
    any "/{db}/_nouveau_cleanup" Admins refused h::not_there, SEARCH, "", "", NOT_THERE;
    any "/{db}/_design/{name}/_search" Members refused h::not_there, SEARCH, "", "", NOT_THERE;
    any "/{db}/_design/{name}/_search_info" Members refused h::not_there, SEARCH, "", "", NOT_THERE;
    any "/{db}/_design/{name}/_nouveau" Members refused h::not_there, SEARCH, "", "", NOT_THERE;
    any "/{db}/_design/{name}/_nouveau_info" Members refused h::not_there, SEARCH, "", "", NOT_THERE;
};
