//! `recension key`: keys of encrypted stores. A key is printed by `new` alone, once; no other line shows one.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Subcommand};
use recension::disk::{Disk, FsDisk};
use recension::engine::native::{KeyStatus, NativeEngine, NativeOptions, add_key, change_key, key_status};
use recension::engine::{TreeKey, TreeKeyState};
use recension::format_time;
use recension::{CollectionKeyOptions, Key};
use recension_engines::{Address, KeySource};
use serde_json::json;

use crate::context::{Context, Missing};
use crate::error::{CliError, Result};
use crate::output::{bytes, count};

const EXAMPLES: &str = "\
Examples:
  (umask 077; recension key new > notes.key)
  recension import notes notes.json --store notes.store --key-file notes.key
  recension key status --store notes.store --key-file notes.key
  recension key rotate-master --store notes.store --key-file notes.key --new-key-file new.key
  recension key rotate --store notes.store --key-file new.key

A store that is created with a key is encrypted. If you lose the key, you lose the store: keep a copy of the \
key, but not beside the store.";

/// Make a key, show the keys of an encrypted store, and change them
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct KeyCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print a new key: 64 hexadecimal digits
    #[command(after_help = "Examples:\n  umask 077\n  recension key new > notes.key")]
    New,
    /// Show the keys of the store, and how much each has encrypted
    #[command(after_help = "Examples:\n  recension key status --store notes.store --key-file notes.key")]
    Status,
    /// Change the key that opens the store; nothing else is written again
    #[command(
        after_help = "Examples:\n  recension key rotate-master --store notes.store --key-file notes.key --new-key-file \
                            new.key"
    )]
    RotateMaster {
        /// The new key: a file
        #[arg(long, value_name = "FILE", required_unless_present = "new_passphrase_file")]
        new_key_file: Option<PathBuf>,
        /// A passphrase instead: a file
        #[arg(long, value_name = "FILE", conflicts_with = "new_key_file")]
        new_passphrase_file: Option<PathBuf>,
    },
    /// Make a new inner key, and encrypt everything again with it
    #[command(after_help = "Examples:\n  recension key rotate --store notes.store --key-file new.key")]
    Rotate,
    /// Give a new collection a separate key, so that it can be destroyed
    #[command(after_help = COLLECTION)]
    Collection {
        /// The collection: a new one; or one with a key, to change whether it may have indexes
        collection: String,
        /// Allow indexes and views; backups keep the indexed values even if the key is destroyed
        #[arg(long)]
        with_indexes: bool,
    },
    /// List the current and past keys of collections
    #[command(after_help = "Examples:\n  recension key collections --store notes.store --key-file notes.key")]
    Collections,
    /// Destroy the key of a collection: from then on nobody can read the collection, here or in any backup
    #[command(after_help = DESTROY)]
    Destroy {
        /// The collection
        collection: String,
        /// Do not ask for confirmation
        #[arg(long, short)]
        yes: bool,
    },
}

const COLLECTION: &str = "\
Examples:
  recension key collection patients --store clinic.store --key-file clinic.key
  recension key collection patients --store clinic.store --key-file clinic.key --collection-keys /vault/clinic.keys

The collection is encrypted with its key, and then with the store's. The keys of all collections are in the file \
COLLECTION-KEYS in the store's folder, or in the file of --collection-keys; no backup has it. If you lose that \
file, you lose these collections: keep one copy of it, apart from backups, and replace it when a key is made or \
destroyed.";

const DESTROY: &str = "\
Examples:
  recension key destroy patients --store clinic.store --key-file clinic.key
  recension key destroy patients --store clinic.store --key-file clinic.key --yes

The collection leaves every moment of the store, and backups report that its key was destroyed if they are \
opened with the current file of keys. Replace older copies of that file: they can still decrypt the \
collection. If the command is interrupted, run it again. `recension compact` removes the last bytes from the store's \
files.";

impl KeyCommand {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        match &self.action {
            Action::New => {
                let key = Key::generate().map_err(|error| CliError::io("asking for random bytes", &error))?;
                Ok(context.out.line(&key.to_hex().unwrap_or_default())?)
            }
            Action::Status => {
                let (disk, key) = store(context)?;
                print(&key_status(&disk, &key)?, context)
            }
            Action::RotateMaster { new_key_file, new_passphrase_file } => {
                let new = KeySource {
                    file: new_key_file.clone(),
                    passphrase_file: new_passphrase_file.clone(),
                    ..KeySource::default()
                };
                let new = new.key()?.ok_or_else(|| CliError::Usage("name the new key".to_owned()))?;
                let (disk, key) = store(context)?;
                change_key(&disk, &key, &new)?;
                context.out.remark("the store opens with the new key from now on, and its later backups do, too")?;
                Ok(())
            }
            Action::Rotate => rotate(context),
            Action::Collection { collection, with_indexes } => {
                let options = CollectionKeyOptions { with_indexes: *with_indexes };
                context.store(Missing::Create)?.create_collection_key(collection, options)?;
                Ok(context.out.remark(&format!("{collection} has a key; keep a copy of the file of keys"))?)
            }
            Action::Collections => collections(context),
            Action::Destroy { collection, yes } => {
                let store = context.store(Missing::IsAnError)?;
                let question =
                    format!("Destroy the key of {collection}? Nobody can read the collection then, anywhere");
                context.confirm(*yes, &question)?;
                let rows = store.destroy_collection_key(collection)?;
                let done = format!("the key of {collection} is destroyed; {} rows were erased", count(rows));
                Ok(context.out.remark(&done)?)
            }
        }
    }
}

/// The store's folder and its key.
fn store(context: &Context) -> Result<(Arc<dyn Disk>, Key)> {
    let Address::Native(path) = Address::parse(&context.address())? else {
        return Err(CliError::Usage("only a store in a directory has keys".to_owned()));
    };
    let key = context.key()?.ok_or_else(|| {
        let what = "give the store's key with --key-file, RECENSION_KEY, --key-command or --passphrase-file";
        CliError::Usage(what.to_owned())
    })?;
    Ok((Arc::new(FsDisk::new(path)), key))
}

/// Adds a key, and writes everything anew that older ones have sealed.
fn rotate(context: &mut Context) -> Result<()> {
    let (disk, key) = store(context)?;
    let started = context.started();
    let status = add_key(&disk, &key)?;
    let newest = status.keys.last().copied().unwrap_or_default();
    context.out.remark(&format!("new data is encrypted with key {newest}; compaction encrypts the rest again"))?;
    let engine = NativeEngine::open(
        disk.clone(),
        NativeOptions { create: false, key: Some(key.clone()), ..context.native_options()? },
    )?;
    engine.renew()?;
    engine.close()?;
    print(&key_status(&disk, &key)?, context)?;
    context.remark_time(started)
}

/// The keys of collections, one a line.
fn collections(context: &mut Context) -> Result<()> {
    let keys = context.store(Missing::IsAnError)?.collection_keys();
    let row = |key: TreeKey| {
        let (state, destroyed) = match key.state {
            TreeKeyState::Here => ("here", None),
            TreeKeyState::Elsewhere => ("elsewhere", None),
            TreeKeyState::Destroyed(at) => ("destroyed", Some(format_time(at))),
        };
        vec![json!(key.name), json!(state), json!(format_time(key.made)), json!(destroyed)]
    };
    let rows: Vec<_> = keys.into_iter().map(row).collect();
    Ok(context.out.rows(&["collection", "key", "made", "destroyed"], &rows)?)
}

fn print(status: &KeyStatus, context: &mut Context) -> Result<()> {
    let newest = status.keys.last();
    let of = |key: &u32| status.bytes.get(key).copied().unwrap_or_default();
    if !context.out.for_people() {
        let keys: Vec<_> = status.keys.iter().map(|key| json!({ "key": key, "bytes": of(key) })).collect();
        return Ok(context.out.line(&json!({ "keys": keys, "seals_with": newest }).to_string())?);
    }
    for key in &status.keys {
        let seals = if Some(key) == newest { ", and it seals what is written" } else { "" };
        context.out.line(&format!("key {key}: {} of files{seals}", bytes(of(key))))?;
    }
    Ok(())
}
