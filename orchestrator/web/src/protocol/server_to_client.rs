//! Messages to clients, as they are written.

use bytes::{BufMut, Bytes, BytesMut};
use serde::Serialize;
use serde_json::Value;

use super::{ChannelId, SubscriptionId};

/// First byte of a message on a channel.
const MESSAGE_DATA: u8 = 1;
/// First byte of a time.
const TIME: u8 = 2;
/// First byte of an answer of a service.
const SERVICE_RESPONSE: u8 = 3;
/// First byte of an asset.
const ASSET_RESPONSE: u8 = 4;
/// First byte of the state of the player of a recording.
const PLAYBACK_STATE: u8 = 5;

/// Answer where there is no asset.
const NO_ASSET: &str = "no asset is named so";

/// Number of bytes before the message in a message on a channel.
const DATA_HEADER_BYTES: usize = 1 + 4 + 8;

/// A text to a client.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "op", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ServerText {
    /// Introduces the server; the first message of all.
    ServerInfo {
        /// Name of the run.
        name: String,
        /// Abilities of the server.
        capabilities: Vec<&'static str>,
        /// Encodings that clients may publish in.
        supported_encodings: &'static [&'static str],
        /// Further facts, by name.
        metadata: Value,
        /// Another one for another run.
        session_id: String,
        /// First time of a recording.
        #[serde(skip_serializing_if = "Option::is_none")]
        data_start_time: Option<WireTime>,
        /// Last time of a recording.
        #[serde(skip_serializing_if = "Option::is_none")]
        data_end_time: Option<WireTime>,
    },
    /// Tells people something.
    Status {
        /// 0 information, 1 warning, 2 error.
        level: u8,
        /// The text.
        message: String,
        /// A later status with the same one takes its place.
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<String>,
    },
    /// Takes statuses back.
    RemoveStatus {
        /// Their ids.
        status_ids: Vec<String>,
    },
    /// Offers channels.
    Advertise {
        /// The channels.
        channels: Vec<Channel>,
    },
    /// Withdraws channels.
    Unadvertise {
        /// Their numbers.
        channel_ids: Vec<ChannelId>,
    },
    /// Offers services.
    AdvertiseServices {
        /// The services.
        services: Vec<Service>,
    },
    /// Tells values of parameters.
    ParameterValues {
        /// The parameters.
        parameters: Vec<ParameterValue>,
        /// The one of the question.
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<String>,
    },
    /// Tells who publishes and who listens.
    ConnectionGraphUpdate {
        /// Topics and their publishers.
        published_topics: Vec<Value>,
        /// Topics and their subscribers.
        subscribed_topics: Vec<Value>,
        /// Services and their providers.
        advertised_services: Vec<Value>,
        /// Topics that are gone.
        removed_topics: Vec<String>,
        /// Services that are gone.
        removed_services: Vec<String>,
    },
    /// Refuses a call of a service.
    ServiceCallFailure {
        /// The service.
        service_id: u32,
        /// The client's number for the call.
        call_id: u32,
        /// The reason.
        message: String,
    },
}

/// A channel that the server offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Channel {
    /// Its number.
    pub id: ChannelId,
    /// Its topic.
    pub topic: String,
    /// Encoding of its messages: `json`, or `phalanx` for poses.
    pub encoding: String,
    /// Kind of its messages.
    pub schema_name: String,
    /// Description of messages of that kind.
    pub schema: String,
    /// Language of the description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema_encoding: Option<&'static str>,
}

/// A service that the server offers.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Service {
    /// Its number.
    pub id: u32,
    /// Its name.
    pub name: &'static str,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Form of requests.
    pub request: ServiceSchema,
    /// Form of answers.
    pub response: ServiceSchema,
    /// The schema of requests once more, for viewers that read an older release of the protocol.
    pub request_schema: String,
    /// That of answers.
    pub response_schema: String,
}

/// Form of a request or an answer of a service.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServiceSchema {
    /// `json`
    pub encoding: &'static str,
    /// Its name.
    pub schema_name: String,
    /// `jsonschema`
    pub schema_encoding: &'static str,
    /// The schema.
    pub schema: String,
}

/// A parameter and its value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ParameterValue {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: Value,
}

/// A time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct WireTime {
    /// Whole seconds.
    pub sec: u64,
    /// The rest \[ns\].
    pub nsec: u64,
}

/// State of the player of a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Playback<'a> {
    /// True if it plays.
    pub is_playing: bool,
    /// True if it is at its end.
    pub is_at_end: bool,
    /// Time that is shown \[ns\].
    pub now_ns: u64,
    /// Simulated over real time.
    pub speed: f32,
    /// True if it has jumped.
    pub did_seek: bool,
    /// Name of the request that is answered; empty for none.
    pub request: &'a str,
}

impl ServerText {
    /// Makes a warning.
    pub fn warning(message: String) -> Self {
        Self::Status {
            level: 1,
            message,
            id: None,
        }
    }

    /// Makes the text that tells of an error.
    pub fn error(message: String) -> Self {
        Self::Status {
            level: 2,
            message,
            id: None,
        }
    }

    /// Returns the text.
    ///
    /// # Panics
    /// Never: all keys are texts and all numbers are finite or null.
    pub fn text(&self) -> String {
        serde_json::to_string(self).expect("messages of the server have plain fields")
    }
}

impl WireTime {
    /// Makes a time of nanoseconds.
    pub fn of_ns(time_ns: u64) -> Self {
        Self {
            sec: time_ns / 1_000_000_000,
            nsec: time_ns % 1_000_000_000,
        }
    }
}

/// A message on a channel with room for the subscription that it is for, so that it is encoded
/// once for all clients.
#[derive(Clone, Debug)]
pub struct ChannelMessage {
    /// Simulated time \[ns\].
    pub time_ns: u64,
    /// The message.
    pub payload: Bytes,
}

impl ChannelMessage {
    /// Returns the message for a subscription.
    pub fn frame(&self, subscription: SubscriptionId) -> Bytes {
        let mut frame = BytesMut::with_capacity(DATA_HEADER_BYTES + self.payload.len());
        frame.put_u8(MESSAGE_DATA);
        frame.put_u32_le(subscription.0);
        frame.put_u64_le(self.time_ns);
        frame.put_slice(&self.payload);
        frame.freeze()
    }
}

/// Returns a message that tells the time \[ns\].
pub fn time(time_ns: u64) -> Bytes {
    let mut frame = BytesMut::with_capacity(9);
    frame.put_u8(TIME);
    frame.put_u64_le(time_ns);
    frame.freeze()
}

/// Returns the answer to a call of a service, in JSON.
pub fn service_response(service: u32, call: u32, answer: &[u8]) -> Bytes {
    let mut frame = BytesMut::with_capacity(17 + answer.len());
    frame.put_u8(SERVICE_RESPONSE);
    frame.put_u32_le(service);
    frame.put_u32_le(call);
    frame.put_u32_le(4);
    frame.put_slice(b"json");
    frame.put_slice(answer);
    frame.freeze()
}

/// Returns an asset, or says that there is none.
pub fn asset_response(request: u32, asset: Option<&[u8]>) -> Bytes {
    let (error, data) = match asset {
        Some(data) => ("", data),
        None => (NO_ASSET, &[][..]),
    };
    let mut frame = BytesMut::with_capacity(10 + error.len() + data.len());
    frame.put_u8(ASSET_RESPONSE);
    frame.put_u32_le(request);
    frame.put_u8(u8::from(asset.is_none()));
    frame.put_u32_le(error.len() as u32);
    frame.put_slice(error.as_bytes());
    frame.put_slice(data);
    frame.freeze()
}

/// Returns the state of the player of a recording.
pub fn playback_state(playback: &Playback<'_>) -> Bytes {
    let status = match (playback.is_playing, playback.is_at_end) {
        (true, _) => 0,
        (false, false) => 1,
        (false, true) => 3,
    };
    let mut frame = BytesMut::with_capacity(19 + playback.request.len());
    frame.put_u8(PLAYBACK_STATE);
    frame.put_u8(status);
    frame.put_u64_le(playback.now_ns);
    frame.put_f32_le(playback.speed);
    frame.put_u8(u8::from(playback.did_seek));
    frame.put_u32_le(playback.request.len() as u32);
    frame.put_slice(playback.request.as_bytes());
    frame.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_its_subscription_and_time_before_it() {
        let message = ChannelMessage {
            time_ns: 5,
            payload: Bytes::from_static(b"{}"),
        };
        let frame = message.frame(SubscriptionId(258));
        assert_eq!(&frame[..], b"\x01\x02\x01\0\0\x05\0\0\0\0\0\0\0{}");
    }

    #[test]
    fn texts_have_the_names_of_the_protocol() {
        let text = ServerText::Unadvertise {
            channel_ids: vec![ChannelId(3)],
        };
        assert_eq!(text.text(), r#"{"op":"unadvertise","channelIds":[3]}"#);
        let failure = ServerText::ServiceCallFailure {
            service_id: 1,
            call_id: 2,
            message: "no".to_owned(),
        };
        let expected = r#"{"op":"serviceCallFailure","serviceId":1,"callId":2,"message":"no"}"#;
        assert_eq!(failure.text(), expected);
    }

    #[test]
    fn an_asset_that_is_not_there_is_answered_with_the_reason() {
        let answer = asset_response(9, None);
        assert_eq!(&answer[..10], b"\x04\x09\0\0\0\x01\x14\0\0\0");
        assert_eq!(&answer[10..], NO_ASSET.as_bytes());
    }
}
