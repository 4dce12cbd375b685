//! Keys and news, through the one door that the loop uses.

use client::ended::RunEnded;
use client::feed::{CommandError, Feed, LogLine};
use protocol::primary_to_observers::{Announce, Clock, HeartbeatRelay};
use protocol::report::{PeerState, RunState, Stats};
use protocol::{
    Command, FailureCode, Iteration, Outcome, PeerName, PrimaryToObservers, SimTime, StopReason,
};

use super::update;
use crate::app::command::{Effect, ViewEnd};
use crate::app::event::{Event, Key};
use crate::app::fixture::{self, NOW, feed};
use crate::app::model::{Connection, Mode, Model, Question};
use crate::panels::Panel;

mod control;
mod driving;
mod navigation;
mod typing;

fn press(model: &mut Model, key: Key) -> Option<Effect> {
    let effect = update(model, Event::Key(key), NOW);
    model.settle();
    effect
}

fn type_text(model: &mut Model, text: &str) {
    for c in text.chars() {
        assert_eq!(press(model, Key::Char(c)), None, "{c}");
    }
}

fn in_state(state: RunState) -> Model {
    let mut model = fixture::model();
    model.prompt.notice = None;
    model.heard.stats = Some(Stats {
        state,
        ..fixture::stats()
    });
    model
}

fn status(model: &mut Model, message: PrimaryToObservers) {
    feed(model, Feed::Status(message));
}

#[test]
fn space_plays_when_paused_and_pauses_when_running() {
    let mut paused = in_state(RunState::Paused);
    assert_eq!(
        press(&mut paused, Key::Char(' ')),
        Some(Effect::Send(Command::Play))
    );
    let mut running = in_state(RunState::Running);
    assert_eq!(
        press(&mut running, Key::Char(' ')),
        Some(Effect::Send(Command::Pause))
    );
    let mut waiting = in_state(RunState::Waiting);
    assert_eq!(press(&mut waiting, Key::Char(' ')), None);
    assert!(
        waiting
            .prompt
            .notice
            .unwrap()
            .text
            .contains("waits for its secondaries")
    );
}

#[test]
fn steps_are_for_a_paused_run() {
    let mut model = in_state(RunState::Paused);
    let step = |count| Some(Effect::Send(Command::Step { count }));
    assert_eq!(press(&mut model, Key::Char('n')), step(1));
    assert_eq!(press(&mut model, Key::Char('N')), step(10));
    let mut running = in_state(RunState::Running);
    assert_eq!(press(&mut running, Key::Char('n')), None);
    assert!(running.prompt.notice.unwrap().text.contains("Space pauses"));
}

#[test]
fn the_clock_alone_changes_what_space_does() {
    let mut model = in_state(RunState::Running);
    let clock = Clock {
        iteration: Iteration(7),
        sim_time: SimTime(7_000_000),
        paused: true,
    };
    status(&mut model, PrimaryToObservers::Clock(clock));
    assert_eq!(model.heard.stats.as_ref().unwrap().iteration, 7);
    assert_eq!(
        press(&mut model, Key::Char(' ')),
        Some(Effect::Send(Command::Play))
    );
}

#[test]
fn nothing_is_sent_while_the_primary_is_out_of_reach() {
    let mut model = in_state(RunState::Paused);
    feed(&mut model, Feed::Disconnected);
    assert_eq!(press(&mut model, Key::Char(' ')), None);
    assert!(
        model
            .prompt
            .notice
            .as_ref()
            .unwrap()
            .text
            .contains("cannot be reached")
    );
    feed(&mut model, Feed::Connected);
    assert_eq!(
        press(&mut model, Key::Char(' ')),
        Some(Effect::Send(Command::Play))
    );
}

#[test]
fn a_command_is_pending_until_it_is_answered() {
    let mut model = in_state(RunState::Paused);
    press(&mut model, Key::Char('n'));
    let command = Command::Step { count: 1 };
    assert_eq!(model.prompt.pending, std::slice::from_ref(&command));
    feed(
        &mut model,
        Feed::Reply {
            command,
            result: Err(CommandError::Refused {
                code: FailureCode::Other,
                reason: "the run is not paused".to_owned(),
            }),
        },
    );
    assert_eq!(model.prompt.pending, []);
    let notice = model.prompt.notice.unwrap();
    assert_eq!(notice.text, "step 1 failed: the run is not paused");
    assert!(notice.is_error);
}

#[test]
fn stopping_is_asked_for_before_it_is_done() {
    for answer in [Key::Char('n'), Key::Esc] {
        let mut model = fixture::model();
        assert_eq!(press(&mut model, Key::Char('S')), None);
        assert!(matches!(model.mode, Mode::Confirm(_)));
        assert_eq!(press(&mut model, answer), None);
        assert_eq!(model.mode, Mode::Browse);
    }
    let mut model = fixture::model();
    press(&mut model, Key::Char('S'));
    assert_eq!(press(&mut model, Key::Char('x')), None);
    assert_eq!(
        press(&mut model, Key::Char('y')),
        Some(Effect::Send(Command::Stop))
    );
}

#[test]
fn the_view_that_started_a_run_asks_whether_to_stop_it() {
    let mut owner = fixture::model();
    assert_eq!(press(&mut owner, Key::Char('q')), None);
    assert_eq!(owner.mode, Mode::Confirm(Question::Quit));
    assert_eq!(
        press(&mut owner, Key::Char('y')),
        Some(Effect::End(ViewEnd::Quit))
    );
    for (answer, effect) in [
        ('s', Some(Effect::End(ViewEnd::Quit))),
        ('d', Some(Effect::End(ViewEnd::Detach))),
        ('n', None),
        ('x', None),
    ] {
        press(&mut owner, Key::Esc);
        press(&mut owner, Key::Char('q'));
        assert_eq!(press(&mut owner, Key::Char(answer)), effect, "{answer}");
    }
    let mut guest = fixture::model();
    guest.session.owns_run = false;
    assert_eq!(
        press(&mut guest, Key::Char('q')),
        Some(Effect::End(ViewEnd::Quit))
    );
    assert_eq!(
        press(&mut guest, Key::Char('d')),
        Some(Effect::End(ViewEnd::Detach))
    );
}

#[test]
fn pressing_control_c_twice_quits() {
    let mut model = fixture::model();
    assert_eq!(press(&mut model, Key::Ctrl('c')), None);
    assert_eq!(
        press(&mut model, Key::Ctrl('c')),
        Some(Effect::End(ViewEnd::Quit))
    );
}

#[test]
fn a_filter_is_live_kept_by_enter_and_cleared_by_escape() {
    let mut model = fixture::model();
    press(&mut model, Key::Char('5'));
    press(&mut model, Key::Char('/'));
    type_text(&mut model, "rover");
    assert_eq!(model.tables[Panel::Performers].rows().len(), 2);
    press(&mut model, Key::Backspace);
    press(&mut model, Key::Enter);
    assert_eq!(model.mode, Mode::Browse);
    assert_eq!(model.tables[Panel::Performers].filter.text(), "rove");
    press(&mut model, Key::Esc);
    assert_eq!(model.tables[Panel::Performers].rows().len(), 4);
    press(&mut model, Key::Char('/'));
    type_text(&mut model, "!rover");
    assert_eq!(model.tables[Panel::Performers].rows().len(), 2);
    press(&mut model, Key::Esc);
    assert_eq!(model.tables[Panel::Performers].rows().len(), 4);
}

#[test]
fn the_palette_runs_commands_and_says_what_is_wrong() {
    let mut model = in_state(RunState::Paused);
    press(&mut model, Key::Char(':'));
    type_text(&mut model, "ste");
    press(&mut model, Key::Tab);
    type_text(&mut model, "x");
    assert_eq!(press(&mut model, Key::Enter), None);
    let Mode::Palette { line, error } = &model.mode else {
        panic!("{:?}", model.mode)
    };
    assert_eq!(line.text(), "step x");
    assert!(error.as_ref().unwrap().contains("whole number"));
    press(&mut model, Key::Backspace);
    type_text(&mut model, "100");
    let step = Command::Step { count: 100 };
    assert_eq!(press(&mut model, Key::Enter), Some(Effect::Send(step)));
    assert_eq!(model.mode, Mode::Browse);
}

#[test]
fn the_palette_moves_a_cell_by_names_that_it_completes() {
    let mut model = fixture::model();
    press(&mut model, Key::Char(':'));
    for typed in ["m", "e", "s2"] {
        type_text(&mut model, typed);
        press(&mut model, Key::Tab);
    }
    let command = Command::MoveCell {
        level: "east".to_owned(),
        peer: "s2".parse().unwrap(),
    };
    assert_eq!(
        press(&mut model, Key::Enter),
        Some(Effect::Send(command.clone()))
    );
    let result = Err(CommandError::Refused {
        code: FailureCode::Other,
        reason: "the level east is hosted by s2 already".to_owned(),
    });
    feed(&mut model, Feed::Reply { command, result });
    let notice = model.prompt.notice.as_ref().unwrap();
    assert!(notice.is_error);
    assert!(
        notice
            .text
            .starts_with("move-cell east s2 failed: the level")
    );
}

#[test]
fn the_palette_asks_before_it_stops() {
    let mut model = fixture::model();
    press(&mut model, Key::Char(':'));
    type_text(&mut model, "stop");
    assert_eq!(press(&mut model, Key::Enter), None);
    assert_eq!(control::asked(&model), "Stop the run on all its peers?");
}

#[test]
fn tab_goes_through_all_panels_and_back() {
    let mut model = fixture::model();
    press(&mut model, Key::Char('1'));
    for panel in Panel::ALL {
        assert_eq!(model.screen.focus, panel);
        press(&mut model, Key::Tab);
    }
    assert_eq!(model.screen.focus, Panel::Overview);
    press(&mut model, Key::BackTab);
    assert_eq!(model.screen.focus, Panel::Logs);
}

#[test]
fn the_map_follows_the_selected_performer_until_it_is_panned() {
    let mut model = fixture::model();
    press(&mut model, Key::Char('5'));
    press(&mut model, Key::Down);
    press(&mut model, Key::Down);
    press(&mut model, Key::Char('f'));
    assert_eq!(model.map.follow.as_deref(), Some("rover_1"));
    assert_eq!(model.map_center(), [1.25, -2.0]);
    press(&mut model, Key::Char('4'));
    press(&mut model, Key::Right);
    assert_eq!(model.map.follow, None);
    assert_eq!(model.map_center(), [1.25 + 4.4, -2.0]);
    press(&mut model, Key::Char('0'));
    assert_eq!(model.map_center(), [0.0, 6.0]);
}

#[test]
fn the_end_of_the_run_shows_the_last_screen_whatever_is_open() {
    let mut model = fixture::model();
    press(&mut model, Key::Char('q'));
    let reason = StopReason::new(Outcome::PeerLost, "s2 was lost");
    feed(&mut model, Feed::Ended(Box::new(RunEnded::new(reason))));
    assert_eq!(press(&mut model, Key::Char('x')), None);
    let Some(Effect::Copy(text)) = press(&mut model, Key::Char('y')) else {
        panic!("the end is copied")
    };
    assert!(
        text.contains("peer lost") && text.contains("s2 was lost"),
        "{text}"
    );
    assert_eq!(
        press(&mut model, Key::Enter),
        Some(Effect::End(ViewEnd::Ended))
    );
}

#[test]
fn after_the_end_panels_are_looked_at_and_nothing_is_sent() {
    let mut model = in_state(RunState::Paused);
    let reason = StopReason::new(Outcome::Completed, "done");
    feed(&mut model, Feed::Ended(Box::new(RunEnded::new(reason))));
    press(&mut model, Key::Esc);
    press(&mut model, Key::Char('5'));
    assert_eq!(
        (&model.mode, model.screen.focus),
        (&Mode::Browse, Panel::Performers)
    );
    assert_eq!(press(&mut model, Key::Char(' ')), None);
    assert_eq!(press(&mut model, Key::Char('d')), None);
    press(&mut model, Key::Char(':'));
    type_text(&mut model, "play");
    assert_eq!(press(&mut model, Key::Enter), None);
    assert!(
        model
            .prompt
            .notice
            .as_ref()
            .unwrap()
            .text
            .contains("is over")
    );
    press(&mut model, Key::Char('e'));
    assert_eq!(model.mode, Mode::Ended { scroll: 0 });
    press(&mut model, Key::Tab);
    press(&mut model, Key::Esc);
    assert_eq!(model.mode, Mode::Ended { scroll: 0 }, "Esc leads back");
    press(&mut model, Key::Esc);
    assert_eq!(
        press(&mut model, Key::Char('q')),
        Some(Effect::End(ViewEnd::Ended))
    );
}

#[test]
fn another_run_in_the_same_place_starts_afresh() {
    let mut model = fixture::model();
    press(&mut model, Key::Char('5'));
    let reason = StopReason::new(Outcome::Completed, "done");
    feed(&mut model, Feed::Ended(Box::new(RunEnded::new(reason))));
    feed(&mut model, Feed::StartedAnew);
    assert!(!model.is_over());
    assert_eq!(
        (&model.mode, model.screen.focus),
        (&Mode::Browse, Panel::Performers)
    );
    assert_eq!(model.tables[Panel::Performers].rows().len(), 0);
    assert_eq!(
        (
            model.heard.peers.len(),
            model.heard.levels.len(),
            &model.heard.stats
        ),
        (0, 0, &None)
    );
    assert_eq!(
        (model.heard.logs.total(), model.heard.events.total()),
        (0, 0)
    );
    assert_eq!(model.run_state(), RunState::Waiting);
}

#[test]
fn a_peer_that_died_is_lost_and_the_user_is_told() {
    let mut model = fixture::model();
    let name = "s2".parse().unwrap();
    let reason = StopReason::new(Outcome::PeerLost, "its process ended");
    status(
        &mut model,
        PrimaryToObservers::Announce(Announce::Left { name, reason }),
    );
    assert_eq!(model.heard.peers[2].state, PeerState::Lost);
    assert!(model.prompt.notice.unwrap().text.contains("s2 left"));
}

#[test]
fn news_that_stop_count_as_a_lost_link() {
    let mut model = fixture::model();
    update(&mut model, Event::FeedClosed, NOW);
    assert_eq!(model.session.connection, Connection::Lost { since: NOW });
}

#[test]
fn a_log_line_is_kept_plain_and_of_bounded_length() {
    let mut model = Model::new("run".to_owned(), true);
    let text = format!("\u{1b}[31mé{}", "é".repeat(10_000));
    feed(
        &mut model,
        Feed::Log(LogLine {
            process: "s1".to_owned(),
            text,
        }),
    );
    let line = model.heard.logs.window(1).next().unwrap();
    assert!(line.text.starts_with('é'));
    assert!(line.text.len() <= 4096);
}

#[test]
fn a_run_that_was_stuck_before_the_view_came_is_not_starting() {
    let mut model = Model::new("run".to_owned(), true);
    feed(&mut model, Feed::Connected);
    feed(&mut model, Feed::StartUp(fixture::start_up()));
    let beat = |has_begun| {
        PrimaryToObservers::Heartbeat(HeartbeatRelay {
            name: PeerName::primary(),
            count: 1,
            has_begun,
        })
    };
    let silence = std::time::Duration::from_secs(5);
    status(&mut model, beat(false));
    update(&mut model, Event::Tick, NOW + silence);
    assert_eq!(model.silence(), None, "it reads the world");
    status(&mut model, beat(true));
    feed(&mut model, Feed::StartUp(fixture::start_up()));
    update(&mut model, Event::Tick, NOW + silence);
    assert!(model.silence() >= Some(silence), "{:?}", model.silence());
}

#[test]
fn figures_that_stay_away_are_told_while_the_primary_is_reached() {
    let mut model = fixture::model();
    let silence = std::time::Duration::from_secs(5);
    let later = NOW + silence;
    update(&mut model, Event::Tick, later);
    assert!(model.silence() >= Some(silence), "{:?}", model.silence());
    let stats = Box::new(fixture::stats());
    let peers = Vec::new();
    status(&mut model, PrimaryToObservers::Stats { stats, peers });
    assert_eq!(model.silence(), None);
    feed(&mut model, Feed::Disconnected);
    update(&mut model, Event::Tick, later + later.since(NOW));
    assert_eq!(model.silence(), None, "that has its own words");
}
