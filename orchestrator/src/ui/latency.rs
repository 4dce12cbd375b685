//! Latency: how long steps take, what of it is physics, and how that changed.

use protocol::report::{Percentiles, Stats};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Axis, Chart, Dataset, GraphType, Widget};

use super::theme::Theme;
use super::{frame as panel_frame, text};
use crate::app::latency::BARS_MAX;
use crate::app::model::Model;
use crate::app::panel::Panel;

/// The least room beside the chart for the histogram, in columns.
const HISTOGRAM_WIDTH: u16 = 34;
/// The least width of a chart beside a histogram.
const CHART_WIDTH: u16 = 30;

/// Draws percentiles, the split, the chart, and where there is room the histogram.
pub fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let theme = Theme::of(model);
    let inside = panel_frame::draw(model, frame, area, Panel::Latency, ("us per step", ""));
    let Some(stats) = &model.stats else {
        Line::styled(" no steps yet", theme.muted()).render(inside, frame.buffer_mut());
        return;
    };
    let [figures, rest] =
        Layout::vertical([Constraint::Length(4), Constraint::Fill(1)]).areas(inside);
    draw_split(theme, stats, frame, figures);
    if rest.width >= HISTOGRAM_WIDTH + CHART_WIDTH {
        let [chart, histogram] =
            Layout::horizontal([Constraint::Fill(1), Constraint::Length(HISTOGRAM_WIDTH)])
                .areas(rest);
        draw_chart(model, frame, chart);
        draw_histogram(model, frame, histogram);
    } else if rest.height >= BARS_MAX as u16 + 9 {
        let [chart, histogram] =
            Layout::vertical([Constraint::Fill(1), Constraint::Length(BARS_MAX as u16 + 2)])
                .areas(rest);
        draw_chart(model, frame, chart);
        draw_histogram(model, frame, histogram);
    } else {
        draw_chart(model, frame, rest);
    }
}

/// Draws step, physics and the rest as numbers and bars, each beside the others.
fn draw_split(theme: Theme, stats: &Stats, frame: &mut Frame, area: Rect) {
    let heading = format!(" {:<8} {:>7} {:>7} {:>8}", "", "p50", "p99", "max");
    let rows = [
        ("step", &stats.step_us),
        ("physics", &stats.physics_us),
        ("overhead", &stats.overhead_us),
    ];
    let mut lines = vec![Line::styled(heading, theme.label())];
    let bar_width = usize::from(area.width.saturating_sub(37)).min(40);
    for (name, figures) in rows {
        let mut spans = vec![
            Span::styled(format!(" {name:<8} "), theme.label()),
            Span::styled(percentiles(figures), theme.value()),
        ];
        if bar_width >= 4 {
            let part = figures.p50 / stats.step_us.p50;
            spans.push(Span::raw("  "));
            spans.push(Span::styled(bar(theme, part, bar_width), theme.healthy()));
        }
        lines.push(Line::from(spans));
    }
    ratatui::text::Text::from(lines).render(area, frame.buffer_mut());
}

fn percentiles(figures: &Percentiles) -> String {
    let [p50, p99, max] = [figures.p50, figures.p99, figures.max].map(text::micros);
    format!("{p50:>7} {p99:>7} {max:>8}")
}

fn bar(theme: Theme, part: f64, width: usize) -> String {
    let part = if part.is_finite() {
        part.clamp(0.0, 1.0)
    } else {
        0.0
    };
    let full = (part * width as f64).round() as usize;
    theme.glyphs().bar.repeat(full) + &theme.glyphs().bar_rest.repeat(width - full)
}

fn draw_chart(model: &Model, frame: &mut Frame, area: Rect) {
    let theme = Theme::of(model);
    let samples = model.latency.samples();
    if samples.len() < 2 || area.height < 3 || area.width < 12 {
        return;
    }
    let count = samples.len();
    let (mut p50, mut p99) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for (index, sample) in samples.enumerate() {
        p50.push((index as f64, sample.step_p50));
        p99.push((index as f64, sample.step_p99));
    }
    let top = p50
        .iter()
        .chain(&p99)
        .map(|point| point.1)
        .fold(1.0, f64::max)
        * 1.05;
    let datasets = vec![
        Dataset::default()
            .marker(theme.points())
            .style(theme.warning())
            .graph_type(GraphType::Scatter)
            .data(&p99),
        Dataset::default()
            .marker(theme.dots())
            .style(theme.healthy())
            .graph_type(GraphType::Line)
            .data(&p50),
    ];
    let labels = [0.0, top / 2.0, top].map(|label| format!("{:>7}", text::micros(label)));
    let [title, chart] = Layout::vertical([Constraint::Length(1), Constraint::Fill(1)]).areas(area);
    let legend = Line::from(vec![
        Span::styled(format!(" {count} samples: "), theme.label()),
        Span::styled("p99 dots", theme.warning()),
        Span::styled(", ", theme.label()),
        Span::styled("p50 line", theme.healthy()),
    ]);
    legend.render(title, frame.buffer_mut());
    Chart::new(datasets)
        .legend_position(None)
        .x_axis(
            Axis::default()
                .bounds([0.0, (count - 1) as f64])
                .style(theme.muted()),
        )
        .y_axis(
            Axis::default()
                .bounds([0.0, top])
                .labels(labels)
                .style(theme.muted()),
        )
        .render(chart, frame.buffer_mut());
    if !theme.has_unicode() {
        for position in chart.intersection(frame.area()).positions() {
            let cell = &mut frame.buffer_mut()[position];
            if !cell.symbol().is_ascii() {
                cell.set_symbol(theme.glyphs().separator);
            }
        }
    }
}

/// Draws how often a second's mean time per iteration was how long.
fn draw_histogram(model: &Model, frame: &mut Frame, area: Rect) {
    let theme = Theme::of(model);
    let bars = model
        .latency
        .histogram(usize::from(area.height.saturating_sub(2)));
    let most = bars.iter().map(|bar| bar.count).max().unwrap_or(0);
    if most == 0 {
        return;
    }
    let mut lines = vec![
        Line::styled(" us per iteration, mean of 1 s", theme.label()),
        Line::styled("    from  samples", theme.label()),
    ];
    let width = usize::from(area.width.saturating_sub(19));
    for one in &bars {
        let length = (one.count * width).div_ceil(most);
        lines.push(Line::from(vec![
            Span::styled(format!("{:>8}", text::micros(one.from)), theme.text()),
            Span::styled(format!("  {:>4}  ", one.count), theme.value()),
            Span::styled(theme.glyphs().bar.repeat(length), theme.healthy()),
        ]));
    }
    ratatui::text::Text::from(lines).render(area, frame.buffer_mut());
}
