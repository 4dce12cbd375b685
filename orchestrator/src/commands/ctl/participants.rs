//! `phalanx ctl participants`: the programs that take part in lockstep, one in each row.

use client::units::time;
use protocol::report::ParticipantReport;

use crate::cli::TableFormat;
use crate::commands::{CommandResult, output};
use view::show::table::Table;

/// Prints the programs that take part in a run.
pub(super) fn print(participants: &[ParticipantReport], format: TableFormat) -> CommandResult {
    match format {
        TableFormat::Json => output::print_json(&participants),
        TableFormat::Csv => output::print(&table(participants).csv()),
        TableFormat::Text => output::print(&table(participants).render()),
    }
}

fn table(participants: &[ParticipantReport]) -> Table {
    let mut table = Table::new(&[
        "NAME", "STATE", "EVERY", "NEXT", "POLICY", "TIMEOUT", "HOLDS", "P50", "MAX", "ANSWERS",
        "MISSED",
    ]);
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    for one in participants {
        table.row([
            one.name.to_string(),
            one.state.name().to_owned(),
            or_dash(one.every.map(|every| every.to_string())),
            or_dash(one.next.map(|next| next.to_string())),
            or_dash(one.policy.map(|policy| policy.name().to_owned())),
            or_dash(one.timeout_s.map(|seconds| format!("{seconds} s"))),
            or_dash(one.holds_us.map(time)),
            time(one.wait_p50_us),
            time(one.wait_max_us),
            one.answers.to_string(),
            one.missed.to_string(),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::participant::AbsencePolicy;
    use protocol::report::ParticipantState;

    #[test]
    fn one_that_is_awaited_has_no_terms() {
        let pilot = ParticipantReport {
            name: "pilot".parse().unwrap(),
            state: ParticipantState::Holding,
            every: Some(10),
            next: Some(120),
            policy: Some(AbsencePolicy::Wait),
            timeout_s: Some(5.0),
            holds_us: Some(1_500.0),
            wait_p50_us: 250.0,
            wait_max_us: 2_000.0,
            answers: 12,
            missed: 0,
        };
        let awaited = ParticipantReport {
            name: "scribe".parse().unwrap(),
            state: ParticipantState::Awaited,
            every: None,
            next: None,
            policy: None,
            timeout_s: None,
            holds_us: None,
            ..pilot.clone()
        };
        let csv = table(&[pilot, awaited]).csv();
        let lines: Vec<&str> = csv.lines().collect();
        assert!(
            lines[1].starts_with("pilot,holding,10,120,wait,5 s,"),
            "{csv}"
        );
        assert!(lines[2].starts_with("scribe,awaited,,,,,,"), "{csv}");
    }
}
