//! Figures of the run as a whole, in tables.

use protocol::counted;
use protocol::report::{Percentiles, Stats};
use serde_json::Value;
use view::show::table::Table;

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
    row("REFUSED", counted(stats.refused.total(), "message"));
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

#[cfg(test)]
mod tests {
    use super::*;
    use view::app::fixture;

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
