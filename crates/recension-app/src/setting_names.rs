//! The names of settings: those that have an effect, and those of CouchDB that clients and set-up scripts put and that
//! have none here. Any other is a mistake, and is refused, but for sections of a program's own over HTTP. Pure.

use recension::conditions::similar;

use recension_wire::error::{ApiError, Result};

/// The settings that have an effect at once. Besides them there are `admins`, `jwt_keys` and older names of sections.
pub const KNOWN: [(&str, &str); 25] = [
    ("chttpd", "enable_cors"),
    ("chttpd", "max_http_request_size"),
    ("chttpd", "require_valid_user"),
    ("chttpd", "require_valid_user_except_for_up"),
    ("chttpd_auth", "allow_persistent_cookies"),
    ("chttpd_auth", "iterations"),
    ("chttpd_auth", "same_site"),
    ("chttpd_auth", "secret"),
    ("chttpd_auth", "timeout"),
    ("cors", "credentials"),
    ("cors", "headers"),
    ("cors", "max_age"),
    ("cors", "methods"),
    ("cors", "origins"),
    ("couchdb", "max_document_size"),
    ("couchdb", "os_process_timeout"),
    ("couchdb", "users_db_security_editable"),
    ("httpd", "enable_cors"),
    ("jwt_auth", "required_claims"),
    ("jwt_auth", "required_typ"),
    ("jwt_auth", "roles_claim_name"),
    ("jwt_auth", "roles_claim_path"),
    ("log", "level"),
    ("uuids", "algorithm"),
    ("uuids", "utc_id_suffix"),
];

/// Settings that the configuration has, and that a server reads when it starts.
pub const OF_START: [(&str, &str); 2] = [("chttpd", "port"), ("chttpd", "bind_address")];

/// Whether a setting has an effect when it is changed.
pub fn is_known(section: &str, key: &str) -> bool {
    let older = AUTH.contains(&section) && (is_of("chttpd", key) && key.starts_with("require_valid_user"));
    let of_cookies = COOKIE.contains(&section) && is_of("chttpd_auth", key);
    SECRETS.contains(&section) || older || of_cookies || is_of(section, key)
}

/// What whoever puts a setting is told besides, if it has no effect.
pub fn note(section: &str, key: &str) -> Option<&'static str> {
    match is_known(section, key) {
        true => None,
        false if OF_START.contains(&(section, key)) => Some(
            "This is kept and has no effect: the server reads it from its configuration as it starts; change it there.",
        ),
        false => Some("This is kept and has no effect: it is no setting of Recension."),
    }
}

fn is_of(section: &str, key: &str) -> bool {
    KNOWN.contains(&(section, key))
}

/// The sections where CouchDB 3, or an older one, looks for rules of log-in.
pub(crate) const AUTH: [&str; 3] = ["chttpd", "chttpd_auth", "couch_httpd_auth"];

/// The sections where it looks for the properties of cookies.
pub const COOKIE: [&str; 2] = ["chttpd_auth", "couch_httpd_auth"];

/// Sections whose keys are names, and whose values are not shown: put in one of another name, they would be.
const SECRETS: [&str; 2] = ["admins", "jwt_keys"];

/// Sections of CouchDB with names that its users choose, or whose settings are about what there is not here.
const SECTIONS: [&str; 53] = [
    "attachments",
    "chttpd_auth_cache",
    "chttpd_auth_lockout",
    "cluster",
    "compaction_daemon",
    "compactions",
    "couch_passwords_cache",
    "couch_peruser",
    "couch_quickjs_scanner_plugin",
    "couchdb_engines",
    "csp",
    "custodian",
    "daemons",
    "database_compaction",
    "ddoc_cache",
    "disk_monitor",
    "dreyfus",
    "fabric",
    "feature_flags",
    "features",
    "global_changes",
    "httpd_db_handlers",
    "httpd_design_handlers",
    "httpd_global_handlers",
    "indexers",
    "ioq",
    "ioq.bypass",
    "ken",
    "mango",
    "mem3",
    "native_query_servers",
    "nouveau",
    "off_heap_mqd",
    "os_daemons",
    "process_priority",
    "prometheus",
    "purge",
    "query_server_config",
    "query_servers",
    "quickjs",
    "replicator",
    "replicator.shares",
    "reshard",
    "rexi",
    "ssl",
    "stats",
    "uuids",
    "vendor",
    "vhosts",
    "view_compaction",
    "view_updater",
    "view_upgrade",
    "x_frame_options",
];

/// Settings of CouchDB in the sections that are known here.
const OF_COUCHDB: [(&str, &[&str]); 7] = [
    (
        "couchdb",
        &[
            "attachment_stream_buffer_size",
            "attachment_writer_timeout",
            "btree_chunk_size",
            "changes_doc_ids_optimization_threshold",
            "checkpoint_after",
            "compaction_log_level",
            "database_dir",
            "database_prefix",
            "default_engine",
            "default_security",
            "delayed_commits",
            "doc_buffer_size",
            "enable_database_recovery",
            "engine",
            "file_compression",
            "fsync_options",
            "js_engine",
            "maintenance_mode",
            "max_attachment_size",
            "max_dbs_open",
            "max_document_id_length",
            "max_partition_size",
            "plugin_dir",
            "single_node",
            "stem_interactive_updates",
            "update_lru_on_read",
            "uri_file",
            "users_db_public",
            "users_db_suffix",
            "util_driver_dir",
            "uuid",
            "view_index_dir",
            "write_xxhash_checksums",
        ],
    ),
    ("chttpd", OF_HTTP),
    ("httpd", OF_HTTP),
    ("chttpd_auth", OF_LOG_IN),
    ("couch_httpd_auth", OF_LOG_IN),
    (
        "log",
        &[
            "file",
            "filter_fields",
            "include_sasl",
            "max_message_size",
            "report_level",
            "strip_last_msg",
            "syslog_appid",
            "syslog_enterprise_number",
            "syslog_facility",
            "syslog_host",
            "syslog_port",
            "write_buffer",
            "write_delay",
            "writer",
        ],
    ),
    ("jwt_auth", &["allowed_algorithms", "leeway"]),
];

const OF_HTTP: &[&str] = &[
    "WWW-Authenticate",
    "admin_only_all_dbs",
    "allow_jsonp",
    "authentication_handlers",
    "backlog",
    "bind_address",
    "buffer_response",
    "bulk_get_use_batches",
    "changes_timeout",
    "config_whitelist",
    "decode_plus_to_space",
    "decompress",
    "default_handler",
    "disconnect_check_jitter_msec",
    "disconnect_check_msec",
    "enable_cors",
    "enable_xframe_options",
    "max_connections",
    "max_db_number_for_dbs_info_req",
    "max_http_request_size",
    "max_uri_length",
    "port",
    "prefer_minimal",
    "redirect_vhost_handler",
    "rewrite_limit",
    "scrub_json_request",
    "secure_rewrites",
    "server_header_versions",
    "server_options",
    "socket_options",
    "vhost_global_handlers",
    "x_forwarded_host",
    "x_forwarded_proto",
    "x_forwarded_ssl",
];

const OF_LOG_IN: &[&str] = &[
    "auth_cache_size",
    "authentication_db",
    "authentication_redirect",
    "cookie_domain",
    "hash_algorithms",
    "max_iterations",
    "min_iterations",
    "password_regexp",
    "password_scheme",
    "pbkdf2_prf",
    "proxy_use_secret",
    "public_fields",
    "upgrade_hash_on_auth",
    "users_db_public",
    "x_auth_roles",
    "x_auth_token",
    "x_auth_username",
];

/// Refuses a setting that neither Recension nor CouchDB has.
///
/// # Errors
/// 400 `unknown_setting`, with the name that was perhaps meant.
pub fn check(section: &str, key: &str) -> Result<()> {
    let of_section = OF_COUCHDB.iter().filter(|(own, _)| *own == section).flat_map(|(_, keys)| *keys);
    let free = SECTIONS.contains(&section) || section.starts_with("smoosh") || section.starts_with("couch_scanner");
    if free || is_known(section, key) || of_section.clone().any(|own| *own == key) {
        return Ok(());
    }
    let own = KNOWN.iter().map(|(section, key)| format!("{section}/{key}"));
    let others = OF_COUCHDB.iter().flat_map(|(section, keys)| keys.iter().map(move |key| format!("{section}/{key}")));
    let names: Vec<String> = own.chain(others).chain(SECRETS.map(|section| format!("{section}/{key}"))).collect();
    let wanted = format!("{section}/{key}");
    let meant = similar(&wanted, names.iter().map(String::as_str));
    let meant = meant.map_or(String::new(), |name| format!(" Perhaps {name} is meant."));
    Err(ApiError::new(
        http::StatusCode::BAD_REQUEST,
        "unknown_setting",
        format!("There is no setting {wanted}.{meant}"),
    ))
}

/// The same for what a client puts: CouchDB keeps whatever is put in sections of a program's own. Those whose names are
/// close to one of ours are mistakes.
///
/// # Errors
/// As [`check`].
pub fn check_put(section: &str, key: &str) -> Result<()> {
    let others = || OF_COUCHDB.iter().map(|(own, _)| *own).chain(SECTIONS).chain(SECRETS);
    let ours = || KNOWN.iter().map(|(own, _)| *own).chain(others());
    let own_section = ours().all(|own| own != section) && similar(section, ours()).is_none();
    if own_section { Ok(()) } else { check(section, key) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_nobody_has_are_refused_and_what_set_up_scripts_put_is_not() {
        for (section, key) in [
            ("chttpd", "require_valid_user"),
            ("chttpd_auth", "require_valid_user"),
            ("httpd", "WWW-Authenticate"),
            ("httpd", "enable_cors"),
            ("chttpd", "max_http_request_size"),
            ("couchdb", "max_document_size"),
            ("cors", "origins"),
            ("cors", "credentials"),
            ("couchdb", "single_node"),
            ("couchdb", "delayed_commits"),
            ("couch_peruser", "enable"),
            ("admins", "any body"),
            ("jwt_keys", "hmac:x"),
            ("log", "level"),
            ("couch_httpd_auth", "timeout"),
            ("smoosh.ratio_dbs", "min_priority"),
            ("replicator", "max_jobs"),
        ] {
            assert!(check(section, key).is_ok(), "{section}/{key}");
        }
        for (section, key, said) in [
            ("cors", "orgins", "Perhaps cors/origins is meant."),
            ("chttpd", "require_valid_users", "Perhaps chttpd/require_valid_user is meant."),
            ("nosuch", "thing", "There is no setting nosuch/thing."),
        ] {
            let error = check(section, key).unwrap_err();
            assert_eq!(error.error, "unknown_setting");
            assert!(error.reason.contains(said), "{}", error.reason);
        }
        assert!(note("cors", "origins").is_none() && note("log", "level").is_none());
        for (section, key) in [("chttpd", "port"), ("couchdb", "single_node"), ("my_program", "thing")] {
            assert!(note(section, key).is_some_and(|note| note.contains("no effect")), "{section}/{key}");
        }
        assert!(check_put("my_program", "thing").is_ok());
        // Its password would be kept as it is, and shown, and nobody were an admin by it.
        let reason = check_put("Admins", "ada").unwrap_err().reason;
        assert!(reason.contains("Perhaps admins/ada is meant."), "{reason}");
        for (section, key) in [("corz", "origins"), ("cors", "orgins"), ("chtpd", "port"), ("jwt_key", "hmac:a")] {
            assert_eq!(check_put(section, key).unwrap_err().error, "unknown_setting", "{section}/{key}");
        }
    }
}
