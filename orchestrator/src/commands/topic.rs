//! `phalanx topic`: which topics there are, what is said on them, and saying something.

mod rate;

use std::fmt::Write as _;
use std::time::Duration;

use client::control::read_input;
use client::message_text;
use client::{self, Connection, News};
use images::Compression;
use messages::Kind;
use protocol::primary_to_client::Reply;
use protocol::primary_to_observers::Announce;
use protocol::report::TopicReport;
use protocol::{Command, ExitCode, PrimaryToObservers, TopicMessage};
use serde_json::{Value, json};
use tokio::time::{MissedTickBehavior, interval};

use super::ctl::from_ask;
use super::target::{self, Target};
use super::{CommandResult, Failed, output, runtime};
use crate::cli::{Addressed, EchoFormat, Format, KeyArguments, TopicAction, TopicArguments};
use rate::RateMeter;
use view::show::table::{Table, names};

/// Time that a list of topics may take.
const LIST_PATIENCE: Duration = Duration::from_secs(10);

/// Interval at which a rate is printed.
const RATE_PERIOD: Duration = Duration::from_secs(1);

/// Runs `phalanx topic`.
pub(super) fn topic(arguments: &TopicArguments) -> CommandResult {
    let keys = &arguments.keys;
    match &arguments.action {
        TopicAction::List { run, format } => list(run.as_deref(), keys, *format),
        TopicAction::Info { words } => info(&address(words)?, keys),
        TopicAction::Echo {
            words,
            count,
            format,
        } => {
            let addressed = address(words)?;
            let target = target::find(addressed.run, keys)?;
            runtime()?.block_on(echo(&target, addressed.name, *count, *format))
        }
        TopicAction::Pub {
            words,
            count,
            rate,
            timeout,
        } => {
            let addressed = address(words)?;
            let target = target::find(addressed.run, keys)?;
            let command = publication(&target, &addressed)?;
            let count = count.or(rate.is_none().then_some(1));
            runtime()?.block_on(publish(&target, command, count, *rate, *timeout))
        }
        TopicAction::Hz { words, count } => {
            let addressed = address(words)?;
            let target = target::find(addressed.run, keys)?;
            runtime()?.block_on(measure(&target, addressed.name, *count))
        }
    }
}

/// Tells the words of a command line apart.
pub(super) fn address(words: &[String]) -> Result<Addressed<'_>, Failed> {
    Addressed::parse(words).map_err(|error| Failed::new(ExitCode::Usage, error))
}

/// Returns the kind of a name that a user gave.
pub(super) fn kind_named(name: &str) -> Result<&'static Kind, Failed> {
    messages::find(name).ok_or_else(|| {
        let near: Vec<&str> = messages::kind::KINDS.iter().map(|kind| kind.name).collect();
        let message = format!("there is no type {name}; there are {}", near.join(", "));
        Failed::message(ExitCode::Usage, message)
    })
}

/// Reads a message that a user typed: JSON, or protobuf's text format.
pub(super) fn read_message(kind: &Kind, text: &str) -> Result<Value, Failed> {
    let typed;
    let text = if text == "-" {
        typed = read_input("-".as_ref()).map_err(|error| Failed::new(ExitCode::Usage, error))?;
        typed.trim()
    } else {
        text.trim()
    };
    message_text::read(kind, text).map_err(|error| Failed::new(ExitCode::Usage, error))
}

fn topics(target: &Target) -> Result<Vec<TopicReport>, Failed> {
    let asked = target.ask(Command::Topics, LIST_PATIENCE);
    match runtime()?.block_on(asked).map_err(from_ask)? {
        Reply::Topics(topics) => Ok(topics),
        Reply::Failed { reason, .. } => Err(Failed::message(ExitCode::Failure, reason)),
        Reply::Done { .. }
        | Reply::Layout(_)
        | Reply::Scene(_)
        | Reply::Snapshot(_)
        | Reply::History(_)
        | Reply::Clients(_)
        | Reply::Barrier(_)
        | Reply::Participants(_) => Err(Failed::message(
            ExitCode::Failure,
            "the primary answered something else",
        )),
    }
}

fn list(run: Option<&str>, keys: &KeyArguments, format: Format) -> CommandResult {
    let topics = topics(&target::find(run, keys)?)?;
    match format {
        Format::Json => output::print_json(&topics),
        Format::Text => output::print(&table(&topics).render()),
    }
}

fn table(topics: &[TopicReport]) -> Table {
    let mut table = Table::new(&["TOPIC", "TYPE", "PUBLISHERS", "SUBSCRIBERS"]);
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

fn info(addressed: &Addressed<'_>, keys: &KeyArguments) -> CommandResult {
    let topics = topics(&target::find(addressed.run, keys)?)?;
    let Some(topic) = topics.iter().find(|topic| topic.topic == addressed.name) else {
        let message = format!(
            "no system or sensor has the topic {}; `phalanx topic list` shows all",
            addressed.name
        );
        return Err(Failed::message(ExitCode::Failure, message));
    };
    let mut text = format!("{} is of type {}\n", topic.topic, topic.kind);
    for (title, names) in [
        ("publishers", &topic.publishers),
        ("subscribers", &topic.subscribers),
    ] {
        let _ = writeln!(text, "{title}:");
        for name in names {
            let _ = writeln!(text, "  {name}");
        }
        if names.is_empty() {
            text.push_str("  none\n");
        }
    }
    output::print(&text)
}

/// Returns what is said next; `None` when the run has ended.
pub(super) async fn next_message(
    connection: &mut Connection,
    target: &Target,
) -> Result<Option<Box<TopicMessage>>, Failed> {
    let end = target.end();
    tokio::pin!(end);
    loop {
        let news = tokio::select! {
            news = connection.news() => news,
            () = &mut end => return Ok(None),
        };
        match news {
            Some(News::Message(message)) => return Ok(Some(message)),
            Some(News::Status(status)) => {
                if matches!(*status, PrimaryToObservers::Announce(Announce::Stopping(_))) {
                    return Ok(None);
                }
            }
            Some(News::Unreadable(text) | News::Failed(text)) => {
                return Err(Failed::message(ExitCode::Failure, text));
            }
            Some(News::Connected | News::Disconnected | News::StartedAnew | News::Reply { .. }) => {
            }
            None => return Ok(None),
        }
    }
}

async fn echo(
    target: &Target,
    topic: &str,
    count: Option<u64>,
    format: EchoFormat,
) -> CommandResult {
    let mut connection = listen(target, topic)?;
    note_if_unknown(target, topic).await;
    let mut left = count;
    while left != Some(0) {
        let Some(message) = next_message(&mut connection, target).await? else {
            return ended(left);
        };
        let message = as_asked(message, topic)?;
        if !output::print_on(&shown(&message, format)?)? {
            break;
        }
        left = left.map(|left| left - 1);
    }
    Ok(ExitCode::Success)
}

/// Returns a message as it is on a topic that is listened to: an image may be compressed there.
fn as_asked(message: Box<TopicMessage>, topic: &str) -> Result<Box<TopicMessage>, Failed> {
    if message.topic == topic {
        return Ok(message);
    }
    let form = Compression::Jpeg(images::QUALITY_DEFAULT);
    let compressed = images::compressed(&message, form);
    let compressed = compressed.map_err(|error| {
        let error = anyhow::Error::new(error);
        let topic = &message.topic;
        Failed::new(
            ExitCode::Failure,
            error.context(format!("what is said on {topic} is not compressed")),
        )
    })?;
    if compressed.topic != topic {
        let (source, found) = (&message.topic, &compressed.topic);
        let text = format!("the images of {source} are compressed on {found}, not on {topic}");
        return Err(Failed::message(ExitCode::Usage, text));
    }
    Ok(Box::new(compressed))
}

/// Listens to a topic, and where its name says that it has compressed images to those that are
/// compressed.
pub(super) fn listen(target: &Target, topic: &str) -> Result<Connection, Failed> {
    if !protocol::topic::is_message_name(topic) {
        let message = format!("no topic can be named {topic:?}");
        return Err(Failed::message(ExitCode::Usage, message));
    }
    let topics: Vec<&str> = [topic].into_iter().chain(images::source(topic)).collect();
    let connection = Connection::listen(&target.reach, &topics);
    connection.map_err(|error| anyhow::Error::new(error).into())
}

/// Tells people that nothing has a topic now, as where its name is misspelled. It may come later,
/// with a model or from a client, and is waited for.
async fn note_if_unknown(target: &Target, topic: &str) {
    let Ok(Reply::Topics(topics)) = target.ask(Command::Topics, LIST_PATIENCE).await else {
        return;
    };
    let is_known = |name: &str| topics.iter().any(|known| known.topic == name);
    if !is_known(topic) && !images::source(topic).is_some_and(is_known) {
        output::note(&format!(
            "no system or sensor has the topic {topic} now, and it is waited for; \
             `phalanx topic list` shows all"
        ));
    }
}

fn ended(left: Option<u64>) -> CommandResult {
    match left {
        None => Ok(ExitCode::Success),
        Some(left) => {
            let message = format!("the run ended; {left} more message(s) were waited for");
            Err(Failed::message(ExitCode::Failure, message))
        }
    }
}

/// Returns a message as it is printed, with its line's end.
fn shown(message: &TopicMessage, format: EchoFormat) -> Result<String, Failed> {
    let json = match messages::find(&message.kind) {
        Some(kind) => kind.to_json(&message.body).map_err(anyhow::Error::new)?,
        None => Value::Null,
    };
    Ok(match format {
        EchoFormat::Json => {
            let line = json!({
                "topic": message.topic,
                "type": message.kind,
                "iteration": message.iteration.0,
                "sim_time_s": message.sim_time.seconds(),
                "message": json,
            });
            format!("{line}\n")
        }
        EchoFormat::Text => message_text::render(&json) + "\n",
    })
}

fn publication(target: &Target, addressed: &Addressed<'_>) -> Result<Command, Failed> {
    let name = if let Some(name) = addressed.kind {
        name.to_owned()
    } else {
        let topics = topics(target)?;
        let known = topics
            .into_iter()
            .find(|topic| topic.topic == addressed.name);
        known.map(|topic| topic.kind).ok_or_else(|| {
            let message = format!(
                "no system or sensor has the topic {}, so its type is not known: name it \
                     before the message",
                addressed.name
            );
            Failed::message(ExitCode::Usage, message)
        })?
    };
    let kind = kind_named(&name)?;
    let json = read_message(kind, addressed.text)?;
    Ok(Command::Publish {
        topic: addressed.name.to_owned(),
        kind: kind.name.to_owned(),
        body: kind.from_json(json).map_err(anyhow::Error::new)?,
    })
}

async fn publish(
    target: &Target,
    command: Command,
    count: Option<u64>,
    period: Option<Duration>,
    limit: Duration,
) -> CommandResult {
    let mut connection = Connection::open(&target.reach, false).map_err(anyhow::Error::new)?;
    let mut ticks = interval(period.unwrap_or(Duration::from_nanos(1)));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut left = count;
    while left != Some(0) {
        ticks.tick().await;
        let asked = client::ask_over(&mut connection, &target.reach, command.clone(), limit);
        let answer = tokio::select! {
            biased;
            answer = asked => answer,
            () = target.end() => Err(client::AskError::Ended),
        };
        if let Reply::Failed { reason, .. } = answer.map_err(from_ask)? {
            return Err(Failed::message(ExitCode::Failure, reason));
        }
        left = left.map(|left| left - 1);
    }
    Ok(ExitCode::Success)
}

async fn measure(target: &Target, topic: &str, count: Option<u64>) -> CommandResult {
    let mut connection = listen(target, topic)?;
    note_if_unknown(target, topic).await;
    let mut meter = RateMeter::default();
    let mut ticks = interval(RATE_PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let start = tokio::time::Instant::now();
    loop {
        tokio::select! {
            message = next_message(&mut connection, target) => {
                let Some(message) = message? else {
                    output::print(&meter.describe())?;
                    return ended(count.map(|count| count.saturating_sub(meter.count())));
                };
                meter.add(start.elapsed(), message.sim_time);
                if count.is_some_and(|count| meter.count() >= count) {
                    return output::print(&meter.describe());
                }
            }
            _ = ticks.tick() => {
                if meter.count() > 1 && !output::print_on(&meter.describe())? {
                    return Ok(ExitCode::Success);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use protocol::{Iteration, Publisher, SimTime};

    use super::*;

    fn message() -> TopicMessage {
        let mut twist = messages::motion::Twist::default();
        twist.linear.x = 0.5;
        TopicMessage {
            topic: "/cmd_vel".to_owned(),
            kind: "gz.msgs.Twist".to_owned(),
            publisher: Publisher::Client,
            iteration: Iteration(7),
            sim_time: SimTime(7_000_000),
            body: messages::encode(&twist),
        }
    }

    #[test]
    fn a_message_is_one_line_of_json() {
        let line = shown(&message(), EchoFormat::Json).unwrap();
        assert_eq!(line.matches('\n').count(), 1);
        let json: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(json["iteration"], json!(7));
        assert_eq!(json["sim_time_s"], json!(0.007));
        assert_eq!(json["message"]["linear"]["x"], json!(0.5));
    }

    #[test]
    fn a_message_in_text_format_is_read_back() {
        let text = shown(&message(), EchoFormat::Text).unwrap();
        assert_eq!(text, "linear {\n  x: 0.5\n}\n\n");
        let kind = messages::find("gz.msgs.Twist").unwrap();
        let json = read_message(kind, &text).unwrap();
        assert_eq!(kind.from_json(json).unwrap(), message().body);
    }

    #[test]
    fn messages_are_typed_as_json_or_as_text() {
        let kind = messages::find("gz.msgs.Twist").unwrap();
        let wanted = kind.to_json(&message().body).unwrap();
        for text in ["{\"linear\": {\"x\": 0.5}}", "linear: {x: 0.5}"] {
            assert_eq!(read_message(kind, text).unwrap(), wanted, "{text}");
        }
        for text in ["{\"linear\": 5}", "{", "speed: 1", "linear {"] {
            assert_eq!(read_message(kind, text).unwrap_err().code, ExitCode::Usage);
        }
    }

    #[test]
    fn topics_are_listed_with_who_has_them() {
        let topic = TopicReport {
            topic: "/cmd_vel".to_owned(),
            kind: "gz.msgs.Twist".to_owned(),
            publishers: Vec::new(),
            subscribers: vec!["robot: DiffDrive".to_owned()],
        };
        let text = table(&[topic]).render();
        assert!(text.contains("/cmd_vel  gz.msgs.Twist  -"), "{text}");
        assert!(text.contains("robot: DiffDrive"), "{text}");
    }
}
