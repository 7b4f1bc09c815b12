//! The server's pages in browsers of text, which know no stylesheet and no script: what w3m shows of them, in which
//! columns, and where a link leads; and a person who logs in with lynx, key by key.

use std::process::{Command, Stdio};

use serde_json::json;

use crate::common::served::Served;

/// A browser with a home folder of its own, where cookies stay.
struct Browser {
    home: tempfile::TempDir,
    url: String,
}

impl Browser {
    /// w3m, after its user has said who they are with the form of the page.
    fn logged_in(served: &Served) -> Self {
        let browser = Browser { home: tempfile::tempdir().unwrap(), url: served.url.clone() };
        let form = browser.home.path().join("form");
        std::fs::write(&form, "name=adm&password=pass").unwrap();
        let shown = browser.w3m(&["-post", &form.display().to_string()], "/_session?next=%2F_utils%2F");
        assert!(shown.contains("adm Log out") && shown.contains("Documents In a day"), "{shown}");
        browser
    }

    fn w3m(&self, args: &[&str], path: &str) -> String {
        let output = Command::new("w3m")
            .args(["-cookie", "-dump", "-cols", "120", "-O", "UTF-8"])
            .args(args)
            .arg(format!("{}{path}", self.url))
            .env("HOME", self.home.path())
            .env("LC_ALL", "C.UTF-8")
            .env_remove("WWW_HOME")
            .env_remove("http_proxy")
            .stdin(Stdio::null())
            .output()
            .expect("w3m is installed: scripts/test installs it");
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && !shown.is_empty(), "{path}: {}", String::from_utf8_lossy(&output.stderr));
        shown
    }

    /// What is to be read of a page.
    fn shown(&self, path: &str) -> String {
        self.w3m(&[], path)
    }

    /// The path that a link of a page leads to: w3m lists the addresses below it, by their numbers.
    fn leads_to(&self, path: &str, link: &str) -> String {
        let shown = self.w3m(&["-o", "display_link_number=1"], path);
        let number = shown.lines().find_map(|line| {
            let before = line.split_once(&format!("]{link}"))?.0;
            Some(before.rsplit_once('[')?.1.to_owned())
        });
        let number = number.unwrap_or_else(|| panic!("no link {link}: {shown}"));
        let to = shown.lines().find_map(|line| line.strip_prefix(&format!("[{number}] ")));
        let to = to.and_then(|to| to.strip_prefix(&self.url)).unwrap_or_else(|| panic!("{link} leads away: {shown}"));
        to.to_owned()
    }
}

fn curl(served: &Served, method: &str, path: &str, body: &str) -> String {
    let output = Command::new("curl")
        .args(["-sS", "-X", method, "-H", "Content-Type: application/json", "-d", body])
        .arg(format!("{}{path}", served.url_of_admin()))
        .output()
        .expect("curl is installed: scripts/test installs it");
    String::from_utf8(output.stdout).unwrap()
}

fn cities() -> Served {
    let served = Served::start();
    curl(&served, "PUT", "/cities", "");
    let city = |n: u32| {
        let country = if n.is_multiple_of(2) { "PT" } else { "ES" };
        let (id, name, position) =
            (format!("c{n:02}"), format!("Stadt <b>{n}</b>"), json!({"lat": f64::from(n) + 0.5}));
        json!({"_id": id, "name": name, "population": 1000 * n, "position": position, "country": country})
    };
    let docs: Vec<_> = (0..25).map(city).collect();
    let answer = curl(&served, "POST", "/cities/_bulk_docs", &json!({ "docs": docs }).to_string());
    assert!(answer.contains("\"c24\"") && !answer.contains("error"), "{answer}");
    served
}

/// The place in a line at which each word begins.
fn places(line: &str, words: &[&str]) -> Vec<usize> {
    let place = |word: &&str| line.find(word).map(|at| line[..at].chars().count());
    words.iter().map(|word| place(word).unwrap_or_else(|| panic!("no {word} in: {line}"))).collect()
}

#[test]
fn lists_stand_in_columns_and_go_on_at_the_next_page() {
    let served = cities();
    let browser = Browser::logged_in(&served);
    let mut path = "/cities/_all_docs?include_docs=true&fields=name,population,position.lat&limit=10".to_owned();
    let mut seen = Vec::new();
    loop {
        let shown = browser.shown(&path);
        let head = shown.lines().find(|line| line.trim_start().starts_with("id ")).expect(&shown);
        let columns = places(head, &["population", "position.lat"]);
        for line in shown.lines().filter(|line| line.starts_with('c') && line.contains("Stadt")) {
            let id = &line[..3];
            let n: usize = id[1..].parse().unwrap();
            let (name, count, lat) = (format!("Stadt <b>{n}</b>"), (1000 * n).to_string(), format!("{n}.5"));
            assert!(line.contains(&name), "{line}");
            // Each value is below the name of its column.
            let below = |column: usize| line.chars().skip(column).collect::<String>();
            assert!(below(columns[0]).starts_with(&count) && below(columns[1]).starts_with(&lat), "{head}\n{line}");
            seen.push(id.to_owned());
        }
        if !shown.contains("Next page") {
            break;
        }
        assert!(seen.len() < 25, "there is no page behind the last one: {shown}");
        path = browser.leads_to(&path, "Next page");
    }
    assert_eq!(seen, (0..25).map(|n| format!("c{n:02}")).collect::<Vec<_>>());
}

#[test]
fn documents_their_past_errors_and_the_console_can_be_read() {
    let served = cities();
    let browser = Browser::logged_in(&served);
    let document = browser.shown("/cities/c07");
    for line in ["name", "    Stadt <b>7</b>", "population", "    7000", "    lat", "        7.5"] {
        assert!(document.lines().any(|own| own.trim_end() == line), "{line}: {document}");
    }
    let rev = curl(&served, "GET", "/cities/c07", "").split("_rev\":\"").nth(1).unwrap()[..34].to_owned();
    curl(&served, "PUT", "/cities/c07", &json!({"_rev": rev, "name": "Other"}).to_string());
    let history = browser.shown("/cities/c07/_history");
    assert!(history.contains("2 rows on this page.") && history.contains(&rev), "{history}");
    // A revision's commit leads to the document as of then, which says so.
    let of_rev = history.lines().find(|line| line.contains(&rev)).unwrap();
    let commit = of_rev.split_whitespace().nth(1).unwrap();
    let then = browser.leads_to("/cities/c07/_history", commit);
    let then = browser.shown(&then);
    assert!(then.contains("This is the past: as of") && then.contains("Stadt <b>7</b>"), "{then}");
    assert!(browser.shown("/").contains("Welcome") && browser.leads_to("/", "Console") == "/_utils/");
    let missing = browser.shown("/cities/none");
    assert!(missing.contains("404 Not Found") && missing.contains("reason\n    missing"), "{missing}");
    let table = browser.shown("/_utils/cities?fields=name,country&facet=country&rows=3");
    for text in ["• ES 11", "• PT 13", "25 documents · ", "Stadt <b>0</b>", "Page 1 2 3", "• absent 1"] {
        assert!(table.contains(text), "{text}: {table}");
    }
    let found = browser.shown(&browser.leads_to("/_utils/cities?facet=country", "ES"));
    assert!(found.contains("c01") && !found.contains("c02"), "{found}");
    let query = "/_utils/cities/query?find=%7B%22selector%22%3A%7B%22population%22%3A%7B%22%24gt%22%3A22000%7D%7D%7D";
    let asked = browser.shown(query);
    assert!(asked.contains("2 rows in") && asked.contains("every document") && asked.contains("c24"), "{asked}");
    // Without a right there is the way to say who one is, and nothing else.
    let stranger = Browser { home: tempfile::tempdir().unwrap(), url: served.url.clone() };
    let refused = stranger.shown("/cities/c07");
    assert!(refused.contains("401 Unauthorized") && refused.contains("Password ["), "{refused}");
    assert!(!refused.contains("Other"), "{refused}");
}

/// Each key that is pressed, as lynx reads them from a script.
fn pressed(keys: &[&str]) -> String {
    keys.iter().flat_map(|key| ["key ", key, "\n"]).collect()
}

#[test]
fn one_logs_in_with_lynx_by_the_form() {
    let served = cities();
    let place = tempfile::tempdir().unwrap();
    let file = |name: &str, text: String| {
        let path = place.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let config = "ACCEPT_ALL_COOKIES:TRUE\nALERTSECS:0\nINFOSECS:0\nMESSAGESECS:0\n";
    let config = file("lynx.cfg", config.to_owned());
    // To the form, past the bars above it; the name, the password, the button.
    let typed = |text: &'static str| text.split("").filter(|key| !key.is_empty());
    let keys: Vec<&str> = ["<tab>"; 7]
        .into_iter()
        .chain(typed("adm").chain(["<tab>"]))
        .chain(typed("pass").chain(["<tab>", "^M"]))
        .chain(["q", "y"])
        .collect();
    let script = file("keys", pressed(&keys));
    let output = Command::new("lynx")
        .args([format!("-cfg={config}"), format!("-cmd_script={script}"), format!("{}/_utils/", served.url)])
        .current_dir(place.path())
        .env("HOME", place.path())
        .env("TERM", "vt100")
        .env("LC_ALL", "C.UTF-8")
        .env_remove("http_proxy")
        .stdin(Stdio::null())
        .output()
        .expect("lynx is installed: scripts/test installs it");
    let said = String::from_utf8_lossy(&output.stdout).replace('\u{1b}', "^");
    // What is on the screen afterwards: the databases beside the page, and who is logged in.
    let (_, shown) = said.split_once("302 Found").unwrap_or_else(|| panic!("no log-in: {said}"));
    assert!(shown.contains("cities 25") && shown.contains("Log out"), "{shown}");
    assert!(!shown.contains("Log in"), "{shown}");
}
