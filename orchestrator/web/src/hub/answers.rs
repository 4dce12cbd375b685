//! Answers to clients.

use protocol::Command;
use serde_json::{Value, json};

use super::{DescribeError, Described, Drawn, Hub};
use crate::foxglove::SensorPlace;
use crate::outbox::Outbox;
use crate::protocol::client_to_server::{
    ClientMessage, ClientText, Parameter, PlaybackRequest, ServiceCall,
};
use crate::protocol::server_to_client::{
    self, ParameterValue, Playback, ServerText, Service, WireTime,
};
use crate::protocol::{Agreement, Dialect};
use crate::services::{self, Request};
use crate::source::{CallId, Order, Outcome};
use crate::viewer::{ViewerId, ViewerNews};
use crate::viewers::AskError;
use client::recorded::ReplayRequest;

/// Kinds of messages under the names that they have elsewhere.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("geometry_msgs/Twist", "gz.msgs.Twist"),
    ("geometry_msgs/msg/Twist", "gz.msgs.Twist"),
];
/// The kind of message by which robots are driven.
const TWIST: &str = "gz.msgs.Twist";
/// Name of the parameter that says whether time is paused.
const PAUSED: &str = "paused";
/// Name of the parameter with the pace that is asked for.
const PACE: &str = "real_time_factor";

/// Reason why a message of a client is not published.
#[derive(Debug, thiserror::Error)]
enum PublishError {
    /// There is no run.
    #[error("nothing can be published in a recording")]
    Recording,
    /// The channel is none of the client.
    #[error(transparent)]
    Channel(#[from] AskError),
    /// The message is none.
    #[error("{topic}: {problem}")]
    Message {
        topic: String,
        problem: MessageProblem,
    },
}

/// Reason why bytes are no message.
#[derive(Debug, thiserror::Error)]
enum MessageProblem {
    #[error("messages are JSON, not {0:?}")]
    Encoding(String),
    #[error("{0:?} is no kind of message")]
    Kind(String),
    #[error("the message is no JSON: {0}")]
    Json(serde_json::Error),
    #[error("{}", protocol::Chain(.0))]
    Fields(messages::MessageError),
}

/// Whoever waits for the end of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Call {
    /// A call of a service.
    Service {
        viewer: ViewerId,
        service: u32,
        call: u32,
    },
    /// A change of a parameter.
    Parameter {
        viewer: ViewerId,
        id: Option<String>,
    },
    /// A message on a topic.
    Publication { viewer: ViewerId, topic: String },
    /// A request to the player, by name.
    Playback {
        viewer: ViewerId,
        request: String,
        did_seek: bool,
    },
    /// Nobody: a robot is stopped whose driver is gone.
    Halt,
}

impl Hub {
    /// Takes in news of a client.
    pub(super) fn on_viewer(&mut self, id: ViewerId, news: ViewerNews) {
        match news {
            ViewerNews::Came(outbox, agreement) => {
                self.welcome(&outbox, agreement);
                self.viewers.insert(id, outbox, agreement);
                self.give_orders();
            }
            ViewerNews::Said(ClientMessage::Text(text)) => self.on_text(id, text),
            ViewerNews::Said(ClientMessage::Data { channel, payload }) => {
                self.on_data(id, channel, &payload);
            }
            ViewerNews::Said(ClientMessage::Call(call)) => self.on_call(id, &call),
            ViewerNews::Said(ClientMessage::Playback(request)) => self.on_playback(id, &request),
            ViewerNews::Left => self.on_left(id),
        }
    }

    /// Introduces the server and offers all that it has.
    fn welcome(&self, outbox: &Outbox, agreement: Agreement) {
        outbox.text(self.server_info(agreement.dialect).text());
        let channels = self.channels.offers(agreement.hears_all);
        outbox.text(ServerText::Advertise { channels }.text());
        let services = self.services();
        outbox.text(ServerText::AdvertiseServices { services }.text());
    }

    /// Introduces the server in a version of the protocol, of which one alone knows of recordings.
    pub(super) fn server_info(&self, dialect: Dialect) -> ServerText {
        let range = self.state.recording().map(|place| (place.start, place.end));
        let range = range.filter(|_| dialect == Dialect::Sdk);
        let mut capabilities = vec![
            "parameters",
            "parametersSubscribe",
            "time",
            "services",
            "assets",
            "connectionGraph",
        ];
        match (self.is_recording, dialect) {
            (false, _) => capabilities.push("clientPublish"),
            (true, Dialect::Sdk) => capabilities.push("playbackControl"),
            (true, Dialect::WebSocket) => {}
        }
        ServerText::ServerInfo {
            name: self.state.name().to_owned(),
            capabilities,
            supported_encodings: &["json"],
            metadata: json!({
                "phalanx": env!("CARGO_PKG_VERSION"), "protocol": dialect.name(),
            }),
            session_id: self.session.text(),
            data_start_time: range.map(|(start, _)| WireTime::of_ns(start.0)),
            data_end_time: range.map(|(_, end)| WireTime::of_ns(end.0)),
        }
    }

    fn services(&self) -> Vec<Service> {
        services::offers(self.circumstances())
    }

    /// Forgets a client, and stops what it drove.
    fn on_left(&mut self, id: ViewerId) {
        let Some(viewer) = self.viewers.remove(id) else {
            return;
        };
        for topic in viewer.driven {
            let body = messages::encode(&messages::motion::Twist::default());
            let command = Command::Publish {
                topic,
                kind: TWIST.to_owned(),
                body,
            };
            self.send(Call::Halt, command);
        }
        self.give_orders();
    }

    fn on_text(&mut self, id: ViewerId, text: ClientText) {
        let Some(viewer) = self.viewers.get(id) else {
            return;
        };
        match text {
            ClientText::Subscribe { subscriptions } => {
                for subscription in subscriptions {
                    let channel = subscription.channel_id;
                    let content = self.channels.content(channel);
                    let hears_all = viewer.agreement.hears_all;
                    let begun = match content.filter(|one| hears_all || one.is_for_viewers()) {
                        Some(_) => viewer.subscribe(subscription),
                        None => Err(AskError::NoChannel(channel.0)),
                    };
                    if let Err(error) = begun {
                        refuse(&viewer.outbox, error.to_string());
                    }
                }
                if self.is_recording {
                    // What was said last is searched for, so all who come together are waited for.
                    self.orders.has_new_listener = true;
                } else {
                    self.give_orders();
                }
                self.publish_scene();
            }
            ClientText::Unsubscribe { subscription_ids } => {
                for id in subscription_ids {
                    viewer.unsubscribe(id);
                }
                self.give_orders();
            }
            ClientText::Advertise { channels } => {
                for channel in channels {
                    if let Err(error) = viewer.advertise(channel) {
                        refuse(&viewer.outbox, error.to_string());
                    }
                }
            }
            ClientText::Unadvertise { channel_ids } => {
                for id in channel_ids {
                    viewer.unadvertise(id);
                }
            }
            ClientText::GetParameters {
                parameter_names,
                id: request,
            } => self.tell_parameters(id, &parameter_names, request),
            ClientText::SetParameters {
                parameters,
                id: request,
            } => self.set_parameters(id, parameters, request.as_deref()),
            ClientText::SubscribeParameterUpdates { parameter_names } => {
                let followed = known_parameters(&parameter_names).map(str::to_owned);
                viewer.parameters.extend(followed);
            }
            ClientText::UnsubscribeParameterUpdates { parameter_names } => {
                for name in known_parameters(&parameter_names) {
                    viewer.parameters.remove(name);
                }
            }
            ClientText::SubscribeConnectionGraph => {
                viewer.follows_graph = true;
                self.tell_graph();
            }
            ClientText::UnsubscribeConnectionGraph => viewer.follows_graph = false,
            ClientText::FetchAsset { uri, request_id } => {
                // An address is a path, or a path behind any scheme.
                let name = uri.rsplit('/').next().unwrap_or_default();
                viewer.outbox.asset(request_id, name.to_owned());
            }
        }
    }

    /// Publishes a message of a client.
    fn on_data(&mut self, id: ViewerId, channel: u32, payload: &[u8]) {
        match self.publication(id, channel, payload) {
            Ok((topic, command)) => {
                self.send(Call::Publication { viewer: id, topic }, command);
            }
            Err(error) => self.refuse(id, error.to_string()),
        }
    }

    /// Returns the topic and the command that publishes a message of a client.
    fn publication(
        &mut self,
        id: ViewerId,
        channel: u32,
        payload: &[u8],
    ) -> Result<(String, Command), PublishError> {
        if self.is_recording {
            return Err(PublishError::Recording);
        }
        let Some(viewer) = self.viewers.get(id) else {
            return Err(AskError::NoChannel(channel).into());
        };
        let channel = viewer.channel(channel)?.clone();
        let topic = channel.topic;
        let failed = |problem| PublishError::Message {
            topic: topic.clone(),
            problem,
        };
        if channel.encoding != "json" {
            return Err(failed(MessageProblem::Encoding(channel.encoding)));
        }
        let known = self.state.topics().iter().find(|one| one.topic == topic);
        let of_topic = known.map(|one| one.kind.as_str());
        let other = OTHER_NAMES
            .iter()
            .find(|(name, _)| *name == channel.schema_name);
        let named = other.map_or(channel.schema_name.as_str(), |(_, kind)| kind);
        let kind = messages::find(named).or_else(|| messages::find(of_topic?));
        let kind = kind.ok_or_else(|| failed(MessageProblem::Kind(named.to_owned())))?;
        let json = serde_json::from_slice(payload);
        let json = json.map_err(|error| failed(MessageProblem::Json(error)))?;
        let moves = kind.name == TWIST && moves(&json);
        let body = kind.from_json(json);
        let body = body.map_err(|error| failed(MessageProblem::Fields(error)))?;
        if moves {
            viewer.driven.insert(topic.clone());
        } else {
            viewer.driven.remove(&topic);
        }
        let command = Command::Publish {
            topic: topic.clone(),
            kind: kind.name.to_owned(),
            body,
        };
        Ok((topic, command))
    }

    fn on_call(&mut self, id: ViewerId, call: &ServiceCall) {
        let (service, number) = (call.service, call.call);
        let read = services::read(service, &call.encoding, &call.payload, self.circumstances());
        let waits = Call::Service {
            viewer: id,
            service,
            call: number,
        };
        match read {
            Ok(Request::Command(command)) => self.send(waits, *command),
            Ok(Request::Replay(request)) => self.replay(waits, request),
            Ok(Request::Show { subject, name }) => {
                let answer = show(self.details.describe(&subject, &name));
                let answer = answer.to_string();
                let frame = server_to_client::service_response(service, number, answer.as_bytes());
                self.answer(id, |outbox| outbox.binary(frame));
            }
            Err(error) => {
                let failure = ServerText::ServiceCallFailure {
                    service_id: service,
                    call_id: number,
                    message: error.to_string(),
                };
                self.answer(id, |outbox| outbox.text(failure.text()));
            }
        }
    }

    fn on_playback(&mut self, id: ViewerId, request: &PlaybackRequest) {
        let wait = |did_seek| Call::Playback {
            viewer: id,
            request: request.request.clone(),
            did_seek,
        };
        if !self.is_recording {
            return self.refuse(id, "this is a run and no recording".to_owned());
        }
        let dialect = self.viewers.get(id).map(|viewer| viewer.agreement.dialect);
        if dialect == Some(Dialect::WebSocket) {
            let name = Dialect::WebSocket.name();
            return self.refuse(
                id,
                format!("{name} has no control of players: call services"),
            );
        }
        let speed = f64::from(request.speed);
        if speed.is_finite() && speed > 0.0 {
            self.replay(Call::Halt, ReplayRequest::Speed(speed));
        }
        if let Some(time_ns) = request.seek_ns {
            self.replay(Call::Halt, ReplayRequest::Seek(time_ns as f64 / 1e9));
        }
        let playback = if request.plays {
            ReplayRequest::Play
        } else {
            ReplayRequest::Pause
        };
        self.replay(wait(request.seek_ns.is_some()), playback);
    }

    /// Tells a client, and whoever waits, how an order ended.
    pub(super) fn on_done(&mut self, call: CallId, outcome: &Outcome) {
        if outcome.is_forbidden {
            self.state.note_read_only();
        }
        let Some(call) = self.calls.remove(&call) else {
            return;
        };
        match call {
            Call::Service {
                viewer,
                service,
                call,
            } => {
                let answer = json!({
                    "ok": outcome.is_ok, "message": outcome.message,
                    "iteration": outcome.iteration,
                });
                let answer = answer.to_string();
                let frame = server_to_client::service_response(service, call, answer.as_bytes());
                self.answer(viewer, |outbox| outbox.binary(frame));
            }
            Call::Parameter { viewer, id } => {
                if !outcome.is_ok {
                    self.refuse(viewer, outcome.message.clone());
                }
                if id.is_some() {
                    self.tell_parameters(viewer, &[], id);
                }
            }
            Call::Publication { viewer, topic } => {
                if !outcome.is_ok {
                    self.refuse(viewer, format!("{topic}: {}", outcome.message));
                }
            }
            Call::Playback {
                viewer,
                request,
                did_seek,
            } => self.tell_playback(viewer, &request, did_seek),
            Call::Halt => {}
        }
    }

    fn tell_playback(&mut self, viewer: ViewerId, request: &str, did_seek: bool) {
        let Some(place) = self.state.recording() else {
            return;
        };
        let frame = server_to_client::playback_state(&Playback {
            is_playing: place.is_playing,
            is_at_end: place.now >= place.end,
            now_ns: place.now.0,
            speed: place.speed as f32,
            did_seek,
            request,
        });
        self.answer(viewer, |outbox| outbox.binary(frame));
        if did_seek {
            self.draw_anew();
        }
    }

    /// Sends a command to the run.
    fn send(&mut self, call: Call, command: Command) {
        self.order(call, |call| Order::Send {
            call,
            command: Box::new(command),
        });
    }

    /// Changes the playback of the recording.
    fn replay(&mut self, call: Call, request: ReplayRequest) {
        self.order(call, |call| Order::Replay { call, request });
    }

    fn order(&mut self, waits: Call, order: impl FnOnce(CallId) -> Order) {
        let call = CallId(self.orders.next_call);
        self.orders.next_call += 1;
        self.calls.insert(call, waits);
        if self.orders.sender.try_send(order(call)).is_err() {
            let reason = "earlier requests are not done yet: try again";
            self.on_done(call, &Outcome::refused(reason));
        }
    }

    fn set_parameters(&mut self, viewer: ViewerId, parameters: Vec<Parameter>, id: Option<&str>) {
        for Parameter { name, value } in parameters {
            let (service, request) = match (name.as_str(), &value) {
                (PAUSED, Some(Value::Bool(true))) => ("/phalanx/pause", json!({})),
                (PAUSED, Some(Value::Bool(false))) => ("/phalanx/play", json!({})),
                (PACE, Some(Value::Number(_))) => ("/phalanx/pace", json!({ "factor": value })),
                _ => {
                    let reason = format!("{name} is no parameter, or cannot have this value");
                    self.refuse(viewer, reason);
                    continue;
                }
            };
            let call = Call::Parameter {
                viewer,
                id: id.map(str::to_owned),
            };
            match services::read_named(service, &request, self.circumstances()) {
                Ok(Request::Command(command)) => self.send(call, *command),
                Ok(Request::Replay(request)) => self.replay(call, request),
                Ok(Request::Show { .. }) => {}
                Err(error) => self.refuse(viewer, error.to_string()),
            }
        }
    }

    fn tell_parameters(&mut self, viewer: ViewerId, names: &[String], id: Option<String>) {
        let mut parameters = self.parameter_values();
        parameters.retain(|one| names.is_empty() || names.iter().any(|name| name == one.name));
        let text = ServerText::ParameterValues { parameters, id };
        self.answer(viewer, |outbox| outbox.text(text.text()));
    }

    /// Returns the parameters whose values are known.
    pub(super) fn parameter_values(&self) -> Vec<ParameterValue> {
        let paused = self.state.is_paused().map(|paused| (PAUSED, json!(paused)));
        let pace = self.state.pace().map(|pace| (PACE, json!(pace)));
        let known = [paused, pace].into_iter().flatten();
        known
            .map(|(name, value)| ParameterValue { name, value })
            .collect()
    }

    /// Tells those who follow it who publishes and who listens.
    pub(super) fn tell_graph(&self) {
        let followers = self.viewers.iter().filter(|viewer| viewer.follows_graph);
        let mut followers = followers.peekable();
        if followers.peek().is_none() {
            return;
        }
        let topics = self.state.topics();
        let published = topics.iter().filter(|topic| !topic.publishers.is_empty());
        let subscribed = topics.iter().filter(|topic| !topic.subscribers.is_empty());
        let services = self.services().into_iter();
        let update = ServerText::ConnectionGraphUpdate {
            published_topics: published
                .map(|topic| json!({ "name": topic.topic, "publisherIds": topic.publishers }))
                .collect(),
            subscribed_topics: subscribed
                .map(|topic| json!({ "name": topic.topic, "subscriberIds": topic.subscribers }))
                .collect(),
            advertised_services: services
                .map(|service| json!({ "name": service.name, "providerIds": ["phalanx"] }))
                .collect(),
            removed_topics: Vec::new(),
            removed_services: Vec::new(),
        };
        let text = update.text();
        followers.for_each(|viewer| viewer.outbox.text(text.clone()));
    }

    fn refuse(&mut self, id: ViewerId, message: String) {
        self.answer(id, |outbox| refuse(outbox, message));
    }

    fn answer(&mut self, id: ViewerId, answer: impl FnOnce(&Outbox)) {
        if let Some(viewer) = self.viewers.get(id) {
            answer(&viewer.outbox);
        }
    }
}

impl Drawn {
    /// Returns where the sensor is that a message comes from, if the scene knows: by the frame that
    /// the message names, or by its topic, where the world gives the frame another name.
    pub(super) fn sensor_place(&self, frame: Option<&str>, topic: &str) -> Option<&SensorPlace> {
        let by_frame = frame.and_then(|frame| self.sensors.get(frame));
        by_frame.or_else(|| self.sensors.values().find(|place| place.speaks_on(topic)))
    }
}

/// Returns the names of parameters that are meant, of those that there are.
fn known_parameters(names: &[String]) -> impl Iterator<Item = &'static str> {
    let is_meant = |name: &&str| names.is_empty() || names.iter().any(|one| one == name);
    [PAUSED, PACE].into_iter().filter(is_meant)
}

/// Tells whether a message says that a robot moves.
fn moves(twist: &Value) -> bool {
    let parts = [&twist["linear"], &twist["angular"]].into_iter();
    let mut numbers = parts
        .filter_map(Value::as_object)
        .flat_map(|part| part.values());
    numbers.any(|number| number.as_f64().is_some_and(|number| number != 0.0))
}

fn show(described: Result<Described, DescribeError>) -> Value {
    match described {
        Ok(Described { title, lines }) => {
            json!({ "ok": true, "message": title, "title": title, "lines": lines })
        }
        Err(error) => json!({ "ok": false, "message": error.to_string() }),
    }
}

fn refuse(outbox: &Outbox, message: String) {
    outbox.text(ServerText::error(message).text());
}
