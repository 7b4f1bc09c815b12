//! What docs/scale.md says is what `scripts/scale` prints. `UPDATE_SCALE=1` writes it anew.

use std::path::Path;
use std::process::Command;

const BEGINS: &str = "<!-- scripts/scale -->\n";
const ENDS: &str = "<!-- /scripts/scale -->";

#[test]
fn the_page_about_scale_says_what_its_simulation_prints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let printed = |arguments: &[&str]| {
        let output = Command::new(root.join("scripts/scale")).args(arguments).output().expect("python3 is installed");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let tables = printed(&[]);
    let page = root.join("docs/scale.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let (before, rest) = text.split_once(BEGINS).unwrap();
    let (said, after) = rest.split_once(ENDS).unwrap();
    let wanted = format!("{tables}\n");
    if std::env::var_os("UPDATE_SCALE").is_some() {
        std::fs::write(&page, format!("{before}{BEGINS}{wanted}{ENDS}{after}")).unwrap();
        return;
    }
    assert_eq!(said, wanted, "UPDATE_SCALE=1 writes it anew");
    let few = ["--databases", "1000"];
    assert_ne!(printed(&[&few[..], &["--seed", "2"]].concat()), printed(&few), "the seed is shown");
}
