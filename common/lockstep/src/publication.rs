//! Messages of clients and schedules on topics, checked before they reach a secondary.

use messages::Kind;
use protocol::report::TopicReport;
use protocol::topic;

/// The largest message that a client may publish \[bytes\].
pub const BODY_BYTES_MAX: usize = 16 << 20;

/// Reason why a client's message is refused.
#[derive(Debug, thiserror::Error)]
pub enum PublicationError {
    /// No topic can be named so.
    #[error(
        "{topic:?} is no name of a topic: it begins with / and has up to {max} bytes, no blanks",
        max = topic::NAME_BYTES_MAX
    )]
    Name {
        /// The beginning of what was given.
        topic: String,
    },
    /// There is no such kind of message.
    #[error(
        "{kind:?} is no kind of message that is known here; kinds are named like gz.msgs.Twist"
    )]
    Kind {
        /// The beginning of what was given.
        kind: String,
    },
    /// The topic is of another kind.
    #[error("{topic} takes {expected}, not {kind}")]
    OtherKind {
        /// The topic.
        topic: String,
        /// The kinds that it takes.
        expected: String,
        /// The kind that was given.
        kind: String,
    },
    /// The message is larger than any may be.
    #[error("message of {bytes} bytes is larger than {BODY_BYTES_MAX}")]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
    /// The bytes are no message of the kind.
    #[error("the message is no {kind}")]
    Malformed {
        /// The kind.
        kind: String,
        /// The error in it.
        #[source]
        source: messages::MessageError,
    },
}

/// Checks a message and returns its kind; `topics` are those that are known, by name.
///
/// # Errors
/// Fails when it is not what could be said on the topic. Any kind can be said on one that nobody
/// knows.
pub fn check(
    topics: &[TopicReport],
    topic: &str,
    kind: &str,
    body: &[u8],
) -> Result<&'static Kind, PublicationError> {
    let begin = |text: &str| text.chars().take(80).collect();
    if !topic.starts_with('/') || !topic::is_message_name(topic) {
        let topic = begin(topic);
        return Err(PublicationError::Name { topic });
    }
    let Some(known) = messages::find(kind) else {
        let kind = begin(kind);
        return Err(PublicationError::Kind { kind });
    };
    let first = topics.partition_point(|one| one.topic.as_str() < topic);
    let same = topics[first..].iter().take_while(|one| one.topic == topic);
    let kinds: Vec<&str> = same.map(|one| one.kind.as_str()).collect();
    if !kinds.is_empty() && !kinds.contains(&known.name) {
        return Err(PublicationError::OtherKind {
            topic: topic.to_owned(),
            expected: kinds.join(" or "),
            kind: kind.to_owned(),
        });
    }
    if body.len() > BODY_BYTES_MAX {
        return Err(PublicationError::TooLarge { bytes: body.len() });
    }
    match known.check(body) {
        Ok(()) => Ok(known),
        Err(source) => Err(PublicationError::Malformed {
            kind: kind.to_owned(),
            source,
        }),
    }
}

#[cfg(test)]
mod tests {
    use messages::{Boolean, Double, Message};

    use super::*;

    fn topics() -> Vec<TopicReport> {
        let topic = |topic: &str, kind: &str| TopicReport {
            topic: topic.to_owned(),
            kind: kind.to_owned(),
            ..TopicReport::default()
        };
        vec![
            topic("/a", Boolean::KIND),
            topic("/b", Boolean::KIND),
            topic("/b", Double::KIND),
        ]
    }

    fn refused(topic: &str, kind: &str, body: &[u8], why: &str) {
        let error = check(&topics(), topic, kind, body).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }

    #[test]
    fn a_message_of_the_kind_of_its_topic_may_be_published() {
        let (yes, two) = (Boolean::default(), Double::default());
        let (yes, two) = (messages::encode(&yes), messages::encode(&two));
        for (topic, kind, body) in [
            ("/a", Boolean::KIND, &yes),
            ("/b", Boolean::KIND, &yes),
            ("/b", Double::KIND, &two),
            ("/nobody_knows", Double::KIND, &two),
        ] {
            let checked = check(&topics(), topic, kind, body);
            assert!(checked.is_ok(), "{topic} {kind}: {checked:?}");
        }
        refused("/a", Double::KIND, &two, "/a takes gz.msgs.Boolean, not");
    }

    #[test]
    fn invalid_commands_are_refused_with_a_reason() {
        refused("", Boolean::KIND, b"", "is no name of a topic");
        refused("/a b", Boolean::KIND, b"", "is no name of a topic");
        refused("a", Boolean::KIND, b"", "begins with /");
        refused("/a", "gz.msgs.Nonsense", b"", "is no kind of message");
        refused("/a", Boolean::KIND, b"\xc1", "is no gz.msgs.Boolean");
        let large = vec![0; BODY_BYTES_MAX + 1];
        refused("/a", Boolean::KIND, &large, "is larger than");
    }
}
