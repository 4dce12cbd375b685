//! The command line of `phalanx topic` and `phalanx service`.

use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use super::{Format, KeyArguments, parse_seconds};

/// The arguments of `phalanx topic`.
#[derive(Debug, Args)]
pub struct TopicArguments {
    /// Action to take
    #[command(subcommand)]
    pub action: TopicAction,
    /// By which keys the run is reached.
    #[command(flatten)]
    pub keys: KeyArguments,
}

/// Actions on topics. A word that begins with `/` is a topic; a run before it may be left out when
/// exactly one is living.
#[derive(Debug, Subcommand)]
pub enum TopicAction {
    /// List the topics of systems and sensors
    List {
        /// The run
        run: Option<String>,
        /// Format of the list
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Tell who publishes on a topic and who listens to it
    Info {
        /// A topic, after the run if it is named
        #[arg(value_name = "[RUN] TOPIC", num_args = 1..=2, required = true)]
        words: Vec<String>,
    },
    /// Print what is said on a topic
    Echo {
        /// A topic, after the run if it is named
        #[arg(value_name = "[RUN] TOPIC", num_args = 1..=2, required = true)]
        words: Vec<String>,
        /// End after so many messages
        #[arg(short = 'n', long, value_name = "N", value_parser = count())]
        count: Option<u64>,
        /// One JSON object per line, or the text format of protobuf
        #[arg(long, value_enum, default_value_t)]
        format: EchoFormat,
    },
    /// Say something on a topic
    Pub {
        /// Topic, type and message, after the run if it is named. The type may be left out when
        /// the topic is known. The message is JSON or protobuf's text format; - is standard input
        #[arg(value_name = "[RUN] TOPIC [TYPE] MESSAGE", num_args = 1..=4, required = true)]
        words: Vec<String>,
        /// Say it so many times [default: 1, with --rate until interrupted]
        #[arg(short = 'n', long, value_name = "N", value_parser = count())]
        count: Option<u64>,
        /// So many times per second of real time [default: as soon as it was heard]
        #[arg(long, value_name = "HZ", value_parser = parse_rate)]
        rate: Option<Duration>,
        /// Give up after so many seconds
        #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = parse_seconds)]
        timeout: Duration,
    },
    /// Measure how often something is said on a topic
    Hz {
        /// A topic, after the run if it is named
        #[arg(value_name = "[RUN] TOPIC", num_args = 1..=2, required = true)]
        words: Vec<String>,
        /// End after so many messages
        #[arg(short = 'n', long, value_name = "N", value_parser = count())]
        count: Option<u64>,
    },
}

/// Format of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum EchoFormat {
    /// One object per line.
    #[default]
    Json,
    /// Protobuf's text format, without fields that have their defaults.
    Text,
}

/// The arguments of `phalanx service`.
#[derive(Debug, Args)]
pub struct ServiceArguments {
    /// Action to take
    #[command(subcommand)]
    pub action: ServiceAction,
    /// By which keys the run is reached.
    #[command(flatten)]
    pub keys: KeyArguments,
}

/// Actions on services.
#[derive(Debug, Subcommand)]
pub enum ServiceAction {
    /// List the services and the types that they take
    List {
        /// The run
        run: Option<String>,
        /// Format of the list
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Call a service, and return when what it asks for is done
    Call {
        /// Service, type and request, after the run if it is named. The type may be left out. The
        /// request is JSON or protobuf's text format; - is standard input
        #[arg(value_name = "[RUN] SERVICE [TYPE] REQUEST", num_args = 1..=4, required = true)]
        words: Vec<String>,
        /// Give up after so many seconds
        #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = parse_seconds)]
        timeout: Duration,
    },
}

/// Words of a topic or service: the run, if it is named, then the name, then the rest.
#[derive(Debug, PartialEq, Eq)]
pub struct Addressed<'a> {
    /// The run.
    pub run: Option<&'a str>,
    /// The topic or service.
    pub name: &'a str,
    /// The type, if it is given.
    pub kind: Option<&'a str>,
    /// The message or request; empty for one that has only defaults.
    pub text: &'a str,
}

/// Words that address no topic or service.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// No word is a topic or service.
    #[error("name a topic or service: it begins with /")]
    NoName,
    /// A word follows that has no meaning.
    #[error("{word:?} is too much: put quotes around it")]
    Superfluous {
        /// The word.
        word: String,
    },
}

impl<'a> Addressed<'a> {
    /// Tells words apart: names begin with `/`, runs do not.
    ///
    /// # Errors
    /// Fails if there is no name, or too much.
    pub fn parse(words: &'a [String]) -> Result<Self, AddressError> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (run, name, rest) = match words.as_slice() {
            [name, rest @ ..] if name.starts_with('/') => (None, *name, rest),
            [run, name, rest @ ..] if name.starts_with('/') => (Some(*run), *name, rest),
            _ => return Err(AddressError::NoName),
        };
        let (kind, text) = match rest {
            [] => (None, ""),
            [kind] if messages::find(kind).is_some() => (Some(*kind), ""),
            [text] => (None, *text),
            [kind, text] => (Some(*kind), *text),
            [_, _, word, ..] => {
                let word = (*word).to_owned();
                return Err(AddressError::Superfluous { word });
            }
        };
        Ok(Self {
            run,
            name,
            kind,
            text,
        })
    }
}

fn count() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(1..)
}

/// Returns the time from one message to the next.
fn parse_rate(text: &str) -> Result<Duration, String> {
    let rate = text.parse::<f64>().ok().filter(|rate| *rate > 0.0);
    rate.and_then(|rate| Duration::try_from_secs_f64(1.0 / rate).ok())
        .filter(|period| !period.is_zero())
        .ok_or_else(|| "use a number of messages per second above 0".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, CliCommand};

    fn check(line: &[&str], run: Option<&str>, kind: Option<&str>, text: &str) {
        let words: Vec<String> = line.iter().map(|word| (*word).to_owned()).collect();
        let addressed = Addressed::parse(&words).unwrap();
        assert_eq!((addressed.run, addressed.kind), (run, kind), "{line:?}");
        assert_eq!((addressed.name, addressed.text), ("/cmd_vel", text));
    }

    #[test]
    fn a_run_and_a_type_may_be_left_out() {
        let (twist, message) = ("gz.msgs.Twist", "linear: {x: 0.5}");
        check(&["/cmd_vel"], None, None, "");
        check(&["a", "/cmd_vel", twist], Some("a"), Some(twist), "");
        check(&["/cmd_vel", message], None, None, message);
        check(
            &["a", "/cmd_vel", twist, message],
            Some("a"),
            Some(twist),
            message,
        );
    }

    #[test]
    fn too_few_and_too_many_words_are_refused() {
        for line in [vec!["a"], vec!["a", "b"], vec!["/t", "T", "m", "more"]] {
            let words: Vec<String> = line.into_iter().map(str::to_owned).collect();
            assert!(Addressed::parse(&words).is_err(), "{words:?}");
        }
    }

    #[test]
    fn rates_are_periods() {
        let line = [
            "phalanx", "topic", "pub", "/t", "{}", "--rate", "50", "-n", "3",
        ];
        let Some(CliCommand::Topic(arguments)) = Cli::try_parse_from(line).unwrap().command else {
            panic!("topic was not named")
        };
        let TopicAction::Pub { rate, count, .. } = arguments.action else {
            panic!("pub was not named")
        };
        assert_eq!((rate, count), (Some(Duration::from_millis(20)), Some(3)));
        for rate in ["0", "-1", "nan", "inf"] {
            assert!(parse_rate(rate).is_err(), "{rate}");
        }
    }
}
