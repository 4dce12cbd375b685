//! Walks over the map, by keys and by mouse, and what changes before one's eyes.

use std::time::Duration;

use client::feed::Feed;
use protocol::PrimaryToObservers as Status;
use protocol::report::{LevelReport, PeerState, PerformerReport};

use super::Walk;
use crate::app::command::Effect;
use crate::app::event::MouseAction;
use crate::app::fixture;
use crate::app::recent::FRESH_TIME;
use crate::panels::Panel;

fn selected(walk: &Walk) -> Option<&str> {
    walk.model.tables[Panel::Performers].selected()
}

/// The performers of the fixture, changed.
fn poses(change: impl FnOnce(&mut Vec<PerformerReport>)) -> Feed {
    let mut performers = fixture::performers();
    change(&mut performers);
    Feed::Status(Status::Poses(performers))
}

/// The levels of the fixture, changed.
fn affinity(change: impl FnOnce(&mut Vec<LevelReport>)) -> Feed {
    let mut levels = fixture::levels();
    change(&mut levels);
    Feed::Status(Status::Affinity(levels))
}

#[test]
fn the_cursor_names_what_is_under_it_and_selects_it() {
    let mut walk = Walk::new(120, 40);
    walk.keys("4 c").sees("┼ -14").sees("m to A ball");
    walk.keys("Right Right Right Right Down Down Down")
        .sees(" m  west ")
        .sees("m to A box");
    walk.keys("Enter");
    assert_eq!(selected(&walk), Some("box"));
    walk.keys("Esc")
        .misses("┼")
        .sees("box  A s1  west  0.00 m/s");
    assert_eq!(walk.model.map.cursor, None);
}

#[test]
fn the_cursor_takes_the_map_along_at_its_edge() {
    let mut walk = Walk::new(80, 24);
    walk.keys("4 z c");
    for _ in 0..12 {
        walk.keys("L").sees("┼");
    }
    assert!(walk.model.map.center.is_some());
    walk.keys("+ + + 0").sees("m to ");
}

#[test]
fn nothing_is_selected_where_nobody_is() {
    let mut walk = Walk::new(120, 40);
    walk.keys("4 c K K Enter").sees("no performer is under");
    assert_eq!(selected(&walk), Some("ball"));
}

#[test]
fn brackets_go_through_the_performers_on_the_map() {
    let mut walk = Walk::new(120, 40);
    walk.keys("4").sees("ball  A s1");
    walk.keys("] ]").sees("rover_1  B s2  east  1.50 m/s");
    walk.keys("f").sees("follows rover_1");
    walk.keys("[").sees("box  A s1").sees("follows rover_1");
}

#[test]
fn a_click_selects_on_the_map_what_the_table_shows() {
    let mut walk = Walk::new(120, 40);
    walk.keys("5 2").clicks("B→ rover_2");
    assert_eq!(
        (walk.model.screen.focus, selected(&walk)),
        (Panel::Map, Some("rover_2"))
    );
    walk.keys("5").clicks("box");
    assert_eq!(
        (walk.model.screen.focus, selected(&walk)),
        (Panel::Performers, Some("box"))
    );
}

#[test]
fn a_click_beside_every_performer_selects_none() {
    let mut walk = Walk::new(120, 40);
    walk.keys("4").clicks("dock ○");
    assert_eq!(selected(&walk), Some("ball"));
    walk.keys("c").clicks("dock ○").sees(" m  dock ");
}

#[test]
fn the_map_is_dragged_and_magnified_where_the_mouse_is() {
    let mut walk = Walk::new(120, 40);
    walk.keys("4");
    let (x, y) = walk.place("dock ○");
    walk.mouse(MouseAction::Press, (x, y))
        .mouse(MouseAction::Drag, (x - 3, y + 2))
        .mouse(MouseAction::Drag, (x - 5, y + 2));
    let (near_x, near_y) = walk.place("dock ○");
    assert!(near_x.abs_diff(x - 5) <= 1 && near_y.abs_diff(y + 2) <= 1);
    walk.mouse(MouseAction::ScrollUp, (x - 5, y + 2))
        .sees("x1.50");
    let (near_x, near_y) = walk.place("dock ○");
    assert!(near_x.abs_diff(x - 5) <= 1 && near_y.abs_diff(y + 2) <= 1);
    walk.mouse(MouseAction::ScrollDown, (x, y)).misses("x1.50");
}

#[test]
fn the_wheel_goes_through_the_rows_under_it_and_leaves_the_focus() {
    let mut walk = Walk::new(120, 40);
    walk.keys("5 2");
    let place = walk.place("rover_2");
    walk.mouse(MouseAction::ScrollDown, place);
    assert_eq!(
        (walk.model.screen.focus, selected(&walk)),
        (Panel::Peers, Some("rover_2"))
    );
    walk.mouse(MouseAction::ScrollUp, place);
    assert_eq!(selected(&walk), Some("ball"));
}

#[test]
fn the_mouse_is_given_to_the_terminal_and_taken_back() {
    let mut walk = Walk::new(80, 24);
    walk.model.terminal.has_mouse = true;
    walk.keys("M").sees("M gives it to this view");
    walk.keys("M");
    assert_eq!(walk.effects, [Effect::Mouse(false), Effect::Mouse(true)]);
}

#[test]
fn a_hand_off_is_seen_for_a_while_in_both_levels_and_on_the_map() {
    let mut walk = Walk::new(120, 40);
    walk.keys("3").misses("»");
    walk.feed(poses(|all| all[2].level = "west".to_owned()));
    walk.sees("» +rover_1 ").sees("» -rover_1 ").sees("»B→");
    walk.resizes(160, 40).keys("z").sees("» -rover_1 to west");
    walk.resizes(120, 40).keys("z");
    walk.keys("5").sees("» west ");
    walk.waits(Duration::from_millis(2_900)).sees("»");
    walk.waits(Duration::from_millis(100)).misses("»");
    assert!(walk.model.trends.recent.is_empty());
}

#[test]
fn a_migration_and_a_level_that_wakes_are_seen() {
    let mut walk = Walk::new(80, 24);
    walk.keys("3");
    walk.feed(affinity(|levels| {
        levels[1].owner = Some("s1".parse().unwrap());
        levels[2].active = true;
    }));
    walk.sees("» s2 > s1").sees("» active");
    walk.waits(FRESH_TIME).misses("»");
}

#[test]
fn a_peer_that_leaves_is_seen_below_the_map_and_among_the_peers() {
    let mut walk = Walk::new(120, 40);
    let mut peers = fixture::peers();
    peers[2].state = PeerState::Gone;
    walk.keys("4").feed(Feed::Status(Status::Stats {
        stats: Box::new(fixture::stats()),
        peers,
    }));
    walk.sees("» B s2 left").sees("» left ");
    walk.waits(FRESH_TIME).misses("»").sees("gone");
}

#[test]
fn performers_that_move_leave_trails() {
    let mut walk = Walk::new(120, 40);
    walk.keys("4");
    walk.model.terminal.has_unicode = false;
    walk.misses(",,");
    for step in 0..30 {
        walk.feed(poses(|all| {
            all[2].position = [1.25 + f64::from(step) * 0.3, 0.5, 0.15];
        }));
    }
    walk.sees(",,,,,B>");
}

#[test]
fn worlds_have_a_column_when_there_are_several() {
    let mut walk = Walk::new(120, 40);
    walk.keys("3 z").misses("cellar");
    walk.feed(affinity(|levels| {
        levels[3].world = "cellar".to_owned();
        levels[3].name = "cellar::yard".to_owned();
    }));
    walk.sees("cellar").misses("cellar::yard").sees("yard ");
}

#[test]
fn the_cursor_is_drawn() {
    for (width, height) in [(80, 24), (120, 40)] {
        let mut walk = Walk::new(width, height);
        walk.keys("4 ] ] c Up Up Right Right")
            .is_as_kept("map_cursor");
    }
}

#[test]
fn changes_are_drawn() {
    for (width, height) in [(80, 24), (120, 40)] {
        let mut walk = Walk::new(width, height);
        walk.keys("3");
        change(&mut walk);
        walk.is_as_kept("changes");
        walk.model.terminal.has_unicode = false;
        walk.is_as_kept("changes_ascii");
    }
}

#[test]
fn changes_and_a_cursor_are_drawn_at_every_size() {
    let mut walk = Walk::new(120, 40);
    walk.keys("4 f c + +");
    change(&mut walk);
    for width in (1..=130).step_by(11) {
        for height in (1..=45).step_by(5) {
            walk.resizes(width, height).keys("J L H K + -");
            walk.mouse(MouseAction::Press, (width / 2, height / 2));
            walk.mouse(MouseAction::Drag, (width, height));
            walk.keys("0");
        }
    }
}

/// Two hand-offs after some way, a migration and a level that wakes.
fn change(walk: &mut Walk) {
    for step in 0..30 {
        walk.feed(poses(|all| {
            all[2].position = [12.0 - f64::from(step) * 0.4, -1.0, 0.15];
            all[2].orientation_xyzw = [0.0, 0.0, 1.0, 0.0];
        }));
    }
    walk.feed(poses(|all| {
        all[2].position = [0.2, -1.0, 0.15];
        all[2].orientation_xyzw = [0.0, 0.0, 1.0, 0.0];
        all[2].level = "west".to_owned();
        all[2].owner = Some("s1".parse().unwrap());
    }));
    walk.feed(affinity(|levels| {
        levels[2].active = true;
        levels[3].owner = Some("s2".parse().unwrap());
    }));
}
