//! Whole screens as text, kept in `snapshots/`; `UPDATE_EXPECT=1` writes them anew.

use client::ended::RunEnded;
use client::feed::{Feed, LogLine};
use expect_test::expect_file;
use protocol::report::{PeerState, PerformerReport, RunState, Stats};
use protocol::{Outcome, PrimaryToObservers, StopReason};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Color;

use crate::app::event::{Event, Key};
use crate::app::fixture::{self, NOW, feed};
use crate::app::model::Model;
use crate::app::update::update;
use crate::panels::Panel;

const SIZES: [(u16, u16); 2] = [(80, 24), (120, 40)];

fn drawn(model: &mut Model, width: u16, height: u16) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    model.settle();
    super::measure(model, Rect::new(0, 0, width, height));
    terminal.draw(|frame| super::draw(model, frame)).unwrap();
    terminal.backend().buffer().clone()
}

pub(super) fn text(buffer: &Buffer) -> String {
    super::painting::as_text(buffer)
}

fn check(name: &str, model: &mut Model) {
    for (width, height) in SIZES {
        check_at(name, model, (width, height));
    }
}

fn check_at(name: &str, model: &mut Model, (width, height): (u16, u16)) {
    let screen = text(&drawn(model, width, height));
    expect_file![format!("snapshots/{name}_{width}x{height}.txt")].assert_eq(&screen);
}

fn pressed(keys: &str) -> Model {
    let mut model = fixture::model();
    press(&mut model, keys);
    model
}

fn press(model: &mut Model, keys: &str) {
    for key in keys.chars() {
        update(model, Event::Key(Key::Char(key)), NOW);
        model.settle();
    }
}

fn fresh(mut model: Model) -> Model {
    model.prompt.notice = None;
    model
}

#[test]
fn every_panel_is_drawn_beside_the_others() {
    for panel in Panel::ALL {
        check(&panel.name(), &mut fresh(pressed(&panel.key_name())));
    }
}

#[test]
fn every_panel_is_drawn_on_the_whole_screen() {
    for panel in Panel::ALL {
        let keys = format!("{}z", panel.key_name());
        check(
            &format!("{}_zoomed", panel.name()),
            &mut fresh(pressed(&keys)),
        );
    }
}

#[test]
fn help_is_drawn() {
    check("help", &mut pressed("?"));
}

#[test]
fn the_palette_is_drawn() {
    check("palette", &mut pressed(":s"));
    let mut model = pressed(":step x");
    update(&mut model, Event::Key(Key::Enter), NOW);
    check("palette_error", &mut model);
    check("palette_names", &mut pressed(":move-cell west "));
}

#[test]
fn a_question_is_drawn() {
    check("confirm", &mut fresh(pressed("q")));
}

#[test]
fn a_filter_is_drawn_while_it_is_typed() {
    check("filter", &mut pressed("5/rov"));
}

#[test]
fn a_run_that_has_not_begun_is_drawn() {
    check("waiting", &mut fixture::waiting_model());
    let mut model = Model::new("demo".to_owned(), true);
    feed(&mut model, Feed::StartUp(fixture::start_up()));
    let stats = Stats {
        state: RunState::Waiting,
        ..fixture::stats()
    };
    let mut peers = fixture::peers();
    peers.truncate(2);
    peers[1].state = PeerState::Joining;
    let gathering = PrimaryToObservers::Stats {
        stats: Box::new(stats),
        peers,
    };
    feed(&mut model, Feed::Status(gathering));
    check("starting", &mut model);
}

#[test]
fn a_run_that_lets_in_anybody_is_drawn() {
    let mut model = fixture::model();
    let stats = model.heard.stats.as_mut().expect("it has figures");
    stats.insecure = true;
    check("insecure", &mut model);
}

#[test]
fn a_lost_link_is_drawn() {
    let mut model = fixture::model();
    update(&mut model, Event::Feed(Feed::Disconnected), NOW);
    let later = NOW + std::time::Duration::from_secs(12);
    update(&mut model, Event::Tick, later);
    check("disconnected", &mut model);
    let reason = "the primary does not know this key".to_owned();
    update(&mut model, Event::Feed(Feed::Denied(reason)), later);
    check("denied", &mut model);
}

#[test]
fn the_last_screen_is_drawn() {
    let mut model = fixture::model();
    let cause = "s2 fell silent for 3 s and its process is gone";
    let reason = StopReason::new(Outcome::PeerLost, cause);
    let ended = RunEnded {
        summary: Some(fixture::summary()),
        last_error: Some("s2: thread 'stepper' panicked at src/step.rs:7: a bug".to_owned()),
        command: Some("phalanx run worlds/demo.sdf --secondaries 2 --name demo".to_owned()),
        folder: Some("/run/user/1000/phalanx/demo".into()),
        ..RunEnded::new(reason)
    };
    feed(&mut model, Feed::Ended(Box::new(ended)));
    check("ended", &mut model);
    press(&mut model, "b");
    check("over", &mut model);
}

#[test]
fn a_terminal_that_is_too_small_says_so() {
    check_at("too_small", &mut fixture::model(), (79, 24));
    check_at("too_small", &mut fixture::model(), (40, 10));
}

#[test]
fn a_terminal_without_unicode_gets_ascii_alone() {
    let mut model = fresh(fixture::model());
    model.terminal.has_unicode = false;
    check("ascii", &mut model);
    for keys in ["1", "2", "3", "4", "5", "6", "7", "8", "9", "?", ":", "q"] {
        let mut model = fresh(pressed(keys));
        model.terminal.has_unicode = false;
        let screen = text(&drawn(&mut model, 120, 40));
        assert!(screen.is_ascii(), "{keys}: {screen}");
    }
}

#[test]
fn without_colour_no_cell_has_one() {
    for keys in ["1", "2", "4", "6", "8", "?", ":", "q"] {
        let mut model = pressed(keys);
        model.terminal.has_color = false;
        let buffer = drawn(&mut model, 120, 40);
        let is_plain =
            |cell: &ratatui::buffer::Cell| (cell.fg, cell.bg) == (Color::Reset, Color::Reset);
        assert!(buffer.content.iter().all(is_plain), "{keys}");
    }
}

#[test]
fn every_size_is_drawn_without_a_panic() {
    for keys in [
        "1", "2", "3", "4", "5", "6", "7", "8", "9", "4z", "6z", "9z", "?", ":", "q",
    ] {
        let mut model = pressed(keys);
        for width in (1..=130).step_by(9) {
            for height in (1..=45).step_by(4) {
                drawn(&mut model, width, height);
            }
        }
        for width in 78..=84 {
            drawn(&mut model, width, 24);
        }
    }
}

#[test]
fn panels_are_drawn_in_any_room() {
    let model = fixture::model();
    let mut terminal = Terminal::new(TestBackend::new(130, 45)).unwrap();
    for width in 0..=60 {
        for height in 0..=20 {
            let area = Rect::new(130 - width, 45 - height, width, height);
            let draws: Vec<fn(&Model, &mut ratatui::Frame, Rect)> = Panel::ALL
                .iter()
                .map(|panel| panel.row().draw)
                .chain([super::header::draw as _])
                .collect();
            for draw in draws {
                terminal.draw(|frame| draw(&model, frame, area)).unwrap();
            }
        }
    }
}

#[test]
fn control_characters_of_names_do_not_reach_the_screen() {
    let evil = "e\u{1b}[2Jvil\u{7}\n\u{9b}1m\u{202e}x".to_owned();
    let mut model = fixture::model();
    model.session.run = evil.clone();
    model.heard.stats.as_mut().unwrap().world = evil.clone();
    model.heard.peers[1].host = evil.clone();
    model.heard.peers[1].levels = vec![evil.clone()];
    model.heard.levels[0].name = evil.clone();
    model.heard.levels[0].ghosts = vec![evil.clone()];
    model.heard.layout.levels[0].name = evil.clone();
    model.heard.performers[0].name = evil.clone();
    model.heard.performers[0].level = evil.clone();
    model.map.follow = Some(evil.clone());
    feed(
        &mut model,
        Feed::Log(LogLine {
            process: evil.clone(),
            text: evil.clone(),
        }),
    );
    for keys in ["1", "2", "3", "4", "5z", "9", "z", "/\u{1b}"] {
        press(&mut model, keys);
        let buffer = drawn(&mut model, 120, 40);
        for cell in &buffer.content {
            let is_harmful = |c: char| c.is_control() || c == '\u{202e}';
            assert!(
                !cell.symbol().contains(is_harmful),
                "{keys}: {:?}",
                cell.symbol()
            );
        }
    }
    assert!(text(&drawn(&mut model, 120, 40)).contains("evil"));
}

#[test]
fn broken_numbers_and_a_thousand_performers_are_drawn() {
    let mut model = fixture::model();
    let one = fixture::performers().remove(0);
    model.heard.performers = (0..1_000)
        .map(|number| PerformerReport {
            name: format!("robot_{number}"),
            position: [f64::from(number) * 0.04 - 20.0, f64::NAN, f64::INFINITY],
            linear_velocity: [f64::NAN; 3],
            ..one.clone()
        })
        .collect();
    model.heard.performers[1].position = [f64::MAX, -f64::MAX, 0.0];
    model.tables[Panel::Performers].mark_stale();
    model.heard.stats.as_mut().unwrap().step_us.p50 = f64::NAN;
    for keys in ["4", "5", "6", "4z"] {
        press(&mut model, keys);
        drawn(&mut model, 120, 40);
    }
    press(&mut model, "z5G");
    assert!(text(&drawn(&mut model, 120, 40)).contains("row 1,000 of 1,000"));
}
