//! The overview: what holds the simulation back, in words, and the run at a glance.
//!
//! ```text
//! the verdict, why, and what would help
//! where the time of an iteration goes: bar and legend
//! peers: work and waiting        | real-time factor of the last minutes
//! slowest levels                 | counts
//! last warnings
//! ```

mod glance;
mod load;

use protocol::report::{Snapshot, Split};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::Widget;
use serde_json::{Value, json};

use super::no_subject;
use super::{Content, PanelRow, Position};
use crate::app::event::Key;
use crate::app::model::Model;
use crate::app::rows::cell_us;
use crate::app::verdict::{Culprit, Verdict};
use crate::panels::Panel;
use crate::show::table::Table;
use crate::show::{Need, Show, Source};
use crate::ui::theme::Theme;
use crate::ui::{frame as panel_frame, split_bar, text};

/// The panel.
pub(super) const PANEL: PanelRow = PanelRow {
    title: "Overview",
    key: Key::Char('1'),
    position: Position::Alone,
    content: Content::Picture {
        subject: no_subject,
    },
    keys: &[],
    draw,
    show: Show {
        about: "The run at a glance, and the limits of its speed",
        source: Source::Run {
            needs: &[Need::History],
            is_drawn: true,
            table: |figures| show_table(&figures.model()),
            json: |figures| {
                serde_json::to_string_pretty(&show_json(&figures.model(), &figures.snapshot))
            },
        },
    },
};

/// The most details and pieces of advice that are shown.
const DETAILS_MAX: usize = 3;
const ADVICE_MAX: usize = 2;
/// Beginning of pieces of advice.
const ADVICE: &str = "   would help: ";
/// The most columns of a sentence, over all its lines.
const WORDS_MAX: u16 = 300;
/// The least room that has columns beside each other.
const WIDE: u16 = 100;
/// The most rows of peers, and of levels.
const PEERS_MAX: usize = 12;
const LEVELS_MAX: usize = 6;
/// The rows of the history of the real-time factor.
const HISTORY: u16 = 6;

/// Draws the overview.
fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let theme = Theme::of(model);
    let remark = "what holds the simulation back";
    let inside = panel_frame::draw(model, frame, area, Panel::Overview, (remark, ""));
    let words = words(theme, &Verdict::of(model), inside.width);
    let split = split(model, theme, inside.width);
    let [top, bar, rest] = Layout::vertical([
        Constraint::Length(words.len() as u16 + 1),
        Constraint::Length(split.len() as u16 + 1),
        Constraint::Fill(1),
    ])
    .areas(inside);
    Text::from(words).render(top, frame.buffer_mut());
    Text::from(split).render(bar, frame.buffer_mut());
    if rest.width >= WIDE {
        draw_wide(model, frame, rest);
    } else {
        draw_narrow(model, frame, rest);
    }
}

fn draw_wide(model: &Model, frame: &mut Frame, area: Rect) {
    let peers = load::peer_rows(model, PEERS_MAX) as u16;
    let upper = (peers + 2).max(HISTORY + 2);
    let [upper, lower, last] = Layout::vertical([
        Constraint::Length(upper),
        Constraint::Length(LEVELS_MAX as u16 + 2),
        Constraint::Fill(1),
    ])
    .areas(area);
    let halves = |area| {
        let [left, _, right] = Layout::horizontal([
            Constraint::Percentage(55),
            Constraint::Length(2),
            Constraint::Fill(1),
        ])
        .areas(area);
        [left, right]
    };
    let [left, right] = halves(upper);
    load::draw_peers(model, frame, left);
    glance::draw_history(model, frame, right);
    let [left, right] = halves(lower);
    load::draw_levels(model, frame, left);
    glance::draw_counts(model, frame, right);
    glance::draw_warnings(model, frame, last);
}

fn draw_narrow(model: &Model, frame: &mut Frame, area: Rect) {
    let peers = load::peer_rows(model, PEERS_MAX) as u16;
    let [upper, middle, lower] = Layout::vertical([
        Constraint::Length((peers + 1).min(area.height / 2)),
        Constraint::Length(3),
        Constraint::Fill(1),
    ])
    .areas(area);
    load::draw_peers(model, frame, upper);
    glance::draw_counts(model, frame, middle);
    let room = lower.height.saturating_sub(2);
    let levels = match (load::level_rows(model, LEVELS_MAX) as u16 + 2).min(room) {
        0..2 => 0,
        rows => rows,
    };
    let [levels, warnings] =
        Layout::vertical([Constraint::Length(levels), Constraint::Fill(1)]).areas(lower);
    load::draw_levels(model, frame, levels);
    glance::draw_warnings(model, frame, warnings);
}

/// Returns the verdict: what, why and what would help.
fn words(theme: Theme, verdict: &Verdict, width: u16) -> Vec<Line<'static>> {
    let (glyph, style) = mark(theme, &verdict.culprit);
    let room = |before: usize| usize::from(width).saturating_sub(before + 1);
    let mut lines = Vec::new();
    for (index, part) in wrapped(theme, &verdict.headline, room(3))
        .into_iter()
        .enumerate()
    {
        let mark = if index == 0 { glyph } else { " " };
        let line = format!(" {mark} {part}");
        lines.push(Line::styled(line, style.patch(theme.value())));
    }
    for detail in verdict.details.iter().take(DETAILS_MAX) {
        for part in wrapped(theme, detail, room(3)) {
            lines.push(Line::styled(format!("   {part}"), theme.text()));
        }
    }
    for advice in verdict.advice.iter().take(ADVICE_MAX) {
        let mut spans = vec![Span::styled(ADVICE, theme.label())];
        let mut before = ADVICE.len();
        if let Some(command) = &advice.command {
            let command = text::fit(theme, &format!(":{command}"), width / 2);
            before += text::columns(&command) + 2;
            spans.push(Span::styled(command, theme.key()));
            spans.push(Span::raw("  "));
        }
        for part in wrapped(theme, &advice.text, room(before)) {
            spans.push(Span::styled(part, theme.text()));
            lines.push(Line::from(std::mem::take(&mut spans)));
            spans.push(Span::raw(" ".repeat(before)));
        }
    }
    lines
}

/// Divides harmless text into lines of at most so many columns, between words where it can.
fn wrapped(theme: Theme, words: &str, width: usize) -> Vec<String> {
    let whole = text::fit(theme, words, WORDS_MAX);
    let mut lines = vec![String::new()];
    for word in whole.split(' ') {
        let word = text::fit(theme, word, width as u16);
        let line = lines.last_mut().expect("there is a first line");
        if line.is_empty() {
            line.push_str(&word);
        } else if text::columns(line) + 1 + text::columns(&word) <= width {
            line.push(' ');
            line.push_str(&word);
        } else {
            lines.push(word);
        }
    }
    lines
}

fn mark(theme: Theme, culprit: &Culprit) -> (&'static str, Style) {
    let glyphs = theme.glyphs();
    match culprit {
        Culprit::Nothing => (glyphs.idle, theme.text()),
        Culprit::Pace => (glyphs.good, theme.healthy()),
        Culprit::Peer(_) | Culprit::Relay(_) => (glyphs.blocking, theme.warning()),
        Culprit::Part(_) => (glyphs.warning, theme.warning()),
        Culprit::Spread => (glyphs.good, theme.text()),
    }
}

/// Returns the split of an iteration as a bar and its legend.
fn split(model: &Model, theme: Theme, width: u16) -> Vec<Line<'static>> {
    let Some(stats) = &model.heard.stats else {
        return Vec::new();
    };
    let period = stats.split.period_us();
    if period <= 0.0 {
        let text = " no iteration in the last second";
        return vec![Line::styled(text, theme.muted())];
    }
    let title = format!(" an iteration takes {} us, of these:", text::micros(period));
    let mut lines = vec![Line::styled(title, theme.label())];
    let mut bar = vec![Span::raw(" ")];
    bar.extend(split_bar::bar(theme, &stats.split, width.saturating_sub(2)).spans);
    lines.push(Line::from(bar));
    let legend = split_bar::short_legend(theme, &stats.split, width.saturating_sub(2));
    lines.extend(legend.into_iter().map(|line| {
        let mut spans = vec![Span::raw(" ")];
        spans.extend(line.spans);
        Line::from(spans)
    }));
    lines
}

/// Returns the verdict with all that it was made from.
fn show_json(model: &Model, snapshot: &Snapshot) -> Value {
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
            "culprit": culprit_name(&verdict.culprit),
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
fn culprit_name(culprit: &Culprit) -> String {
    match culprit {
        Culprit::Nothing => "nothing".to_owned(),
        Culprit::Pace => "pace".to_owned(),
        Culprit::Peer(name) => format!("peer {name}"),
        Culprit::Relay(name) => format!("relay {name}"),
        Culprit::Part(part) => Split::NAMES[*part].to_owned(),
        Culprit::Spread => "spread".to_owned(),
    }
}

/// Returns the verdict and the split in two columns.
fn show_table(model: &Model) -> Table {
    let verdict = Verdict::of(model);
    let mut table = Table::new(&["FIGURE", "VALUE"]);
    let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
    row("culprit", culprit_name(&verdict.culprit));
    row("headline", verdict.headline);
    let Some(stats) = &model.heard.stats else {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check(words: &str, width: usize, expected: &[&str]) {
        let theme = Theme::of(&Model::new("run".to_owned(), true));
        assert_eq!(wrapped(theme, words, width), expected);
    }

    #[test]
    fn sentences_are_divided_between_words() {
        check("one two three", 20, &["one two three"]);
        check("one two three", 7, &["one two", "three"]);
        check("one overlong", 5, &["one", "over…"]);
        check("", 5, &[""]);
    }
}
