//! Topics: who hears what, bounded queues, and what a slow subscriber is told.

use std::time::Duration;

use recension::{Received, Store, Subscriber, limits};

fn told(subscriber: &mut Subscriber) -> Vec<String> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    std::iter::from_fn(|| subscriber.try_next())
        .map(|received| match received {
            Received::Message(message, pattern) => {
                let by = pattern.map_or(String::new(), |pattern| format!(" by {}", text(&pattern)));
                format!("{}={}{by}", text(&message.topic), text(&message.payload))
            }
            Received::Missed(missed) => format!("missed {missed}"),
        })
        .collect()
}

#[test]
fn whoever_listens_now_hears_and_nobody_else() {
    let store = Store::memory().unwrap();
    let topics = store.topics();
    assert_eq!(topics.publish("a", "nobody").unwrap(), 0);
    let (mut one, mut two) = (topics.subscriber(), store.clone().topics().subscriber());
    one.subscribe("a").unwrap();
    one.subscribe("a").unwrap();
    two.subscribe_pattern("?").unwrap();
    two.subscribe_pattern("news.*").unwrap();
    assert_eq!(topics.publish("a", "1").unwrap(), 2);
    assert_eq!(topics.publish("news.x", "2").unwrap(), 1);
    assert_eq!(topics.publish("c.d", "3").unwrap(), 0);
    assert_eq!((topics.subscribers_of("a"), topics.patterns(), topics.listened()), (1, 2, vec![b"a".to_vec()]));
    assert_eq!(told(&mut one), ["a=1"]);
    assert_eq!(told(&mut two), ["a=1 by ?", "news.x=2 by news.*"]);
    one.unsubscribe("a");
    two.unsubscribe_pattern("?");
    assert_eq!(topics.publish("a", "4").unwrap(), 0);
    assert_eq!(topics.publish("news.", "5").unwrap(), 1);
    drop(two);
    assert_eq!((topics.publish("news.", "6").unwrap(), topics.patterns(), topics.listened().len()), (0, 0, 0));
}

#[test]
fn what_waits_for_all_subscribers_together_is_bounded_and_the_slowest_lose_theirs() {
    let store = Store::memory().unwrap();
    let topics = store.topics();
    let mut slow: Vec<_> = (0..20).map(|_| topics.subscriber()).collect();
    for (number, slow) in slow.iter_mut().enumerate() {
        slow.subscribe(number.to_string()).unwrap();
    }
    let mut quick = topics.subscriber();
    quick.subscribe("quick").unwrap();
    let mut waits = 0;
    for number in 0..20 {
        for _ in 0..6 {
            waits += topics.publish(number.to_string(), vec![b'x'; 1 << 20]).unwrap();
        }
        topics.publish("quick", "x").unwrap();
        assert_eq!(told(&mut quick), ["quick=x"]);
    }
    assert_eq!(waits, 120, "none is refused: others lose what waits for them");
    let (mut kept, mut missed) = (0, 0);
    for slow in &mut slow {
        while let Some(received) = slow.try_next() {
            match received {
                Received::Message(message, _) => kept += message.payload.len(),
                Received::Missed(number) => missed += number,
            }
        }
    }
    assert!(kept <= limits::QUEUED_OF_ALL_BYTES_MAX, "{kept}");
    assert_eq!(missed as usize + kept / (1 << 20), 120);
    let name = |number: usize| format!("{number:08000}");
    let refused = (0..200).find_map(|number| quick.subscribe(name(number)).err());
    assert!(matches!(refused, Some(recension::Error::BadField { field: "subscriptions", .. })), "{refused:?}");
}

#[test]
fn a_slow_subscriber_is_told_what_it_missed_in_its_place() {
    let store = Store::memory().unwrap();
    let (topics, mut slow) = (store.topics(), store.topics().subscriber());
    slow.subscribe("t").unwrap();
    for n in 0..limits::QUEUED_MESSAGES_MAX + 7 {
        topics.publish("t", n.to_string()).unwrap();
    }
    let Some(Received::Message(first, None)) = slow.try_next() else { panic!("nothing came") };
    assert_eq!((&first.topic[..], &first.payload[..]), (&b"t"[..], &b"0"[..]));
    topics.publish("t", "last").unwrap();
    let all = told(&mut slow);
    assert_eq!(all.len(), limits::QUEUED_MESSAGES_MAX + 1);
    assert_eq!(
        all[all.len() - 3..],
        [format!("t={}", limits::QUEUED_MESSAGES_MAX - 1), "missed 7".into(), "t=last".into()]
    );
    // Long messages fill a queue, too, and one alone always fits.
    let long = vec![b'x'; limits::MESSAGE_BYTES_MAX];
    topics.publish("t", &long).unwrap();
    topics.publish("t", "y").unwrap();
    assert!(matches!(slow.try_next(), Some(Received::Message(message, _)) if message.payload == long));
    assert_eq!(told(&mut slow), ["missed 1"]);
    assert!(topics.publish("t", vec![0; limits::MESSAGE_BYTES_MAX + 1]).is_err());
}

#[test]
fn a_subscriber_that_waits_is_woken() {
    let store = Store::memory().unwrap();
    let mut waits = store.topics().subscriber();
    waits.subscribe("t").unwrap();
    assert_eq!(waits.next_timeout(Duration::ZERO), None);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(move || waits.next_timeout(Duration::from_mins(1)));
        store.topics().publish("t", "x").unwrap();
        assert!(matches!(waiting.join().unwrap(), Some(Received::Message(..))));
    });
    let mut task = store.topics().subscriber();
    task.subscribe("t").unwrap();
    let next = std::future::poll_fn(move |context| task.poll_next(context));
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| pollster::block_on(next));
        store.topics().publish("t", "y").unwrap();
        assert!(matches!(waiting.join().unwrap(), Received::Message(..)));
    });
}
