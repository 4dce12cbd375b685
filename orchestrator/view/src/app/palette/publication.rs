//! Parses a message to publish, as it is typed: `TOPIC [KIND] MESSAGE`.

use std::error::Error;

use protocol::Command;
use protocol::report::TopicReport;

use client::message_text;

/// Reads a topic, its kind if it is named, and a message.
pub(super) fn parse(rest: &str, topics: &[TopicReport]) -> Result<Command, String> {
    let (topic, rest) = first_word(rest);
    if !topic.starts_with('/') || !protocol::topic::is_message_name(topic) {
        return Err("pub takes a topic, which begins with /, and a message".to_owned());
    }
    let (word, after) = first_word(rest);
    let (kind, text) = match messages::find(word) {
        Some(kind) => (kind, after),
        None => (known_kind(topic, word, topics)?, rest),
    };
    let read = message_text::read(kind, unquoted(text)).map_err(|error| with_cause(&error))?;
    Ok(Command::Publish {
        topic: topic.to_owned(),
        kind: kind.name.to_owned(),
        body: kind.from_json(read).map_err(|error| with_cause(&error))?,
    })
}

fn known_kind(
    topic: &str,
    word: &str,
    topics: &[TopicReport],
) -> Result<&'static messages::Kind, String> {
    if word.starts_with("gz.msgs.") {
        return Err(format!("there is no kind {word}"));
    }
    let known = topics.iter().find(|one| one.topic == topic);
    let kind = known.and_then(|one| messages::find(&one.kind));
    kind.ok_or_else(|| {
        format!("the kind of {topic} is not known; name it before the message: gz.msgs.Twist")
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

fn with_cause(error: &dyn Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
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
            (Err(error), Err(part)) => assert!(error.contains(part), "{line}: {error}"),
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
    fn what_is_no_message_says_why() {
        check("", Err("begins with /"));
        check("cmd_vel linear: {x: 1}", Err("begins with /"));
        check("/new linear: {x: 1}", Err("name it before the message"));
        check("/new gz.msgs.Twit x: 1", Err("no kind gz.msgs.Twit"));
        check("/new gz.msgs.Twist speed: 1", Err("speed"));
        check("/new gz.msgs.Twist {", Err("no JSON"));
    }
}
