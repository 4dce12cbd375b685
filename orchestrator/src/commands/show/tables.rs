//! Figures in tables: what each panel of rows has in which column.

use client::plain_text::plain;
use protocol::PeerName;
use protocol::primary_to_observers::Event;
use protocol::report::{LevelReport, PeerReport, Percentiles, PerformerReport, Stats, TopicReport};
use serde_json::Value;
use view::app::model::severity_word;
use view::app::rows::state_of;

use crate::commands::table::{Table, names};

/// State, time, pace and digest.
pub(super) fn stats(stats: &Stats) -> Table {
    let asked = match stats.real_time_factor_asked {
        0.0 => "as fast as possible".to_owned(),
        factor => format!("{factor}"),
    };
    let times = |times: Percentiles| {
        format!(
            "p50 {:.0} us, p90 {:.0} us, p99 {:.0} us, max {:.0} us",
            times.p50, times.p90, times.p99, times.max
        )
    };
    let mut table = Table::new(&["WORLD", &stats.world]);
    let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
    row("STATE", format!("{:?}", stats.state).to_lowercase());
    row("ITERATION", stats.iteration.to_string());
    row("SIM TIME", format!("{:.3} s", stats.sim_time_s));
    row(
        "REAL TIME",
        format!("{:.2}x (asked: {asked})", stats.real_time_factor),
    );
    row("STEPS", format!("{:.0}/s", stats.steps_per_s));
    row("STEP", times(stats.step_us));
    row("LAST SECOND", times(stats.recent_step_us));
    row("PHYSICS", times(stats.physics_us));
    row("OVERHEAD", times(stats.overhead_us));
    row("DIGEST", stats.digest.to_string());
    row("REFUSED", format!("{} messages", stats.refused.total()));
    if stats.insecure {
        let text = "whoever reaches it may stop and change it: it has no keys";
        row("INSECURE", text.to_owned());
    }
    table
}

/// One row of the figures of an object, under their names as JSON has them; of an object within it,
/// as `step_us.p50`.
pub(super) fn one_row(figures: &Value) -> Table {
    let mut cells = Vec::new();
    flatten(String::new(), figures, &mut cells);
    let names: Vec<&str> = cells.iter().map(|(name, _)| name.as_str()).collect();
    let mut table = Table::new(&names);
    table.row(cells.iter().map(|(_, value)| value.clone()));
    table
}

fn flatten(name: String, value: &Value, cells: &mut Vec<(String, String)>) {
    match value {
        Value::Object(fields) => {
            for (field, value) in fields {
                let dot = if name.is_empty() { "" } else { "." };
                flatten(format!("{name}{dot}{field}"), value, cells);
            }
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(Value::to_string).collect();
            cells.push((name, items.join(" ")));
        }
        Value::String(text) => cells.push((name, text.clone())),
        other => cells.push((name, other.to_string())),
    }
}

/// The processes.
pub(super) fn peers(peers: &[PeerReport]) -> Table {
    let mut table = Table::new(&[
        "PEER",
        "ROLE",
        "STATE",
        "PID",
        "HOST",
        "BEAT MS",
        "RTT US",
        "PHYSICS US",
        "WAIT US",
        "BLOCKS",
        "LEVELS",
        "PERFORMERS",
        "SYSTEMS US",
        "SENSORS US",
        "NETWORK US",
        "COSTS US",
        "LAST",
        "CPU",
        "MEMORY MIB",
    ]);
    for peer in peers {
        table.row([
            peer.name.to_string(),
            peer.role.to_string(),
            format!("{:?}", peer.state).to_lowercase(),
            peer.pid.to_string(),
            peer.host.clone(),
            format!("{:.0}", peer.heartbeat_age_ms),
            peer.round_trip_us
                .map_or_else(|| "-".to_owned(), |us| us.to_string()),
            format!("{:.0}", peer.physics_us),
            format!("{:.0}", peer.wait_us),
            if peer.blocking { "yes" } else { "-" }.to_owned(),
            names(&peer.levels),
            peer.performers.len().to_string(),
            format!("{:.0}", peer.systems_us),
            format!("{:.0}", peer.sensors_us),
            format!("{:.0}", peer.network_us),
            format!("{:.0}", peer.blocked_us),
            format!("{:.2}", peer.last_share),
            format!("{:.2}", peer.cpu),
            (peer.memory_bytes >> 20).to_string(),
        ]);
    }
    table
}

/// The levels and their cells.
pub(super) fn levels(levels: &[LevelReport]) -> Table {
    let mut table = Table::new(&[
        "LEVEL",
        "WORLD",
        "STATE",
        "OWNER",
        "PERFORMERS",
        "GHOSTS",
        "HAND-OFFS",
        "MODELS",
        "PHYSICS US",
        "SYSTEMS US",
        "SENSORS US",
    ]);
    for level in levels {
        table.row([
            level.name.clone(),
            level.world.clone(),
            state_of(level).to_owned(),
            owner(level.owner.as_ref()),
            names(&level.performers),
            names(&level.ghosts),
            level.hand_offs.to_string(),
            names(&level.models_loaded),
            format!("{:.0}", level.physics_us),
            format!("{:.0}", level.systems_us),
            format!("{:.0}", level.sensors_us),
        ]);
    }
    table
}

/// Makes the table of the performers.
pub(super) fn performers(performers: &[PerformerReport]) -> Table {
    let mut table = Table::new(&[
        "PERFORMER",
        "OWNER",
        "LEVEL",
        "ACTIVATES",
        "X",
        "Y",
        "Z",
        "HAND-OFFS",
    ]);
    for performer in performers {
        let [x, y, z] = performer
            .position
            .map(|coordinate| format!("{coordinate:.3}"));
        table.row([
            performer.name.clone(),
            owner(performer.owner.as_ref()),
            performer.level.clone(),
            names(&performer.levels),
            x,
            y,
            z,
            performer.hand_offs.to_string(),
        ]);
    }
    table
}

/// The topics of systems and sensors.
pub(super) fn topics(topics: &[TopicReport]) -> Table {
    let mut table = Table::new(&["TOPIC", "KIND", "PUBLISHERS", "SUBSCRIBERS"]);
    for topic in topics {
        table.row([
            topic.topic.clone(),
            topic.kind.clone(),
            names(&topic.publishers),
            names(&topic.subscribers),
        ]);
    }
    table
}

/// Makes the table of the events.
pub(super) fn events(events: &[Event]) -> Table {
    let mut table = Table::new(&["ITERATION", "SEVERITY", "KIND", "TEXT"]);
    for event in events {
        table.row([
            event.iteration.to_string(),
            severity_word(event.severity).to_owned(),
            plain(&event.kind),
            plain(&event.text),
        ]);
    }
    table
}

fn owner(name: Option<&PeerName>) -> String {
    name.map_or_else(|| "-".to_owned(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;
    use view::app::fixture;

    #[test]
    fn levels_say_what_is_in_them_and_what_stands_still() {
        assert_eq!(
            levels(&fixture::levels()).render(),
            "\
LEVEL  WORLD      STATE      OWNER  PERFORMERS       GHOSTS   HAND-OFFS  MODELS           \
PHYSICS US  SYSTEMS US  SENSORS US
west   warehouse  active     s1     ball,box         rover_1  0          shelf_1,shelf_2  \
121         8           0
east   warehouse  active     s2     rover_1,rover_2  -        1          conveyor         \
290         8           13
dock   warehouse  inactive   s1     -                -        0          -                \
0           0           0
yard   warehouse  suspended  s1     crate            -        0          -                \
61          4           0
"
        );
    }

    #[test]
    fn performers_are_listed_with_their_hand_offs() {
        let csv = performers(&fixture::performers()).csv();
        assert!(csv.starts_with("performer,owner,level,activates,x,y,z,hand_offs\r\n"));
        assert!(
            csv.contains("rover_1,s2,east,\"east,west\",1.250,-2.000,0.150,1\r\n"),
            "{csv}"
        );
    }

    #[test]
    fn figures_in_one_row_have_the_names_of_json() {
        let csv = one_row(&serde_json::to_value(fixture::stats()).unwrap()).csv();
        let (names, values) = csv.trim_end().split_once("\r\n").unwrap();
        let names: Vec<&str> = names.split(',').collect();
        let values: Vec<&str> = values.split(',').collect();
        let value = |name: &str| values[names.iter().position(|one| *one == name).unwrap()];
        assert_eq!(
            (value("world"), value("step_us.p50")),
            ("warehouse", "412.0")
        );
        assert_eq!((value("paused"), names.len()), ("false", values.len()));
    }
}
