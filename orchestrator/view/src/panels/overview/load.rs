//! Load of the run: peers as bars of work, network time and waiting, and the slowest levels.

use protocol::report::{LevelReport, PeerReport};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::Widget;

use crate::app::model::Model;
use crate::app::rows::cell_us;
use crate::ui::text;
use crate::ui::theme::Theme;

/// Columns of a peer's or level's name.
const NAME: u16 = 14;

/// Returns how many rows of peers there are.
pub(super) fn peer_rows(model: &Model, most: usize) -> usize {
    workers(model).count().min(most)
}

/// Returns how many rows of levels there are.
pub(super) fn level_rows(model: &Model, most: usize) -> usize {
    slowest(model).len().min(most)
}

fn workers(model: &Model) -> impl Iterator<Item = &PeerReport> {
    model.heard.peers.iter().filter(|peer| peer.hosts_cells())
}

/// Draws every secondary's work, way and waiting per step; one bar is the longest of these.
pub(super) fn draw_peers(model: &Model, frame: &mut Frame, area: Rect) {
    let theme = Theme::of(model);
    let glyphs = theme.glyphs();
    let rows = usize::from(area.height.saturating_sub(1));
    let mut peers: Vec<&PeerReport> = workers(model).collect();
    peers.sort_by(|a, b| b.blocked_us.total_cmp(&a.blocked_us));
    let whole = |peer: &PeerReport| peer.busy_us + peer.network_us + peer.wait_us;
    let longest = peers.iter().map(|peer| whole(peer)).fold(1.0, f64::max);
    let mut legend = vec![Span::styled(format!(" {:<14}", "peers, us"), theme.label())];
    for (glyph, word) in [
        (glyphs.bar, "work"),
        (way(theme), "way"),
        (glyphs.bar_rest, "wait"),
    ] {
        legend.push(Span::styled(format!(" {glyph} {word}"), theme.label()));
    }
    let mut lines = vec![Line::from(legend)];
    let hidden = peers.len().saturating_sub(rows);
    for peer in peers.iter().take(rows) {
        let index = model.owner_index(&peer.name);
        let name = text::fit(theme, peer.name.as_str(), NAME - 3);
        let mark = theme.owner_mark(index);
        let word = if peer.blocking {
            format!(
                " {} blocks {}",
                glyphs.blocking,
                text::percent(peer.last_share)
            )
        } else {
            String::new()
        };
        let figures = format!(
            "{:>6} {:>6} {:>6}",
            text::micros(peer.busy_us),
            text::micros(peer.network_us),
            text::micros(peer.wait_us)
        );
        let used = usize::from(NAME) + figures.len() + 2 + 14;
        let width = usize::from(area.width).saturating_sub(used);
        let mut spans = vec![Span::styled(
            format!(" {mark} {name:<11}"),
            theme.owner(index),
        )];
        let parts = [peer.busy_us, peer.network_us, peer.wait_us];
        let columns = parts.map(|part| scaled(part / longest, width));
        let bars = [glyphs.bar, way(theme), glyphs.bar_rest];
        let styles = [theme.owner(index), theme.text(), theme.muted()];
        for ((bar, columns), style) in bars.into_iter().zip(columns).zip(styles) {
            spans.push(Span::styled(bar.repeat(columns), style));
        }
        let rest = width.saturating_sub(columns.iter().sum());
        spans.push(Span::raw(" ".repeat(rest)));
        spans.push(Span::styled(figures, theme.value()));
        spans.push(Span::styled(word, theme.warning()));
        lines.push(Line::from(spans));
    }
    if hidden > 0 && lines.len() > 1 {
        lines.pop();
        let text = format!("   and {} more: key 2", hidden + 1);
        lines.push(Line::styled(text, theme.label()));
    }
    Text::from(lines).render(area, frame.buffer_mut());
}

/// Returns the glyph of network time.
fn way(theme: Theme) -> &'static str {
    if theme.has_unicode() { "▒" } else { "=" }
}

/// Draws the levels whose cells take longest.
pub(super) fn draw_levels(model: &Model, frame: &mut Frame, area: Rect) {
    let theme = Theme::of(model);
    let rows = usize::from(area.height.saturating_sub(1)).min(super::LEVELS_MAX);
    if rows == 0 {
        return;
    }
    let levels = slowest(model);
    let longest = levels.first().map_or(1.0, |level| cell_us(level)).max(1.0);
    let title = format!(" {:<14} {}", "slowest levels", "us per step, performers");
    let mut lines = vec![Line::styled(title, theme.label())];
    for level in levels.iter().take(rows) {
        let index = level
            .owner
            .as_ref()
            .and_then(|owner| model.owner_index(owner));
        let name = text::fit(theme, &level.name, NAME - 3);
        let figures = format!(
            "{:>7} {:>6}",
            text::micros(cell_us(level)),
            text::count(level.performers.len() as u64)
        );
        let width = usize::from(area.width)
            .saturating_sub(usize::from(NAME) + 16)
            .min(40);
        let columns = scaled(cell_us(level) / longest, width);
        lines.push(Line::from(vec![
            Span::styled(
                format!(" {} {name:<11}", theme.owner_mark(index)),
                theme.owner(index),
            ),
            Span::styled(format!("{figures}  "), theme.value()),
            Span::styled(theme.glyphs().bar.repeat(columns), theme.owner(index)),
        ]));
    }
    Text::from(lines).render(area, frame.buffer_mut());
}

/// Returns the levels that take time, the slowest first.
fn slowest(model: &Model) -> Vec<&LevelReport> {
    let is_stepped = |one: &&LevelReport| one.active && !one.suspended && cell_us(one) > 0.0;
    let mut levels: Vec<&LevelReport> = model.heard.levels.iter().filter(is_stepped).collect();
    levels.sort_by(|a, b| cell_us(b).total_cmp(&cell_us(a)));
    levels
}

fn scaled(part: f64, width: usize) -> usize {
    if part.is_finite() {
        ((part.clamp(0.0, 1.0) * width as f64).round() as usize).min(width)
    } else {
        0
    }
}
