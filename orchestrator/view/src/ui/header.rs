//! The header: the figures of the run, and below them what the user must know.

use protocol::report::{PeerState, RunState, Stats};
use protocol::{Command, Role, counted};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use super::position_bar;
use super::text;
use super::theme::Theme;
use crate::app::model::{Connection, Model};
use crate::app::start_up;
use crate::app::verdict::{Culprit, Verdict};
use crate::panels::Panel;

/// A figure; those of the highest rank are left out first.
struct Figure {
    rank: u8,
    spans: Vec<Span<'static>>,
}

/// Draws two rows of figures.
pub fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let theme = Theme::of(model);
    let connection = Line::from(connection(model, theme));
    let room = area.width.saturating_sub(connection.width() as u16 + 2);
    let first = Rect {
        height: area.height.min(1),
        ..area
    };
    Line::from(fitted(first_row(model, theme), room)).render(first, frame.buffer_mut());
    connection.right_aligned().render(first, frame.buffer_mut());
    if area.height > 1 {
        let second = Rect {
            y: area.y + 1,
            height: 1,
            ..area
        };
        let figures = model
            .heard
            .stats
            .as_ref()
            .map(|stats| second_row(stats, theme));
        let line = Line::from(fitted(figures.unwrap_or_default(), area.width));
        line.render(second, frame.buffer_mut());
    }
    if model.is_stale() {
        let seen = area.intersection(frame.area());
        frame.buffer_mut().set_style(seen, theme.stale());
    }
}

/// Draws the row below: a lost link, the last message, or what the step waits for.
pub fn draw_message(model: &Model, frame: &mut Frame, area: Rect) {
    let theme = Theme::of(model);
    if let Some(place) = &model.session.recording
        && model.fresh_notice().is_none()
    {
        return position_bar::draw(place, theme, frame, area);
    }
    let (message, style) = message(model, theme);
    let message = text::fit(theme, &message, area.width.saturating_sub(1));
    Line::styled(format!(" {message}"), style).render(area, frame.buffer_mut());
    if model.is_stale() {
        let seen = area.intersection(frame.area());
        frame.buffer_mut().set_style(seen, style);
    }
}

fn first_row(model: &Model, theme: Theme) -> Vec<Figure> {
    let (glyph, name, style) = if model.is_over() {
        (theme.glyphs().stopping, "ENDED", theme.text())
    } else {
        theme.run_state(model.run_state())
    };
    let is_recording = model.session.recording.is_some();
    let what = if is_recording { "recording" } else { "run" };
    let name = match model.run_state() {
        RunState::Running if is_recording => "PLAYING",
        _ => name,
    };
    let state = Span::styled(format!("{glyph} {name}"), style.patch(theme.value()));
    let world = model.heard.stats.as_ref().map_or("", |stats| &stats.world);
    let mut row = vec![
        Figure {
            rank: 4,
            spans: figure(theme, what, text::fit(theme, &model.session.run, 20)),
        },
        Figure {
            rank: 2,
            spans: figure(theme, "world", text::fit(theme, world, 20)),
        },
        Figure {
            rank: 0,
            spans: vec![state],
        },
    ];
    if world.is_empty() {
        row.remove(1);
    }
    if let Some(stats) = &model.heard.stats {
        let sim_time = format!("{} s", text::decimal(stats.sim_time_s, 3));
        row.push(Figure {
            rank: 1,
            spans: figure(theme, "sim", sim_time),
        });
        let iteration = text::count(stats.iteration);
        row.push(Figure {
            rank: 0,
            spans: figure(theme, "iteration", iteration),
        });
    }
    row
}

fn second_row(stats: &Stats, theme: Theme) -> Vec<Figure> {
    let asked = if stats.real_time_factor_asked == 0.0 {
        "max".to_owned()
    } else {
        text::decimal(stats.real_time_factor_asked, 2)
    };
    let factor = format!("{} of {asked}", text::decimal(stats.real_time_factor, 2));
    let rate = format!("{}/s", text::micros(stats.steps_per_s));
    let digest: String = stats.digest.to_string().chars().take(8).collect();
    let has_recent = stats.recent_step_us.max > 0.0;
    let times = if has_recent {
        stats.recent_step_us
    } else {
        stats.step_us
    };
    let mut step = figure(theme, "step p50", format!("{} us", text::micros(times.p50)));
    step.push(Span::raw(" "));
    step.extend(figure(
        theme,
        "p99",
        format!("{} us", text::micros(times.p99)),
    ));
    let mut row = vec![
        Figure {
            rank: 1,
            spans: figure(theme, "real time", factor),
        },
        Figure {
            rank: 3,
            spans: figure(theme, "steps", rate),
        },
        Figure {
            rank: 0,
            spans: step,
        },
        Figure {
            rank: 3,
            spans: figure(theme, "digest", digest),
        },
    ];
    let period = stats.split.period_us();
    if period > 0.0 && stats.real_time_factor_asked > 0.0 {
        let idle = text::percent(stats.split.pace_us / period);
        row.insert(
            1,
            Figure {
                rank: 2,
                spans: figure(theme, "idle", idle),
            },
        );
    }
    if stats.refused.total() > 0 {
        let refused = text::count(stats.refused.total());
        row.push(Figure {
            rank: 4,
            spans: figure(theme, "refused", refused),
        });
    }
    row
}

fn figure(theme: Theme, label: &'static str, value: String) -> Vec<Span<'static>> {
    vec![
        Span::styled(label, theme.label()),
        Span::raw(" "),
        Span::styled(value, theme.value()),
    ]
}

/// Leaves out figures until the rest fits, and sets the rest apart.
fn fitted(mut figures: Vec<Figure>, width: u16) -> Vec<Span<'static>> {
    let needed = |figures: &[Figure]| -> usize {
        figures
            .iter()
            .map(|one| one.spans.iter().map(Span::width).sum::<usize>() + 2)
            .sum()
    };
    while needed(&figures) > usize::from(width) && figures.len() > 1 {
        let rank = figures.iter().map(|figure| figure.rank).max().unwrap_or(0);
        let Some(last) = figures.iter().rposition(|figure| figure.rank == rank) else {
            break;
        };
        figures.remove(last);
    }
    let mut spans = vec![Span::raw(" ")];
    for figure in figures {
        spans.extend(figure.spans);
        spans.push(Span::raw("  "));
    }
    spans
}

fn connection(model: &Model, theme: Theme) -> Vec<Span<'static>> {
    let glyphs = theme.glyphs();
    if model.is_over() {
        return Vec::new();
    }
    let (text, style) = match model.session.connection {
        Connection::Connecting => (format!("{} connecting ", glyphs.waiting), theme.warning()),
        Connection::Connected => (format!("{} connected ", glyphs.good), theme.healthy()),
        Connection::Lost { .. } => (format!("{} disconnected ", glyphs.bad), theme.error()),
    };
    let mut spans = vec![Span::styled(text, style)];
    if model.session.is_read_only {
        spans.insert(0, Span::styled("read-only  ", theme.warning()));
    }
    // As long as it is so, and not just when it is told: nobody is to forget it.
    if model
        .heard
        .stats
        .as_ref()
        .is_some_and(|stats| stats.insecure)
    {
        spans.insert(0, Span::styled("INSECURE  ", theme.warning()));
    }
    spans
}

fn message(model: &Model, theme: Theme) -> (String, Style) {
    let glyphs = theme.glyphs();
    if model.is_over() {
        return (String::new(), theme.text());
    }
    if let Connection::Lost { since } = model.session.connection {
        let age = text::age(model.now.since(since));
        let reason = model.session.denial.as_deref();
        let reason = reason.unwrap_or("what is below is stale; trying again");
        let text = format!("{} DISCONNECTED for {age}: {reason}", glyphs.bad);
        return (text, theme.alarm());
    }
    if let Some(silence) = model.silence() {
        let text = format!(
            "{} STALLED: no figures from the primary for {}; what is below is stale",
            glyphs.bad,
            text::age(silence)
        );
        return (text, theme.alarm());
    }
    if let Some(notice) = model.fresh_notice() {
        return if notice.is_error {
            (format!("{} {}", glyphs.bad, notice.text), theme.error())
        } else {
            (notice.text.clone(), theme.value())
        };
    }
    let name = |command: &Command| match command {
        Command::Step { count } => Some(format!("step {}", text::count(*count))),
        other => other.text(),
    };
    if let Some(name) = model.prompt.pending.iter().find_map(name) {
        return (
            format!("{} {name} is under way", glyphs.waiting),
            theme.label(),
        );
    }
    if let Some(waits) = start_up::waits_for(model) {
        return (format!("{} {waits}", glyphs.waiting), theme.warning());
    }
    if let Some(text) = recovery(model) {
        return (format!("{} {text}", glyphs.waiting), theme.warning());
    }
    let missing = model
        .heard
        .stats
        .as_ref()
        .map_or(0, |stats| stats.secondaries_missing);
    if missing > 0 {
        let are = if missing == 1 { "is" } else { "are" };
        let missing = counted(missing, "secondary");
        return (
            format!("{} {missing} {are} missing", glyphs.waiting),
            theme.warning(),
        );
    }
    holder(model, theme)
}

/// Says for what time waits when a secondary was lost.
fn recovery(model: &Model) -> Option<String> {
    if model.run_state() != RunState::Recovering {
        return None;
    }
    let mut secondaries = model.heard.peers.iter();
    if !secondaries.any(|peer| peer.role == Role::Secondary && peer.state.is_here()) {
        return Some("no secondary is left: time waits for one to join".to_owned());
    }
    let lost = model.heard.peers.iter();
    let lost = lost.filter(|peer| peer.state == PeerState::Lost);
    let names: Vec<&str> = lost.map(|peer| peer.name.as_str()).collect();
    Some(match names.as_slice() {
        [] => "what was lost is restored; time waits".to_owned(),
        names => format!("the cells of {} are restored; time waits", names.join(", ")),
    })
}

/// Says what holds the simulation back, unless the overview already does.
fn holder(model: &Model, theme: Theme) -> (String, Style) {
    if model.screen.focus == Panel::Overview || model.heard.stats.is_none() {
        return (String::new(), theme.label());
    }
    let verdict = Verdict::of(model);
    let glyphs = theme.glyphs();
    let (glyph, style) = match verdict.culprit {
        Culprit::Nothing | Culprit::Spread => (glyphs.idle, theme.label()),
        Culprit::Pace => (glyphs.good, theme.label()),
        Culprit::Peer(_) | Culprit::Relay(_) | Culprit::Part(_) => {
            (glyphs.blocking, theme.warning())
        }
    };
    (format!("{glyph} {}", verdict.headline), style)
}

#[cfg(test)]
mod tests {
    use protocol::client_to_primary::SpawnRequest;

    use super::*;
    use crate::app::fixture;

    #[test]
    fn a_recovery_is_told_with_whom_it_is_for() {
        let mut model = fixture::model();
        model.prompt.notice = None;
        model.heard.stats.as_mut().unwrap().state = RunState::Recovering;
        model.heard.peers[2].state = PeerState::Lost;
        let told = |model: &Model| message(model, Theme::of(model)).0;
        let name = model.heard.peers[2].name.clone();
        let expected = format!("the cells of {name} are restored; time waits");
        assert!(told(&model).ends_with(&expected), "{}", told(&model));
        for peer in &mut model.heard.peers[1..] {
            peer.state = PeerState::Lost;
        }
        assert!(told(&model).ends_with("no secondary is left: time waits for one to join"));
    }

    #[test]
    fn a_run_that_lets_in_anybody_is_marked_for_good() {
        let mut model = fixture::model();
        let shown = |model: &Model| Line::from(connection(model, Theme::of(model)));
        assert!(!shown(&model).to_string().contains("INSECURE"));
        model.heard.stats.as_mut().unwrap().insecure = true;
        let line = shown(&model);
        assert!(line.to_string().starts_with("INSECURE  "), "{line}");
        assert_eq!(line.spans[0].style, Theme::of(&model).warning());
    }

    #[test]
    fn a_pending_command_is_shown_without_what_it_carries() {
        let mut model = fixture::model();
        model.prompt.notice = None;
        let request = SpawnRequest {
            sdf: "x".repeat(1_000),
            name: Some("crate".to_owned()),
            ..SpawnRequest::default()
        };
        model.prompt.pending = vec![Command::Spawn(Box::new(request))];
        let (text, _) = message(&model, Theme::of(&model));
        assert!(text.ends_with(" spawn crate is under way"), "{text}");
    }
}
