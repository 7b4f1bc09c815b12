//! Time travel: what a collection said at a moment, what is different since, and the way back.
//! Run it: `cargo run --example time_travel`

use recension::{At, Error, Expect, Result};

pub(crate) fn main() -> Result<()> {
    let store = recension::open("memory:")?;
    let menu = store.collection("menu")?;
    menu.put("pizza", r#"{"price": 9.50, "toppings": ["pineapple", "ham"]}"#)?;
    let opening = menu.put("soup", r#"{"price": 5.25}"#)?;

    // A day later somebody was at it.
    menu.merge_patch("pizza", Expect::Anything, r#"{"price": 0, "toppings": ["ham"]}"#)?;
    menu.delete("soup", &opening.rev)?;
    menu.put("slug", r#"{"price": 1}"#)?;

    // Any read, at any moment: a commit, a time or an age.
    let then = menu.at(At::Seq(opening.seq))?;
    println!("at commit {} there were {} dishes, and the pizza was", then.seq(), then.count()?);
    let pizza = then.get("pizza")?.map(|pizza| pizza.body.into_owned()).unwrap_or_default();
    println!("  {pizza}");
    assert_eq!(pizza, r#"{"price":9.50,"toppings":["pineapple","ham"]}"#);

    // What is different: document by document, and value by value.
    let mut different = Vec::new();
    for document in menu.diff_between(At::Seq(opening.seq), At::Now)? {
        let document = document?;
        for change in document.changes()? {
            let side = |text: &Option<String>| text.clone().unwrap_or_else(|| "nothing".to_owned());
            println!("  {}{}: {} -> {}", document.id, change.path, side(&change.before), side(&change.after));
            different.push(format!("{}{}", document.id, change.path));
        }
    }
    assert_eq!(different, ["pizza/price", "pizza/toppings/0", "soup", "slug"]);

    // Back, in one commit. The past is not changed by it: what went wrong can be read as well.
    let wrong = store.engine().head();
    let restored = menu.restore_to(At::Seq(opening.seq))?;
    println!("{} restored, {} deleted, in {} commit", restored.restored, restored.deleted, restored.commits);
    assert_eq!((restored.restored, restored.deleted, restored.commits), (2, 1, 1));
    assert!(menu.get("slug")?.is_none());
    assert!(menu.at(At::Seq(wrong))?.get("slug")?.is_some());

    println!("the pizza's revisions, newest first:");
    let mut revisions = Vec::new();
    for revision in menu.history("pizza")? {
        let revision = revision?;
        println!("  {}  {}", revision.rev, revision.body);
        revisions.push(revision.body);
    }
    assert_eq!(revisions.len(), 3);
    assert_eq!(revisions[0], revisions[2]);

    // There is no reading the future.
    match menu.at(At::Seq(recension::engine::Seq(1_000_000))) {
        Err(Error::Engine(error)) => println!("{error}"),
        _ => panic!("there is no such commit"),
    }
    Ok(())
}
