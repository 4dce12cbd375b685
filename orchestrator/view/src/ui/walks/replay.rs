//! Walks through a recording.

use client::feed::Feed;
use client::recorded::{RecordingPlace, ReplayRequest};
use protocol::SimTime;

use super::Walk;
use crate::app::command::{Effect, ViewEnd};
use crate::app::fixture;

/// A user before the fixture's run as a recording that stands still in its middle.
fn walk(width: u16, height: u16) -> Walk {
    let mut model = fixture::model();
    model.prompt.notice = None;
    model.session.run = "monday".to_owned();
    model.session.owns_run = false;
    model.session.recording = Some(place(false));
    if let Some(stats) = &mut model.heard.stats {
        stats.state = protocol::report::RunState::Paused;
    }
    Walk::with(model, (width, height))
}

fn place(is_playing: bool) -> RecordingPlace {
    RecordingPlace {
        start: SimTime(0),
        end: SimTime(60_000_000_000),
        now: SimTime(30_000_000_000),
        share: 0.5,
        speed: 1.0,
        is_playing,
    }
}

fn requests(walk: &Walk) -> Vec<ReplayRequest> {
    let request = |effect: &Effect| match effect {
        Effect::Replay(request) => Some(*request),
        _ => None,
    };
    walk.effects.iter().filter_map(request).collect()
}

#[test]
fn a_recording_shows_where_it_is_and_which_keys_play_it() {
    let mut walk = walk(120, 40);
    walk.sees("recording monday").sees("60.000 s  1.00x");
    walk.sees("Space play/pause").misses("detach");
    walk.is_as_kept("recording");
    walk.keys("?").sees("A recording").misses("The run");
}

#[test]
fn keys_play_a_recording() {
    let mut walk = walk(100, 30);
    walk.keys("Space n N b B } { ^ $ > < -");
    let expected = [
        ReplayRequest::Play,
        ReplayRequest::Step(1),
        ReplayRequest::Step(10),
        ReplayRequest::Step(-1),
        ReplayRequest::Step(-10),
        ReplayRequest::SeekBy(0.05),
        ReplayRequest::SeekBy(-0.05),
        ReplayRequest::Start,
        ReplayRequest::End,
        ReplayRequest::Speed(2.0),
        ReplayRequest::Speed(1.0),
        ReplayRequest::Speed(0.5),
    ];
    assert_eq!(requests(&walk), expected);
    walk.feed(Feed::Recording(place(true))).keys("Space");
    assert_eq!(requests(&walk).last(), Some(&ReplayRequest::Pause));
}

#[test]
fn times_and_speeds_are_typed() {
    let mut walk = walk(100, 30);
    walk.keys("T").sees("seek").types("12.5").keys("Enter");
    walk.keys("t").sees("run-to").types("20").keys("Enter");
    walk.keys(":").types("speed 100").keys("Enter");
    let expected = [
        ReplayRequest::Seek(12.5),
        ReplayRequest::RunTo(20.0),
        ReplayRequest::Speed(100.0),
    ];
    assert_eq!(requests(&walk), expected);
    walk.keys(">").sees("0.1 to 100 times");
}

#[test]
fn a_read_only_view_refuses_commands() {
    let mut walk = walk(120, 30);
    walk.keys("5 x").sees("this is a recording");
    walk.keys(":")
        .types("set-seed 3")
        .keys("Enter")
        .sees("this is a recording");
    walk.keys(":")
        .types("stop")
        .keys("Enter")
        .sees("this is a recording");
    assert!(requests(&walk).is_empty());
    let sent = |effect: &Effect| matches!(effect, Effect::Send(_));
    assert!(!walk.effects.iter().any(sent));
    walk.keys("q");
    assert_eq!(walk.effects.last(), Some(&Effect::End(ViewEnd::Quit)));
}
