//! Recension in the process: typed documents, and transactions that are retried after a conflict.

use std::path::Path;

use recension::{Document, ListOptions, Path as FieldPath, Query, Store, Typed, ValueRange};
use serde::{Deserialize, Serialize};

use super::{AMOUNT, Client, Database, Day, Moved, Person, Set};
use crate::error::{LabError, Result};

macro_rules! people {
    ($type:ident, $collection:literal) => {
        #[derive(Serialize, Deserialize, Document)]
        #[recension(collection = $collection)]
        struct $type {
            /// A key in the order of numbers.
            #[recension(id)]
            key: String,
            #[recension(index)]
            number: i32,
            name: String,
            birthday: Option<Day>,
        }

        impl From<&Person> for $type {
            fn from(person: &Person) -> Self {
                let Person { id, name, birthday } = person.clone();
                $type { key: format!("{id:08}"), number: id, name, birthday }
            }
        }

        impl From<$type> for Person {
            fn from(row: $type) -> Self {
                Person { id: row.number, name: row.name, birthday: row.birthday }
            }
        }
    };
}

people!(Few, "people_few");
people!(Many, "people_many");
people!(None, "people_none");

#[derive(Serialize, Deserialize, Document)]
#[recension(collection = "balances")]
struct Balance {
    #[recension(id)]
    key: String,
    balance: i64,
}

fn key(account: i32) -> String {
    format!("{account:08}")
}

pub(super) fn open(dir: &Path) -> Result<Box<dyn Database>> {
    let store = recension::open(&dir.join("store").display().to_string());
    Ok(Box::new(Recension(store.map_err(LabError::subject("opening the store"))?)))
}

struct Recension(Store);

struct Embedded {
    store: Store,
    few: Typed<Few>,
    many: Typed<Many>,
    none: Typed<None>,
    balances: Typed<Balance>,
    paths: [FieldPath; 2],
}

impl Database for Recension {
    fn load(&mut self, set: Set, people: &[Person]) -> Result<()> {
        let failed = || LabError::subject("loading");
        let failures = match set {
            Set::Few => self.0.typed::<Few>().map_err(failed())?.put_all(people.iter().map(Into::into)),
            Set::Many => self.0.typed::<Many>().map_err(failed())?.put_all(people.iter().map(Into::into)),
            Set::None => self.0.typed::<None>().map_err(failed())?.put_all(people.iter().map(Into::into)),
        };
        match failures.map_err(failed())?.first() {
            Some(failure) => Err(LabError::subject("loading")(&failure.error)),
            Option::None => Ok(()),
        }
    }
    fn load_accounts(&mut self, count: i32) -> Result<()> {
        let failed = || LabError::subject("loading");
        let balances = self.0.typed::<Balance>().map_err(failed())?;
        let all = (1..=count).map(|account| Balance { key: key(account), balance: 0 });
        match balances.put_all(all).map_err(failed())?.first() {
            Some(failure) => Err(LabError::subject("loading")(&failure.error)),
            Option::None => Ok(()),
        }
    }
    fn client(&self) -> Result<Box<dyn Client>> {
        let failed = || LabError::subject("opening a collection");
        let store = self.0.clone();
        Ok(Box::new(Embedded {
            few: store.typed().map_err(failed())?,
            many: store.typed().map_err(failed())?,
            none: store.typed().map_err(failed())?,
            balances: store.typed().map_err(failed())?,
            paths: [
                "number".parse().map_err(LabError::subject("a path"))?,
                "birthday".parse().map_err(LabError::subject("a path"))?,
            ],
            store,
        }))
    }
    fn settings(&self) -> String {
        "defaults: durability Disk, serializable; in the process, an index on the number".to_owned()
    }
    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

fn list<T>(collection: &Typed<T>) -> Result<Vec<Person>>
where
    T: recension::DocumentType + Into<Person>,
{
    let failed = || LabError::subject("a list");
    let listed = collection.list(&ListOptions::default()).map_err(failed())?;
    listed.map(|found| found.map(Into::into).map_err(failed())).collect()
}

impl Client for Embedded {
    fn all(&mut self, set: Set) -> Result<Vec<Person>> {
        match set {
            Set::Few => list(&self.few),
            Set::Many => list(&self.many),
            Set::None => list(&self.none),
        }
    }
    fn between(&mut self, above: i32, below: i32, not: Day, count: u64) -> Result<u64> {
        let failed = || LabError::subject("a query");
        let mut rows = 0;
        for _ in 0..count {
            let [number, birthday] = self.paths.clone();
            let query = Query::new()
                .matching(number, ValueRange::above(i64::from(above)).and(ValueRange::below(i64::from(below))))
                .matching(birthday, ValueRange::below(i64::from(not.0)).or(ValueRange::above(i64::from(not.0))));
            for found in self.none.find(&query).map_err(failed())? {
                let _: Person = found.map_err(failed())?.into();
                rows += 1;
            }
        }
        Ok(rows)
    }
    fn transfer(&mut self, from: i32, to: i32) -> Result<Moved> {
        let mut read = [0, 0];
        let done = self.store.transaction(|transaction| {
            let balances = transaction.typed::<Balance>()?;
            for (at, (account, change)) in [(from, -AMOUNT), (to, AMOUNT)].into_iter().enumerate() {
                balances.update(&key(account), |row| {
                    read[at] = row.balance;
                    row.balance += change;
                    Ok(())
                })?;
            }
            Ok(())
        });
        done.map(|()| Moved::From(read[0], read[1])).map_err(LabError::subject("a transfer"))
    }
    fn balances(&mut self) -> Result<Vec<i64>> {
        let failed = || LabError::subject("a list");
        let listed = self.balances.list(&ListOptions::default()).map_err(failed())?;
        listed.map(|found| found.map(|row| row.balance).map_err(failed())).collect()
    }
}
