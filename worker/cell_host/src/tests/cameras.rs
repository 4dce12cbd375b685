//! Images of cameras: where a cell is hosted, on how many threads, and how often their robot
//! changes cells, changes no bit of them.

use protocol::{Digest, TopicMessage};

use super::fixture::*;
use crate::HostSettings;

/// A camera on each cart that sees the things of its level, in a light that casts shadows.
const CAMERA: &str = "<link name='chassis'><sensor name='eye' type='camera'>\
    <update_rate>50</update_rate><pose>0 0 0.3 0 0.2 0</pose><camera>\
    <image><width>48</width><height>36</height></image>\
    <noise><type>gaussian</type><stddev>0.01</stddev></noise></camera></sensor>";
const SUN: &str = "<light name='sun' type='directional'><direction>0.3 0.2 -1</direction>\
    <cast_shadows>1</cast_shadows></light>";

/// Returns all images of a run, in the order of iterations and robots.
fn images(homes: [&str; 3], threads: u32) -> Vec<TopicMessage> {
    let text = row_text("main", 3).replace("<link name='chassis'>", CAMERA);
    let text = text.replacen("<model", &format!("{SUN}<model"), 1);
    let worlds = [read(&text), row("other", 1)];
    let settings = HostSettings {
        threads,
        publish_all: true,
        ..PLAIN
    };
    let mut hosts = Hosts::of_worlds(&homes, settings, &worlds);
    hosts.start(homes);
    hosts.advance_by(70);
    hosts.hand_off(RESIDENTS - 1, 1, 2);
    hosts.advance_by(70);
    if homes[2] == homes[0] {
        hosts.pause(|_| {});
        hosts.advance(|_| {});
    } else {
        hosts.migrate(3, homes[0]);
    }
    hosts.advance_by(70);
    let mut images = std::mem::take(&mut hosts.said);
    images.retain(|message| message.kind == "gz.msgs.Image");
    images.sort_by_key(|message| (message.iteration, message.publisher));
    images
}

#[test]
fn images_have_the_same_bits_on_any_hosts_and_threads_and_across_hand_offs() {
    let expected = images(["a", "a", "a"], 1);
    // Three robots, in the first iteration and every 20 of those in which time passes.
    assert_eq!(expected.len(), 3 * 11);
    assert!(expected[0].body.len() > 48 * 36 * 3, "all pixels are told");
    let contents = expected
        .iter()
        .map(|message| Digest::of_bytes(&message.body));
    let contents: std::collections::BTreeSet<Digest> = contents.collect();
    assert_eq!(contents.len(), expected.len(), "no two images are the same");
    for (homes, threads) in [
        (["a", "b", "c"], 1),
        (["a", "b", "b"], 2),
        (["b", "a", "a"], 2),
    ] {
        let found = images(homes, threads);
        assert_eq!(found.len(), expected.len());
        for (one, other) in expected.iter().zip(&found) {
            let place = (one.iteration, &one.topic);
            assert_eq!(place, (other.iteration, &other.topic), "{homes:?}");
            assert!(one == other, "{place:?} differs on {homes:?}");
        }
    }
}
