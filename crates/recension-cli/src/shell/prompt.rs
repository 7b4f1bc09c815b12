//! The prompt, the keys, and the history.

use std::borrow::Cow;
use std::env;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Command;
use parking_lot::Mutex;
use reedline::{
    ColumnarMenu, DefaultHinter, EditCommand, Emacs, FileBackedHistory, KeyCode, KeyModifiers, MenuBuilder, Prompt,
    PromptEditMode, PromptHistorySearch, Reedline, ReedlineEvent, ReedlineMenu, ValidationResult, Validator,
    default_emacs_keybindings,
};

use super::State;
use super::complete::{Known, LineCompleter};
use super::words::split;
use crate::limits::HISTORY_LINES;

const MENU: &str = "completions";

/// An editor of lines with completion. It keeps a history if there is a file for it.
pub fn editor(program: Command, known: Arc<Mutex<Known>>, history: Option<PathBuf>) -> Reedline {
    let mut keys = default_emacs_keybindings();
    let complete = ReedlineEvent::UntilFound(vec![ReedlineEvent::Menu(MENU.to_owned()), ReedlineEvent::MenuNext]);
    keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, complete);
    keys.add_binding(KeyModifiers::SHIFT, KeyCode::BackTab, ReedlineEvent::MenuPrevious);
    keys.add_binding(KeyModifiers::ALT, KeyCode::Enter, ReedlineEvent::Edit(vec![EditCommand::InsertNewline]));
    let editor = Reedline::create()
        .with_completer(Box::new(LineCompleter { program, known }))
        .with_menu(ReedlineMenu::EngineCompleter(Box::new(ColumnarMenu::default().with_name(MENU))))
        .with_edit_mode(Box::new(Emacs::new(keys)))
        .with_quick_completions(true)
        .with_partial_completions(true)
        .with_hinter(Box::new(DefaultHinter::default()))
        .with_validator(Box::new(WholeLines))
        .with_ansi_colors(env::var_os("NO_COLOR").is_none())
        // A line that begins with a space is not kept, as in other shells.
        .with_history_exclusion_prefix(Some(" ".to_owned()));
    match history.map(|file| FileBackedHistory::with_file(HISTORY_LINES, file)) {
        Some(Ok(history)) => editor.with_history(Box::new(history)),
        // If the history cannot be kept, the shell works without it.
        _ => editor,
    }
}

/// The file of the history: `RECENSION_HISTORY` (empty: none), or a file in the user's directory for state.
pub fn history_file() -> Option<PathBuf> {
    if let Some(file) = env::var_os("RECENSION_HISTORY") {
        return Some(PathBuf::from(file)).filter(|file| !file.as_os_str().is_empty());
    }
    let state = env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let state = state.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".local/state")))?;
    Some(state.join("recension").join("history"))
}

/// A line is complete when its quotes and brackets are closed.
struct WholeLines;

impl Validator for WholeLines {
    fn validate(&self, line: &str) -> ValidationResult {
        if split(line).open.is_some() { ValidationResult::Incomplete } else { ValidationResult::Complete }
    }
}

/// The session's collection and moment.
pub struct StatePrompt(pub State);

impl Prompt for StatePrompt {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        Cow::Owned(self.0.to_string())
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_indicator(&self, _: PromptEditMode) -> Cow<'_, str> {
        Cow::Borrowed("> ")
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed("... ")
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        Cow::Owned(format!(" (search: {}) ", search.term))
    }
}
