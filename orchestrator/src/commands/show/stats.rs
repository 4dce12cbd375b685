//! Figures that are put together of several: the overview, latency and the map.

use protocol::report::{
    History, HistorySample, Layout, PerformerReport, Snapshot, Split, StepHistogram,
};
use serde_json::{Value, json};
use view::app::model::Model;
use view::app::rows::cell_us;
use view::app::verdict::{Culprit, Verdict};

use crate::commands::table::Table;

/// Returns the verdict with all that it was made from.
pub(super) fn overview(model: &Model, snapshot: &Snapshot) -> Value {
    let verdict = Verdict::of(model);
    let advice: Vec<Value> = verdict
        .advice
        .iter()
        .map(|one| json!({ "text": one.text, "command": one.command }))
        .collect();
    let levels = snapshot.levels.iter().map(|level| {
        json!({ "name": level.name, "owner": level.owner, "cost_us": cell_us(level),
            "performers": level.performers.len() })
    });
    let mut levels: Vec<Value> = levels.collect();
    levels.sort_by(|a, b| {
        let cost = |level: &Value| level["cost_us"].as_f64().unwrap_or(0.0);
        cost(b).total_cmp(&cost(a))
    });
    json!({
        "verdict": {
            "culprit": culprit(&verdict.culprit),
            "headline": verdict.headline,
            "details": verdict.details,
            "advice": advice,
        },
        "period_us": snapshot.stats.split.period_us(),
        "stats": snapshot.stats,
        "peers": snapshot.peers,
        "slowest_levels": levels,
    })
}

/// Returns one word for what holds a run back, or the name of the peer that does.
fn culprit(culprit: &Culprit) -> String {
    match culprit {
        Culprit::Nothing => "nothing".to_owned(),
        Culprit::Pace => "pace".to_owned(),
        Culprit::Peer(name) => format!("peer {name}"),
        Culprit::Part(part) => Split::NAMES[*part].to_owned(),
        Culprit::Spread => "spread".to_owned(),
    }
}

/// Returns the verdict and the split in two columns.
pub(super) fn overview_table(model: &Model) -> Table {
    let verdict = Verdict::of(model);
    let mut table = Table::new(&["FIGURE", "VALUE"]);
    let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
    row("culprit", culprit(&verdict.culprit));
    row("headline", verdict.headline);
    let Some(stats) = &model.stats else {
        return table;
    };
    row("real_time_factor", format!("{:.3}", stats.real_time_factor));
    row("steps_per_s", format!("{:.1}", stats.steps_per_s));
    row("period_us", format!("{:.1}", stats.split.period_us()));
    for (name, part) in Split::NAMES.iter().zip(stats.split.parts()) {
        row(&format!("{name}_us"), format!("{part:.1}"));
    }
    table
}

/// Returns how long steps take, where the time goes, and how both were.
pub(super) fn latency(snapshot: &Snapshot, history: &History) -> Value {
    let stats = &snapshot.stats;
    let last = snapshot.peers.iter().map(|peer| {
        json!({ "name": peer.name, "last_share": peer.last_share, "blocked_us": peer.blocked_us })
    });
    json!({
        "step_us": stats.step_us,
        "recent_step_us": stats.recent_step_us,
        "period_us": stats.split.period_us(),
        "split": stats.split,
        "answers_last": last.collect::<Vec<_>>(),
        "histogram": bars(&history.steps),
        "history": history.samples,
    })
}

fn bars(steps: &StepHistogram) -> Vec<Value> {
    let bars = steps.bars();
    bars.map(|(from_us, count)| json!({ "from_us": from_us, "count": count }))
        .collect()
}

/// Returns the history, a row per second.
pub(super) fn latency_table(history: &History) -> Table {
    let mut headings = vec![
        "AGE S",
        "ITERATION",
        "REAL TIME FACTOR",
        "P50 US",
        "P90 US",
        "P99 US",
        "MAX US",
    ];
    let parts = Split::NAMES.map(|name| format!("{} US", name.to_uppercase()));
    headings.extend(parts.iter().map(String::as_str));
    let mut table = Table::new(&headings);
    for sample in &history.samples {
        table.row(cells(sample));
    }
    table
}

fn cells(sample: &HistorySample) -> Vec<String> {
    let step = sample.step_us;
    let mut cells = vec![
        format!("{:.1}", sample.age_s),
        sample.iteration.to_string(),
        format!("{:.3}", sample.real_time_factor),
    ];
    let times = [step.p50, step.p90, step.p99, step.max];
    let times = times.into_iter().chain(sample.split.parts());
    cells.extend(times.map(|time| format!("{time:.1}")));
    cells
}

/// Returns what is on the map: boxes of levels and models, places of performers.
pub(super) fn map_table(layout: &Layout, performers: &[PerformerReport]) -> Table {
    let headings = [
        "WHAT", "NAME", "X MIN", "Y MIN", "Z MIN", "X MAX", "Y MAX", "Z MAX",
    ];
    let mut table = Table::new(&headings);
    let mut row = |what: &str, name: &str, min: [f64; 3], max: [f64; 3]| {
        let mut cells = vec![what.to_owned(), name.to_owned()];
        cells.extend(min.into_iter().chain(max).map(|at| format!("{at:.3}")));
        table.row(cells);
    };
    for level in &layout.levels {
        row("level", &level.name, level.min, level.max);
    }
    for model in &layout.statics {
        row("static", &model.name, model.min, model.max);
    }
    for one in performers {
        row("performer", &one.name, one.position, one.position);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use view::app::fixture;

    fn snapshot() -> Snapshot {
        Snapshot {
            stats: fixture::stats(),
            peers: fixture::peers(),
            levels: fixture::levels(),
            performers: fixture::performers(),
        }
    }

    #[test]
    fn the_overview_says_who_holds_the_run_back() {
        let json = overview(&fixture::model(), &snapshot());
        assert_eq!(json["verdict"]["culprit"], "peer s2", "{json}");
        assert_eq!(json["slowest_levels"][0]["name"], "east", "{json}");
        let csv = overview_table(&fixture::model()).csv();
        assert!(csv.contains("culprit,peer s2\r\n"), "{csv}");
        assert!(csv.contains("physics_us,621.0\r\n"), "{csv}");
    }

    #[test]
    fn latency_has_the_past_and_the_histogram() {
        let history = History {
            samples: vec![HistorySample::default()],
            steps: fixture::stats().steps,
            ..History::default()
        };
        let json = latency(&snapshot(), &history);
        assert_eq!(json["split"]["network_us"], 182.0, "{json}");
        assert!(json["histogram"][0]["count"].as_u64() > Some(0), "{json}");
        let csv = latency_table(&history).csv();
        let heading = "age_s,iteration,real_time_factor,p50_us,p90_us,p99_us,max_us,physics_us,";
        assert!(csv.starts_with(heading), "{csv}");
        assert_eq!(csv.lines().count(), 2);
    }

    #[test]
    fn the_map_has_levels_models_and_performers() {
        let csv = map_table(&fixture::layout(), &fixture::performers()).csv();
        assert!(csv.contains("level,west,-20.000,-5.000"), "{csv}");
        assert!(csv.contains("performer,ball,-14.000,3.000,0.500"), "{csv}");
    }
}
