//! The history of steps: median, 99th percentile and period over time.

use client::units;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Axis, Chart, Dataset, GraphType, Widget};

use crate::app::model::Model;
use crate::ui::text;
use crate::ui::theme::Theme;

/// The least room in which there is a chart.
const LEAST: (u16, u16) = (24, 4);
/// Spans of time that the axis may show \[s\].
const SPANS_S: [f64; 5] = [30.0, 60.0, 120.0, 300.0, 600.0];

/// Draws the chart with its legend and its axes.
pub(super) fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let theme = Theme::of(model);
    if area.width < LEAST.0 || area.height < LEAST.1 {
        return;
    }
    let now_s = model.now.0 as f64 / 1e9;
    let points = Points::of(model, now_s);
    if points.p50.len() < 2 {
        let text = " two seconds of running begin the history";
        return Line::styled(text, theme.muted()).render(area, frame.buffer_mut());
    }
    let [title, place] = Layout::vertical([Constraint::Length(1), Constraint::Fill(1)]).areas(area);
    draw_legend(theme, frame, title);
    let dataset = |marker, style, graph, data| {
        let dataset = Dataset::default().marker(marker).style(style);
        dataset.graph_type(graph).data(data)
    };
    let datasets = vec![
        dataset(theme.dots(), theme.muted(), GraphType::Line, &points.period),
        dataset(
            theme.points(),
            theme.warning(),
            GraphType::Scatter,
            &points.p99,
        ),
        dataset(theme.dots(), theme.healthy(), GraphType::Line, &points.p50),
    ];
    let labels = [0.0, points.top / 2.0, points.top].map(|us| format!("{:>7}", text::micros(us)));
    let ages = [points.span_s, points.span_s / 2.0, 0.0].map(age);
    Chart::new(datasets)
        .legend_position(None)
        .x_axis(
            Axis::default()
                .bounds([-points.span_s, 0.0])
                .labels(ages)
                .style(theme.muted()),
        )
        .y_axis(
            Axis::default()
                .bounds([0.0, points.top])
                .labels(labels)
                .style(theme.muted()),
        )
        .render(place, frame.buffer_mut());
    if !theme.has_unicode() {
        make_ascii(theme, frame, place);
    }
}

/// Points of the chart: seconds from now and \[us\].
struct Points {
    p50: Vec<(f64, f64)>,
    p99: Vec<(f64, f64)>,
    period: Vec<(f64, f64)>,
    span_s: f64,
    top: f64,
}

impl Points {
    fn of(model: &Model, now_s: f64) -> Self {
        let samples = || model.trends.latency.samples();
        let oldest = samples().next().map_or(0.0, |first| now_s - first.at_s);
        let fitting = SPANS_S.into_iter().find(|span| *span + 1.0 >= oldest);
        let span_s = fitting.unwrap_or(SPANS_S[SPANS_S.len() - 1]);
        let (mut p50, mut p99, mut period) = (Vec::new(), Vec::new(), Vec::new());
        let mut top = 1.0_f64;
        for sample in samples() {
            let x = sample.at_s - now_s;
            if x < -span_s {
                continue;
            }
            let lines = [
                (&mut p50, sample.step_us.p50),
                (&mut p99, sample.step_us.p99),
                (&mut period, sample.split.period_us()),
            ];
            for (line, y) in lines {
                if y.is_finite() {
                    top = top.max(y);
                    line.push((x, y));
                }
            }
        }
        Self {
            p50,
            p99,
            period,
            span_s,
            top: top * 1.05,
        }
    }
}

fn draw_legend(theme: Theme, frame: &mut Frame, area: Rect) {
    let (line, points) = if theme.has_unicode() {
        ("⠒⠒", "••")
    } else {
        ("..", "**")
    };
    let legend = Line::from(vec![
        Span::styled(format!(" {points} p99 "), theme.warning()),
        Span::styled(format!(" {line} p50 of the step "), theme.healthy()),
        Span::styled(format!(" {line} period"), theme.muted()),
        Span::styled(", us", theme.label()),
    ]);
    legend.render(area, frame.buffer_mut());
}

fn age(seconds: f64) -> String {
    match seconds {
        0.0 => "now".to_owned(),
        seconds => format!("-{}", units::age(seconds as u64)),
    }
}

/// Puts plain characters in the place of the axes' lines.
fn make_ascii(theme: Theme, frame: &mut Frame, area: Rect) {
    for position in area.intersection(frame.area()).positions() {
        let cell = &mut frame.buffer_mut()[position];
        if !cell.symbol().is_ascii() {
            let plain = if cell.symbol() == "─" {
                "-"
            } else {
                theme.glyphs().separator
            };
            cell.set_symbol(plain);
        }
    }
}
