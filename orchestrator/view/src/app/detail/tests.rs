//! Tests of details.

use client::feed::{Feed, Heard};

use super::*;
use crate::app::fixture;
use crate::app::topic_subscription::TopicSubscription;

fn check(subject: &Subject, parts: &[&str]) {
    let model = fixture::model();
    let detail = subject.describe(&model).unwrap();
    let text = detail.text();
    for part in parts {
        assert!(
            text.contains(part),
            "no {part:?} in {}\n{text}",
            detail.title
        );
    }
}

#[test]
fn all_that_is_known_is_said() {
    let named = str::to_owned;
    check(
        &Subject::Row(Panel::Peers, named("s2")),
        &[
            "robot-7",
            "991",
            "125 ms ago",
            "412 us",
            "rover_1",
            "others wait for it",
            "9120 s2 holds",
        ],
    );
    check(
        &Subject::Row(Panel::Levels, named("west")),
        &[
            "warehouse",
            "active",
            "s1",
            "x -20.000 y -5.000",
            "2 m",
            "rover_1",
            "shelf_1",
        ],
    );
    check(
        &Subject::Row(Panel::Performers, named("rover_1")),
        &[
            "s2",
            "x 1.250 y -2.000 z 0.150 m",
            "yaw 0.0",
            "-1.500 m/s ahead",
            "west",
            "cmd_vel",
        ],
    );
    check(
        &Subject::Row(Panel::Topics, named("/model/rover_1/cmd_vel")),
        &["gz.msgs.Twist", "rover_1: DiffDrive"],
    );
    check(
        &Subject::Line(Panel::Events, 3),
        &["9120", "warning", "step", "s2 holds the step"],
    );
    check(
        &Subject::Line(Panel::Logs, 0),
        &["primary", "INFO world warehouse"],
    );
}

#[test]
fn details_of_a_removed_thing_say_that_it_is_gone() {
    for subject in [
        Subject::Row(Panel::Peers, "s9".to_owned()),
        Subject::Line(Panel::Events, 900),
    ] {
        check(&subject, &["not there any more"]);
    }
}

#[test]
fn a_topic_that_is_listened_to_shows_its_last_message() {
    let mut model = fixture::model();
    let topic = "/model/rover_1/odometry".to_owned();
    model.details.hearing = Some(TopicSubscription::new(topic.clone()));
    let subject = Subject::Row(Panel::Topics, topic.clone());
    model.details.subject = Some(subject.clone());
    model.mode = Mode::Detail { scroll: 0 };
    let text = subject.describe(&model).unwrap().text();
    assert!(text.contains("none yet"), "{text}");
    let heard = Heard {
        topic,
        text: "pose {\n  x: 1\n\u{1b}[2J}\n".to_owned(),
        count: 3,
        sim_time_s: 12.5,
        ..Heard::default()
    };
    fixture::feed(&mut model, Feed::Message(Box::new(heard)));
    let text = subject.describe(&model).unwrap().text();
    for part in ["3 heard", "at 12.500 s", "pose {", "  x: 1"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains('\u{1b}'), "{text:?}");
}

#[test]
fn an_image_that_is_heard_is_drawn_above_its_text() {
    let mut model = fixture::model();
    let topic = "/rover/image".to_owned();
    model.heard.topics[0].topic.clone_from(&topic);
    model.details.hearing = Some(TopicSubscription::new(topic.clone()));
    let subject = Subject::Row(Panel::Topics, topic.clone());
    model.details.subject = Some(subject.clone());
    model.mode = Mode::Detail { scroll: 0 };
    let image = Raster::filled(30, 20, [200, 30, 30]);
    let heard = Heard {
        topic,
        text: "the image is above".to_owned(),
        image: Some(image.clone()),
        ..Heard::default()
    };
    fixture::feed(&mut model, Feed::Message(Box::new(heard)));
    let detail = subject.describe(&model).unwrap();
    let (at, shown) = detail.image.unwrap();
    assert_eq!(shown, image);
    let rest: Vec<&str> = detail.lines[at..]
        .iter()
        .map(|line| line.1.as_str())
        .collect();
    assert_eq!(rest, ["", "the image is above"]);
}

#[test]
fn a_thousand_names_are_cut() {
    let mut detail = Detail::default();
    let names: Vec<String> = (0..1_000).map(|number| format!("box_{number}")).collect();
    detail.add_names("performers", &names);
    assert!(detail.lines.len() < 300);
    assert!(detail.text().ends_with("and 800 more\n"));
}

#[test]
fn a_text_names_words_and_not_parts_of_words() {
    assert!(names("s1 holds the step", "s1"));
    assert!(names("level (s1)", "s1"));
    assert!(!names("s12 holds the step", "s1"));
    assert!(!names("my_s1", "s1"));
    assert!(names("s12 waits for s1", "s1"));
    assert!(!names("", "s1"));
}
