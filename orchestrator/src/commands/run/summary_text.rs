//! The summary of a run, for people.

use client::ended::RunEnded;
use client::plain_text::plain;
use protocol::counted;

/// Number of performers that are listed; JSON has them all.
const PERFORMERS_MAX: usize = 20;

/// Returns how a run ended as lines of text.
pub(in super::super) fn describe(run: &str, ended: &RunEnded) -> String {
    let mut rows = ended.facts(run);
    rows.retain(|(name, _)| name != "cause");
    let performers = ended.summary.iter().flat_map(|summary| &summary.performers);
    for performer in performers.clone().take(PERFORMERS_MAX) {
        let [x, y, z] = performer.position;
        let owner = performer.owner.as_ref().map_or("-", |owner| owner.as_str());
        let (name, level) = (&performer.name, &performer.level);
        let place = format!("{name} at {x:.3} {y:.3} {z:.3} m, {owner}, {level}");
        rows.push(("performer".to_owned(), place));
    }
    if let Some(more @ 1..) = performers.count().checked_sub(PERFORMERS_MAX) {
        rows.push((
            String::new(),
            format!("and {} more", counted(more, "performer")),
        ));
    }
    let line = |(name, value): (String, String)| format!("  {name:<12}{}\n", plain(&value));
    let lines: String = rows.into_iter().map(line).collect();
    format!("{}\n{lines}", plain(&ended.reason.to_string()))
}
