//! `phalanx show`: one panel as text, CSV or JSON, without a terminal.

mod events;
mod image;
mod logs;
mod picture;
mod stats;

use std::path::Path;

use anyhow::Context;
use protocol::primary_to_client::Reply;
use protocol::report::{History, Layout, Snapshot, TopicReport};
use protocol::{Command, ExitCode};
use view::options::UnicodeChoice;
use view::panels::Panel;
use view::show::{Need, RunFigures, Source};

use super::ctl::from_ask;
use super::target::{self, Target};
use super::{CommandResult, Failed, output, replay, runtime};
use crate::cli::{ShowArguments, ShownPanel, TableFormat};

/// The most columns and rows of what is drawn of characters.
const COLUMNS_MAX: u16 = 500;
const ROWS_MAX: u16 = 300;

/// Prints one panel of a run.
pub(super) fn show(arguments: &ShowArguments) -> CommandResult {
    let panel = match arguments.panel {
        ShownPanel::Panel(panel) => Some(panel),
        ShownPanel::Stats | ShownPanel::Picture | ShownPanel::Image => None,
    };
    let is_picture = arguments.panel == ShownPanel::Picture;
    if panel.is_some_and(|panel| matches!(panel.row().show.source, Source::LogFiles)) {
        // They are read from files, also when the run has ended.
        return logs::show(arguments);
    }
    if arguments.logs.is_given() {
        let message = "--process and --lines are for `phalanx show logs`";
        return Err(Failed::message(ExitCode::Usage, message));
    }
    let has_more = panel == Some(Panel::Events) || arguments.panel == ShownPanel::Image;
    if arguments.follow && !has_more {
        let message = "--follow is for `phalanx show logs`, `phalanx show events` and \
                       `phalanx show image`";
        return Err(Failed::message(ExitCode::Usage, message));
    }
    if arguments.picture.is_given() && !is_picture {
        let message = "--from, --look-at, --model, --world, --angle, --at, --every, --count and \
                       --output are for `phalanx show picture`";
        return Err(Failed::message(ExitCode::Usage, message));
    }
    if arguments.image.is_given() && arguments.panel != ShownPanel::Image {
        let message = "--topic and --graphics are for `phalanx show image`";
        return Err(Failed::message(ExitCode::Usage, message));
    }
    if let Some(file) = arguments
        .run
        .as_deref()
        .filter(|run| replay::is_recording(run))
    {
        return if is_picture {
            picture::show_recording(Path::new(file), arguments)
        } else {
            let message = "of a recording there are pictures; `phalanx replay` shows the rest";
            Err(Failed::message(ExitCode::Usage, message))
        };
    }
    let target = target::find(arguments.run.as_deref(), &arguments.keys)?;
    if is_picture {
        return picture::show(&target, arguments);
    }
    if arguments.panel == ShownPanel::Image {
        return image::show(&target, arguments);
    }
    let ask = Ask {
        target: &target,
        arguments,
    };
    match panel {
        None => ask.stats(),
        Some(_) if arguments.follow => events::follow(&target, arguments.format),
        Some(panel) => ask.panel(panel),
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

    fn stats(&self) -> CommandResult {
        let stats = self.snapshot()?.stats;
        match self.arguments.format {
            TableFormat::Text => output::print(&stats::stats(&stats).render()),
            TableFormat::Csv => {
                let figures = serde_json::to_value(stats).context("no figures")?;
                output::print(&stats::one_row(&figures).csv())
            }
            TableFormat::Json => output::print_json(&stats),
        }
    }

    /// Asks for the figures that a panel needs, and prints them.
    fn panel(&self, panel: Panel) -> CommandResult {
        let Source::Run {
            needs,
            is_drawn,
            table,
            json,
        } = panel.row().show.source
        else {
            return logs::show(self.arguments);
        };
        let figures = self.figures(needs)?;
        match self.arguments.format {
            TableFormat::Text if is_drawn => {
                let size = drawn_size(self.arguments)?;
                output::print(&figures.drawn(panel, size))
            }
            TableFormat::Text => output::print(&table(&figures).render()),
            TableFormat::Csv => output::print(&table(&figures).csv()),
            TableFormat::Json => {
                let text = json(&figures).context("cannot print as JSON")?;
                output::print(&(text + "\n"))
            }
        }
    }

    fn figures(&self, needs: &[Need]) -> Result<RunFigures, Failed> {
        let mut figures = RunFigures {
            run: self.target.name(),
            has_unicode: UnicodeChoice::Auto.has_unicode(|name| std::env::var(name).ok()),
            snapshot: self.snapshot()?,
            history: History::default(),
            layout: Layout::default(),
            topics: Vec::new(),
        };
        for need in needs {
            match need {
                Need::History => figures.history = self.history()?,
                Need::Layout => figures.layout = self.layout()?,
                Need::Topics => figures.topics = self.topics()?,
            }
        }
        Ok(figures)
    }
}

/// Returns the columns and rows of what is drawn of characters.
fn drawn_size(arguments: &ShowArguments) -> Result<(u16, u16), Failed> {
    let size = (
        arguments.width.unwrap_or(100),
        arguments.height.unwrap_or(36),
    );
    if size.0 > COLUMNS_MAX || size.1 > ROWS_MAX {
        let message =
            format!("what is drawn has at most {COLUMNS_MAX} columns and {ROWS_MAX} rows");
        return Err(Failed::message(ExitCode::Usage, message));
    }
    Ok(size)
}

fn refused(reply: Reply) -> Failed {
    let reason = match reply {
        Reply::Failed { reason, .. } => reason,
        Reply::Done { .. }
        | Reply::Snapshot(_)
        | Reply::History(_)
        | Reply::Layout(_)
        | Reply::Scene(_)
        | Reply::Topics(_)
        | Reply::Clients(_)
        | Reply::Barrier(_)
        | Reply::Participants(_) => "the primary answered something else".to_owned(),
    };
    Failed::message(ExitCode::Failure, reason)
}
