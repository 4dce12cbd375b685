//! Messages on channels.

use messages::Message;
use messages::foxglove::CompressedImage;
use messages::sensor::Image;
use protocol::groups::Groups;
use serde_json::{Value, json};

use super::Hub;
use crate::channels::Content;
use crate::compressor::Compressed;
use crate::foxglove;
use crate::outbox::Keep;
use crate::protocol::ChannelId;
use crate::protocol::server_to_client::{self, ChannelMessage, ParameterValue, ServerText};
use crate::run_log::LogEntry;
use crate::source::{Body, Said};

impl Hub {
    /// Returns the number of a channel of which there is one.
    fn channel(&self, content: &Content) -> Option<ChannelId> {
        let mut channels = self.channels.iter();
        channels.find(|(_, one)| *one == content).map(|(id, _)| id)
    }

    fn message(&self, payload: impl Into<bytes::Bytes>) -> ChannelMessage {
        ChannelMessage {
            time_ns: self.state.time_ns(),
            payload: payload.into(),
        }
    }

    /// Tells everybody where everything is, as far as it has changed.
    pub(super) fn publish_poses(&mut self) {
        // Until it is known what there is, nobody is told that there is nothing.
        if self.drawn.shown.is_none() {
            return;
        }
        self.place_actors();
        let changes = self.drawn.poses.take_changes();
        let changes = changes.map(|changes| self.message(changes));
        let time_ns = self.drawn.poses.time_ns;
        let poses = &self.drawn.poses;
        if let Some(id) = self.channel(&Content::Poses) {
            self.viewers
                .publish_changes(id, changes.as_ref(), || ChannelMessage {
                    time_ns,
                    payload: poses.all(),
                });
        }
        let Some(id) = self.channel(&Content::Transforms) else {
            return;
        };
        if self.viewers.want(id) {
            let message = |transforms: Value| ChannelMessage {
                time_ns,
                payload: transforms.to_string().into(),
            };
            let moved = changes.map(|_| {
                let none = std::iter::empty();
                message(foxglove::transforms(poses.changed_frames(), none, time_ns))
            });
            let sensors = &self.drawn.sensors;
            self.viewers.publish_changes(id, moved.as_ref(), || {
                message(foxglove::transforms(
                    poses.frames(),
                    sensors.values(),
                    time_ns,
                ))
            });
        }
    }

    /// Places what goes by a script where it is at the time of the poses.
    fn place_actors(&mut self) {
        let Some(shown) = &self.drawn.shown else {
            return;
        };
        let poses = &mut self.drawn.poses;
        if !self.state.has_performers() {
            // Nothing else says what time it is.
            (poses.time_ns, poses.iteration) = (self.state.time_ns(), self.state.iteration());
        }
        let elapsed_s = self.state.elapsed_s(poses.time_ns);
        for world in &shown.scene.worlds {
            for (model, _, pose) in world.scripted_links(elapsed_s) {
                poses.place_links(&model.name, std::iter::once(pose));
            }
        }
    }

    /// Tells everybody how the run is.
    pub(super) fn publish_run(&mut self) {
        if self.viewers.is_empty() {
            return;
        }
        let time = server_to_client::time(self.state.time_ns());
        self.viewers
            .iter()
            .for_each(|viewer| viewer.outbox.binary(time.clone()));
        self.tell_changed_parameters();
        let Some(id) = self
            .channel(&Content::Run)
            .filter(|id| self.viewers.want(*id))
        else {
            return;
        };
        let is_whole = self.viewers.has_new(id);
        let message = self.state.message(is_whole);
        let message = self.message(message);
        self.viewers.publish(id, &message, Keep::Newest);
    }

    /// Tells what is drawn to all who have not got it.
    pub(super) fn publish_scene(&mut self) {
        let Some(shown) = &self.drawn.shown else {
            return;
        };
        let time_ns = self.state.time_ns();
        let message = |payload: bytes::Bytes| ChannelMessage { time_ns, payload };
        if let Some(id) = self.channel(&Content::Scene) {
            self.viewers
                .publish_to_new(id, Keep::Newest, || message(shown.text()));
        }
        if let Some(id) = self.channel(&Content::SceneUpdate) {
            self.viewers.warn_new(id, &self.drawn.gaps);
            self.viewers.publish_to_new(id, Keep::Newest, || {
                message(foxglove::scene_update(shown, time_ns).to_string().into())
            });
        }
    }

    /// Tells which performers are groups.
    pub(super) fn publish_groups(&mut self, groups: &Groups) {
        let Some(id) = self.channel(&Content::Groups) else {
            return;
        };
        // Viewers read no lists of lists.
        let each = groups.groups.iter();
        let each: Vec<Value> = each.map(|names| json!({ "performers": names })).collect();
        let message = self.message(json!({ "groups": each }).to_string());
        self.viewers.publish(id, &message, Keep::Newest);
    }

    /// Tells what has been logged: all of it to those who have just begun to listen.
    pub(super) fn publish_log(&mut self) {
        let new = self.log.take_new();
        if let Some(id) = self.channel(&Content::Log) {
            let state = &self.state;
            let message = |entry: &LogEntry| {
                let time_ns = entry.time_ns(|iteration| state.time_of(iteration));
                ChannelMessage {
                    time_ns,
                    payload: entry.message(time_ns).to_string().into(),
                }
            };
            self.viewers
                .publish_each(id, &new, || self.log.all(), message);
        }
    }

    /// Hands on a message on a topic.
    pub(super) fn publish_said(&mut self, said: &Said) {
        let heard = self.channels.iter().filter(|(_, content)| match content {
            Content::Topic(topic, kind) | Content::Typed(topic, kind, _) => {
                *topic == said.topic && *kind == said.kind
            }
            Content::Compressed(topic) => *topic == said.topic && said.kind == Image::KIND,
            Content::Scene
            | Content::Poses
            | Content::Run
            | Content::Groups
            | Content::Log
            | Content::SceneUpdate
            | Content::Transforms => false,
        });
        let heard: Vec<(ChannelId, Content)> = heard
            .filter(|(id, _)| self.viewers.want(*id))
            .map(|(id, content)| (id, content.clone()))
            .collect();
        let (compressed, heard): (Vec<_>, Vec<_>) = heard
            .into_iter()
            .partition(|(_, content)| matches!(content, Content::Compressed(_)));
        if !compressed.is_empty() {
            self.compressor.take(said);
        }
        if heard.is_empty() {
            return;
        }
        let Some(value) = value(said) else {
            return;
        };
        for (id, content) in heard {
            let payload = match content {
                Content::Typed(_, _, typed) => {
                    let frame = foxglove::frame_id(&value);
                    let place = self.drawn.sensor_place(frame, &said.topic);
                    let shown = typed.convert(&value, place, said.time_ns);
                    shown.map(|shown| shown.to_string())
                }
                _ if said.kind == CompressedImage::KIND => Some(self.seen_image(&value, said)),
                _ => Some(value.to_string()),
            };
            if let Some(payload) = payload {
                let message = ChannelMessage {
                    time_ns: said.time_ns,
                    payload: payload.into(),
                };
                self.viewers.publish(id, &message, Keep::Each);
            }
        }
    }

    /// Returns an image that is compressed on a topic of its own as it is seen from the sensor.
    fn seen_image(&self, image: &Value, said: &Said) -> String {
        let topic = images::source(&said.topic).unwrap_or(&said.topic);
        let place = self.drawn.sensor_place(image["frame_id"].as_str(), topic);
        let mut image = image.clone();
        if let Some(place) = place {
            image["frame_id"] = json!(place.own_frame);
        }
        image.to_string()
    }

    /// Hands on an image that was compressed.
    pub(super) fn publish_compressed(&mut self, compressed: &Compressed) {
        let content = Content::Compressed(compressed.topic.clone());
        let Some(id) = self.channel(&content) else {
            return;
        };
        let image = &compressed.image;
        let frame = Some(image.frame_id.as_str());
        let place = self.drawn.sensor_place(frame, &compressed.topic);
        let frame = place.map_or(&image.frame_id, |place| &place.own_frame);
        let payload = foxglove::compressed_image(image, frame, compressed.time_ns).to_string();
        let message = ChannelMessage {
            time_ns: compressed.time_ns,
            payload: payload.into(),
        };
        self.viewers.publish(id, &message, Keep::Each);
    }

    /// Tells changed values of parameters to those who follow them.
    fn tell_changed_parameters(&mut self) {
        let now = self.parameter_values();
        let changed = now
            .iter()
            .filter(|one| self.parameters.get(one.name) != Some(&one.value));
        let changed: Vec<ParameterValue> = changed.cloned().collect();
        if changed.is_empty() {
            return;
        }
        for viewer in self.viewers.iter() {
            let followed = changed
                .iter()
                .filter(|one| viewer.parameters.contains(one.name));
            let parameters: Vec<ParameterValue> = followed.cloned().collect();
            if !parameters.is_empty() {
                let text = ServerText::ParameterValues {
                    parameters,
                    id: None,
                };
                viewer.outbox.text(text.text());
            }
        }
        self.parameters = now.into_iter().map(|one| (one.name, one.value)).collect();
    }
}

/// Returns a message in JSON; `None` for one that is not understood.
fn value(said: &Said) -> Option<Value> {
    match &said.body {
        Body::Packed(bytes) => messages::find(&said.kind)?.to_recorded_json(bytes).ok(),
        Body::Json(bytes) => serde_json::from_slice(bytes).ok(),
    }
}
