//! Results of queries as they change.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;
use recension::{Query, ResultChange, Store, ValueRange};

fn cheap() -> Query {
    Query::new().matching("price", ValueRange::below(10))
}

#[test]
fn documents_enter_change_in_and_leave_a_result() {
    let menu = Store::memory().unwrap().collection("menu").unwrap();
    menu.put("pizza", r#"{"price":9}"#).unwrap();
    menu.put("wine", r#"{"price":20}"#).unwrap();
    let (found, mut watch) = menu.watch(&cheap()).unwrap();
    assert_eq!(found.iter().map(|document| &*document.id).collect::<Vec<_>>(), ["pizza"]);
    assert_eq!(watch.try_next().unwrap(), None);
    let price = |id: &str, price: u32| drop(menu.put(id, format!(r#"{{"price":{price}}}"#)).unwrap());
    price("wine", 21);
    assert_eq!(watch.try_next().unwrap(), None, "it is out as before");
    price("wine", 7);
    assert!(matches!(watch.try_next().unwrap(), Some(ResultChange::Entered(document)) if document.id == "wine"));
    price("wine", 8);
    assert!(
        matches!(watch.try_next().unwrap(), Some(ResultChange::Changed(document)) if document.body == r#"{"price":8}"#)
    );
    price("wine", 30);
    assert!(matches!(watch.try_next().unwrap(), Some(ResultChange::Left(id, _)) if id == "wine"));
    let rev = menu.get("pizza").unwrap().unwrap().rev;
    menu.delete("pizza", &rev).unwrap();
    assert!(matches!(watch.try_next().unwrap(), Some(ResultChange::Left(id, _)) if id == "pizza"));
    assert_eq!(watch.next_timeout(Duration::ZERO).unwrap(), None);
    assert!(menu.watch(&cheap().limit(1)).is_err() && menu.watch(&cheap().skip(1)).is_err());
    std::thread::scope(|scope| {
        let waiting = scope.spawn(move || watch.next_timeout(Duration::from_mins(1)).unwrap());
        price("soup", 1);
        assert!(matches!(waiting.join().unwrap(), Some(ResultChange::Entered(document)) if document.id == "soup"));
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whoever applies what a watch tells has what the query finds.
    #[test]
    fn a_result_that_is_kept_by_its_changes_is_what_the_query_finds(
        steps in proptest::collection::vec((0..4_u8, proptest::option::of(0..20_u8), any::<bool>()), 1..50),
    ) {
        let menu = Store::memory().unwrap().collection("menu").unwrap();
        menu.put("0", r#"{"price":1}"#).unwrap();
        let (found, mut watch) = menu.watch(&cheap()).unwrap();
        let mut kept: BTreeMap<String, String> =
            found.into_iter().map(|document| (document.id.into_owned(), document.body.into_owned())).collect();
        for (id, price, look) in steps {
            let id = id.to_string();
            match (price, menu.get(&id).unwrap()) {
                (Some(price), _) => drop(menu.put(&id, format!(r#"{{"price":{price}}}"#)).unwrap()),
                (None, Some(document)) => drop(menu.delete(&id, &document.rev).unwrap()),
                (None, None) => {}
            }
            if !look {
                continue;
            }
            while let Some(change) = watch.try_next().unwrap() {
                match change {
                    ResultChange::Entered(document) => {
                        let before = kept.insert(document.id.into_owned(), document.body.into_owned());
                        prop_assert_eq!(before, None);
                    }
                    ResultChange::Changed(document) => {
                        prop_assert!(kept.insert(document.id.into_owned(), document.body.into_owned()).is_some());
                    }
                    ResultChange::Left(id, _) => prop_assert!(kept.remove(&id).is_some()),
                }
            }
            let now: BTreeMap<String, String> = menu.find(&cheap()).unwrap().map(|document| {
                let document = document.unwrap();
                (document.id.to_string(), document.body.to_string())
            }).collect();
            prop_assert_eq!(&kept, &now);
        }
    }
}
