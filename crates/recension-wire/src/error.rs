//! Refusals: CouchDB's status, error and reason, in one table. Clients compare these words, so that none is made up
//! elsewhere.

use std::borrow::Cow;

use http::StatusCode;
use recension::Error;
use recension::engine::EngineError;

/// The result of a request.
pub type Result<T> = std::result::Result<T, ApiError>;

/// A refusal: `{"error": …, "reason": …}` with a status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    pub status: StatusCode,
    pub error: &'static str,
    pub reason: Cow<'static, str>,
    /// The allowed methods, for the header `Allow`, if the request's method is not one of them.
    pub allow: Option<&'static str>,
}

/// One row of the table: a refusal whose words never change.
macro_rules! refusals {
    ($($(#[$doc:meta])* $name:ident = $status:ident, $error:literal, $reason:literal;)*) => {
        /// Refusals whose words never change.
        #[allow(dead_code)] // some belong to endpoints to come
        impl ApiError {
            $($(#[$doc])* pub fn $name() -> Self {
                Self::new(StatusCode::$status, $error, $reason)
            })*
        }
    };
}

refusals! {
    no_database = NOT_FOUND, "not_found", "Database does not exist.";
    bad_token = UNAUTHORIZED, "unauthorized", "There is no such API token, or it has ended or was revoked.";
    token_of_other_databases = FORBIDDEN, "forbidden", "The API token is for other databases.";
    token_only_reads = FORBIDDEN, "forbidden", "The API token lets its bearer only read.";
    missing = NOT_FOUND, "not_found", "missing";
    deleted = NOT_FOUND, "not_found", "deleted";
    no_attachment = NOT_FOUND, "not_found", "Document is missing attachment";
    database_exists = PRECONDITION_FAILED, "file_exists",
        "The database could not be created, the file already exists.";
    conflict = CONFLICT, "conflict", "Document update conflict.";
    bad_json = BAD_REQUEST, "bad_request", "invalid UTF-8 JSON";
    bad_rev = BAD_REQUEST, "bad_request", "Invalid rev format";
    no_rev_to_replicate = BAD_REQUEST, "bad_request",
        "When `new_edits: false`, the document needs `_rev` or `_revisions` specified";
    rev_in_body_differs = BAD_REQUEST, "bad_request",
        "Document rev from request body and query string have different values";
    rev_in_header_differs = BAD_REQUEST, "bad_request", "Document rev and etag have different values";
    not_a_document = BAD_REQUEST, "bad_request", "Document must be a JSON object";
    not_an_object = BAD_REQUEST, "bad_request", "Request body must be a JSON object";
    referer_required = BAD_REQUEST, "bad_request", "Referer header required.";
    id_not_a_string = BAD_REQUEST, "illegal_docid", "Document id must be a string";
    id_reserved = BAD_REQUEST, "illegal_docid", "Only reserved document ids may start with underscore.";
    id_empty = BAD_REQUEST, "illegal_docid", "Document id must not be empty";
    id_without_partition = BAD_REQUEST, "illegal_docid", "Doc id must be of form partition:id";
    id_too_long = BAD_REQUEST, "illegal_docid", "Document id is too long";
    content_type_not_json = UNSUPPORTED_MEDIA_TYPE, "bad_content_type", "Content-Type must be application/json";
    content_type_no_form = UNSUPPORTED_MEDIA_TYPE, "bad_content_type",
        "Content-Type must be 'application/x-www-form-urlencoded' or 'application/json'";
    no_destination = BAD_REQUEST, "bad_request", "Destination header is mandatory for COPY.";
    destination_not_relative = BAD_REQUEST, "bad_request", "Destination URL must be relative.";
    local_has_no_attachments = BAD_REQUEST, "bad_request", "_local documents do not accept attachments.";
    bad_local_id = BAD_REQUEST, "bad_request", "Invalid _local document id.";
    bad_uuid_count = BAD_REQUEST, "bad_request", "count must be a positive integer";
    too_large = PAYLOAD_TOO_LARGE, "too_large", "the request entity is too large";
    too_many_parts = PAYLOAD_TOO_LARGE, "too_large",
        "A request has 200,000 documents, keys or members at most: send several.";
    target_too_long = URI_TOO_LONG, "bad_request", "The request's path and query are too long.";
    bad_gzip = BAD_REQUEST, "bad_request", "The body is said to be gzip, and does not unpack.";
    bad_content_encoding = UNSUPPORTED_MEDIA_TYPE, "bad_content_encoding",
        "Only gzip and identity content-encodings are supported";
    body_too_slow = REQUEST_TIMEOUT, "timeout", "The request's body did not arrive in time.";
    bad_url_encoding = BAD_REQUEST, "bad_request",
        "invalid_url_encoding: two hexadecimal digits have to follow each %; a % itself is written %25.";
    content_md5_mismatch = BAD_REQUEST, "content_md5_mismatch", "Possible message corruption.";
    bad_target = BAD_REQUEST, "bad_request", "The path or query is not UTF-8 when decoded.";
    forged = FORBIDDEN, "forbidden",
        "A page of another site cannot change anything with your session. Its origin has to be allowed (CORS).";
    stopping = SERVICE_UNAVAILABLE, "service_unavailable", "The server is stopping; try again.";
    too_many_bodies = SERVICE_UNAVAILABLE, "service_unavailable",
        "The memory for bodies of requests is taken by others; try again, or raise max_body_memory.";
    too_many_replications = SERVICE_UNAVAILABLE, "service_unavailable",
        "As many replications run as can; try again when one has ended.";
    asker_gone = SERVICE_UNAVAILABLE, "service_unavailable", "The client has gone; the rest was not done.";
    too_many_lists = SERVICE_UNAVAILABLE, "service_unavailable",
        "The memory for lists is taken by others that are being sent; try again, or raise max_list_memory.";
    too_many_filters = SERVICE_UNAVAILABLE, "service_unavailable",
        "The memory for filters of open feeds is taken by others; try again later, or with a shorter filter.";
    not_server_admin = UNAUTHORIZED, "unauthorized", "You are not a server admin.";
    not_admin_of_database = UNAUTHORIZED, "unauthorized", "You are not a server or db admin.";
    not_admin_of_users = FORBIDDEN, "forbidden", "You are not a db or server admin.";
    authentication_required = UNAUTHORIZED, "unauthorized", "Authentication required.";
    users_security_fixed = FORBIDDEN, "forbidden", "You can't edit the security object of the user database.";
    too_many_attempts = TOO_MANY_REQUESTS, "too_many_requests", "Too many attempts to log in; try again later.";
    too_busy = SERVICE_UNAVAILABLE, "service_unavailable", "Too many passwords are being checked; try again.";
    not_authorized = UNAUTHORIZED, "unauthorized", "You are not authorized to access this db.";
    not_allowed = FORBIDDEN, "forbidden", "You are not allowed to access this db.";
    design_needs_admin_anonymous = UNAUTHORIZED, "unauthorized", "You are not a db or server admin.";
    design_needs_admin = FORBIDDEN, "forbidden", "You are not a db or server admin.";
    bad_password = UNAUTHORIZED, "unauthorized", "Name or password is incorrect.";
    unknown_config_value = NOT_FOUND, "not_found", "unknown_config_value";
    empty_range = BAD_REQUEST, "query_parse_error",
        "No rows can match your key range, reverse your start_key and end_key or set descending=true";
    empty_range_backwards = BAD_REQUEST, "query_parse_error",
        "No rows can match your key range, reverse your start_key and end_key or set descending=false";
}

impl ApiError {
    /// A refusal of any words.
    pub fn new(status: StatusCode, error: &'static str, reason: impl Into<Cow<'static, str>>) -> Self {
        ApiError { status, error, reason: reason.into(), allow: None }
    }

    /// 400 `bad_request` with a reason.
    pub fn bad_request(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", reason)
    }

    /// 500 with a reason.
    pub fn internal(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal_server_error", reason)
    }

    /// 403 `forbidden` with a reason.
    pub fn forbidden(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", reason)
    }

    /// 400 `query_parse_error` with a reason.
    pub fn query_parse(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "query_parse_error", reason)
    }

    /// The refusal of an attachment's name that begins with `_`.
    pub fn attachment_name(name: &str) -> Self {
        Self::bad_request(format!("Attachment name '{name}' starts with prohibited character '_'"))
    }

    /// 405; `methods` as CouchDB lists them: `GET,HEAD`.
    pub fn method_not_allowed(methods: &'static str) -> Self {
        let reason = format!("Only {methods} allowed");
        ApiError { allow: Some(methods), ..Self::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", reason) }
    }

    /// For a member of a document that begins with `_` and that documents do not have, or not in this form.
    pub fn special_member(name: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "doc_validation", format!("Bad special document member: {name}"))
    }

    /// 503 for a request whose sender's rights have become others before its body had come.
    pub fn rights_changed() -> Self {
        let reason = "Your rights were changed while the request came: send it again.";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "rights_changed", reason)
    }

    /// 503 for a commit that this server has not heard of.
    pub fn behind(asked: u64, head: u64) -> Self {
        let reason = format!(
            "Commit {asked} is asked for (X-Recension-Seq), and this server has the store up to commit {head}; try \
             again, or ask another server."
        );
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "service_unavailable", reason)
    }

    /// 501 for what CouchDB has and this server does not.
    pub fn not_there_yet(what: &str) -> Self {
        let reason = format!("{what}: not there yet; docs/src/compatibility.md says what there is.");
        Self::new(StatusCode::NOT_IMPLEMENTED, "not_implemented", reason)
    }

    /// 400 for a name that no database can have.
    pub fn illegal_database_name(name: &str) -> Self {
        let reason = format!(
            "Name: '{name}'. Only lowercase characters (a-z), digits (0-9), and any of the characters _, $, (, ), +, \
             -, and / are allowed. Must begin with a letter."
        );
        Self::new(StatusCode::BAD_REQUEST, "illegal_database_name", reason)
    }

    /// 400 for a name that no partition can have.
    pub fn illegal_partition(reason: &'static str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "illegal_partition", reason)
    }

    /// 413 for a document.
    pub fn document_too_large(id: &str) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "document_too_large", id.to_owned())
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        match &error {
            Error::Json(_) | Error::NumberOutOfRange { .. } => Self::bad_json(),
            Error::NotAnObject { .. } => Self::not_a_document(),
            Error::ReservedField { field } => Self::special_member(field),
            Error::BadField { field: "_id", expected: "a string" } => Self::id_not_a_string(),
            Error::BadField { field: "_rev", expected: "there: a replica names its revisions" } => {
                Self::no_rev_to_replicate()
            }
            Error::BadField { field: "_rev", .. } | Error::BadRevision { .. } => Self::bad_rev(),
            Error::BadField { field, .. } if field.starts_with('_') => Self::special_member(field),
            Error::BadSelector { error: word, reason } => Self::new(StatusCode::BAD_REQUEST, word, reason.clone()),
            Error::BadCursor { .. } => Self::new(StatusCode::BAD_REQUEST, "invalid_bookmark", error.to_string()),
            Error::Conflict { .. } => Self::conflict(),
            Error::Function { error, reason } => of_function(error, reason),
            Error::Refused { unauthorized: true, reason, .. } => {
                Self::new(StatusCode::UNAUTHORIZED, "unauthorized", reason.clone())
            }
            Error::Refused { reason, .. } => Self::forbidden(reason.clone()),
            // Its words name the document.
            Error::InMerge { error: of_document, .. } | Error::Stopped { error: of_document, .. } => {
                let reason = error.to_string().into();
                ApiError { reason, ..Self::from((**of_document).clone()) }
            }
            Error::NoGuard { .. } => Self::forbidden(error.to_string()),
            Error::Patch(_) => Self::new(StatusCode::UNPROCESSABLE_ENTITY, "patch_failed", error.to_string()),
            Error::BadMoment { .. } | Error::MomentAhead { .. } | Error::Engine(EngineError::NotYet { .. }) => {
                Self::query_parse(error.to_string())
            }
            Error::IndexExists { .. } | Error::Engine(EngineError::Branch { .. } | EngineError::Kept { .. }) => {
                Self::new(StatusCode::CONFLICT, "conflict", error.to_string())
            }
            Error::Engine(EngineError::NoSuchBranch { .. }) => {
                Self::new(StatusCode::NOT_FOUND, "not_found", error.to_string())
            }
            Error::Engine(EngineError::Forgotten { .. }) => Self::new(StatusCode::GONE, "gone", error.to_string()),
            Error::NoSuchCollection { .. } => Self::no_database(),
            Error::NoSuchDocument { .. } | Error::NoSuchRevision { .. } => Self::missing(),
            Error::NoSuchAttachment { .. } => Self::no_attachment(),
            Error::MissingStub { id, name } => {
                let reason = format!("Invalid attachment stub in {id} for {name}");
                Self::new(StatusCode::PRECONDITION_FAILED, "missing_stub", reason)
            }
            Error::BadName { what: "document", name, .. } if name.is_empty() => Self::id_empty(),
            Error::BadName { what: "document", name, .. } if name == "_design/" || name == "_local/" => {
                Self::new(StatusCode::BAD_REQUEST, "illegal_docid", format!("Illegal document id `{name}`"))
            }
            Error::BadName { what: "document", name, .. } if name.starts_with('_') => Self::id_reserved(),
            Error::BadName { what: "document", .. } => Self::id_too_long(),
            Error::BadName { what: "attachment", name, .. } if name.starts_with('_') => Self::attachment_name(name),
            Error::BadAttachment { name, .. } => Self::bad_request(format!("Invalid attachment data for {name}")),
            Error::Engine(EngineError::BadBranch { .. })
            | Error::ViewBehind { .. }
            | Error::OutOfBounds { .. }
            | Error::BadPosition { .. }
            | Error::PositionAhead { .. }
            | Error::BadName { .. }
            | Error::BadQuery { .. }
            | Error::AggregateTooLarge { .. }
            | Error::SortTooLarge { .. }
            | Error::RevisionIsDeletion { .. }
            | Error::IndexNotUsable { .. }
            | Error::NoSuchIndex { .. }
            | Error::TooManyIndexes { .. }
            | Error::BadIndex { .. }
            // Of no document: a token, a message, a value.
            | Error::BadField { .. } => Self::bad_request(error.to_string()),
            Error::BadSchema { .. } => Self::new(StatusCode::BAD_REQUEST, "bad_schema", error.to_string()),
            Error::NotOfSchema { .. }
            | Error::NotUnique { .. }
            | Error::ValueTooLong { .. }
            | Error::TooManyEntries { .. } => Self::new(StatusCode::FORBIDDEN, "forbidden", error.to_string()),
            Error::TooManyAttachments { .. }
            | Error::AttachmentTooLong { .. }
            | Error::TooManyRevisions { .. }
            | Error::Engine(EngineError::TooLarge { .. })
            | Error::TooManyBranches { .. } => Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", error.to_string()),
            Error::Engine(EngineError::Unsupported { .. } | EngineError::NotBuiltIn { .. }) => {
                Self::new(StatusCode::NOT_IMPLEMENTED, "not_implemented", error.to_string())
            }
            // A shared log that cannot be reached, has moved, or went back behind this node: the client tries another
            // time, or another place.
            Error::Engine(
                EngineError::Unavailable { .. }
                | EngineError::Unknown { .. }
                | EngineError::Moved { .. }
                | EngineError::Diverged { .. },
            )
            | Error::Busy { .. } => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "service_unavailable", error.to_string())
            }
            _ => {
                tracing::error!(%error, "a request failed");
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal_server_error", error.to_string())
            }
        }
    }
}

/// The answer to an error of a function, if its kind has a status of its own.
fn of_function(error: &str, reason: &str) -> ApiError {
    let (status, error) = match error {
        "not_found" => (StatusCode::NOT_FOUND, "not_found"),
        "bad_request" => (StatusCode::BAD_REQUEST, "bad_request"),
        "forbidden" => (StatusCode::FORBIDDEN, "forbidden"),
        "unauthorized" => (StatusCode::UNAUTHORIZED, "unauthorized"),
        "method_not_allowed" => (StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed"),
        "compilation_error" => (StatusCode::BAD_REQUEST, "compilation_error"),
        "invalid_design_doc" => (StatusCode::BAD_REQUEST, "invalid_design_doc"),
        "not_acceptable" => (StatusCode::NOT_ACCEPTABLE, "not_acceptable"),
        "render_error" => (StatusCode::INTERNAL_SERVER_ERROR, "render_error"),
        "filter_error" => (StatusCode::INTERNAL_SERVER_ERROR, "filter_error"),
        "invalid_value" => (StatusCode::INTERNAL_SERVER_ERROR, "invalid_value"),
        "reduce_overflow_error" => (StatusCode::INTERNAL_SERVER_ERROR, "reduce_overflow_error"),
        "invalid_require_path" => (StatusCode::INTERNAL_SERVER_ERROR, "invalid_require_path"),
        "unknown_query_language" => (StatusCode::INTERNAL_SERVER_ERROR, "unknown_query_language"),
        "rewrite_error" => (StatusCode::INTERNAL_SERVER_ERROR, "rewrite_error"),
        "os_process_error" => (StatusCode::INTERNAL_SERVER_ERROR, "os_process_error"),
        _ => (StatusCode::INTERNAL_SERVER_ERROR, "unnamed_error"),
    };
    ApiError::new(status, error, reason.to_owned())
}
