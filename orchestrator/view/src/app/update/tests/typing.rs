//! Tests typed and pasted text: filters, commands, and searches in help.

use super::*;
use crate::app::event::FileList;

fn palette(model: &Model) -> (&str, &str) {
    match &model.mode {
        Mode::Palette { line, .. } => line.parts(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_filter_that_is_no_expression_yet_is_taken_as_it_stands() {
    let mut model = fixture::model();
    press(&mut model, Key::Char('9'));
    press(&mut model, Key::Char('/'));
    type_text(&mut model, "s[12]|joi(");
    assert!(model.heard.logs.filter().error().is_some());
    assert_eq!(model.heard.logs.len(), 0);
    press(&mut model, Key::Backspace);
    assert_eq!(model.heard.logs.filter().error(), None);
    assert!(model.heard.logs.len() > 40);
    for _ in 0..20 {
        press(&mut model, Key::Left);
    }
    type_text(&mut model, "!");
    assert_eq!(model.heard.logs.len(), 2);
}

#[test]
fn lines_that_were_run_come_back() {
    let mut model = in_state(RunState::Paused);
    for line in ["step 5", "nonsense", "pause"] {
        press(&mut model, Key::Char(':'));
        type_text(&mut model, line);
        press(&mut model, Key::Enter);
        press(&mut model, Key::Esc);
    }
    assert_eq!(model.prompt.history.lines(), ["step 5", "pause"]);
    assert_eq!(
        model.prompt.history.take_unsaved().as_deref(),
        Some("pause")
    );
    press(&mut model, Key::Char(':'));
    type_text(&mut model, "pl");
    press(&mut model, Key::Up);
    assert_eq!(palette(&model), ("pause", ""));
    press(&mut model, Key::Ctrl('p'));
    assert_eq!(palette(&model), ("step 5", ""));
    press(&mut model, Key::Down);
    press(&mut model, Key::Down);
    assert_eq!(palette(&model), ("pl", ""));
}

#[test]
fn a_line_is_completed_before_its_cursor() {
    let mut model = in_state(RunState::Paused);
    press(&mut model, Key::Char(':'));
    type_text(&mut model, "ste 5");
    press(&mut model, Key::Left);
    press(&mut model, Key::Left);
    press(&mut model, Key::Tab);
    assert_eq!(palette(&model), ("step ", " 5"));
    assert_eq!(
        press(&mut model, Key::Enter),
        Some(Effect::Send(Command::Step { count: 5 }))
    );
}

#[test]
fn files_are_asked_for_once_per_folder() {
    let mut model = in_state(RunState::Running);
    press(&mut model, Key::Char('5'));
    let list = |folder: &str| Some(Effect::ListFiles(folder.to_owned()));
    assert_eq!(press(&mut model, Key::Char('i')), list(""));
    let files = |folder: &str, name: &str| {
        Event::Files(FileList {
            folder: folder.to_owned(),
            names: vec![name.to_owned()],
        })
    };
    update(&mut model, files("", "worlds/"), NOW);
    type_text(&mut model, "wo");
    assert_eq!(press(&mut model, Key::Tab), list("worlds/"));
    assert_eq!(palette(&model).0, "spawn worlds/");
    update(&mut model, files("elsewhere/", "elsewhere/a.sdf"), NOW);
    assert_eq!(
        model.prompt.files.as_ref().unwrap().names,
        Vec::<String>::new()
    );
    update(&mut model, files("worlds/", "worlds/box.sdf"), NOW);
    press(&mut model, Key::Tab);
    assert_eq!(palette(&model).0, "spawn worlds/box.sdf");
}

#[test]
fn pasted_text_goes_into_the_line_that_is_typed() {
    let paste = |model: &mut Model, text: &str| {
        let effect = update(model, Event::Paste(text.to_owned()), NOW);
        assert_eq!(effect, None);
        model.settle();
    };
    let mut model = in_state(RunState::Paused);
    paste(&mut model, "q\nS\n");
    assert_eq!(model.mode, Mode::Browse);
    assert!(
        model
            .prompt
            .notice
            .as_ref()
            .unwrap()
            .text
            .contains("pasted")
    );
    press(&mut model, Key::Char(':'));
    paste(&mut model, "step 7\n");
    assert_eq!(palette(&model), ("step 7", ""));
    press(&mut model, Key::Esc);
    press(&mut model, Key::Char('5'));
    press(&mut model, Key::Char('/'));
    paste(&mut model, "rover");
    assert_eq!(model.tables[Panel::Performers].rows().len(), 2);
}

#[test]
fn help_is_searched_and_left_step_by_step() {
    let mut model = fixture::model();
    press(&mut model, Key::Char('?'));
    press(&mut model, Key::Char('/'));
    type_text(&mut model, "hand q");
    press(&mut model, Key::Backspace);
    assert_eq!(model.prompt.help.line.text(), "hand ");
    press(&mut model, Key::Enter);
    press(&mut model, Key::Esc);
    assert_eq!(model.prompt.help.line.text(), "");
    assert!(matches!(model.mode, Mode::Help { .. }));
    press(&mut model, Key::Esc);
    assert_eq!(model.mode, Mode::Browse);
    press(&mut model, Key::Char(':'));
    type_text(&mut model, "help move");
    press(&mut model, Key::Enter);
    assert_eq!(model.prompt.help.line.text(), "move");
    press(&mut model, Key::Esc);
    press(&mut model, Key::Char('?'));
    assert_eq!(model.prompt.help.line.text(), "");
}

#[test]
fn a_file_is_read_outside_before_its_command_is_sent() {
    let spawn = |model: &mut Model| {
        open_and_type(model, "spawn /no/such.sdf");
        press(model, Key::Enter)
    };
    let mut model = in_state(RunState::Paused);
    let Some(Effect::Load(asked)) = spawn(&mut model) else {
        panic!("the file is to be read");
    };
    assert_eq!(asked.file(), Some("/no/such.sdf".as_ref()));
    assert!(model.prompt.pending.is_empty());
    let failed = Event::LoadFailed {
        reason: "cannot read it".to_owned(),
    };
    assert_eq!(update(&mut model, failed, NOW), None);
    assert_eq!(model.prompt.notice.as_ref().unwrap().text, "cannot read it");
    let loaded = Event::Loaded(Command::Pause);
    let sent = update(&mut model, loaded, NOW);
    assert_eq!(sent, Some(Effect::Send(Command::Pause)));
    let mut watching = in_state(RunState::Paused);
    watching.session.is_read_only = true;
    assert_eq!(spawn(&mut watching), None);
    let notice = watching.prompt.notice.expect("it is refused");
    assert!(notice.text.contains("only watches"), "{}", notice.text);
}

fn open_and_type(model: &mut Model, line: &str) {
    press(model, Key::Char(':'));
    for c in line.chars() {
        press(model, Key::Char(c));
    }
}
