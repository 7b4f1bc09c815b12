//! What is made of clap's description of the commands: completions and manual pages.

use std::process::{Command, Stdio};

use crate::common::Place;

fn have(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

#[test]
fn completions_are_scripts_that_their_shells_understand() {
    let place = Place::new();
    for (shell, words) in [
        ("bash", &["recension", "--include-docs", "conflicts"][..]),
        ("zsh", &["#compdef recension", "--include-docs"]),
        ("fish", &["complete -c recension", "include-docs"]),
        ("elvish", &["recension"]),
        ("powershell", &["recension"]),
    ] {
        let script = place.ok(&["completions", shell]);
        assert!(words.iter().all(|word| script.contains(word)), "{shell}");
        let file = place.file(shell, &script);
        if ["bash", "zsh", "fish"].contains(&shell) && have(shell) {
            assert!(place.parses(shell, &["-n", &file]), "{shell}");
        }
    }
    assert!(place.fails(2, &["completions", "tcsh"]).contains("bash"));
}

#[test]
fn bash_completes_commands_and_flags() {
    let place = Place::new();
    place.file("completions", place.ok(&["completions", "bash"]));
    let script = "source completions; COMP_WORDS=(recension \"$@\"); COMP_CWORD=$#; \
                  _recension recension \"${!#}\" x; echo ${COMPREPLY[@]}";
    for (words, expected) in [(&["fin"][..], "find"), (&["export", "--form"], "--format")] {
        let output = Command::new("bash").current_dir(place.path()).args(["-c", script, "bash"]).args(words).output();
        let found = String::from_utf8(output.unwrap().stdout).unwrap();
        assert!(found.split_whitespace().any(|word| word == expected), "{words:?}: {found}");
    }
}

#[test]
fn there_is_a_manual_page_of_every_command_and_man_reads_it() {
    let place = Place::new();
    place.ok(&["man", "--out", "man"]);
    let mut pages: Vec<_> = std::fs::read_dir(place.path().join("man")).unwrap().map(Result::unwrap).collect();
    pages.sort_by_key(std::fs::DirEntry::file_name);
    let names: Vec<_> = pages.iter().map(|page| page.file_name().into_string().unwrap()).collect();
    for name in
        ["recension.1", "recension-find.1", "recension-attach-put.1", "recension-index-create.1", "recension-shell.1"]
    {
        assert!(names.iter().any(|known| known == name), "{name}: {names:?}");
    }
    assert_eq!(
        place.ok(&["man", "find"]).into_bytes(),
        std::fs::read(place.path().join("man/recension-find.1")).unwrap()
    );
    assert!(place.ok(&["man"]).contains("Exit codes"));
    place.fails(2, &["man", "frobnicate"]);
    if have("man") {
        for name in names {
            let page = place.path().join("man").join(&name);
            let output = Command::new("man").args(["--warnings", "-l", "-E", "UTF-8"]).arg(&page).output().unwrap();
            let (text, warnings) = (String::from_utf8(output.stdout).unwrap(), output.stderr);
            assert!(output.status.success() && warnings.is_empty(), "{name}: {}", String::from_utf8_lossy(&warnings));
            assert!(text.contains("NAME") && text.contains("SYNOPSIS"), "{name}: {text}");
        }
    }
}

impl Place {
    fn parses(&self, program: &str, args: &[&str]) -> bool {
        Command::new(program).current_dir(self.path()).args(args).status().unwrap().success()
    }
}
