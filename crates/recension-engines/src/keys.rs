//! Where the key of an encrypted store comes from: a file, the environment, a command, or a file with a passphrase.
//! No key is ever an argument of a process, nor part of an error or of a log.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use recension::Key;
use recension::engine::{EngineError, NativeOptions, Result};

/// The variable that a key may be in.
pub const KEY_VARIABLE: &str = "RECENSION_KEY";
/// Bytes of a file with a key, or of what a command prints, at most.
const TEXT_BYTES_MAX: u64 = 4096;

/// Where to look for a key. One place at most is named; the environment counts where none is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeySource {
    /// A file with 64 hexadecimal digits, or base64.
    pub file: Option<PathBuf>,
    /// A command that prints as much.
    pub command: Option<String>,
    /// A file with a passphrase.
    pub passphrase_file: Option<PathBuf>,
    /// The file of the keys of the store's collections, if it is not in the store's folder.
    pub collection_keys: Option<PathBuf>,
}

impl KeySource {
    /// Whether no place of a key is named.
    pub fn is_empty(&self) -> bool {
        matches!(self, KeySource { file: None, command: None, passphrase_file: None, .. })
    }

    /// Options of opening a native store, with its key.
    ///
    /// # Errors
    /// As [`KeySource::key`].
    pub fn options(&self) -> Result<NativeOptions> {
        let collection_keys = self.collection_keys.clone();
        Ok(NativeOptions { key: self.key()?, collection_keys, ..NativeOptions::default() })
    }

    /// The key, if there is one in a named place or in the environment.
    ///
    /// # Errors
    /// [`EngineError::Key`]: two places are named, or there is no key in the one that is.
    pub fn key(&self) -> Result<Option<Key>> {
        match (&self.file, &self.command, &self.passphrase_file) {
            (None, None, None) => match std::env::var_os(KEY_VARIABLE).filter(|text| !text.is_empty()) {
                None => Ok(None),
                Some(text) => self::key(KEY_VARIABLE, Key::parse(&text.to_string_lossy())),
            },
            (Some(file), None, None) => self::key(&told(file), Key::parse(&text(file)?)),
            (None, Some(command), None) => self::key("the command for the key", Key::parse(&printed(command)?)),
            (None, None, Some(file)) => self::key(&told(file), Key::passphrase(&text(file)?)),
            _ => Err(refused("the key", "give one of --key-file, --key-command and --passphrase-file, not two")),
        }
    }
}

fn told(file: &Path) -> String {
    file.display().to_string()
}

fn refused(whose: &str, why: &str) -> EngineError {
    EngineError::Key { store: whose.to_owned(), why: why.to_owned() }
}

fn key(whose: &str, key: std::result::Result<Key, &'static str>) -> Result<Option<Key>> {
    key.map(Some).map_err(|why| refused(whose, why))
}

fn text(path: &Path) -> Result<String> {
    let wrong = |error| EngineError::io(format!("opening the file of a key {}", told(path)), error);
    let file = File::open(path).map_err(wrong)?;
    let about = file.metadata().map_err(wrong)?;
    // A file that the system hands to a service is root's, and its group is the service's.
    let others = if about.uid() == 0 { 0o037 } else { 0o077 };
    if about.is_file() && about.mode() & others != 0 {
        return Err(refused(&told(path), &format!("others may read it; chmod 600 {}", told(path))));
    }
    bounded(file, &told(path))
}

fn bounded(from: impl Read, whose: &str) -> Result<String> {
    let mut text = String::new();
    match from.take(TEXT_BYTES_MAX + 1).read_to_string(&mut text) {
        Ok(len) if len as u64 <= TEXT_BYTES_MAX => Ok(text),
        Ok(_) => Err(refused(whose, "this is too long to be a key")),
        Err(error) if error.kind() == std::io::ErrorKind::InvalidData => Err(refused(whose, "this is no text")),
        Err(error) => Err(EngineError::io(format!("reading {whose}"), error)),
    }
}

fn printed(command: &str) -> Result<String> {
    let doing = |what: &'static str| move |error| EngineError::io(what, error);
    let mut child = Command::new("sh")
        .args(["-c", command])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(doing("starting the command for the key"))?;
    let text = child.stdout.take().map_or(Ok(String::new()), |out| bounded(out, "the command for the key"));
    let ended = child.wait().map_err(doing("waiting for the command for the key"))?;
    // A command whose output is too long ends by a signal: the output is what is wrong.
    let text = text?;
    if ended.success() { Ok(text) } else { Err(refused("the command for the key", &format!("it failed ({ended})"))) }
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_key_comes_from_a_file_or_a_command_and_no_error_shows_it() {
        let dir = tempfile::tempdir().unwrap();
        let (key_file, words_file) = (dir.path().join("key"), dir.path().join("words"));
        let digits = "5eed".repeat(16);
        std::fs::write(&key_file, format!("{digits}\n")).unwrap();
        std::fs::write(&words_file, "a passphrase\n").unwrap();
        let mode = |file: &Path, mode| std::fs::set_permissions(file, Permissions::from_mode(mode)).unwrap();
        for readable in [0o644, 0o602, 0o604] {
            mode(&key_file, readable);
            let source = KeySource { file: Some(key_file.clone()), ..KeySource::default() };
            let error = source.key().unwrap_err().to_string();
            assert!(error.contains("chmod 600") && !error.contains("5eed5eed"), "{error}");
        }
        mode(&key_file, 0o600);
        mode(&words_file, 0o400);
        let of_file = KeySource { file: Some(key_file.clone()), ..KeySource::default() };
        assert_eq!(of_file.key().unwrap(), Some(Key::parse(&digits).unwrap()));
        let of_words = KeySource { passphrase_file: Some(words_file), ..KeySource::default() };
        assert_eq!(of_words.key().unwrap(), Some(Key::passphrase("a passphrase").unwrap()));
        let of_command = |command: String| KeySource { command: Some(command), ..KeySource::default() };
        let printed = of_command(format!("cat '{}'", key_file.display())).key().unwrap();
        assert_eq!(printed, of_file.key().unwrap());
        for (source, wanted) in [
            (of_command("exit 3".to_owned()), "failed"),
            (of_command(format!("echo {}", &digits[1..])), "64 hexadecimal digits"),
            (of_command("yes 5eed".to_owned()), "too long"),
            (KeySource { file: Some(key_file.clone()), ..of_command("true".to_owned()) }, "not two"),
            (KeySource { file: Some(dir.path().join("none")), ..KeySource::default() }, "opening"),
        ] {
            let error = source.key().unwrap_err().to_string();
            assert!(error.contains(wanted) && !error.contains("5eed5eed"), "{error}");
        }
    }
}
