//! Parses a message to publish, as it is typed: `TOPIC [KIND] MESSAGE`.

use protocol::Command;
use protocol::report::TopicReport;

use client::message_text::{self, ReadMessageError};

use super::PaletteError;

/// Reads a topic, its kind if it is named, and a message.
pub(super) fn parse(rest: &str, topics: &[TopicReport]) -> Result<Command, PaletteError> {
    let (topic, rest) = first_word(rest);
    if !topic.starts_with('/') || !protocol::topic::is_message_name(topic) {
        let wanted = "a topic, which begins with /, and a message";
        return Err(PaletteError::wants("pub", wanted));
    }
    let (word, after) = first_word(rest);
    let (kind, text) = match messages::find(word) {
        Some(kind) => (kind, after),
        None => (known_kind(topic, word, topics)?, rest),
    };
    let read = message_text::read(kind, unquoted(text))?;
    Ok(Command::Publish {
        topic: topic.to_owned(),
        kind: kind.name.to_owned(),
        body: kind.from_json(read).map_err(ReadMessageError::from)?,
    })
}

fn known_kind(
    topic: &str,
    word: &str,
    topics: &[TopicReport],
) -> Result<&'static messages::Kind, PaletteError> {
    if word.starts_with("gz.msgs.") {
        let kind = word.to_owned();
        return Err(PaletteError::NoKind { kind });
    }
    let known = topics.iter().find(|one| one.topic == topic);
    let kind = known.and_then(|one| messages::find(&one.kind));
    kind.ok_or_else(|| PaletteError::UnknownKind {
        topic: topic.to_owned(),
    })
}

fn first_word(text: &str) -> (&str, &str) {
    let text = text.trim();
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim_start())
}

/// Returns what is within quotes that a shell would take away.
fn unquoted(text: &str) -> &str {
    let text = text.trim();
    let inside = text
        .strip_prefix('\'')
        .and_then(|text| text.strip_suffix('\''));
    inside.unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use messages::motion::Twist;

    use super::*;
    use crate::app::fixture;

    fn check(line: &str, expected: Result<f64, &str>) {
        match (parse(line, &fixture::topics()), expected) {
            (Ok(Command::Publish { kind, body, .. }), Ok(speed)) => {
                assert_eq!(kind, "gz.msgs.Twist");
                let twist: Twist = messages::decode(&body).unwrap();
                assert_eq!(twist.linear.x, speed, "{line}");
            }
            (Err(error), Err(part)) => {
                assert!(error.to_string().contains(part), "{line}: {error}");
            }
            (result, _) => panic!("{line}: {result:?}"),
        }
    }

    #[test]
    fn messages_are_text_or_json_and_known_topics_need_no_kind() {
        check("/new gz.msgs.Twist linear: {x: 0.5}", Ok(0.5));
        check("/model/rover_1/cmd_vel linear { x: 0.5 }", Ok(0.5));
        check("/model/rover_1/cmd_vel {\"linear\": {\"x\": 2}}", Ok(2.0));
        check("/model/rover_1/cmd_vel 'linear: {x: 0.5}'", Ok(0.5));
        check("/model/rover_1/cmd_vel", Ok(0.0));
    }

    #[test]
    fn an_invalid_message_is_refused_with_the_reason() {
        check("", Err("begins with /"));
        check("cmd_vel linear: {x: 1}", Err("begins with /"));
        check("/new linear: {x: 1}", Err("name it before the message"));
        check("/new gz.msgs.Twit x: 1", Err("no kind gz.msgs.Twit"));
        check("/new gz.msgs.Twist speed: 1", Err("speed"));
        check("/new gz.msgs.Twist {", Err("no JSON"));
    }
}
