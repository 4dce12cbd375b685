//! Walks through details, driving, topics, filters and help; whole screens of them.

use std::time::Duration;

use client::feed::{Heard, LogLine};
use expect_test::expect_file;

use super::*;

const SIZES: [(u16, u16); 2] = [(80, 24), (120, 40)];

/// Walks at both sizes, and compares the screens with those that are kept.
#[track_caller]
fn check(name: &str, walk: impl Fn(&mut Walk)) {
    for (width, height) in SIZES {
        let mut user = Walk::new(width, height);
        walk(&mut user);
        let path = format!("../snapshots/{name}_{width}x{height}.txt");
        expect_file![path].assert_eq(&user.screen());
        user.model.terminal.has_unicode = false;
        let screen = user.screen();
        assert!(screen.is_ascii(), "{screen}");
    }
}

fn twist() -> Feed {
    Feed::Message(Box::new(Heard {
        topic: "/model/rover_1/cmd_vel".to_owned(),
        kind: "gz.msgs.Twist".to_owned(),
        sim_time_s: 12.3,
        iteration: 12_300,
        bytes: 61,
        text: "linear {\n  x: 0.5\n}\nangular {\n  z: -0.2\n}\n".to_owned(),
        image: None,
        count: 10,
    }))
}

fn log(text: &str) -> Feed {
    Feed::Log(LogLine {
        process: "s2".to_owned(),
        text: text.to_owned(),
    })
}

#[test]
fn a_peer_is_looked_at() {
    check("detail_peer", |user| {
        user.keys("2 Down Down Enter").sees("peer s2");
    });
}

#[test]
fn a_performer_is_looked_at_and_scrolled() {
    check("detail_performer", |user| {
        user.keys("5 Down Down Enter").sees("performer rover_1");
    });
    let mut user = Walk::new(80, 24);
    user.keys("5 Down Down Enter G").misses("physics run by");
    user.keys("g").sees("physics run by");
    user.keys("Esc").misses("physics run by");
}

#[test]
fn a_topic_is_listened_to() {
    check("detail_topic", |user| {
        user.keys("7 Enter").sees("none yet");
        user.feed(twist())
            .waits(Duration::from_secs(2))
            .feed(twist());
        user.sees("5.0 Hz").sees("x: 0.5");
    });
}

#[test]
fn a_robot_is_driven() {
    check("drive", |user| {
        user.keys("5 Down Down Down D").sees("Drive rover_2");
        user.keys("Up Up Left").sees("+0.20 m/s ahead  +0.20 rad/s");
    });
    let mut user = Walk::new(80, 24);
    user.keys("5 Down Down D Up Esc").misses("Drive rover_1");
    user.sees("told to stop");
}

#[test]
fn help_is_searched() {
    check("help_search", |user| {
        user.keys("?").sees("Help (");
        user.keys("/").types("hand").sees("hand-off");
        user.misses("zoom out");
    });
    let mut user = Walk::new(80, 24);
    user.keys(":").types("help qqqq").keys("Enter");
    user.sees("nothing has these words");
}

#[test]
fn bad_lines_are_marked_without_colours_too() {
    check("logs_marked", |user| {
        user.feed(log("2026-11-21T12:00:00Z  WARN s2 is slow: 12 ms"));
        user.feed(log("2026-11-21T12:00:01Z ERROR the cell of east is lost"));
        user.keys("9 z /").types("slow|lost").sees("2 of 46 lines");
    });
}

#[test]
fn long_lines_are_wrapped_or_scrolled() {
    let mut user = Walk::new(80, 24);
    let words: Vec<String> = (0..40).map(|number| format!("word{number}")).collect();
    user.feed(log(&words.join(" ")))
        .keys("9 z")
        .misses("word39");
    user.keys("w").sees("word39").sees("wrapped");
    user.keys("w l l").misses("word0 ").sees("from column 21");
}

#[test]
fn a_filter_that_is_no_expression_says_so() {
    let mut user = Walk::new(120, 40);
    user.keys("9 z /")
        .types("s[1")
        .sees("as it stands: unclosed character class");
    user.types("2]").misses("as it stands");
}

#[test]
fn the_question_names_the_model_to_remove() {
    let mut user = Walk::new(80, 24);
    user.keys("5 Down x")
        .sees("Take box out of the world for good?");
    user.keys("n").misses("Take box");
    assert_eq!(user.effects, []);
}

#[test]
fn the_footer_always_has_help_and_quit() {
    for panel in ["1", "2", "3", "4", "5", "6", "7", "8", "9"] {
        Walk::new(80, 24).keys(panel).sees("? help  q quit");
    }
}

#[test]
fn a_view_that_only_watches_has_no_keys_that_change_the_run() {
    let mut user = Walk::new(120, 40);
    user.model.session.is_read_only = true;
    user.keys("5")
        .misses("play/pause")
        .misses("remove")
        .sees("detail");
    user.keys("Space").sees("only watches");
    user.keys(":").misses("run-to").sees("show all keys");
}
