//! Shares of an iteration's time as one stacked bar, and its legend: each part has a glyph of its
//! own.

use protocol::report::Split;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::text;
use super::theme::Theme;

/// Glyphs of the parts on a Unicode terminal, in the order of [`Split::NAMES`].
const UNICODE: [&str; Split::PARTS] = ["█", "▓", "▒", "▚", "░", "▞", "▤", "·"];
/// Glyphs of the parts in ASCII.
const ASCII: [&str; Split::PARTS] = ["#", "%", "=", "+", "-", "*", "@", "."];

/// Returns the glyph and the style of a part.
pub fn part(theme: Theme, index: usize) -> (&'static str, Style) {
    let glyphs = if theme.has_unicode() { UNICODE } else { ASCII };
    let style = if index == Split::PACE {
        theme.muted()
    } else {
        theme.part(index)
    };
    (glyphs[index % glyphs.len()], style)
}

/// Returns the bar; every part that takes time has at least one column, if there are enough.
pub fn bar(theme: Theme, split: &Split, width: u16) -> Line<'static> {
    let widths = shares(split.parts(), usize::from(width));
    let spans = widths.into_iter().enumerate().map(|(index, columns)| {
        let (glyph, style) = part(theme, index);
        Span::styled(glyph.repeat(columns), style)
    });
    Line::from(spans.collect::<Vec<_>>())
}

/// Returns a line per part: glyph, name, time and share of the period.
pub fn legend(theme: Theme, split: &Split) -> [Line<'static>; Split::PARTS] {
    std::array::from_fn(|index| Line::from(entry(theme, split, index)))
}

/// The width of a line of [`legend`].
pub const LEGEND_WIDTH: u16 = 25;

fn entry(theme: Theme, split: &Split, index: usize) -> Vec<Span<'static>> {
    let (glyph, style) = part(theme, index);
    let took = split.parts()[index];
    let share = text::percent(took / split.period_us());
    vec![
        Span::styled(format!(" {glyph} "), style),
        Span::styled(format!("{:<8}", Split::NAMES[index]), theme.label()),
        Span::styled(format!("{:>8}", text::micros(took)), theme.value()),
        Span::styled(format!("{share:>6}"), theme.text()),
    ]
}

/// Returns the legend in as few lines as this width allows, for small places.
///
/// # Panics
/// Never: there is a first line.
pub fn short_legend(theme: Theme, split: &Split, width: u16) -> Vec<Line<'static>> {
    let mut lines = vec![Vec::new()];
    let mut used = 0;
    for (index, name) in Split::NAMES.iter().enumerate() {
        // Most runs have no programs that take part.
        if index == Split::PARTICIPANTS && split.participants_us == 0.0 {
            continue;
        }
        let (glyph, style) = part(theme, index);
        let share = text::percent(split.parts()[index] / split.period_us());
        let words = format!("{name} {share}  ");
        let columns = 2 + words.len();
        if used > 0 && used + columns > usize::from(width) {
            lines.push(Vec::new());
            used = 0;
        }
        used += columns;
        let line = lines.last_mut().expect("there is a first line");
        line.push(Span::styled(format!("{glyph} "), style));
        line.push(Span::styled(words, theme.text()));
    }
    lines.into_iter().map(Line::from).collect()
}

/// Divides columns among parts by their size, so that none that is there vanishes.
fn shares(parts: [f64; Split::PARTS], width: usize) -> [usize; Split::PARTS] {
    let parts = parts.map(|part| if part.is_finite() { part.max(0.0) } else { 0.0 });
    let all: f64 = parts.iter().sum();
    if all <= 0.0 || !all.is_finite() {
        return [0; Split::PARTS];
    }
    let mut widths = parts.map(|part| {
        let exact = part / all * width as f64;
        if exact > 0.0 && exact < 1.0 {
            1
        } else {
            exact as usize
        }
    });
    // Rounding is made up for by the largest part.
    let largest = (0..parts.len()).max_by(|a, b| parts[*a].total_cmp(&parts[*b]));
    let used: usize = widths.iter().sum();
    if let Some(largest) = largest {
        let others = used - widths[largest];
        widths[largest] = width.saturating_sub(others);
    }
    let mut left = width;
    widths.map(|columns| {
        let columns = columns.min(left);
        left -= columns;
        columns
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(parts: [f64; Split::PARTS], width: usize, expected: [usize; Split::PARTS]) {
        assert_eq!(shares(parts, width), expected, "{parts:?}");
    }

    #[test]
    fn the_bar_is_full_and_no_part_vanishes() {
        check(
            [50.0, 25.0, 0.0, 0.0, 25.0, 0.0, 0.0, 0.0],
            20,
            [10, 5, 0, 0, 5, 0, 0, 0],
        );
        check(
            [990.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 4.0],
            20,
            [13, 1, 1, 1, 1, 1, 1, 1],
        );
    }

    #[test]
    fn a_bar_of_nothing_is_empty_and_a_narrow_one_is_no_wider() {
        check([0.0; Split::PARTS], 20, [0; Split::PARTS]);
        check([f64::NAN; Split::PARTS], 20, [0; Split::PARTS]);
        assert_eq!(shares([1.0; Split::PARTS], 3).iter().sum::<usize>(), 3);
        assert_eq!(shares([1.0; Split::PARTS], 0), [0; Split::PARTS]);
    }
}
