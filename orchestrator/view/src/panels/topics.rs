//! The topics: what is said in the simulated worlds, by whom and to whom.

use protocol::report::TopicReport;
use ratatui::Frame;
use ratatui::layout::Rect;

use super::{Content, PanelRow, Position};
use crate::app::detail::Detail;
use crate::app::event::Key;
use crate::app::filter::Filter;
use crate::app::keymap::{Action, Binding, Context, bind};
use crate::app::model::Model;
use crate::app::rows::{OrderBy, Row, by};
use crate::panels::Panel;
use crate::show::Need;
use crate::show::table::Table;
use crate::show::table::names;
use crate::show::{Show, Source};
use crate::ui::table::{self, Cell, Column, Side, column};
use crate::ui::theme::Theme;
use crate::ui::{frame as panel_frame, text};

/// The panel.
pub(super) const PANEL: PanelRow = PanelRow {
    title: "Topics",
    key: Key::Char('7'),
    position: Position::BottomWide,
    content: Content::Table {
        data: |model| &model.heard.topics,
        describe,
    },
    keys: KEYS,
    draw,
    show: Show {
        about: "The topics of systems and sensors",
        source: Source::Run {
            needs: &[Need::Topics],
            is_drawn: false,
            table: |figures| show_table(&figures.topics),
            json: |figures| serde_json::to_string_pretty(&figures.topics),
        },
    },
};

/// The keys of its own.
#[rustfmt::skip]
const KEYS: &[Binding<'static>] = &[
    bind(HERE, &[Key::Enter], Action::Detail, "listen", "show its messages as they come"),
    bind(HERE, &[Key::Char('p')], Action::Publish, "publish", "publish a message on it"),
];
const HERE: Context = Context::Panel(Panel::Topics);

/// The least width of kinds with what they all begin with.
const WHOLE_KIND_MIN: u16 = 24;

const COLUMNS: &[Column<TopicReport>] = &[
    column("topic", (20, 48), 0, Side::Left, |model, topic, width| {
        let theme = Theme::of(model);
        Cell::new(text::fit(theme, &topic.topic, width), theme.value())
    }),
    column("kind", (14, 28), 0, Side::Left, |model, topic, width| {
        let theme = Theme::of(model);
        let is_whole = width >= WHOLE_KIND_MIN;
        let short = topic.kind.strip_prefix("gz.msgs.").unwrap_or(&topic.kind);
        let kind = if is_whole { &topic.kind } else { short };
        Cell::new(text::fit(theme, kind, width), theme.text())
    }),
    column(
        "publishers",
        (12, 32),
        1,
        Side::Left,
        |model, topic, width| ends(model, &topic.publishers, width),
    ),
    column(
        "listeners",
        (12, 32),
        1,
        Side::Left,
        |model, topic, width| ends(model, &topic.subscribers, width),
    ),
];

/// Draws the table of topics.
fn draw(model: &Model, frame: &mut Frame, area: Rect) {
    let rows = &model.tables[Panel::Topics];
    let all = model.heard.topics.len();
    let height = usize::from(area.height.saturating_sub(2));
    let bottom = panel_frame::row_remark(rows.cursor(), rows.rows().len(), all, height);
    let remark = text::count(all as u64);
    let inside = panel_frame::draw(model, frame, area, Panel::Topics, (&remark, &bottom));
    let has_cursor = model.screen.focus == Panel::Topics;
    table::draw(
        model,
        frame,
        inside,
        COLUMNS,
        (rows, &model.heard.topics),
        has_cursor,
    );
}

/// One end is named; of several, their number and as many names as fit.
fn ends(model: &Model, names: &[String], width: u16) -> Cell {
    let theme = Theme::of(model);
    match names {
        [] => Cell::new("-", theme.muted()),
        [one] => Cell::new(text::fit(theme, one, width), theme.text()),
        several => Cell::new(text::count_and_names(theme, several, width), theme.text()),
    }
}

impl Row for TopicReport {
    const ORDERS: &'static [OrderBy<Self>] = &[
        by("topic", |a, b| a.topic.cmp(&b.topic)),
        by("kind", |a, b| a.kind.cmp(&b.kind)),
    ];

    fn name(&self) -> &str {
        &self.topic
    }

    fn passes(&self, filter: &Filter) -> bool {
        let ends = self.publishers.iter().chain(&self.subscribers);
        filter.passes(
            [self.topic.as_str(), &self.kind]
                .into_iter()
                .chain(ends.map(String::as_str)),
        )
    }
}

/// Makes the details of a topic.
fn describe(model: &Model, name: &str) -> Detail {
    let found = model.heard.topics.iter().find(|one| one.topic == name);
    Detail::of(found, "topic", name, |detail, one| {
        add_topic(model, detail, one);
    })
}

fn add_topic(model: &Model, detail: &mut Detail, topic: &TopicReport) {
    detail.add("kind", topic.kind.as_str());
    detail.add_names("publishers", &topic.publishers);
    detail.add_names("systems", &topic.subscribers);
    let Some(hearing) = model
        .details
        .hearing
        .as_ref()
        .filter(|one| one.topic == topic.topic)
    else {
        return;
    };
    detail.add_blank();
    detail.add("messages", format!("{} heard", hearing.count));
    let Some((at, heard)) = &hearing.last else {
        detail.add("last message", "none yet; the view listens");
        return;
    };
    let rate = |rate: Option<f64>| rate.map_or("-".to_owned(), |rate| format!("{rate:.1} Hz"));
    let (real, simulated) = hearing.rates();
    let rates = format!("{}, {} of simulated time", rate(real), rate(simulated));
    detail.add("rate", rates);
    let age = model.now.since(*at).as_secs_f64();
    let when = format!(
        "{age:.1} s ago, at {:.3} s, iteration {}",
        heard.sim_time_s, heard.iteration
    );
    detail.add("last message", when);
    detail.add("size", format!("{} bytes", heard.bytes));
    if let Some(image) = &heard.image {
        detail.add_image(image.clone());
    }
    detail.add_blank();
    for line in heard.text.lines() {
        detail.add("", line);
    }
}

/// The topics of systems and sensors.
fn show_table(topics: &[TopicReport]) -> Table {
    let mut table = Table::new(&["TOPIC", "KIND", "PUBLISHERS", "SUBSCRIBERS"]);
    for topic in topics {
        table.row([
            topic.topic.clone(),
            topic.kind.clone(),
            names(&topic.publishers),
            names(&topic.subscribers),
        ]);
    }
    table
}
