//! The histogram of all steps of the run: columns on a logarithmic axis of time, as high as the
//! logarithm of how many steps, so that the few long ones are seen; percentiles are marked.

use client::units::time;
use protocol::report::Stats;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget;

use crate::ui::text;
use crate::ui::theme::Theme;

/// Rows besides the columns: the title, the marks and the axis.
const FIXED_ROWS: u16 = 3;
/// The widest that a column gets.
const COLUMN_WIDTH_MAX: u16 = 8;
/// Free columns at the left and right, for marks and labels.
const MARGIN: u16 = 2;
/// Eighths of a row.
const EIGHTHS: [&str; 8] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/// Draws the histogram.
pub(super) fn draw(theme: Theme, stats: &Stats, frame: &mut Frame, area: Rect) {
    if area.height <= FIXED_ROWS || area.width < 30 {
        return;
    }
    let all: Vec<(f64, u64)> = stats.steps.bars().collect();
    let width = usize::from(area.width - 2 * MARGIN);
    let merged = all.len().div_ceil(width).max(1);
    let bars: Vec<(f64, u64)> = all
        .chunks(merged)
        .map(|bars| (bars[0].0, bars.iter().map(|(_, count)| count).sum()))
        .collect();
    let Some(scale) = Scale::of(&bars, merged, width) else {
        return;
    };
    let steps: u64 = stats.steps.counts.iter().sum();
    let row = |y: u16| Rect {
        y: area.y + y,
        height: 1,
        ..area
    };
    let title = Line::from(vec![
        Span::styled(
            format!(" all {} steps by their time", text::count(steps)),
            theme.label(),
        ),
        Span::styled(", log scales", theme.muted()),
    ]);
    title.render(row(0), frame.buffer_mut());
    let height = area.height - FIXED_ROWS;
    for y in 0..height {
        let above = f64::from(height - 1 - y);
        let line = scale.row(theme, &bars, f64::from(height), above);
        Line::styled(line, theme.healthy()).render(row(1 + y), frame.buffer_mut());
    }
    let line = scale.marks(stats);
    Line::styled(line, theme.warning()).render(row(1 + height), frame.buffer_mut());
    let line = scale.axis(&bars);
    Line::styled(line, theme.label()).render(row(2 + height), frame.buffer_mut());
}

/// Scale of the time axis.
struct Scale {
    first_us: f64,
    /// Columns of a bar.
    column: usize,
    /// Number of bars of the run's histogram that make one bar here.
    merged: usize,
    width: usize,
    most: u64,
}

impl Scale {
    /// Returns the widest scale on which all bars fit.
    fn of(bars: &[(f64, u64)], merged: usize, width: usize) -> Option<Self> {
        let (first_us, _) = *bars.first()?;
        let column = (width / bars.len()).min(usize::from(COLUMN_WIDTH_MAX));
        let most = bars.iter().map(|(_, count)| *count).max().unwrap_or(0);
        (column > 0 && most > 0).then_some(Self {
            first_us,
            column,
            merged,
            width,
            most,
        })
    }

    /// Returns a row of columns, of which so many rows are below it.
    fn row(&self, theme: Theme, bars: &[(f64, u64)], height: f64, below: f64) -> String {
        let mut line = " ".repeat(usize::from(MARGIN));
        for (_, count) in bars {
            let part = (1.0 + *count as f64).ln() / (1.0 + self.most as f64).ln();
            let eighths = ((part * height - below) * 8.0).round();
            let is_some = *count > 0 && below == 0.0;
            let glyph = if eighths < 1.0 && !is_some {
                " "
            } else if theme.has_unicode() {
                EIGHTHS[(eighths.clamp(1.0, 8.0) as usize) - 1]
            } else {
                theme.glyphs().bar
            };
            line.push_str(&glyph.repeat(self.column));
        }
        line
    }

    /// Returns the column of a time; `None` when it is beyond the axis.
    fn place(&self, time_us: f64) -> Option<usize> {
        let bars = (time_us / self.first_us).log2() * 4.0 / self.merged as f64;
        let column = usize::from(MARGIN) + (bars.max(0.0) * self.column as f64) as usize;
        (bars.is_finite() && column < self.width + usize::from(MARGIN)).then_some(column)
    }

    /// Returns the row that marks percentiles of the run.
    fn marks(&self, stats: &Stats) -> String {
        let step = stats.step_us;
        let marks = [("p50", step.p50), ("p90", step.p90), ("p99", step.p99)];
        let room = self.width + usize::from(MARGIN) * 2;
        let mut line = String::new();
        for (name, time_us) in marks {
            let mark = format!("^{name}");
            let Some(place) = self.place(time_us) else {
                continue;
            };
            if place >= line.len() + usize::from(!line.is_empty()) && place + mark.len() <= room {
                line.push_str(&" ".repeat(place - line.len()));
                line.push_str(&mark);
            }
        }
        line
    }

    /// Returns the row with times at the beginnings of columns, as far apart as they need.
    fn axis(&self, bars: &[(f64, u64)]) -> String {
        let room = self.width + usize::from(MARGIN) * 2;
        let mut line = String::new();
        let ticks = bars.iter().map(|(from, _)| *from);
        for from in ticks.step_by(4) {
            let label = time(from).replace(' ', "");
            let Some(place) = self.place(from * 1.001) else {
                continue;
            };
            if place > line.len() && place + label.len() <= room {
                line.push_str(&" ".repeat(place - line.len()));
                line.push_str(&label);
            }
        }
        line
    }
}
