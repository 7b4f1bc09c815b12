//! `recension token`: API tokens for programs that use the HTTP server.

use std::time::Duration;

use clap::{Args, Subcommand};
use recension_server::tokens::{self, Rights, Wanted};
use serde_json::json;

use crate::context::{Context, Missing};
use crate::error::{CliError, Result};

const EXAMPLES: &str = "\
Examples:
  recension token create reports --database 'orders*' --rights read --expires 30d
  recension token create backup --rights server
  recension token list
  recension token revoke dGhlIGlk

A program sends it as `Authorization: Bearer rec_...`. The store keeps only its hash: if you lose a token, \
create another.

Rights:
  metrics  read the server's metrics (Prometheus) and nothing else; not for single databases
  read     read documents
  write    read and write documents
  admin    also design documents, indexes and everything else that a database's admin may do
  server   everything, like a server admin; not for single databases";

/// Create, list and revoke API tokens for programs
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct TokenCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Create a token and print it; it is not shown again
    #[command(
        after_help = "Examples:\n  recension token create reports --database 'orders*' --rights read --expires 30d"
    )]
    Create {
        /// A name that says what it is for
        name: String,
        /// A database that it may use, or a pattern such as 'orders*' (can be repeated)
        #[arg(long, value_name = "DATABASE")]
        database: Vec<String>,
        /// Its rights: metrics, read, write, admin or server
        #[arg(long, default_value = "read")]
        rights: Rights,
        /// When it expires, such as 30d or 12h (units: s, m, h, d, w); by default never
        #[arg(long, value_name = "DURATION", value_parser = duration)]
        expires: Option<Duration>,
    },
    /// List the tokens that have not expired
    #[command(after_help = "Examples:\n  recension token list")]
    List,
    /// Revoke a token: it is no longer accepted
    #[command(after_help = "Examples:\n  recension token revoke dGhlIGlk")]
    Revoke {
        /// Its id, from `token list`
        id: String,
    },
}

fn duration(text: &str) -> std::result::Result<Duration, String> {
    let wrong = || format!("\"{text}\" is not a duration: expected a number and s, m, h, d or w");
    let unit = match text.chars().last().ok_or_else(wrong)? {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        'w' => 7 * 86_400,
        _ => return Err(wrong()),
    };
    let number = text[..text.len() - 1].parse::<u64>().ok().filter(|number| *number > 0).ok_or_else(wrong)?;
    number.checked_mul(unit).map(Duration::from_secs).ok_or_else(wrong)
}

impl TokenCommand {
    /// Runs the command.
    pub fn run(&self, context: &mut Context) -> Result<()> {
        // The server asks the main line: a token on a branch would open nothing.
        context.whole_store("token")?;
        let store = context.store(Missing::IsAnError)?;
        match &self.action {
            Action::Create { name, database, rights, expires } => {
                let wanted =
                    Wanted { name: name.clone(), databases: database.clone(), rights: *rights, ends_after: *expires };
                let (text, token) = tokens::create(&store, &wanted)?;
                context.out.remark(&format!("token {} ({name}); it is not shown again", token.id))?;
                Ok(context.out.line(&text)?)
            }
            Action::List => {
                let rows: Vec<_> = tokens::list(&store)?
                    .into_iter()
                    .map(|token| {
                        let databases = token.databases.join(" ");
                        vec![
                            json!(token.id),
                            json!(token.name),
                            json!(databases),
                            json!(token.rights),
                            json!(token.created),
                            json!(token.expires),
                        ]
                    })
                    .collect();
                if rows.is_empty() {
                    return context.out.remark("no tokens").map_err(Into::into);
                }
                Ok(context.out.rows(&["id", "name", "databases", "rights", "created", "expires"], &rows)?)
            }
            Action::Revoke { id } => {
                if tokens::revoke(&store, id)? {
                    return Ok(());
                }
                Err(CliError::NotFound(format!(
                    "there is no token {id}; `recension token list` lists the existing ones"
                )))
            }
        }
    }
}
