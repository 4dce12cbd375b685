//! [`Channels`]: the table of everything that clients can listen to.

use std::collections::{BTreeMap, BTreeSet};

use messages::Message;
use messages::foxglove::{self, CompressedImage};
use messages::json_schema::object;
use messages::sensor::Image;
use protocol::report::TopicReport;
use serde_json::{Value, json};

use crate::foxglove::Typed;
use crate::protocol::ChannelId;
use crate::protocol::server_to_client::Channel;
use crate::run_schema;

/// The most channels of topics that are offered.
const TOPICS_MAX: usize = 4096;

/// Content of a channel.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Content {
    /// `/phalanx/scene`
    Scene,
    /// `/phalanx/poses`
    Poses,
    /// `/phalanx/run`
    Run,
    /// `/phalanx/groups`
    Groups,
    /// `/phalanx/log`
    Log,
    /// `/scene`
    SceneUpdate,
    /// `/tf`
    Transforms,
    /// A topic of the run with its kind, as it is.
    Topic(String, String),
    /// A topic of the run with its kind, in a form that Foxglove draws.
    Typed(String, String, Typed),
    /// The images of a topic of the run, compressed.
    Compressed(String),
}

/// All channels, by number; numbers are not used again.
#[derive(Clone, Debug)]
pub(crate) struct Channels {
    all: BTreeMap<ChannelId, Content>,
    next: u32,
}

/// Change of the channels that are offered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChannelChange {
    pub(crate) come: Vec<Channel>,
    pub(crate) gone: Vec<ChannelId>,
}

impl Content {
    /// Tells whether viewers can read it; others say that it is broken, and there is the same in a
    /// form for them.
    pub(crate) fn is_for_viewers(&self) -> bool {
        !matches!(self, Self::Scene | Self::Poses)
    }
}

impl Channels {
    /// Makes the table without topics. Recordings have no groups.
    pub(crate) fn new(is_recording: bool) -> Self {
        let mut channels = Self {
            all: BTreeMap::new(),
            next: 1,
        };
        for content in [
            Content::Scene,
            Content::Poses,
            Content::Run,
            Content::SceneUpdate,
            Content::Transforms,
            Content::Log,
        ] {
            channels.add(content);
        }
        if !is_recording {
            channels.add(Content::Groups);
        }
        channels
    }

    fn add(&mut self, content: Content) -> ChannelId {
        let id = ChannelId(self.next);
        self.next += 1;
        self.all.insert(id, content);
        id
    }

    /// Returns the content of a channel.
    pub(crate) fn content(&self, id: ChannelId) -> Option<&Content> {
        self.all.get(&id)
    }

    /// Returns channels with their content.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (ChannelId, &Content)> {
        self.all.iter().map(|(id, content)| (*id, content))
    }

    /// Returns channels as they are offered: all, or those that viewers read.
    pub(crate) fn offers(&self, all: bool) -> Vec<Channel> {
        self.iter()
            .filter(|(_, content)| all || content.is_for_viewers())
            .map(|(id, content)| offer(id, content))
            .collect()
    }

    /// Takes the topics that there are, and returns the change.
    pub(crate) fn set_topics(&mut self, topics: &[TopicReport]) -> ChannelChange {
        let mut wanted = BTreeSet::new();
        let names: BTreeSet<&str> = topics.iter().map(|topic| topic.topic.as_str()).collect();
        for topic in topics.iter().take(TOPICS_MAX) {
            let (name, kind) = (topic.topic.clone(), topic.kind.clone());
            if let Some(typed) = Typed::of_kind(&kind) {
                wanted.insert(Content::Typed(name.clone(), kind.clone(), typed));
            }
            if kind == Image::KIND && !names.contains(&*compressed(&name)) {
                wanted.insert(Content::Compressed(name.clone()));
            }
            wanted.insert(Content::Topic(name, kind));
        }
        let is_topic = |content: &Content| {
            matches!(
                content,
                Content::Topic(..) | Content::Typed(..) | Content::Compressed(_)
            )
        };
        let gone = self
            .iter()
            .filter(|(_, one)| is_topic(one) && !wanted.contains(*one));
        let gone: Vec<ChannelId> = gone.map(|(id, _)| id).collect();
        for id in &gone {
            self.all.remove(id);
        }
        let known: BTreeSet<Content> = self.all.values().cloned().collect();
        let new: Vec<Content> = wanted.difference(&known).cloned().collect();
        let come = new.into_iter().map(|content| {
            let id = self.add(content);
            offer(id, &self.all[&id])
        });
        ChannelChange {
            come: come.collect(),
            gone,
        }
    }
}

fn offer(id: ChannelId, content: &Content) -> Channel {
    let json = |topic: &str, name: &str, schema: &Value| Channel {
        id,
        topic: topic.to_owned(),
        encoding: "json".to_owned(),
        schema_name: name.to_owned(),
        schema: schema.to_string(),
        schema_encoding: Some("jsonschema"),
    };
    match content {
        Content::Scene => json("/phalanx/scene", "phalanx.Scene", &open_object()),
        Content::Run => json("/phalanx/run", "phalanx.Run", &run_schema::run()),
        Content::Groups => json("/phalanx/groups", "phalanx.Groups", &run_schema::groups()),
        Content::Log => json("/phalanx/log", "foxglove.Log", &foxglove::log()),
        Content::Poses => Channel {
            id,
            topic: "/phalanx/poses".to_owned(),
            encoding: "phalanx".to_owned(),
            schema_name: "phalanx.Poses".to_owned(),
            schema: String::new(),
            schema_encoding: None,
        },
        Content::SceneUpdate => json("/scene", "foxglove.SceneUpdate", &foxglove::scene_update()),
        Content::Transforms => {
            let schema = foxglove::frame_transforms();
            json("/tf", "foxglove.FrameTransforms", &schema)
        }
        Content::Topic(topic, kind) => {
            let schema = messages::find(kind).map_or_else(open_object, messages::Kind::schema);
            json(topic, kind, &schema)
        }
        Content::Typed(topic, _, typed) => json(
            &format!("/foxglove{topic}"),
            typed.schema_name(),
            &typed.schema(),
        ),
        Content::Compressed(topic) => json(
            &compressed(topic),
            CompressedImage::KIND,
            &foxglove::compressed_image(),
        ),
    }
}

/// Returns the channel of the compressed images of a topic.
fn compressed(topic: &str) -> String {
    let [images, _] = images::topics(topic);
    images
}

/// Returns the schema of messages of which no field is known; readers want a list, if an empty one.
fn open_object() -> Value {
    object(&json!({}))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topic(name: &str, kind: &str) -> TopicReport {
        TopicReport {
            topic: name.to_owned(),
            kind: kind.to_owned(),
            ..TopicReport::default()
        }
    }

    #[test]
    fn topics_come_and_go_and_numbers_are_not_used_again() {
        let mut channels = Channels::new(false);
        let own = channels.offers(true).len();
        let first = channels.set_topics(&[topic("/scan", "gz.msgs.LaserScan")]);
        let names: Vec<&str> = first.come.iter().map(|one| &*one.topic).collect();
        assert_eq!(names, ["/scan", "/foxglove/scan"]);
        assert_eq!(
            channels.set_topics(&[topic("/scan", "gz.msgs.LaserScan")]),
            ChannelChange::default()
        );
        let other = channels.set_topics(&[topic("/scan", "gz.msgs.Twist")]);
        assert_eq!(
            other.gone,
            first.come.iter().map(|one| one.id).collect::<Vec<_>>()
        );
        assert!(other.come.iter().all(|one| !other.gone.contains(&one.id)));
        assert_eq!(channels.offers(true).len(), own + 1);
        let ids: BTreeSet<u32> = channels.offers(true).iter().map(|one| one.id.0).collect();
        assert_eq!(ids.len(), own + 1);
    }

    #[test]
    fn images_have_a_channel_in_a_compressed_form_unless_there_is_such_a_topic() {
        let mut channels = Channels::new(true);
        let names = |channels: &mut Channels, topics: &[TopicReport]| {
            let come = channels.set_topics(topics).come;
            let names: Vec<String> = come.into_iter().map(|one| one.topic).collect();
            names.join(" ")
        };
        let image = topic("/a", Image::KIND);
        let found = names(&mut channels, std::slice::from_ref(&image));
        assert_eq!(found, "/a /foxglove/a /a/compressed");
        let mut channels = Channels::new(true);
        let recorded = topic("/a/compressed", CompressedImage::KIND);
        let found = names(&mut channels, &[image, recorded]);
        assert_eq!(found, "/a /a/compressed /foxglove/a");
    }

    /// Returns the reason why viewers refuse a schema, by the rules of Foxglove Studio's and
    /// Lichtblick's parsers: fields of objects are listed, lists hold objects or plain values, and
    /// bytes are no items.
    fn refusal(path: &str, schema: &Value) -> Option<String> {
        if schema["type"] != "object" {
            return Some(format!("{path} is no object"));
        }
        let Some(properties) = schema["properties"].as_object() else {
            return Some(format!("{path} lists no fields"));
        };
        properties.iter().find_map(|(name, field)| {
            let path = format!("{path}.{name}");
            let (kind, encoding) = (&field["type"], &field["contentEncoding"]);
            match kind.as_str().unwrap_or_default() {
                "boolean" | "number" | "integer" => None,
                "string" if encoding.is_null() || encoding == "base64" => None,
                "object" => refusal(&path, field),
                "array" => {
                    let items = &field["items"];
                    match items["type"].as_str().unwrap_or_default() {
                        "boolean" | "number" | "integer" => None,
                        "string" if items["contentEncoding"].is_null() => None,
                        "object" => refusal(&path, items),
                        _ => Some(format!("{path} is a list of {}", items["type"])),
                    }
                }
                _ => Some(format!("{path} is of type {kind}")),
            }
        })
    }

    #[test]
    fn viewers_read_the_schema_of_each_channel_that_they_are_offered() {
        for is_recording in [false, true] {
            let mut channels = Channels::new(is_recording);
            let mut topics: Vec<TopicReport> = messages::kind::KINDS
                .iter()
                .map(|kind| topic(&format!("/{}", kind.name), kind.name))
                .collect();
            topics.push(topic("/own", "own.Kind"));
            channels.set_topics(&topics);
            let offers = channels.offers(false);
            assert!(offers.len() > topics.len());
            for offer in offers {
                assert_eq!(offer.encoding, "json", "{}", offer.topic);
                let schema: Value = serde_json::from_str(&offer.schema).unwrap();
                assert_eq!(refusal(&offer.topic, &schema), None);
            }
        }
    }

    #[test]
    fn what_viewers_cannot_read_is_offered_to_who_asks_for_all() {
        let channels = Channels::new(false);
        let names = |all| -> Vec<String> {
            let offers = channels.offers(all).into_iter();
            offers.map(|one| one.topic).collect()
        };
        let (some, all) = (names(false), names(true));
        assert!(some.iter().all(|one| all.contains(one)));
        let others: Vec<&String> = all.iter().filter(|one| !some.contains(one)).collect();
        assert_eq!(others, ["/phalanx/scene", "/phalanx/poses"]);
    }
}
