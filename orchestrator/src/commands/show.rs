//! `phalanx show`: one panel as text, CSV or JSON.

mod logs;

use protocol::primary_to_client::Reply;
use protocol::report::{LevelReport, PeerReport, PerformerReport, Snapshot, Stats};
use protocol::{Command, ExitCode, PeerName};

use super::ctl::from_ask;
use super::table::{Table, names};
use super::{CommandResult, Failed, output, runtime, target};
use crate::app::rows::state_of;
use crate::cli::{ShowArguments, ShownPanel, TableFormat};

/// Prints one panel of a run.
pub(super) fn show(arguments: &ShowArguments) -> CommandResult {
    if arguments.panel == ShownPanel::Logs {
        return logs::show(arguments);
    }
    if arguments.logs.is_given() {
        let message = "--process, --lines and --follow are for `phalanx show logs`";
        return Err(Failed::message(ExitCode::Usage, message));
    }
    let target = target::find(arguments.run.as_deref())?;
    let asked = target.ask(Command::Snapshot, arguments.timeout);
    match runtime()?.block_on(asked).map_err(from_ask)? {
        Reply::Snapshot(snapshot) => match arguments.format {
            TableFormat::Text => output::print(&table(&snapshot, arguments.panel).render()),
            TableFormat::Csv => output::print(&table(&snapshot, arguments.panel).csv()),
            TableFormat::Json => json(&snapshot, arguments.panel),
        },
        Reply::Failed { reason } => Err(Failed::message(ExitCode::Failure, reason)),
        Reply::Done { .. } | Reply::Layout(_) | Reply::Topics(_) => Err(Failed::message(
            ExitCode::Failure,
            "the primary answered something else",
        )),
    }
}

fn json(snapshot: &Snapshot, panel: ShownPanel) -> CommandResult {
    match panel {
        ShownPanel::Stats => output::print_json(&snapshot.stats),
        ShownPanel::Peers => output::print_json(&snapshot.peers),
        ShownPanel::Levels => output::print_json(&snapshot.levels),
        ShownPanel::Performers => output::print_json(&snapshot.performers),
        ShownPanel::Logs => unreachable!("logs are not in a snapshot"),
    }
}

fn table(snapshot: &Snapshot, panel: ShownPanel) -> Table {
    match panel {
        ShownPanel::Stats => stats(&snapshot.stats),
        ShownPanel::Peers => peers(&snapshot.peers),
        ShownPanel::Levels => levels(&snapshot.levels),
        ShownPanel::Performers => performers(&snapshot.performers),
        ShownPanel::Logs => unreachable!("logs are not in a snapshot"),
    }
}

fn stats(stats: &Stats) -> Table {
    let asked = match stats.real_time_factor_asked {
        0.0 => "as fast as possible".to_owned(),
        factor => format!("{factor}"),
    };
    let times = |times: protocol::report::Percentiles| {
        format!(
            "p50 {:.0} us, p99 {:.0} us, max {:.0} us",
            times.p50, times.p99, times.max
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
    row("PHYSICS", times(stats.physics_us));
    row("OVERHEAD", times(stats.overhead_us));
    row("DIGEST", stats.digest.to_string());
    row("REFUSED", format!("{} messages", stats.refused.total()));
    table
}

fn peers(peers: &[PeerReport]) -> Table {
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
        ]);
    }
    table
}

fn levels(levels: &[LevelReport]) -> Table {
    let mut table = Table::new(&[
        "LEVEL",
        "WORLD",
        "STATE",
        "OWNER",
        "PERFORMERS",
        "GHOSTS",
        "HAND-OFFS",
        "MODELS",
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
        ]);
    }
    table
}

fn performers(performers: &[PerformerReport]) -> Table {
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

fn owner(name: Option<&PeerName>) -> String {
    name.map_or_else(|| "-".to_owned(), ToString::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::fixture;

    #[test]
    fn levels_say_what_is_in_them_and_what_stands_still() {
        assert_eq!(
            levels(&fixture::levels()).render(),
            "\
LEVEL  WORLD      STATE      OWNER  PERFORMERS       GHOSTS   HAND-OFFS  MODELS
west   warehouse  active     s1     ball,box         rover_1  0          shelf_1,shelf_2
east   warehouse  active     s2     rover_1,rover_2  -        1          conveyor
dock   warehouse  stand-by   s1     -                -        0          -
yard   warehouse  suspended  s1     crate            -        0          -
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
}
