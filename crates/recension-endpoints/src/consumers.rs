//! `/{db}/_consumers`: named consumers of a database's changes, which lose nothing: what is handed out and not
//! acknowledged is handed out again. Who asks for the same one is a group. CouchDB has none.
//!
//! How a consumer is served is kept in the store, for the database as it is: one of the same name has another number.

use std::fmt::Write as _;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use http::{Method, StatusCode};
use recension::engine::Seq;
use recension::json::quote;
use recension::limits::DELIVERED_BYTES_MAX;
use recension::{At, Collection, Consumer, ConsumerOptions, Delivery, HandedOut, Keys};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep_until};

use recension_app::auth::databases::Database;
use recension_app::auth::standing::Standing;
use recension_app::auth::{Access, Session};
use recension_app::request::Request;
use recension_wire::answer::Answer;
use recension_wire::error::{ApiError, Result};
use recension_wire::limits::{CONSUMER_REQUEST_BYTES_MAX, CONSUMER_WAIT_SECONDS_MAX, CONSUMERS_MAX};
use recension_wire::members::object_of;
use recension_wire::streams::Paid;

/// The namespace of how consumers are served.
const NAMESPACE: &str = "_consumer_options";
/// Messages that are handed out at once, if nothing is said.
const FETCHED: usize = 10;
/// Most of them.
const FETCHED_MAX: usize = 1000;
/// Between two looks of one who waits while others write.
const LOOKS_EVERY: Duration = Duration::from_millis(10);
/// A time that nobody waits for.
const FAR_AWAY: Duration = Duration::from_hours(24);

/// How a consumer is served.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Options {
    /// Where it begins: `0`, `now`, or a commit.
    since: String,
    acknowledge_seconds: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    dead_letters: Option<DeadLetters>,
    deletions: bool,
}

/// What becomes of what nobody acknowledges.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DeadLetters {
    database: String,
    after: u32,
    /// Which it is of all databases that have, or had, its name: documents are not brought to another one. The server
    /// notes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<u32>,
}

impl Default for Options {
    fn default() -> Self {
        Options { since: "0".to_owned(), acknowledge_seconds: 30, dead_letters: None, deletions: false }
    }
}

impl Options {
    fn check(&self) -> Result<()> {
        if !(1..=86_400).contains(&self.acknowledge_seconds) {
            return Err(ApiError::bad_request("acknowledge_seconds is a number from 1 to 86400."));
        }
        match &self.dead_letters {
            Some(letters) if letters.after == 0 || letters.database.starts_with('_') => {
                Err(ApiError::bad_request("dead_letters has a database of documents, and after is a number from 1 on."))
            }
            _ => Ok(()),
        }
    }

    /// Refuses to bring documents to a database that somebody else has made under the name.
    fn check_letters(&self, collection: &Collection) -> Result<()> {
        let Some(DeadLetters { database, number: Some(number), .. }) = &self.dead_letters else { return Ok(()) };
        if collection.store().collection(database)?.at(At::Now)?.number() == Some(*number) {
            return Ok(());
        }
        let reason = format!("The database {database} of the dead letters was dropped: PUT the consumer again.");
        Err(ApiError::new(StatusCode::CONFLICT, "conflict", reason))
    }

    fn consumer(&self, collection: &Collection, name: &str) -> Result<Consumer> {
        let since: u64 =
            self.since.parse().map_err(|_| ApiError::bad_request("since is \"0\", \"now\" or a commit."))?;
        let mut options = ConsumerOptions::new()
            .since(Seq(since))
            .acknowledged_within(Duration::from_secs(self.acknowledge_seconds.into()))
            .deletions(self.deletions);
        if let Some(letters) = &self.dead_letters {
            options = options.dead_letters(&letters.database, letters.after);
        }
        Ok(collection.consumer(name, options)?)
    }
}

/// Where the options of a database's consumers are.
struct Place {
    keys: Keys,
    prefix: Vec<u8>,
}

impl Place {
    /// In the line of the store that the database is on: a branch begins with the consumers that its parent had.
    fn of(database: &Database) -> Result<Self> {
        let number = database.opened().number().ok_or_else(ApiError::no_database)?;
        Ok(Place { keys: database.keys_beside(NAMESPACE)?, prefix: number.to_be_bytes().to_vec() })
    }

    fn key(&self, name: &str) -> Vec<u8> {
        [&self.prefix[..], name.as_bytes()].concat()
    }

    fn get(&self, name: &str) -> Result<Option<Options>> {
        let Some(kept) = self.keys.get(self.key(name))? else { return Ok(None) };
        let read = serde_json::from_slice(&kept.into_bytes());
        read.map(Some).map_err(|_| ApiError::internal("how a consumer is served does not read"))
    }

    fn names(&self) -> Result<Vec<String>> {
        let found = self.keys.scan(&self.prefix, None, CONSUMERS_MAX + 1)?;
        let name = |key: &[u8]| String::from_utf8_lossy(&key[self.prefix.len()..]).into_owned();
        Ok(found.iter().map(|(key, _)| name(key)).collect())
    }

    fn known(&self, collection: &Collection, name: &str) -> Result<Consumer> {
        self.get(name)?.ok_or_else(no_consumer)?.consumer(collection, name)
    }
}

fn no_consumer() -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, "not_found", "There is no such consumer: make it with PUT.")
}

/// What is asked of a consumer.
pub async fn endpoint(request: Request, session: Session, db: &str, rest: &[&str]) -> Result<Answer> {
    match (request.method().clone(), rest) {
        (Method::GET, []) => {
            let database = session.database(db, Access::Member)?;
            let names = request.app.blocking(move || Place::of(&database)?.names()).await?;
            let names: Vec<String> = names.iter().map(|name| quote(name)).collect();
            Ok(Answer::ok(format!("{{\"consumers\":[{}]}}", names.join(","))))
        }
        (Method::PUT, [name]) => make(request, session, db, name).await,
        (Method::GET, [name]) => status(request, session.database(db, Access::Member)?, name).await,
        (Method::DELETE, [name]) => forget(request, session.database(db, Access::Admin)?, name).await,
        (Method::POST, [name, "fetch"]) => fetch(request, &session, db, name).await,
        (Method::POST, [name, "acknowledge"]) => {
            settle(request, session.database(db, Access::Member)?, name, Verdict::Acknowledged).await
        }
        (Method::POST, [name, "give_back"]) => {
            settle(request, session.database(db, Access::Member)?, name, Verdict::GivenBack).await
        }
        (_, []) => Err(ApiError::method_not_allowed("GET")),
        (_, [_]) => Err(ApiError::method_not_allowed("GET,PUT,DELETE")),
        (_, [_, "fetch" | "acknowledge" | "give_back"]) => Err(ApiError::method_not_allowed("POST")),
        _ => Err(ApiError::missing()),
    }
}

/// Makes a consumer, or serves it otherwise from now on. Its position stays.
async fn make(mut request: Request, session: Session, db: &str, name: &str) -> Result<Answer> {
    let database = session.database(db, Access::Admin)?;
    let body = request.bytes_up_to(CONSUMER_REQUEST_BYTES_MAX).await?;
    let mut options: Options = parsed(&body)?;
    options.check()?;
    if let Some(letters) = &mut options.dead_letters {
        if letters.number.is_some() {
            return Err(ApiError::bad_request("dead_letters has `database` and `after`, and no `number`."));
        }
        let of_letters = session.database(&letters.database, Access::Member)?;
        if of_letters.is_on_branch() {
            let reason = "Dead letters stay on the branch of the consumer: name a database of it.";
            return Err(ApiError::bad_request(reason));
        }
        letters.number = database.collection().store().collection(&letters.database)?.at(At::Now)?.number();
    }
    let head = database.opened().seq().0;
    if options.since == "now" {
        options.since = head.to_string();
    } else if options.since.parse::<u64>().is_ok_and(|since| since > head) {
        let reason = format!("since: commit {} has not been made; the newest is {head}.", options.since);
        return Err(ApiError::bad_request(reason));
    }
    let name = name.to_owned();
    let is_new = request
        .app
        .blocking(move || {
            let place = Place::of(&database)?;
            options.consumer(&database.share(), &name)?;
            let is_new = place.get(&name)?.is_none();
            if is_new && place.names()?.len() >= CONSUMERS_MAX {
                return Err(ApiError::bad_request("A database has at most 1000 consumers: delete some."));
            }
            let kept = serde_json::to_string(&options).map_err(|error| ApiError::internal(error.to_string()))?;
            place.keys.set(place.key(&name), kept)?;
            Ok(is_new)
        })
        .await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok(Answer::json(status, r#"{"ok":true}"#.to_owned()))
}

/// How it is served, and where it stands.
async fn status(request: Request, database: Database, name: &str) -> Result<Answer> {
    let name = name.to_owned();
    let told = request.app.blocking(move || {
        let mut options = Place::of(&database)?.get(&name)?.ok_or_else(no_consumer)?;
        let status = options.consumer(&database.share(), &name)?.status()?;
        let (position, unacknowledged) = status
            .map_or((options.since.clone(), 0), |status| (status.position.seq().to_string(), status.unacknowledged));
        options.dead_letters.iter_mut().for_each(|letters| letters.number = None);
        let options = serde_json::to_string(&options).map_err(|error| ApiError::internal(error.to_string()))?;
        Ok(format!(
            "{{\"name\":{},\"options\":{options},\"position\":\"{position}\",\"unacknowledged\":{unacknowledged}}}",
            quote(&name)
        ))
    });
    Ok(Answer::ok(told.await?))
}

async fn forget(request: Request, database: Database, name: &str) -> Result<Answer> {
    let name = name.to_owned();
    let forgotten = request.app.blocking(move || {
        let place = Place::of(&database)?;
        place.known(&database.share(), &name)?.forget()?;
        place.keys.remove(place.key(&name))?;
        Ok(())
    });
    forgotten.await?;
    Ok(Answer::ok(r#"{"ok":true}"#))
}

/// How many messages are wanted, and how long one waits for the first.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Wanted {
    max: usize,
    wait_seconds: u64,
}

impl Default for Wanted {
    fn default() -> Self {
        Wanted { max: FETCHED, wait_seconds: 0 }
    }
}

/// Hands messages out. Who waits holds no thread, and whether it may read them is asked again before each look.
async fn fetch(mut request: Request, session: &Session, db: &str, name: &str) -> Result<Answer> {
    let database = session.database(db, Access::Member)?;
    let body = request.bytes_up_to(CONSUMER_REQUEST_BYTES_MAX).await?;
    let wanted: Wanted = parsed(&body)?;
    if !(1..=FETCHED_MAX).contains(&wanted.max) {
        return Err(ApiError::bad_request("max is a number of messages from 1 to 1000."));
    }
    let (app, collection) = (Arc::clone(&request.app), database.share());
    let mut standing = Standing::in_database(session, &database);
    let place = Place::of(&database)?;
    let options = Arc::new(place.get(name)?.ok_or_else(no_consumer)?);
    let consumer = Arc::new(options.consumer(&collection, name)?);
    let deadline = Instant::now() + Duration::from_secs(wanted.wait_seconds.min(CONSUMER_WAIT_SECONDS_MAX));
    loop {
        standing.ask()?;
        let share = app.streams.room(DELIVERED_BYTES_MAX).await?;
        let (own, kept, of) = (Arc::clone(&consumer), Arc::clone(&options), collection.clone());
        let receive = move || kept.check_letters(&of).and_then(|()| Ok(own.receive_now(wanted.max)?));
        let HandedOut { deliveries, seen, due } = app.blocking(receive).await?;
        if !deliveries.is_empty() || Instant::now() >= deadline {
            // Nothing is told of a moment at which there was no right. What is not told comes again.
            standing.ask()?;
            return Ok(Answer::ok(told(deliveries)).with_body(|body| Paid::of(body, share)));
        }
        drop(share);
        let engine = Arc::clone(collection.store().engine());
        let woken =
            poll_fn(|context| if engine.wake_beyond(seen, context.waker()) { Poll::Ready(()) } else { Poll::Pending });
        let again = due.map_or(FAR_AWAY, |due| Duration::from_micros(due.0.saturating_sub(now_micros())));
        let again = Instant::now() + again.max(LOOKS_EVERY);
        let asked = standing.due();
        tokio::select! {
            () = woken => tokio::time::sleep(LOOKS_EVERY).await,
            () = sleep_until(again.min(deadline)) => {}
            () = sleep_until(asked) => {}
            () = standing.changed() => {}
            () = app.stopped() => return Ok(Answer::ok(told(Vec::new()))),
        }
    }
}

fn now_micros() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_micros()).unwrap_or(u64::MAX)
}

fn told(deliveries: Vec<Delivery>) -> String {
    let mut told = "{\"messages\":[".to_owned();
    for (number, Delivery { id, rev, seq, deleted, body, attempt }) in deliveries.into_iter().enumerate() {
        let (comma, id) = (if number == 0 { "" } else { ",\n" }, quote(&id));
        // Writing to a string does not fail.
        let _ = write!(
            told,
            "{comma}{{\"id\":{id},\"seq\":{seq},\"rev\":\"{rev}\",\"deleted\":{deleted},\"attempt\":{attempt},\
             \"doc\":{body}}}"
        );
    }
    told.push_str("]}");
    told
}

/// Messages that were dealt with, or not.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settled {
    messages: Vec<Named>,
    #[serde(default)]
    after_seconds: u32,
}

/// A message, as it was handed out. What else it has may stay.
#[derive(Debug, Deserialize)]
struct Named {
    id: String,
    seq: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Acknowledged,
    GivenBack,
}

async fn settle(mut request: Request, database: Database, name: &str, verdict: Verdict) -> Result<Answer> {
    let body = request.bytes_up_to(CONSUMER_REQUEST_BYTES_MAX).await?;
    let Settled { messages, after_seconds } = parsed(&body)?;
    if messages.len() > FETCHED_MAX {
        return Err(ApiError::bad_request("messages has at most 1000 elements."));
    }
    let name = name.to_owned();
    let settled = request.app.blocking(move || {
        let consumer = Place::of(&database)?.known(&database.share(), &name)?;
        let of: Vec<_> = messages.iter().map(|message| (Seq(message.seq), message.id.as_str())).collect();
        Ok(match verdict {
            Verdict::Acknowledged => consumer.acknowledge_all(&of)?,
            Verdict::GivenBack => consumer.give_back_all(&of, Duration::from_secs(after_seconds.into()))?,
        })
    });
    let count = settled.await?;
    let done = if verdict == Verdict::Acknowledged { "acknowledged" } else { "given_back" };
    Ok(Answer::ok(format!("{{\"ok\":true,\"{done}\":{count}}}")))
}

/// A body, which may be empty where nothing has to be said.
fn parsed<T: DeserializeOwned>(body: &[u8]) -> Result<T> {
    let body = if body.iter().all(u8::is_ascii_whitespace) { b"{}" } else { body };
    object_of(body)
}
