//! Whether two processes of one store would answer a request alike.

use sha2::{Digest as _, Sha256};

use super::Config;

impl Config {
    /// A hash of the release and of every setting that decides what a request that only reads is answered, or by which
    /// rights. Processes with the same one may answer each other's requests (docs/handed-requests.md).
    pub fn alike(&self) -> String {
        // A new setting has to be put among those that count, or among those that do not.
        let Config {
            admins,
            admin_party,
            cors,
            settings,
            tls_certificate,
            max_document_size,
            max_request_size,
            // Where the store is, which both have found, and how it is opened, which only its owner does.
            store: _,
            key_file: _,
            key_command: _,
            passphrase_file: _,
            collection_keys: _,
            // Where the server listens.
            listen: _,
            unix_socket: _,
            tls_key: _,
            apocrypha: _,
            engine: _,
            redis: _,
            // What it does besides answering.
            backups: _,
            log: _,
            log_json: _,
            log_requests: _,
            // Functions of design documents, which no such request needs.
            script_worker: _,
            // What the process that answers has to spare.
            max_body_memory: _,
            max_list_memory: _,
            list_threads: _,
            max_connections: _,
            head_seconds: _,
            body_idle_seconds: _,
            shutdown_seconds: _,
            reader_seconds: _,
        } = self;
        let has_tls = tls_certificate.is_some();
        let all = (
            env!("CARGO_PKG_VERSION"),
            (admins, admin_party, cors, settings, has_tls, max_document_size, max_request_size),
        );
        // Text and numbers: it does not fail.
        let text = serde_json::to_vec(&all).unwrap_or_default();
        Sha256::digest(&text).iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_decides_an_answer_counts_and_what_concerns_one_process_does_not() {
        let own = Config::default();
        let alike = |change: fn(&mut Config)| {
            let mut other = own.clone();
            change(&mut other);
            other.alike() == own.alike()
        };
        assert!(alike(|config| config.store = "elsewhere".to_owned()));
        assert!(alike(|config| config.log = "debug".to_owned()));
        assert!(alike(|config| config.listen.set_port(1)));
        assert!(alike(|config| config.max_list_memory += 1));
        assert!(!alike(|config| config.admin_party = true));
        assert!(!alike(|config| config.admins.push("a:b".to_owned())));
        assert!(!alike(|config| config.cors.enabled = true));
        assert!(!alike(|config| config.tls_certificate = Some("x".into())));
        assert!(!alike(|config| config.max_document_size += 1));
        assert!(!alike(|config| {
            let secret = [("secret".to_owned(), super::super::SettingText("s".to_owned()))].into();
            config.settings.insert("chttpd_auth".to_owned(), secret);
        }));
    }
}
