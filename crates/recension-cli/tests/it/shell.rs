//! The shell: scripts through a pipe, and a person at a terminal.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::Stdio;

use crate::common::Place;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

#[test]
fn a_script_runs_the_commands_of_the_binary_on_one_store() {
    let place = Place::new();
    let script = r#"
# A script of everything.
put notes a {"text": "it's # here", "n": [1, 2]}
recension put notes b '{"text":"b"}'
put notes c {
  "text": "over lines"
}
use notes
get a
in people put ada {"n": 1}
find 'text = "over lines"' --fields text
at 1
find --count
at now
find --count
use
collections
--store sqlite:other.sqlite put x y {}
stats --json
exit
get notes nothing
"#;
    let ended = place.run_with(&["shell"], script.as_bytes());
    assert_eq!(ended.code, 0, "{}", ended.err);
    for line in [
        r#""text":"it's # here","n":[1,2]}"#,
        r#"{"_id":"c","text":"over lines"}"#,
        "{\"count\":1}\n{\"count\":3}\n",
        r#"{"collection":"people","documents":1,"indexes":[]}"#,
        r#""engine":"native","seq":4"#,
    ] {
        assert!(ended.out.contains(line), "{line}: {}", ended.out);
    }
    // What the shell wrote is there for others.
    assert!(place.ok(&["get", "people", "ada"]).contains("\"n\":1"));
    assert!(place.ok(&["--store", "sqlite:other.sqlite", "get", "x", "y"]).contains("\"y\""));
}

#[test]
fn a_script_stops_at_its_first_error_and_says_where() {
    let place = Place::new();
    for (script, code, message) in [
        ("put n a {}\n\nget n b\nput n c {}\n", 1, "line 3: there is no document \"b\""),
        ("put n a {}\nfrobnicate\n", 2, "line 2: unrecognized subcommand"),
        ("put n a {}\nput n {\n\"a\":\n", 2, "line 2: a bracket is never closed"),
        ("put n a {}\nput n x\n", 2, "line 2: there is no body"),
        ("put n a {}\nimport n\n", 2, "line 2: there is no input"),
        ("put n a {}\nshell\n", 2, "line 2: this is a shell already"),
        ("put n a {}\nput n a {\"a\" 1}\n", 5, "line 2: "),
        ("put n a {}\nat tomorrow\n", 2, "line 2: "),
        ("put n a {}\npurge n a\n", 2, "line 2: nothing was done"),
        ("put n a {}\nuse a b\n", 2, "line 2: this is not how use is used"),
    ] {
        let ended = place.run_with(&["shell"], script.as_bytes());
        assert_eq!(ended.code, code, "{script}: {}", ended.err);
        assert!(ended.err.contains(message), "{script}: {}", ended.err);
    }
    place.fails(1, &["get", "n", "c"]);
    let ended = place.run_with(&["shell", "--keep-going"], b"get n b\nput n c {}\n\xff\nget n c\nfrob\n");
    assert_eq!(ended.code, 1);
    assert!(ended.out.contains("\"_id\":\"c\""), "{}", ended.out);
    for message in
        ["line 1: there is no", "line 3: it is not UTF-8", "line 5: unrec", "3 failed; the first was: line 1"]
    {
        assert!(ended.err.contains(message), "{message}: {}", ended.err);
    }
}

#[test]
fn a_mistyped_store_is_not_made_by_looking_at_it() {
    let place = Place::new();
    let ended = place.run_with(&["shell", "typo.store"], b"collections\n");
    assert_eq!(ended.code, 6);
    assert!(ended.err.contains("there is no store at typo.store"), "{}", ended.err);
    assert!(!place.path().join("typo.store").exists());
    place.ok_with(&["shell", "new.store"], b"put n a {}\nget n a\n");
    assert!(place.ok_with(&["--store", "memory:", "shell"], b"put n a {\"x\":7}\nget n a\n").contains("\"x\":7"));
}

#[test]
fn help_is_of_the_shell_and_of_every_command() {
    let place = Place::new();
    let help = place.ok_with(&["shell"], b"help\n");
    for word in ["use ", "at ", "in ", "find ", "patch ", "exit "] {
        assert!(help.contains(&format!("\n  {word}")), "{word}: {help}");
    }
    let help = place.ok_with(&["shell"], b"use cities\nhelp index create\nfind --help\n");
    assert!(help.contains("recension index create") && help.contains("recension find cities"), "{help}");
}

/// A terminal of which this test is the screen and the keyboard.
struct Terminal {
    screen: File,
    seen: String,
}

impl Terminal {
    fn open() -> (Self, OwnedFd) {
        let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&screen).unwrap();
        unlockpt(&screen).unwrap();
        let size = rustix::termios::Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };
        rustix::termios::tcsetwinsize(&screen, size).unwrap();
        let name = ptsname(&screen, Vec::new()).unwrap();
        let child = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        (Terminal { screen: screen.into(), seen: String::new() }, child.into())
    }

    fn press(&mut self, keys: &str) {
        self.screen.write_all(keys.as_bytes()).unwrap();
    }

    /// Reads until `text` is on the screen; what came before it is forgotten.
    fn wait_for(&mut self, text: &str) {
        let mut block = [0; 4096];
        loop {
            if let Some(at) = self.seen.find(text) {
                self.seen.drain(..at + text.len());
                return;
            }
            let read = self.screen.read(&mut block).unwrap_or_else(|_| panic!("ended before {text:?}: {}", self.seen));
            let read = String::from_utf8_lossy(&block[..read]).into_owned();
            // A real terminal says where its cursor is.
            for _ in read.matches("\x1b[6n") {
                self.press("\x1b[1;1R");
            }
            self.seen.push_str(&read);
        }
    }
}

#[test]
fn a_person_completes_with_tab_and_an_error_ends_nothing() {
    let place = Place::new();
    place.ok(&["put", "cities", "porto", r#"{"name":"Porto"}"#]);
    let (mut terminal, child) = Terminal::open();
    let stdio = || Stdio::from(child.try_clone().unwrap());
    let mut command = place.command(&["shell"]);
    command.env("RECENSION_HISTORY", place.path().join("history")).env("TERM", "xterm");
    let mut process = command.stdin(stdio()).stdout(stdio()).stderr(stdio()).spawn().unwrap();
    drop(command);
    drop(child);
    terminal.wait_for("recension> ");
    terminal.press("get cities nothing\r");
    terminal.wait_for("there is no document \"nothing\"");
    terminal.wait_for("recension> ");
    // Each of the words is the only one that it can become.
    terminal.press("use c\t\r");
    terminal.wait_for("cities> ");
    terminal.press("ge\tpo\t\r");
    terminal.wait_for("\"name\": \"Porto\"");
    terminal.wait_for("cities> ");
    terminal.press("put x {\r\"a\": 1}\r");
    terminal.wait_for("1-");
    terminal.wait_for("cities> ");
    terminal.press("exit\r");
    assert_eq!(process.wait().unwrap().code(), Some(0));
    let history = std::fs::read_to_string(place.path().join("history")).unwrap();
    assert!(history.contains("use cities") && history.contains("get porto"), "{history}");
    assert!(place.ok(&["get", "cities", "x"]).contains("\"a\":1"));
}
