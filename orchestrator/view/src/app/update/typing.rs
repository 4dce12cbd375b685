//! Typed text: filters, commands, and searches in help.

use protocol::Command;

use super::control::{ask_to_stop, load, on_step, send};
use super::{driving, keys, navigation, replay};
use crate::app::command::{Effect, ViewEnd};
use crate::app::event::{FileList, Key};
use crate::app::filter::Filter;
use crate::app::keymap;
use crate::app::line_edit::LineEdit;
use crate::app::model::{HelpSearch, Mode, Model, Question};
use crate::app::palette::{self, Request, completion};

/// Begins to type a command.
pub(super) fn open_palette(model: &mut Model, text: &str) {
    model.prompt.history.restart();
    model.prompt.files = None;
    model.mode = Mode::Palette {
        line: LineEdit::new(text),
        error: None,
    };
}

/// Begins to type a command that names a file.
pub(super) fn open_palette_and_list(model: &mut Model, text: &str) -> Option<Effect> {
    open_palette(model, text);
    list_files(model)
}

/// Begins to type a filter, or words to look for in help.
pub(super) fn open_filter(model: &mut Model) {
    if let Mode::Help { .. } = model.mode {
        model.prompt.help.is_typed = true;
        return;
    }
    model.prompt.filter_line = LineEdit::default();
    take_filter(model);
    model.mode = Mode::Filter;
}

/// Shows help, lines with these words alone.
pub(super) fn open_help(model: &mut Model, search: &str) {
    model.prompt.help = HelpSearch {
        line: LineEdit::new(search),
        is_typed: false,
    };
    model.mode = Mode::Help { scroll: 0 };
}

/// Clears what is typed; tells whether the mode is left, too.
pub(super) fn cancel(model: &mut Model) -> bool {
    match model.mode {
        Mode::Filter => navigation::set_filter(model, Filter::default()),
        Mode::Help { .. }
            if model.prompt.help.is_typed || !model.prompt.help.line.text().is_empty() =>
        {
            model.prompt.help = HelpSearch::default();
            return false;
        }
        _ => {}
    }
    true
}

/// A key without a meaning of its own is text where text is typed.
pub(super) fn on_typed(model: &mut Model, key: Key) -> Option<Effect> {
    match &mut model.mode {
        Mode::Palette { line, error } => {
            *error = None;
            if key == Key::Backspace && line.text().is_empty() {
                model.mode = Mode::Browse;
            } else {
                line.edit(key);
            }
            return list_files(model);
        }
        Mode::Filter => {
            if model.prompt.filter_line.edit(key) {
                take_filter(model);
            }
        }
        Mode::Help { scroll } if model.prompt.help.is_typed => {
            model.prompt.help.line.edit(key);
            *scroll = 0;
        }
        Mode::Browse => on_unknown(model, key),
        Mode::Confirm(Question::Command { .. }) => model.notify("y for yes, n for no", false),
        Mode::Confirm(Question::Quit) if model.session.is_read_only => {
            let text = "this view only watches: d leaves the run running, n stays";
            model.notify(text, true);
        }
        Mode::Confirm(Question::Quit) => {
            model.notify("s stops the run, d leaves it running, n stays", false);
        }
        Mode::Drive(_) => model.notify("arrows drive, Space stops, Esc leaves", false),
        Mode::Help { .. } | Mode::Detail { .. } | Mode::Ended { .. } => {}
    }
    None
}

/// Takes a pasted text where text is typed.
pub(super) fn on_paste(model: &mut Model, text: &str) -> Option<Effect> {
    match &mut model.mode {
        Mode::Palette { line, error } => {
            *error = None;
            line.insert(text);
            return list_files(model);
        }
        Mode::Filter => {
            model.prompt.filter_line.insert(text);
            take_filter(model);
        }
        Mode::Help { scroll } if model.prompt.help.is_typed => {
            model.prompt.help.line.insert(text);
            *scroll = 0;
        }
        Mode::Browse
        | Mode::Confirm(_)
        | Mode::Drive(_)
        | Mode::Help { .. }
        | Mode::Detail { .. }
        | Mode::Ended { .. } => {
            model.notify(
                "pasted text goes into a command line: : opens it, / a filter",
                false,
            );
        }
    }
    None
}

/// Takes the files of a folder, unless another one is typed by now.
pub(super) fn on_files(model: &mut Model, files: FileList) {
    let waited = model.prompt.files.as_ref().map(|waited| &waited.folder);
    if waited == Some(&files.folder) {
        model.prompt.files = Some(files);
    }
}

/// Runs the line of the palette.
pub(super) fn on_palette(model: &mut Model, line: LineEdit) -> Option<Effect> {
    let request = match palette::parse(model, line.text()) {
        Ok(request) => request,
        Err(error) => {
            model.mode = Mode::Palette {
                line,
                error: Some(error.to_string()),
            };
            return None;
        }
    };
    model.prompt.history.push(line.text());
    match request {
        Request::Command(Command::Stop)
            if !model.session.is_read_only && model.session.recording.is_none() =>
        {
            ask_to_stop(model);
        }
        Request::Command(Command::Step { count }) => return on_step(model, count),
        Request::Command(command) => return send(model, command),
        Request::Load(asked) => return load(model, asked),
        Request::Drive(name) => return driving::begin(model, &name),
        Request::Replay(request) => return Some(replay::ask(model, request)),
        Request::Quit => return keys::on_quit(model),
        Request::Detach => return Some(Effect::End(ViewEnd::Detach)),
        Request::Help(words) => open_help(model, &words),
    }
    None
}

pub(super) fn on_complete(model: &mut Model) -> Option<Effect> {
    if let Mode::Palette { line, .. } = &model.mode {
        // What stands behind the cursor is not completed, and must not get lost.
        let (before, after) = line.parts();
        let mut line = LineEdit::new(completion::complete(model, before));
        let after = after.to_owned();
        line.append(&after);
        model.mode = Mode::Palette { line, error: None };
    }
    list_files(model)
}

/// Brings an earlier line back, or the one after it.
pub(super) fn on_history(model: &mut Model, is_back: bool) -> Option<Effect> {
    let Mode::Palette { line, error } = &mut model.mode else {
        return None;
    };
    let found = if is_back {
        model.prompt.history.previous(line.text())
    } else {
        model.prompt.history.next_line()
    };
    if let Some(found) = found {
        (*line, *error) = (LineEdit::new(found), None);
    }
    list_files(model)
}

/// Asks for the files that the line may be completed with, once per folder.
fn list_files(model: &mut Model) -> Option<Effect> {
    let Mode::Palette { line, .. } = &model.mode else {
        return None;
    };
    let Some(folder) = completion::folder(model, line.parts().0) else {
        // Another time the folder is looked at anew.
        model.prompt.files = None;
        return None;
    };
    if model
        .prompt
        .files
        .as_ref()
        .is_some_and(|files| files.folder == folder)
    {
        return None;
    }
    model.prompt.files = Some(FileList {
        folder: folder.clone(),
        names: Vec::new(),
    });
    Some(Effect::ListFiles(folder))
}

fn take_filter(model: &mut Model) {
    let filter = Filter::new(model.prompt.filter_line.text());
    navigation::set_filter(model, filter);
}

/// Says where a key works that does nothing here.
fn on_unknown(model: &mut Model, key: Key) {
    let name = keymap::key_name(key);
    let of_panel = |binding: keymap::Binding<'_>| {
        let place = keymap::place_name(binding.context)?;
        Some((place, binding.text))
    };
    let text = match keymap::elsewhere(model, key).find_map(of_panel) {
        Some((place, text)) => format!("{name} works in {place}: {text}; ? shows all keys"),
        None => format!("{name} does nothing here; ? shows all keys"),
    };
    model.notify(text, false);
}
