//! Attachments: bytes that belong to a document, of any length, kept once however many documents have them.
//!
//! `cargo run --example attachments`. Each line that is printed is verified first.

use std::io::Read;

use recension::{At, Expect, Result, Write};

pub(crate) fn main() -> Result<()> {
    let store = recension::open("memory:")?;
    let menu = store.collection("menu")?;
    menu.put("pizza", r#"{"price":9.5}"#)?;

    // The body stays as it is. The bytes come from any reader, and are never in memory as a whole.
    let picture = vec![7_u8; 3_000_000];
    let first = menu.attach("pizza", Expect::Anything, "picture.png", "image/png", &picture[..])?;
    let info = &menu.attachments("pizza")?[0];
    assert_eq!((info.length(), info.revpos), (3_000_000, 2));
    println!("{} has {}, {} bytes, {}", first.rev, info.name, info.length(), info.digest());

    // A part of it.
    let mut part = Vec::new();
    let reader = menu.attachment("pizza", "picture.png")?.expect("it was attached");
    reader.range(1_000_000..1_000_010).read_to_end(&mut part).expect("it reads");
    assert_eq!(part, [7; 10]);
    println!("bytes 1000000 to 1000009: {part:?}");

    // As in CouchDB a write without attachments drops them; these keep theirs.
    menu.write(Write::put("pizza", r#"{"price":10}"#)?.keep_attachments())?;
    menu.update("pizza", |body| Ok(body.replace("10", "11")))?;
    assert_eq!(menu.attachments("pizza")?.len(), 1);
    let last = menu.put("pizza", r#"{"price":12}"#)?;
    assert!(menu.attachments("pizza")?.is_empty());
    println!("{} has none", last.rev);

    // The past has it, and it can be brought back.
    let then = menu.at(At::Seq(first.seq))?;
    assert_eq!(then.attachments("pizza")?.len(), 1);
    let restored = menu.restore("pizza", &first.rev)?;
    let mut bytes = Vec::new();
    menu.attachment("pizza", "picture.png")?.expect("it is back").read_to_end(&mut bytes).expect("it reads");
    assert_eq!(bytes, picture);
    println!("{} has it again", restored.rev);
    Ok(())
}
