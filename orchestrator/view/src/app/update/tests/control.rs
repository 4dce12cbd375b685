//! Tests commands that change the run: asked about, prefilled, refused.

use protocol::client_to_primary::ResetKind;

use super::*;
use crate::app::keymap;

/// Returns the question that is asked.
pub(super) fn asked(model: &Model) -> &str {
    match &model.mode {
        Mode::Confirm(Question::Command { text, .. }) => text,
        other => panic!("{other:?}"),
    }
}

fn typed(model: &Model) -> &str {
    match &model.mode {
        Mode::Palette { line, .. } => line.text(),
        other => panic!("{other:?}"),
    }
}

fn at_pace(asked: f64, measured: f64) -> Model {
    let mut model = in_state(RunState::Running);
    let stats = model.heard.stats.as_mut().unwrap();
    (stats.real_time_factor_asked, stats.real_time_factor) = (asked, measured);
    model
}

fn notice(model: &Model) -> &str {
    &model
        .prompt
        .notice
        .as_ref()
        .expect("something is said")
        .text
}

#[test]
fn a_reset_is_asked_for() {
    let mut model = in_state(RunState::Running);
    press(&mut model, Key::Char('R'));
    assert!(asked(&model).contains("back to the start"));
    let reset = Command::Reset {
        what: ResetKind::All,
    };
    assert_eq!(press(&mut model, Key::Char('y')), Some(Effect::Send(reset)));
}

#[test]
fn the_model_to_remove_is_named_and_confirmed() {
    let mut model = in_state(RunState::Running);
    press(&mut model, Key::Char('5'));
    press(&mut model, Key::Down);
    press(&mut model, Key::Char('x'));
    assert_eq!(asked(&model), "Take box out of the world for good?");
    let remove = Command::Remove {
        model: "box".to_owned(),
    };
    assert_eq!(press(&mut model, Key::Enter), None);
    assert_eq!(
        press(&mut model, Key::Char('y')),
        Some(Effect::Send(remove))
    );
}

#[test]
fn keys_begin_commands_that_are_typed_to_their_end() {
    for (keys, expected) in [
        ("t", "run-to "),
        ("5i", "spawn "),
        ("3m", "move-cell west "),
        ("7p", "pub /model/rover_1/cmd_vel gz.msgs.Twist "),
        (":", ""),
    ] {
        let mut model = in_state(RunState::Paused);
        for key in keys.chars() {
            press(&mut model, Key::Char(key));
        }
        assert_eq!(typed(&model), expected, "{keys}");
    }
}

#[test]
fn the_pace_is_doubled_and_halved() {
    let factor = |factor| Some(Effect::Send(Command::SetRealTimeFactor { factor }));
    let mut model = at_pace(1.0, 1.0);
    assert_eq!(press(&mut model, Key::Char('>')), factor(2.0));
    assert_eq!(notice(&model), "pace: 2 x real time (was 1)");
    assert_eq!(press(&mut model, Key::Char('>')), factor(4.0));
    assert_eq!(press(&mut at_pace(0.5, 0.5), Key::Char('<')), factor(0.25));
    assert_eq!(press(&mut at_pace(0.0, 3.2), Key::Char('<')), factor(2.0));
    assert_eq!(
        press(&mut at_pace(0.0, f64::NAN), Key::Char('<')),
        factor(1.0)
    );
}

#[test]
fn the_pace_has_ends() {
    for (asked, key, part) in [
        (0.0, '>', "as fast as possible already"),
        (64.0, '>', "set-real-time-factor"),
        (1.0 / 64.0, '<', "set-real-time-factor"),
    ] {
        let mut model = at_pace(asked, 1.0);
        assert_eq!(press(&mut model, Key::Char(key)), None);
        assert!(notice(&model).contains(part), "{}", notice(&model));
    }
}

#[test]
fn a_view_that_only_watches_refuses_with_a_reason() {
    for keys in [
        " ", "n", "N", "t", "<", ">", "R", "S", "D", "5x", "5i", "3m", "7p",
    ] {
        let mut model = in_state(RunState::Paused);
        model.session.is_read_only = true;
        for key in keys.chars() {
            let effect = press(&mut model, Key::Char(key));
            let only_asks = matches!(effect, None | Some(Effect::Send(Command::Topics)));
            assert!(only_asks, "{keys}: {effect:?}");
        }
        assert_eq!(model.mode, Mode::Browse, "{keys}");
        assert!(notice(&model).contains("only watches"), "{keys}");
    }
    let mut model = in_state(RunState::Paused);
    model.session.is_read_only = true;
    press(&mut model, Key::Char(':'));
    type_text(&mut model, "stop");
    assert_eq!(press(&mut model, Key::Enter), None);
    assert!(notice(&model).contains("only watches"));
}

#[test]
fn a_key_that_does_nothing_says_where_it_works() {
    let mut model = in_state(RunState::Running);
    press(&mut model, Key::Char('2'));
    press(&mut model, Key::Char('x'));
    assert!(
        notice(&model).contains("Performers (5)"),
        "{}",
        notice(&model)
    );
    press(&mut model, Key::Char('%'));
    assert_eq!(notice(&model), "% does nothing here; ? shows all keys");
    press(&mut model, Key::Char('S'));
    press(&mut model, Key::Char('x'));
    assert_eq!(notice(&model), "y for yes, n for no");
}

#[test]
fn a_view_that_only_watches_is_left_and_does_not_stop_the_run() {
    let at_the_question = || {
        let mut model = in_state(RunState::Running);
        model.session.is_read_only = true;
        press(&mut model, Key::Char('q'));
        assert_eq!(model.mode, Mode::Confirm(Question::Quit));
        model
    };
    for key in [Key::Char('s'), Key::Char('y'), Key::Ctrl('c'), Key::Enter] {
        let mut model = at_the_question();
        assert_eq!(press(&mut model, key), None, "{key:?}");
        assert_eq!(model.mode, Mode::Confirm(Question::Quit), "{key:?}");
        assert!(notice(&model).contains("only watches"), "{key:?}");
    }
    let mut model = at_the_question();
    let answers: Vec<_> = keymap::active(&model).map(|one| one.short).collect();
    assert_eq!(answers, ["leave it running", "stay"]);
    let detach = Some(Effect::End(ViewEnd::Detach));
    assert_eq!(press(&mut model, Key::Char('d')), detach);
    press(&mut model, Key::Char('n'));
    assert_eq!(model.mode, Mode::Browse);
}

#[test]
fn ctrl_c_at_a_question_is_no() {
    for keys in ["R", "S", "5x"] {
        let mut model = in_state(RunState::Running);
        for key in keys.chars() {
            press(&mut model, Key::Char(key));
        }
        assert!(matches!(model.mode, Mode::Confirm(_)), "{keys}");
        assert_eq!(press(&mut model, Key::Ctrl('c')), None, "{keys}");
        assert_eq!(model.mode, Mode::Browse, "{keys}");
    }
}

#[test]
fn ctrl_z_stops_the_view_unless_it_means_something_else() {
    let mut model = in_state(RunState::Running);
    assert_eq!(press(&mut model, Key::Ctrl('z')), Some(Effect::Suspend));
    model.keymap.replace("step", &[Key::Ctrl('z')]).unwrap();
    assert_ne!(press(&mut model, Key::Ctrl('z')), Some(Effect::Suspend));
}
