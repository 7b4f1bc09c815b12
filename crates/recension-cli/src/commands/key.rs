//! `recension key`: keys of encrypted stores. A key is printed by `new` alone, once; no other line shows one.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Subcommand};
use recension::Key;
use recension::disk::{Disk, FsDisk};
use recension::engine::native::{KeyStatus, NativeEngine, NativeOptions, add_key, change_key, key_status};
use recension_engines::{Address, KeySource};
use serde_json::json;

use crate::context::Context;
use crate::error::{CliError, Result};
use crate::output::bytes;

const EXAMPLES: &str = "\
Examples:
  (umask 077; recension key new > notes.key)
  recension import notes notes.json --store notes.store --key-file notes.key
  recension key status --store notes.store --key-file notes.key
  recension key rotate-master --store notes.store --key-file notes.key --new-key-file new.key
  recension key rotate --store notes.store --key-file new.key

A store that is made with a key is encrypted. Who loses the key loses the store: keep a copy of it, and not beside the \
store.";

/// Make a key, look at those of an encrypted store, and change them
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
    /// Say which keys the store has, and how much each has sealed
    #[command(after_help = "Examples:\n  recension key status --store notes.store --key-file notes.key")]
    Status,
    /// Change the key that opens the store; nothing else is written anew
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
    /// Give the store a new inner key, and seal everything anew with it
    #[command(after_help = "Examples:\n  recension key rotate --store notes.store --key-file new.key")]
    Rotate,
}

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
                    command: None,
                    passphrase_file: new_passphrase_file.clone(),
                };
                let new = new.key()?.ok_or_else(|| CliError::Usage("name the new key".to_owned()))?;
                let (disk, key) = store(context)?;
                change_key(&disk, &key, &new)?;
                context.out.remark("the store opens with the new key from now on, and its later backups do, too")?;
                Ok(())
            }
            Action::Rotate => rotate(context),
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
    context.out.remark(&format!("key {newest} seals what is written from now on; settling writes the rest anew"))?;
    let engine = NativeEngine::open(
        disk.clone(),
        NativeOptions { create: false, key: Some(key.clone()), ..NativeOptions::default() },
    )?;
    engine.renew()?;
    engine.close()?;
    print(&key_status(&disk, &key)?, context)?;
    context.remark_time(started)
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
