//! Builds the details of peers, levels, performers, topics, events and lines of logs.

use protocol::primary_to_observers::Event;
use protocol::report::{LevelReport, PeerReport, PerformerReport, TopicReport};

use super::{Detail, Subject};
use crate::app::model::{Model, severity_word};
use crate::app::rows::{speed, state_of};
use crate::app::{drive, orientation};

/// The most names that are listed.
pub(super) const NAMES_MAX: usize = 200;
/// Numbers of events that name a thing: those shown, and those looked through.
const EVENTS_SHOWN: usize = 8;
const EVENTS_MAX: usize = 2_000;
/// Number of the last lines of a process that are shown.
const LINES_SHOWN: usize = 8;
const LINES_MAX: usize = 5_000;

/// Returns all that is known.
pub(super) fn describe(model: &Model, subject: &Subject) -> Detail {
    match subject {
        Subject::Peer(name) => {
            let found = model.peers.iter().find(|peer| peer.name.as_str() == name);
            known(found, "peer", name, |detail, peer| {
                add_peer(model, detail, peer);
            })
        }
        Subject::Level(name) => {
            let found = model.levels.iter().find(|level| level.name == *name);
            known(found, "level", name, |detail, level| {
                add_level(model, detail, level);
            })
        }
        Subject::Performer(name) => {
            let found = model.performers.iter().find(|one| one.name == *name);
            known(found, "performer", name, |detail, one| {
                add_performer(model, detail, one);
            })
        }
        Subject::Topic(name) => {
            let found = model.topics.iter().find(|topic| topic.topic == *name);
            known(found, "topic", name, |detail, topic| {
                add_topic(model, detail, topic);
            })
        }
        Subject::Event(number) => {
            let found = model.events.line(*number);
            known(found, "event", "", add_event)
        }
        Subject::Log(number) => {
            let found = model.logs.line(*number);
            known(found, "line", "", |detail, line| {
                detail.add("process", line.process.as_str());
                detail.add("text", line.text.as_str());
            })
        }
    }
}

fn known<T>(
    found: Option<&T>,
    kind: &str,
    name: &str,
    add: impl FnOnce(&mut Detail, &T),
) -> Detail {
    let mut detail = Detail::new(format!("{kind} {name}").trim_end().to_owned());
    match found {
        Some(found) => add(&mut detail, found),
        None => detail.add("gone", "it is not there any more"),
    }
    detail
}

fn add_peer(model: &Model, detail: &mut Detail, peer: &PeerReport) {
    detail.add("role", peer.role.to_string());
    detail.add("state", format!("{:?}", peer.state).to_lowercase());
    detail.add("host", peer.host.as_str());
    detail.add("process id", peer.pid.to_string());
    if let Some(age) = model.heartbeat_age(&peer.name) {
        detail.add("heartbeat", format!("{} ms ago", age.as_millis()));
    }
    if let Some(time) = peer.round_trip_us {
        detail.add("round trip", format!("{time} us"));
    }
    if let Some(offset) = peer.clock_offset_us {
        detail.add("clock offset", format!("{offset} us"));
    }
    detail.add("processor", format!("{:.0} % of a core", peer.cpu * 100.0));
    let mebibytes = peer.memory_bytes as f64 / f64::from(1 << 20);
    detail.add("memory", format!("{mebibytes:.0} MiB"));
    detail.add_blank();
    for (name, time_us) in [
        ("physics", peer.physics_us),
        ("systems", peer.systems_us),
        ("sensors", peer.sensors_us),
        ("busy in all", peer.busy_us),
        ("network", peer.network_us),
    ] {
        detail.add(name, format!("{time_us:.0} us per step"));
    }
    let waits = format!("{:.0} us per step for the others", peer.wait_us);
    detail.add("waits", waits);
    let price = format!("{:.0} us per step", peer.blocked_us);
    detail.add("costs the others", price);
    detail.add(
        "answers last",
        format!("in {:.0} % of the steps", peer.last_share * 100.0),
    );
    let blocks = if peer.blocking {
        "yes: the others wait for it"
    } else {
        "no"
    };
    detail.add("holds the step", blocks);
    detail.add_blank();
    detail.add_names("levels", &peer.levels);
    detail.add_names("performers", &peer.performers);
    add_events(model, detail, peer.name.as_str());
    let of_peer = |line: &&client::feed::LogLine| line.process == peer.name.as_str();
    let mut lines: Vec<&str> = model
        .logs
        .newest(LINES_MAX)
        .rev()
        .filter(of_peer)
        .take(LINES_SHOWN)
        .map(|line| line.text.as_str())
        .collect();
    lines.reverse();
    add_list(detail, "last lines", lines.into_iter().map(str::to_owned));
}

fn add_level(model: &Model, detail: &mut Detail, level: &LevelReport) {
    detail.add("world", level.world.as_str());
    detail.add("state", state_of(level));
    let owner = level
        .owner
        .as_ref()
        .map_or("nobody", |owner| owner.as_str());
    detail.add("cell hosted by", owner);
    detail.add(
        "hand-offs",
        format!("{} performers came into its cell", level.hand_offs),
    );
    if let Some(digest) = &level.digest {
        detail.add("digest", digest.to_string());
    }
    for (name, time_us) in [
        ("physics", level.physics_us),
        ("systems", level.systems_us),
        ("sensors", level.sensors_us),
    ] {
        detail.add(name, format!("{time_us:.0} us per step"));
    }
    let is_its = |outline: &&protocol::report::LevelOutline| {
        outline.name == level.name && outline.world == level.world
    };
    if let Some(outline) = model.layout.levels.iter().find(is_its) {
        detail.add("from", vector(outline.min, "m"));
        detail.add("to", vector(outline.max, "m"));
        detail.add("buffer", format!("{} m", outline.buffer));
    }
    detail.add_blank();
    detail.add_names("performers", &level.performers);
    detail.add_names("ghosts", &level.ghosts);
    detail.add_names("models loaded", &level.models_loaded);
    add_events(model, detail, &level.name);
}

fn add_performer(model: &Model, detail: &mut Detail, performer: &PerformerReport) {
    let owner = performer
        .owner
        .as_ref()
        .map_or("nobody", |owner| owner.as_str());
    detail.add("physics run by", owner);
    detail.add("level", performer.level.as_str());
    detail.add("position", vector(performer.position, "m"));
    let [x, y, z, w] = performer.orientation_xyzw;
    let angles = orientation::roll_pitch_yaw(performer).map(f64::to_degrees);
    let [roll, pitch, yaw] = angles;
    detail.add(
        "attitude",
        format!("roll {roll:.1} pitch {pitch:.1} yaw {yaw:.1} deg"),
    );
    detail.add("quaternion", format!("x {x:.6} y {y:.6} z {z:.6} w {w:.6}"));
    detail.add("velocity", vector(performer.linear_velocity, "m/s"));
    let ahead = drive::speed_ahead(performer);
    detail.add(
        "speed",
        format!("{:.3} m/s, {ahead:.3} m/s ahead", speed(performer)),
    );
    detail.add("hand-offs", performer.hand_offs.to_string());
    detail.add_blank();
    detail.add_names("keeps active", &performer.levels);
    let is_ghost = |level: &&LevelReport| level.ghosts.contains(&performer.name);
    let ghosts = model.levels.iter().filter(is_ghost);
    let ghosts: Vec<String> = ghosts.map(|level| level.name.clone()).collect();
    detail.add_names("ghost in", &ghosts);
    add_topics(model, detail, &performer.name);
    add_events(model, detail, &performer.name);
}

/// Adds the topics that systems of a model hear or speak on.
fn add_topics(model: &Model, detail: &mut Detail, name: &str) {
    let begin = format!("{name}: ");
    let is_its = |who: &String| who.starts_with(&begin);
    let of = |topic: &TopicReport, who: &[String]| {
        let named = who.iter().any(is_its);
        named.then(|| format!("{} ({})", topic.topic, topic.kind))
    };
    let hears = model
        .topics
        .iter()
        .filter_map(|topic| of(topic, &topic.subscribers));
    add_list(detail, "listens to", hears);
    let says = model
        .topics
        .iter()
        .filter_map(|topic| of(topic, &topic.publishers));
    add_list(detail, "publishes", says);
}

fn add_topic(model: &Model, detail: &mut Detail, topic: &TopicReport) {
    detail.add("kind", topic.kind.as_str());
    detail.add_names("publishers", &topic.publishers);
    detail.add_names("systems", &topic.subscribers);
    let Some(hearing) = model
        .hearing
        .as_ref()
        .filter(|one| one.topic == topic.topic)
    else {
        return;
    };
    detail.add_blank();
    detail.add("messages", format!("{} heard", hearing.count));
    let Some((at, heard)) = &hearing.last else {
        detail.add("last message", "none yet; the view listens");
        return;
    };
    let rate = |rate: Option<f64>| rate.map_or("-".to_owned(), |rate| format!("{rate:.1} Hz"));
    let (real, simulated) = hearing.rates();
    let rates = format!("{}, {} of simulated time", rate(real), rate(simulated));
    detail.add("rate", rates);
    let age = model.now.since(*at).as_secs_f64();
    let when = format!(
        "{age:.1} s ago, at {:.3} s, iteration {}",
        heard.sim_time_s, heard.iteration
    );
    detail.add("last message", when);
    detail.add("size", format!("{} bytes", heard.bytes));
    detail.add_blank();
    for line in heard.text.lines() {
        detail.add("", line);
    }
}

fn add_event(detail: &mut Detail, event: &Event) {
    detail.add("iteration", event.iteration.0.to_string());
    detail.add("severity", severity_word(event.severity));
    detail.add("kind", event.kind.as_str());
    detail.add("text", event.text.as_str());
}

/// Adds the last events that name something.
fn add_events(model: &Model, detail: &mut Detail, name: &str) {
    let newest = model.events.newest(EVENTS_MAX).rev();
    let of = newest
        .filter(|event| names(&event.text, name))
        .take(EVENTS_SHOWN);
    let events = of.map(|event| format!("{} {}", event.iteration.0, event.text));
    add_list(detail, "last events", events);
}

/// Adds a list after a blank line; nothing when it is empty.
fn add_list(detail: &mut Detail, name: &str, values: impl Iterator<Item = String>) {
    for (index, value) in values.take(NAMES_MAX).enumerate() {
        if index == 0 {
            detail.add_blank();
        }
        detail.add(if index == 0 { name } else { "" }, value);
    }
}

/// Tells whether a text names something: as a word, not as a part of one.
fn names(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

fn vector([x, y, z]: [f64; 3], unit: &str) -> String {
    format!("x {x:.3} y {y:.3} z {z:.3} {unit}")
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn a_text_names_words_and_not_parts_of_words() {
        assert!(names("s1 holds the step", "s1"));
        assert!(names("level (s1)", "s1"));
        assert!(!names("s12 holds the step", "s1"));
        assert!(!names("my_s1", "s1"));
        assert!(names("s12 waits for s1", "s1"));
        assert!(!names("", "s1"));
    }
}
