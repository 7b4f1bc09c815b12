//! `POST /_backup`: a consistent backup of the whole store as a stream of its files. Files that the client has already
//! are left out.
//!
//! The body is `{"have": [[name, bytes, sha256], ...], "earlier": {name: base64, ...}}`. `earlier` has those files of
//! the client's earlier backup that say of which store it is, and how far it goes: another one is not replaced. Each
//! file of the answer is a line of JSON: `{"name", "bytes"}`, followed by this many bytes, or `{"name", "kept": true}`.
//! The last line is `{"seq", "files"}`. A client that does not see it has only a part.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::vec::IntoIter;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::StatusCode;
use recension::engine::{Engine, EngineError};
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::streaming;
use recension_app::auth::Session;
use recension_app::identity::random::new_uuid;
use recension_app::request::{Request, only};
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::CHUNK_BYTES;
use recension_wire::members::object_of;

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct BackupRequest {
    have: Vec<(String, u64, String)>,
    earlier: BTreeMap<String, String>,
}

/// The files that `earlier` may have.
const TELLING: [&str; 3] = ["STORE", "MARK", "KEYS"];

/// `/_backup`
pub async fn endpoint(mut request: Request, session: &Session) -> Result<Answer> {
    only(&request, "POST")?;
    let proof = session.server_admin()?;
    request.require_json()?;
    let body = request.bytes().await?;
    let expected = "An object was expected, with `have`: [[name, bytes, sha256], ...], and `earlier`: {name: base64}.";
    let asked: BackupRequest = if body.is_empty() { Ok(BackupRequest::default()) } else { object_of(&body) }
        .map_err(|_| ApiError::bad_request(expected))?;
    if let Some(other) = asked.earlier.keys().find(|name| !TELLING.contains(&name.as_str())) {
        return Err(ApiError::bad_request(format!("`earlier` has STORE, MARK and KEYS, and no {other:?}.")));
    }
    let app = Arc::clone(&request.app);
    let engine = app.databases.engine(proof);
    let beside = app.config.backups.folder.clone().unwrap_or_else(std::env::temp_dir);
    let files = move || match Files::of(&*engine, &beside, asked) {
        Err(recension::Error::Engine(EngineError::Unsupported { .. })) => {
            Err(ApiError::bad_request("Only a store of the native engine is backed up so."))
        }
        // What the client has is no earlier backup of this store.
        Err(recension::Error::Engine(EngineError::NotAStore { found, .. })) => {
            Err(ApiError::new(StatusCode::CONFLICT, "conflict", format!("The backup's folder has {found}.")))
        }
        Err(recension::Error::Engine(EngineError::Diverged { what })) => {
            Err(ApiError::new(StatusCode::CONFLICT, "conflict", what))
        }
        files => Ok(files?),
    };
    let files = app.blocking(files).await?;
    streaming::bytes(&app, "application/octet-stream", Vec::new(), files, "").await
}

/// The files of a backup, one after the other. The backup's folder is removed with this value.
struct Files {
    folder: Folder,
    have: HashMap<String, (u64, String)>,
    names: IntoIter<String>,
    sending: Option<io::Take<File>>,
    sent: u64,
    /// The last line, until it is sent.
    seq: Option<u64>,
}

/// A folder that is removed with this value.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // If it cannot be removed, it takes room until somebody removes it.
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Files {
    fn of(engine: &dyn Engine, beside: &Path, asked: BackupRequest) -> recension::Result<Self> {
        let folder = Folder(beside.join(format!("recension-stream-{}", new_uuid())));
        // Other users of this machine must not read it.
        let made = fs::DirBuilder::new().mode(0o700).create(&folder.0);
        made.map_err(|error| EngineError::io("making a folder for a backup", error))?;
        for (name, text) in asked.earlier {
            let bytes = STANDARD.decode(text).map_err(|_| io::Error::from(io::ErrorKind::InvalidData));
            let written = bytes.and_then(|bytes| fs::write(folder.0.join(&name), bytes));
            written.map_err(|error| EngineError::io(format!("putting {name} of the earlier backup there"), error))?;
        }
        let head = engine.backup(&folder.0).map_err(|error| without_place(error, &folder.0))?.head;
        let mut names = Vec::new();
        list(&folder.0, "", &mut names).map_err(|error| EngineError::io("listing a backup", error))?;
        names.sort();
        let have = asked.have.into_iter().map(|(name, bytes, sha256)| (name, (bytes, sha256))).collect();
        Ok(Files { folder, have, names: names.into_iter(), sending: None, sent: 0, seq: Some(head.0) })
    }

    fn step(&mut self, out: &mut Vec<u8>) -> io::Result<bool> {
        if let Some(file) = &mut self.sending {
            let most = CHUNK_BYTES as u64;
            let before = out.len();
            let left = file.limit();
            file.by_ref().take(most).read_to_end(out)?;
            let read = (out.len() - before) as u64;
            if read == 0 && left > 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if read == left {
                self.sending = None;
            }
            return Ok(true);
        }
        let line = match self.names.next() {
            Some(name) => {
                self.sent += 1;
                let path = self.folder.0.join(&name);
                let bytes = fs::metadata(&path)?.len();
                let same = match self.have.get(&name) {
                    Some((len, sha256)) if *len == bytes => *sha256 == sha256_of(&path)?,
                    _ => false,
                };
                if same {
                    json!({ "name": name, "kept": true })
                } else {
                    self.sending = Some(File::open(&path)?.take(bytes)).filter(|_| bytes > 0);
                    json!({ "name": name, "bytes": bytes })
                }
            }
            None => match self.seq.take() {
                Some(seq) => json!({ "seq": seq, "files": self.sent }),
                None => return Ok(false),
            },
        };
        out.extend_from_slice(line.to_string().as_bytes());
        out.push(b'\n');
        Ok(true)
    }
}

/// The client knows no folder of this server.
fn without_place(error: EngineError, folder: &Path) -> EngineError {
    match error {
        EngineError::Diverged { what } => {
            EngineError::Diverged { what: what.replace(&format!(" in {}", folder.display()), "") }
        }
        error => error,
    }
}

impl streaming::Rows for Files {
    fn write_next(&mut self, out: &mut Vec<u8>) -> Result<bool> {
        let failed = |error| recension::Error::from(EngineError::io("reading a backup", error));
        Ok(self.step(out).map_err(failed)?)
    }
}

/// The names of files below a folder.
fn list(root: &Path, below: &str, names: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(below))? {
        let entry = entry?;
        let own = entry.file_name().into_string().map_err(|_| io::Error::other("a name that is not UTF-8"))?;
        let name = if below.is_empty() { own } else { format!("{below}/{own}") };
        if entry.file_type()?.is_dir() {
            list(root, &name, names)?;
        } else if name != "lock" {
            names.push(name);
        }
    }
    Ok(())
}

fn sha256_of(path: &Path) -> io::Result<String> {
    let (mut file, mut hash) = (File::open(path)?, Sha256::new());
    let mut piece = vec![0; CHUNK_BYTES];
    loop {
        let read = file.read(&mut piece)?;
        let Some(part) = piece.get(..read).filter(|part| !part.is_empty()) else { break };
        hash.update(part);
    }
    Ok(hex(&hash.finalize()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
