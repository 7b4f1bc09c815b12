//! Typed collections: values that come back as they were, errors that say what is wrong, indexes that the type
//! declares, changes that are not lost.

use std::sync::Arc;

use proptest::prelude::*;
use recension::engine::{Engine, MemoryEngine};
use recension::{
    At, Document, DocumentType, Error, ListOptions, Position, Query, Result, RevId, Store, TypedChange, ValueRange,
};
use serde::{Deserialize, Serialize};

#[derive(Document, Serialize, Deserialize, Clone, PartialEq, Debug)]
#[recension(
    collection = "accounts",
    index(path = "address.city"),
    index(paths("address.city", "-balance")),
    index(
        name = "rich",
        path = "balance",
        only(path = "balance", at_least = 100),
        only(path = "address.city", equal = "Lisbon")
    )
)]
#[serde(rename_all = "camelCase")]
struct Account {
    #[recension(id)]
    id: String,
    #[recension(rev)]
    rev: Option<RevId>,
    #[recension(unique(name = "by-name"))]
    full_name: String,
    #[recension(index)]
    balance: i64,
    address: Address,
    items: Vec<Item>,
}

#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
struct Address {
    city: String,
}

#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
struct Item {
    name: String,
    status: Status,
}

#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
enum Status {
    Need,
    Got { count: u32 },
}

fn account(id: &str, balance: i64) -> Account {
    let items = vec![
        Item { name: "milk \"fresh\"".into(), status: Status::Need },
        Item { name: "é😀".into(), status: Status::Got { count: 2 } },
    ];
    let city = if balance % 2 == 0 { "Lisbon" } else { "Porto" }.to_owned();
    Account {
        id: id.to_owned(),
        rev: None,
        full_name: format!("Name of {id}"),
        balance,
        address: Address { city },
        items,
    }
}

#[test]
fn a_value_comes_back_with_its_id_and_revision_which_are_not_in_the_body() {
    let store = Store::memory().unwrap();
    let accounts = store.typed::<Account>().unwrap();
    let written = accounts.put(&account("ada", 10)).unwrap();
    let read = accounts.get("ada").unwrap().unwrap();
    assert_eq!(read, Account { rev: Some(written.rev), ..account("ada", 10) });
    let body = store.collection("accounts").unwrap().get("ada").unwrap().unwrap().body;
    assert!(
        body.starts_with(r#"{"fullName":"Name of ada","balance":10,"address":{"city":"Lisbon"},"items":["#),
        "{body}"
    );
    assert_eq!(accounts.get("bob").unwrap(), None);
    let entry = accounts.entry("ada").unwrap().unwrap();
    assert_eq!((entry.rev, entry.seq, entry.id.as_str(), entry.balance), (written.rev, written.seq, "ada", 10));

    // What an update answers has the revision that it wrote.
    let updated = accounts.update("ada", |_| Ok(())).unwrap();
    assert_eq!(updated.rev, accounts.get("ada").unwrap().unwrap().rev);
    accounts.put(&updated).unwrap();
    let read = accounts.get("ada").unwrap().unwrap();

    // The revision that it was read with is expected.
    accounts.put(&Account { balance: 11, ..read.clone() }).unwrap();
    assert!(matches!(accounts.put(&Account { balance: 12, ..read.clone() }), Err(Error::Conflict { .. })));
    assert!(matches!(accounts.create(&read), Err(Error::Conflict { .. })));
    assert!(matches!(accounts.replace(&written.rev, &read), Err(Error::Conflict { .. })));
    let now = accounts.get("ada").unwrap().unwrap().rev.unwrap();
    accounts.replace(&now, &read).unwrap();
    let now = accounts.get("ada").unwrap().unwrap().rev.unwrap();
    accounts.delete("ada", &now).unwrap();
    assert_eq!(accounts.get("ada").unwrap(), None);
    let values: Vec<_> =
        accounts.history("ada").unwrap().map(|revision| revision.unwrap().value.map(|v| v.balance)).collect();
    assert_eq!(values, [None, Some(10), Some(11), Some(10), Some(10), Some(10)]);
    assert_eq!(accounts.at(At::Seq(written.seq)).unwrap().get("ada").unwrap().unwrap().balance, 10);
}

#[derive(Document, Serialize, Deserialize, PartialEq, Debug)]
struct Numbered {
    #[recension(id)]
    number: Option<u64>,
    text: String,
}

#[derive(Document, Serialize, Deserialize, PartialEq, Debug)]
#[recension(collection = "tickets")]
struct Ticket<T> {
    #[recension(id)]
    #[serde(rename = "_id")]
    id: TicketId,
    #[recension(rev)]
    #[serde(rename = "_rev", skip_serializing_if = "Option::is_none")]
    rev: Option<String>,
    #[serde(flatten)]
    rest: T,
}

#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct TicketId(i32);

#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Rest {
    subject: String,
    tags: Vec<String>,
}

#[test]
fn ids_are_strings_or_numbers_or_made() {
    let store = Store::memory().unwrap();
    let numbered = store.typed::<Numbered>().unwrap();
    numbered.put(&Numbered { number: Some(u64::MAX), text: "a".into() }).unwrap();
    assert_eq!(numbered.get("18446744073709551615").unwrap().unwrap().number, Some(u64::MAX));
    let made = numbered.create(&Numbered { number: None, text: "b".into() }).unwrap();
    assert_eq!(made.id.len(), 32);
    // An id that is no number is not one because the type says so.
    let message = numbered.get(&made.id).unwrap_err().to_string();
    assert!(message.contains(concat!("is no ", module_path!(), "::Numbered: invalid type: string")), "{message}");
    assert_eq!(Numbered::COLLECTION, "numbered");

    let tickets = store.typed::<Ticket<Rest>>().unwrap();
    let rest = || Rest { subject: "late".into(), tags: vec!["x".into()] };
    tickets.put(&Ticket { id: TicketId(-7), rev: None, rest: rest() }).unwrap();
    let ticket = tickets.get("-7").unwrap().unwrap();
    assert_eq!((&ticket.id, &ticket.rest), (&TicketId(-7), &rest()));
    assert_eq!(ticket.rev, Some(tickets.entry("-7").unwrap().unwrap().rev.to_string()));
    tickets.put(&ticket).unwrap();
    assert!(matches!(tickets.put(&ticket), Err(Error::Conflict { .. })), "its revision is an old one by now");
}

#[test]
fn what_does_not_decode_says_where_and_why_and_hides_nothing_else() {
    let store = Store::memory().unwrap();
    let accounts = store.typed::<Account>().unwrap();
    accounts.put(&account("a", 1)).unwrap();
    accounts.put(&account("c", 3)).unwrap();
    accounts.untyped().put("b", r#"{"fullName":"x","balance":"much","address":{"city":""},"items":[]}"#).unwrap();
    let message = accounts.get("b").unwrap_err().to_string();
    for part in ["document \"b\" of accounts is no", "Account", "invalid type: string \"much\", expected i64", "column"]
    {
        assert!(message.contains(part), "{message}");
    }
    let listed: Vec<_> =
        accounts.list(&ListOptions::default()).unwrap().map(|read| read.map(|read| read.id).ok()).collect();
    assert_eq!(listed, [Some("a".to_owned()), None, Some("c".to_owned())]);
}

#[test]
fn what_is_no_document_is_refused_before_it_is_written() {
    #[derive(Document, Serialize, Deserialize)]
    #[recension(collection = "odd", version_field = "v")]
    struct Odd {
        #[recension(id)]
        id: Vec<u8>,
    }
    #[derive(Document, Serialize, Deserialize)]
    #[recension(collection = "odd", version_field = "v")]
    struct Versioned {
        #[recension(id)]
        id: String,
        v: u32,
    }
    let store = Store::memory().unwrap();
    let message = store.typed::<Odd>().unwrap().put(&Odd { id: vec![1] }).unwrap_err().to_string();
    assert!(message.contains("its id, member id, is no string and no integer"), "{message}");
    let message = store.typed::<Versioned>().unwrap().put(&Versioned { id: "a".into(), v: 1 }).unwrap_err().to_string();
    assert!(message.contains("version_field"), "{message}");
    assert_eq!(store.engine().head().0, 0);
}

#[test]
fn declared_indexes_are_made_once_and_used() {
    let store = Store::memory().unwrap();
    // Documents that are there before the type comes.
    store
        .collection("accounts")
        .unwrap()
        .put("old", r#"{"fullName":"Old","balance":5,"address":{"city":"Faro"},"items":[]}"#)
        .unwrap();
    let accounts = store.typed::<Account>().unwrap();
    let names: Vec<_> = accounts.untyped().indexes().unwrap().into_iter().map(|index| index.spec.name).collect();
    assert_eq!(names, ["by-name", "balance", "address.city", "address.city+balance", "rich"]);
    let head = store.engine().head();
    let accounts_again = store.typed::<Account>().unwrap();
    assert_eq!(store.engine().head(), head, "nothing is written where they are there");

    accounts_again.put_all((0..50).map(|i| account(&format!("{i:02}"), i))).unwrap();
    let query = Query::new().matching("balance", ValueRange::below(3));
    let found = accounts.find(&query).unwrap();
    assert_eq!(found.plan().summary(), "index balance");
    assert_eq!(found.map(|account| account.unwrap().balance).collect::<Vec<_>>(), [0, 1, 2]);
    let query = Query::new().matching("address.city", ValueRange::equal("Faro"));
    assert_eq!(accounts.find(&query).unwrap().map(|account| account.unwrap().id).collect::<Vec<_>>(), ["old"]);
    let taken = Account { id: "other".into(), ..account("01", 1) };
    assert!(matches!(accounts.put(&taken), Err(Error::NotUnique { .. })));
    assert_eq!(accounts.count().unwrap(), 51);
    let one = accounts.get("01").unwrap().unwrap();
    let name = [one.full_name.as_str().into()];
    assert_eq!(accounts.get_by("by-name", &name).unwrap().as_ref(), Some(&one));
    assert_eq!(accounts.at(At::Now).unwrap().get_by("by-name", &name).unwrap().as_ref(), Some(&one));
    assert_eq!(accounts.at(At::Seq(head)).unwrap().get_by("by-name", &name).unwrap(), None, "it came later");
}

fn on_threads(threads: usize, work: impl Fn(usize) + Sync) {
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let work = &work;
            scope.spawn(move || work(thread));
        }
    });
}

#[test]
fn updates_and_upserts_of_many_threads_are_all_kept() {
    let store = Store::memory().unwrap();
    let accounts = store.typed::<Account>().unwrap();
    on_threads(4, |_| {
        for _ in 0..50 {
            let counted = |found: Option<Account>| {
                Ok(found.map_or_else(|| account("u", 1), |found| Account { balance: found.balance + 1, ..found }))
            };
            accounts.upsert("u", counted).unwrap();
            accounts
                .update("u", |account| {
                    account.balance += 1000;
                    Ok(())
                })
                .unwrap();
        }
    });
    assert_eq!(accounts.get("u").unwrap().unwrap().balance, 200_200);

    let head = store.engine().head();
    assert!(matches!(accounts.update("u", |_| Err(Error::abort("no money"))), Err(Error::Aborted { .. })));
    assert!(matches!(accounts.update("v", |_| Ok(())), Err(Error::NoSuchDocument { .. })));
    let renamed = |account: &mut Account| {
        account.id = "w".to_owned();
        Ok(())
    };
    assert!(accounts.update("u", renamed).unwrap_err().to_string().contains("write it with put"));
    assert_eq!(store.engine().head(), head);
}

#[test]
fn a_transaction_reads_its_own_typed_writes() {
    let store = Store::memory().unwrap();
    let accounts = store.typed::<Account>().unwrap();
    accounts.put(&account("a", 10)).unwrap();
    let total = store
        .transaction(|tx| {
            let accounts = accounts.within(tx)?;
            accounts.create(&account("b", 1))?;
            accounts.update("a", |account| {
                account.balance -= 4;
                Ok(())
            })?;
            accounts.update("b", |account| {
                account.balance += 4;
                Ok(())
            })?;
            let rich = Query::new().matching("balance", ValueRange::at_least(5));
            assert_eq!(accounts.find(&rich)?.count(), 2);
            assert_eq!(tx.typed::<Account>()?.get("b")?.unwrap().balance, 5);
            let name = account("b", 1).full_name.as_str().into();
            assert_eq!(accounts.get_by("by-name", &[name])?.unwrap().balance, 5);
            accounts.list(&ListOptions::default())?.map(|account| Ok(account?.balance)).sum::<Result<i64>>()
        })
        .unwrap();
    assert_eq!(total, 11);
    assert_eq!(accounts.get("b").unwrap().unwrap().balance, 5);
}

#[derive(Document, Serialize, Deserialize, PartialEq, Debug)]
struct Reading {
    #[recension(id)]
    id: String,
    value: f64,
    count: u64,
    delta: i64,
    text: String,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn any_value_comes_back_as_it_was(
        id in "[^_\\PC][\\PC\"\\\\]{0,20}", value in any::<f64>(), count in any::<u64>(), delta in any::<i64>(), text in any::<String>(),
    ) {
        let value = if value.is_finite() { value } else { 0.0 };
        let readings = Store::on(Arc::new(MemoryEngine::new()) as Arc<dyn Engine>).unwrap().typed::<Reading>().unwrap();
        let reading = Reading { id, value, count, delta, text };
        readings.put(&reading).unwrap();
        let read = readings.get(&reading.id).unwrap().unwrap();
        prop_assert_eq!(&read, &reading);
        prop_assert_eq!(read.value.to_bits(), reading.value.to_bits());
    }
}

#[test]
fn values_that_a_query_finds_are_changed_or_deleted() {
    let accounts = Store::memory().unwrap().typed::<Account>().unwrap();
    accounts.put_all((0..10).map(|n| account(&format!("a{n}"), n))).unwrap();
    let some = Query::new().matching("balance", ValueRange::below(4));
    let changed = accounts
        .update_matching(&some, |account| {
            account.address.city = "Faro".to_owned();
            Ok(account.balance != 2)
        })
        .unwrap();
    assert_eq!((changed.written, changed.left_alone), (3, Vec::new()));
    let cities = |id: &str| accounts.get(id).unwrap().unwrap().address.city;
    assert_eq!(["a1", "a2", "a3", "a4"].map(cities), ["Faro", "Lisbon", "Faro", "Lisbon"]);

    // A value that takes another id is refused, and nothing of its step is written.
    let renamed = accounts.update_matching(&some, |account| {
        account.id.push('x');
        Ok(true)
    });
    let refused = renamed.unwrap_err();
    assert!(matches!(refused, Error::Stopped { written: 0, .. }) && matches!(refused.cause(), Error::Encode { .. }));
    assert_eq!(accounts.count().unwrap(), 10);

    assert_eq!(accounts.delete_matching(&some).unwrap().written, 4);
    let page = accounts.page(&Query::new().limit(4)).unwrap();
    assert_eq!((page.documents.len(), page.next.is_some()), (4, true));
    let page = accounts.page(&Query::new().limit(4).after(page.next)).unwrap();
    assert_eq!((page.documents.len(), page.next), (2, None));
}

#[test]
fn changes_are_followed_with_their_values_and_documents_removed_whatever_they_say() {
    let accounts = Store::memory().unwrap().typed::<Account>().unwrap();
    accounts.put(&account("ada", 9)).unwrap();
    let mut follow = accounts.follow(Position::START);
    let TypedChange { change, value } = follow.next().unwrap().unwrap();
    assert_eq!((change.id.as_str(), value.unwrap().balance), ("ada", 9));
    assert!(follow.try_next().unwrap().is_none());
    assert!(accounts.remove("ada").unwrap() && !accounts.remove("ada").unwrap());
    assert!(follow.next().unwrap().unwrap().value.is_none());
    // What does not decode is an error, and the others follow.
    accounts.untyped().put("bad", r#"{"balance":"x"}"#).unwrap();
    accounts.put(&account("eve", 2)).unwrap();
    assert!(follow.next().unwrap().is_err());
    let position = follow.position().clone();
    assert_eq!(follow.next().unwrap().unwrap().value.unwrap().balance, 2);
    assert_eq!(accounts.follow(position).try_next().unwrap().unwrap().change.id, "eve");
}
