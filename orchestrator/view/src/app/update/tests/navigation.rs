//! Details, what is copied, and topics that are listened to.

use std::time::Duration;

use client::feed::Heard;

use super::*;
use crate::app::detail::{self, Subject};

fn copied(effect: Option<Effect>) -> String {
    match effect {
        Some(Effect::Copy(text)) => text,
        other => panic!("{other:?}"),
    }
}

fn opened(keys: &str) -> Model {
    let mut model = fixture::model();
    model.screen.page_rows = 5;
    for key in keys.chars() {
        press(&mut model, Key::Char(key));
    }
    press(&mut model, Key::Enter);
    model
}

#[test]
fn every_panel_with_rows_has_details() {
    for (keys, title) in [
        ("2", "peer primary"),
        ("3j", "level east"),
        ("5jj", "performer rover_1"),
        ("7", "topic /model/rover_1/cmd_vel"),
        ("8", "event"),
        ("9k", "line"),
    ] {
        let mut model = opened(keys);
        assert_eq!(model.mode, Mode::Detail { scroll: 0 }, "{keys}");
        assert_eq!(detail::detail(&model).unwrap().title, title);
        press(&mut model, Key::Esc);
        assert_eq!(model.mode, Mode::Browse);
    }
    let mut model = opened("9k");
    press(&mut model, Key::Esc);
    assert_eq!(model.heard.logs.selected(), Some(42));
}

#[test]
fn a_detail_stays_with_its_subject_and_is_live() {
    let mut model = opened("5jj");
    let mut performers = fixture::performers();
    performers[2].position = [7.0, 0.0, 0.0];
    status(&mut model, PrimaryToObservers::Poses(performers.clone()));
    assert!(detail::detail(&model).unwrap().text().contains("x 7.000"));
    performers.remove(2);
    status(&mut model, PrimaryToObservers::Poses(performers));
    let gone = detail::detail(&model).unwrap();
    assert_eq!(gone.title, "performer rover_1");
    assert!(gone.text().contains("not there any more"));
}

#[test]
fn a_detail_and_a_row_are_copied_as_text() {
    let mut model = opened("2j");
    let text = copied(press(&mut model, Key::Char('y')));
    assert!(text.contains("round trip       64 us\n"), "{text}");
    let lines = text.lines().count();
    let notice = format!("copied {lines} lines");
    assert_eq!(model.prompt.notice.as_ref().unwrap().text, notice);
    press(&mut model, Key::Esc);
    assert_eq!(copied(press(&mut model, Key::Char('y'))), text);
}

#[test]
fn of_a_text_the_line_or_all_lines_that_pass_are_copied() {
    let mut model = fixture::model();
    model.screen.page_rows = 5;
    press(&mut model, Key::Char('9'));
    press(&mut model, Key::Char('g'));
    let line = copied(press(&mut model, Key::Char('y')));
    assert_eq!(
        line,
        "primary INFO world warehouse: 3 levels, 4 performers\n"
    );
    assert_eq!(model.prompt.notice.as_ref().unwrap().text, "copied 1 line");
    press(&mut model, Key::Char('/'));
    type_text(&mut model, "joined");
    press(&mut model, Key::Enter);
    let lines = copied(press(&mut model, Key::Char('Y')));
    assert_eq!(
        lines,
        "s1 INFO joined, hosts west and dock\ns2 INFO joined, hosts east\n"
    );
}

#[test]
fn of_too_much_the_end_is_copied() {
    let mut model = fixture::model();
    for number in 0..3_000 {
        let text = format!("{number} {}", "x".repeat(90));
        let process = "s1".to_owned();
        feed(&mut model, Feed::Log(LogLine { process, text }));
    }
    press(&mut model, Key::Char('9'));
    let text = copied(press(&mut model, Key::Char('Y')));
    assert!(
        text.len() <= 56_000 && text.starts_with("s1 "),
        "{}",
        text.len()
    );
    assert!(text.lines().next_back().unwrap().starts_with("s1 2999 "));
    assert!(
        model
            .prompt
            .notice
            .unwrap()
            .text
            .starts_with("copied the last 5")
    );
}

#[test]
fn escape_goes_one_step_back_and_says_how_to_leave() {
    let mut model = fixture::model();
    press(&mut model, Key::Char('5'));
    press(&mut model, Key::Char('z'));
    press(&mut model, Key::Char('/'));
    type_text(&mut model, "rover");
    press(&mut model, Key::Enter);
    press(&mut model, Key::Esc);
    assert!(model.tables[Panel::Performers].filter.is_empty() && model.screen.is_zoomed);
    press(&mut model, Key::Esc);
    assert!(!model.screen.is_zoomed);
    press(&mut model, Key::Esc);
    assert!(
        model
            .prompt
            .notice
            .as_ref()
            .unwrap()
            .text
            .contains("q leaves")
    );
}

#[test]
fn a_topic_is_listened_to_while_its_detail_is_shown() {
    let mut model = fixture::model();
    press(&mut model, Key::Char('7'));
    let topic = "/model/rover_1/cmd_vel".to_owned();
    let effect = press(&mut model, Key::Enter);
    assert_eq!(effect, Some(Effect::Listen(Some(topic.clone()))));
    let heard = Heard {
        topic: topic.clone(),
        text: "linear {\n  x: 0.5\n}\n".to_owned(),
        count: 2,
        ..Heard::default()
    };
    feed(&mut model, Feed::Message(Box::new(heard)));
    let text = copied(press(&mut model, Key::Char('y')));
    assert!(
        text.contains("2 heard") && text.contains("  x: 0.5"),
        "{text}"
    );
    assert_eq!(press(&mut model, Key::Esc), Some(Effect::Listen(None)));
    assert_eq!(model.details.hearing, None);
    assert_eq!(
        model.details.subject,
        Some(Subject::Row(Panel::Topics, topic))
    );
}

#[test]
fn topics_are_asked_for_while_their_panel_has_the_keys() {
    let mut model = fixture::model();
    let topics = || Some(Effect::Send(Command::Topics));
    assert_eq!(press(&mut model, Key::Char('7')), topics());
    assert_eq!(update(&mut model, Event::Tick, NOW), None);
    let later = NOW + Duration::from_secs(4);
    assert_eq!(update(&mut model, Event::Tick, later), topics());
    press(&mut model, Key::Char('5'));
    let much_later = NOW + Duration::from_secs(40);
    assert_eq!(update(&mut model, Event::Tick, much_later), None);
}
