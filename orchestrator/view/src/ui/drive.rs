//! Draws the commands to the robot that is driven, and its motion.

use protocol::report::RunState;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::Widget;

use super::theme::Theme;
use super::{frame as panel_frame, text};
use crate::app::drive::{Drive, speed_ahead};
use crate::app::model::Model;
use crate::app::orientation;

/// Draws the driven robot at the bottom of an area.
pub fn draw(model: &Model, frame: &mut Frame, area: Rect, drive: &Drive) {
    let theme = Theme::of(model);
    let (topic, place, count) = drive.topic();
    let several = if count > 1 {
        format!(" ({place} of {count}, Tab changes)")
    } else {
        String::new()
    };
    let room = area.width.saturating_sub(40);
    let lines = vec![
        Line::from(vec![
            Span::styled(" topic     ", theme.label()),
            Span::raw(text::fit(theme, topic, room)),
            Span::styled(several, theme.label()),
        ]),
        told(theme, drive),
        measured(model, theme, drive),
    ];
    let height = 5.min(area.height);
    let place = Rect {
        y: area.bottom() - height,
        height,
        ..area
    };
    let title = format!("Drive {}", text::fit(theme, &drive.model, room));
    let inside = panel_frame::dialog(model, frame, place, &title);
    Text::from(lines).render(inside, frame.buffer_mut());
}

fn told(theme: Theme, drive: &Drive) -> Line<'static> {
    let (forward, turn) = drive.speeds();
    let (forward_step, turn_step) = drive.steps();
    let steps = format!("   steps {forward_step:.2} and {turn_step:.2}");
    Line::from(vec![
        Span::styled(" told      ", theme.label()),
        Span::styled(format!("{forward:+.2} m/s ahead  "), theme.value()),
        Span::styled(format!("{turn:+.2} rad/s to the left"), theme.value()),
        Span::styled(steps, theme.label()),
    ])
}

fn measured(model: &Model, theme: Theme, drive: &Drive) -> Line<'static> {
    let mut spans = vec![Span::styled(" measured  ", theme.label())];
    let mut performers = model.heard.performers.iter();
    if let Some(robot) = performers.find(|one| one.name == drive.model) {
        let ahead = text::decimal(speed_ahead(robot), 2);
        let heading = orientation::heading(robot);
        let heading = heading.map_or_else(|| "-".to_owned(), |angle| text::degrees(theme, angle));
        spans.push(Span::styled(
            format!("{ahead:>5} m/s ahead  "),
            theme.value(),
        ));
        spans.push(Span::raw(format!("heading {heading}")));
    } else {
        spans.push(Span::styled("nothing", theme.warning()));
    }
    if model.run_state() == RunState::Paused {
        let paused = "   the run is paused: it goes when time does";
        spans.push(Span::styled(paused, theme.warning()));
    }
    Line::from(spans)
}
