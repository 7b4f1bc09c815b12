//! Parsing words into a command. The first word that is an operator ends the path, and everything after it is data.

use super::{Command, Operator, Step};
use crate::dialect::Dialect;
use crate::limits::{PATH_WORDS_MAX, WORDS_MAX};
use crate::value::Value;

/// Reads the words of a request, as they stand in a frame: one a line, empty ones left out.
///
/// # Errors
/// The problem, without the word `error`.
pub fn parse(text: &str, dialect: &Dialect) -> Result<Command, String> {
    let mut words = text.split('\n').filter(|word| !word.is_empty());
    let mut command = Command::top();
    let mut leading = true;
    while let Some(word) = words.next() {
        match word {
            "-c" | "--context" if leading || !dialect.flags_lead => command.context = true,
            "--strict" if leading => command.strict = true,
            "-s" if leading && dialect.flags_lead => command.strict = true,
            "--timing" if leading => command.timing = true,
            "--history" if leading => command.history = true,
            "--at" if leading => {
                let moment = words.next().ok_or("--at needs a moment: a commit's number, a time or an age")?;
                command.at = Some(moment.parse().map_err(|error| format!("--at: {error}"))?);
            }
            "--if" if leading => {
                let json = words.next().ok_or("--if needs the JSON that is expected")?;
                command.expected = Some(Value::parse(json).map_err(|error| format!("--if: {error}"))?);
            }
            _ => {
                leading = false;
                if let Some(operator) = operator(word, &mut words, command.steps.is_empty())? {
                    command.operator = operator;
                    break;
                }
                if command.steps.len() >= PATH_WORDS_MAX {
                    return Err(format!("a path has at most {PATH_WORDS_MAX} words"));
                }
                command.steps.push(match word.strip_prefix('!') {
                    Some(name) if !name.is_empty() => Step::Reference(name.to_owned()),
                    _ => Step::Key(word.to_owned()),
                });
            }
        }
    }
    if command.operator.writes() && (command.at.is_some() || command.history) {
        return Err("the past cannot be changed: --at and --history are for reading".to_owned());
    }
    let sets = matches!(command.operator, Operator::Set(_));
    if command.expected.is_some() && (!command.operator.writes() || (command.steps.is_empty() && !sets)) {
        return Err("--if needs a path and what to write there, or --set".to_owned());
    }
    if command.history && command.operator != Operator::Get {
        return Err("--history takes a path and no operator".to_owned());
    }
    if command.history && command.steps.is_empty() {
        return Err("--history needs a path".to_owned());
    }
    Ok(command)
}

/// The member that a request reads, if that is all it does and its text shows it at a glance, as most do. [`parse`]
/// gives the same command.
pub fn plain_member(text: &str) -> Option<&str> {
    // A word that is no key begins with one of these.
    let is_key = !text.starts_with(['-', '+', '=', '@', '!']);
    (is_key && !text.is_empty() && !text.contains('\n')).then_some(text)
}

/// The operator of a word, with its data.
fn operator<'w>(
    word: &str,
    words: &mut impl Iterator<Item = &'w str>,
    first: bool,
) -> Result<Option<Operator>, String> {
    let mut values = || {
        let values: Vec<String> = words.by_ref().take(WORDS_MAX + 1).map(str::to_owned).collect();
        if values.len() > WORDS_MAX { Err(format!("a command has at most {WORDS_MAX} values")) } else { Ok(values) }
    };
    Ok(Some(match word {
        "=" => Operator::Assign(values()?),
        "+" => Operator::Append(values()?),
        "-" => Operator::Remove(values()?),
        "-k" | "--keys" => Operator::Keys,
        "-e" | "--edit" => Operator::Edit,
        "-s" | "--set" => Operator::Set(words.next().map(str::to_owned)),
        "-d" | "--del" => Operator::Delete,
        "-p" | "--pop" => Operator::Pop,
        "@" => Operator::Search(words.next().map(str::to_owned)),
        // It is an operator only without a path; with a path it is a key like any other.
        "--flush" if first => match words.next() {
            None => Operator::Flush,
            Some(_) => return Err("--flush stands alone".to_owned()),
        },
        _ => return Ok(None),
    }))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parsed(words: &[&str], dialect: Dialect) -> Command {
        parse(&words.join("\n"), &dialect).unwrap()
    }

    #[test]
    fn the_first_operator_ends_the_path_and_all_behind_it_is_data() {
        for dialect in Dialect::ALL {
            let command = parsed(&["", "a", "", "b", "=", "-k", "!x"], dialect);
            assert_eq!(command.steps, [Step::Key("a".into()), Step::Key("b".into())]);
            assert_eq!(command.operator, Operator::Assign(vec!["-k".into(), "!x".into()]));
            assert_eq!(parsed(&["!a", "!", "-s", "1", "2"], dialect).operator, Operator::Set(Some("1".into())));
            assert_eq!(parsed(&["--flush"], dialect).operator, Operator::Flush);
            assert_eq!(parsed(&["a", "--flush"], dialect).steps.len(), 2);
            assert_eq!(parsed(&[], dialect).operator, Operator::Get);
            assert!(parse("--at\n1\na\n=\nx", &dialect).is_err());
            assert!(parse("--at", &dialect).is_err() && parse("--at\nsometime", &dialect).is_err());
        }
    }

    proptest! {
        #[test]
        fn a_plain_member_is_what_the_command_reads(text in "([-+=@!a-z\n$_.é ]|--?[a-z]{1,7}){0,6}") {
            for dialect in Dialect::ALL {
                if let Some(member) = plain_member(&text) {
                    prop_assert_eq!(parse(&text, &dialect), Ok(Command::read_of(member)));
                }
            }
        }
    }

    #[test]
    fn most_requests_are_plain() {
        assert_eq!(plain_member("toppings"), Some("toppings"));
        assert_eq!(plain_member("a-b"), Some("a-b"));
        for text in ["", "-", "--flush", "=", "@", "!a", "a\nb", "a\n=\nb"] {
            assert_eq!(plain_member(text), None, "{text}");
        }
    }

    #[test]
    fn flags_are_the_dialects() {
        assert!(parsed(&["-s", "a"], Dialect::PYTHON).strict);
        assert_eq!(parsed(&["-s", "a"], Dialect::HASKELL).operator, Operator::Set(Some("a".into())));
        assert!(parsed(&["a", "-c", "b"], Dialect::HASKELL).context);
        assert_eq!(parsed(&["a", "-c", "b"], Dialect::PYTHON).steps.len(), 3);
        assert!(parsed(&["--strict", "--timing", "-c", "a"], Dialect::HASKELL).timing);
    }
}
