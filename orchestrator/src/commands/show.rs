//! `phalanx show`: one panel as text, CSV or JSON, without a terminal.

mod events;
mod logs;
mod screen;
mod stats;
mod tables;

use anyhow::Context;
use protocol::primary_to_client::Reply;
use protocol::report::{History, Layout, Snapshot, TopicReport};
use protocol::{Command, ExitCode};
use view::app::panel::Panel;

use super::ctl::from_ask;
use super::table::Table;
use super::target::{self, Target};
use super::{CommandResult, Failed, output, runtime};
use crate::cli::{ShowArguments, ShownPanel, TableFormat};

/// Prints one panel of a run.
pub(super) fn show(arguments: &ShowArguments) -> CommandResult {
    if arguments.panel == ShownPanel::Logs {
        // They are read from files, also when the run has ended.
        return logs::show(arguments);
    }
    if arguments.logs.is_given() {
        let message = "--process and --lines are for `phalanx show logs`";
        return Err(Failed::message(ExitCode::Usage, message));
    }
    if arguments.follow && arguments.panel != ShownPanel::Events {
        let message = "--follow is for `phalanx show logs` and `phalanx show events`";
        return Err(Failed::message(ExitCode::Usage, message));
    }
    let target = target::find(arguments.run.as_deref(), &arguments.keys)?;
    let ask = Ask {
        target: &target,
        arguments,
    };
    match arguments.panel {
        ShownPanel::Stats if arguments.format == TableFormat::Csv => {
            let figures = serde_json::to_value(ask.snapshot()?.stats).context("no figures")?;
            output::print(&tables::one_row(&figures).csv())
        }
        ShownPanel::Stats => ask.rows(&ask.snapshot()?.stats, tables::stats),
        ShownPanel::Peers => ask.rows(&ask.snapshot()?.peers, |peers| tables::peers(peers)),
        ShownPanel::Levels => ask.rows(&ask.snapshot()?.levels, |levels| tables::levels(levels)),
        ShownPanel::Performers => {
            ask.rows(&ask.snapshot()?.performers, |all| tables::performers(all))
        }
        ShownPanel::Topics => ask.rows(&ask.topics()?, |topics| tables::topics(topics)),
        ShownPanel::Events if arguments.follow => events::follow(&target, arguments.format),
        ShownPanel::Events => ask.rows(&ask.history()?.events, |all| tables::events(all)),
        ShownPanel::Overview => ask.overview(),
        ShownPanel::Latency => ask.latency(),
        ShownPanel::Map => ask.map(),
        ShownPanel::Logs => logs::show(arguments),
    }
}

/// A request to a run, and the format of the answer.
struct Ask<'a> {
    target: &'a Target,
    arguments: &'a ShowArguments,
}

impl Ask<'_> {
    fn snapshot(&self) -> Result<Snapshot, Failed> {
        match self.reply(Command::Snapshot)? {
            Reply::Snapshot(snapshot) => Ok(*snapshot),
            other => Err(refused(other)),
        }
    }

    fn history(&self) -> Result<History, Failed> {
        match self.reply(Command::History)? {
            Reply::History(history) => Ok(*history),
            other => Err(refused(other)),
        }
    }

    fn layout(&self) -> Result<Layout, Failed> {
        match self.reply(Command::Layout)? {
            Reply::Layout(layout) => Ok(*layout),
            other => Err(refused(other)),
        }
    }

    fn topics(&self) -> Result<Vec<TopicReport>, Failed> {
        match self.reply(Command::Topics)? {
            Reply::Topics(topics) => Ok(topics),
            other => Err(refused(other)),
        }
    }

    fn reply(&self, command: Command) -> Result<Reply, Failed> {
        let asked = self.target.ask(command, self.arguments.timeout);
        runtime()?.block_on(asked).map_err(from_ask)
    }

    /// Prints figures as they are, or a table of them.
    fn rows<T: serde::Serialize>(&self, figures: &T, table: fn(&T) -> Table) -> CommandResult {
        match self.arguments.format {
            TableFormat::Text => output::print(&table(figures).render()),
            TableFormat::Csv => output::print(&table(figures).csv()),
            TableFormat::Json => output::print_json(figures),
        }
    }

    fn overview(&self) -> CommandResult {
        let (snapshot, history) = (self.snapshot()?, self.history()?);
        let model = screen::model(self.target, snapshot.clone(), history);
        match self.arguments.format {
            TableFormat::Text => self.draw(model, Panel::Overview),
            TableFormat::Csv => output::print(&stats::overview_table(&model).csv()),
            TableFormat::Json => output::print_json(&stats::overview(&model, &snapshot)),
        }
    }

    fn latency(&self) -> CommandResult {
        let (snapshot, history) = (self.snapshot()?, self.history()?);
        match self.arguments.format {
            TableFormat::Text => {
                let model = screen::model(self.target, snapshot, history);
                self.draw(model, Panel::Latency)
            }
            TableFormat::Csv => output::print(&stats::latency_table(&history).csv()),
            TableFormat::Json => output::print_json(&stats::latency(&snapshot, &history)),
        }
    }

    fn map(&self) -> CommandResult {
        let (snapshot, layout) = (self.snapshot()?, self.layout()?);
        match self.arguments.format {
            TableFormat::Text => {
                let mut model = screen::model(self.target, snapshot, History::default());
                screen::add_layout(&mut model, layout);
                self.draw(model, Panel::Map)
            }
            TableFormat::Csv => {
                output::print(&stats::map_table(&layout, &snapshot.performers).csv())
            }
            TableFormat::Json => output::print_json(&serde_json::json!({
                "layout": layout,
                "performers": snapshot.performers,
            })),
        }
    }

    fn draw(&self, model: view::app::model::Model, panel: Panel) -> CommandResult {
        let size = (self.arguments.width, self.arguments.height);
        output::print(&screen::drawn(model, panel, size))
    }
}

fn refused(reply: Reply) -> Failed {
    let reason = match reply {
        Reply::Failed { reason, .. } => reason,
        Reply::Done { .. }
        | Reply::Snapshot(_)
        | Reply::History(_)
        | Reply::Layout(_)
        | Reply::Topics(_)
        | Reply::Clients(_) => "the primary answered something else".to_owned(),
    };
    Failed::message(ExitCode::Failure, reason)
}
