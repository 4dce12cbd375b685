//! Messages of clients, as they are read: [`ClientMessage`].

use serde::Deserialize;
use serde_json::Value;

use super::{ChannelId, SubscriptionId};

/// First byte of a message on a channel of a client.
const MESSAGE_DATA: u8 = 1;
/// First byte of a call of a service.
const SERVICE_CALL: u8 = 2;
/// First byte of a request to the player of a recording.
const PLAYBACK_CONTROL: u8 = 3;

/// The longest name of an encoding or of a request \[bytes\].
const WORD_BYTES_MAX: usize = 256;

/// Something that a client says.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientMessage {
    /// A text.
    Text(ClientText),
    /// A message on one of its channels.
    Data {
        /// Its own number for the channel.
        channel: u32,
        /// The message, encoded as the channel says.
        payload: Vec<u8>,
    },
    /// A call of a service.
    Call(ServiceCall),
    /// A request to the player of a recording.
    Playback(PlaybackRequest),
}

/// A call of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceCall {
    /// The service's number.
    pub service: u32,
    /// The client's own number for the call.
    pub call: u32,
    /// Encoding of the request, such as `json`.
    pub encoding: String,
    /// The request.
    pub payload: Vec<u8>,
}

/// A request to the player of a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct PlaybackRequest {
    /// True to play, false to stand still.
    pub plays: bool,
    /// Simulated over real time.
    pub speed: f32,
    /// Time to go to before \[ns\].
    pub seek_ns: Option<u64>,
    /// The client's name for the request, which the answer repeats.
    pub request: String,
}

/// A text of a client.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "op", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum ClientText {
    /// Begins to listen.
    Subscribe {
        /// Subscriptions to add.
        subscriptions: Vec<Subscription>,
    },
    /// Ceases to listen.
    Unsubscribe {
        /// Subscriptions to end.
        subscription_ids: Vec<SubscriptionId>,
    },
    /// Offers channels, to publish on them.
    Advertise {
        /// The channels.
        channels: Vec<ClientChannel>,
    },
    /// Closes channels of its own.
    Unadvertise {
        /// Their numbers.
        channel_ids: Vec<u32>,
    },
    /// Asks for parameters.
    GetParameters {
        /// Their names; none are all.
        parameter_names: Vec<String>,
        /// Repeated in the answer.
        #[serde(default)]
        id: Option<String>,
    },
    /// Sets parameters.
    SetParameters {
        /// Parameters with their values.
        parameters: Vec<Parameter>,
        /// Asks for an answer, which repeats it.
        #[serde(default)]
        id: Option<String>,
    },
    /// Asks to be told of changes.
    SubscribeParameterUpdates {
        /// Names of parameters; none are all.
        parameter_names: Vec<String>,
    },
    /// Asks not to be told of changes any more.
    UnsubscribeParameterUpdates {
        /// Names of parameters; none are all.
        parameter_names: Vec<String>,
    },
    /// Asks to be told who publishes and who listens.
    SubscribeConnectionGraph,
    /// Asks not to be told that any more.
    UnsubscribeConnectionGraph,
    /// Asks for a mesh or texture.
    FetchAsset {
        /// Its address.
        uri: String,
        /// Repeated in the answer.
        request_id: u32,
    },
}

/// A subscription to a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Subscription {
    /// The client's own number for it.
    pub id: SubscriptionId,
    /// The channel.
    pub channel_id: ChannelId,
}

/// A channel of a client.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClientChannel {
    /// Its own number for it.
    pub id: u32,
    /// The topic.
    pub topic: String,
    /// Encoding of messages, such as `json`.
    pub encoding: String,
    /// Kind of messages, such as `gz.msgs.Twist`.
    #[serde(default)]
    pub schema_name: String,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its value; none asks to delete it.
    #[serde(default)]
    pub value: Option<Value>,
}

/// Reason why a message of a client is not understood.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A text is no message of the protocol.
    #[error("the text is no message of the protocol")]
    Text(#[source] serde_json::Error),
    /// A binary message begins with a byte that stands for nothing.
    #[error("no binary message begins with byte {0}")]
    Kind(u8),
    /// A binary message ends before its end.
    #[error("a binary message ends too early")]
    Short,
    /// A word in a binary message is too long, or no text.
    #[error("a word in a binary message is too long, or no text")]
    Word,
}

/// Reads a text of a client.
///
/// # Errors
/// Fails if it is no message of the protocol.
pub fn read_text(text: &str) -> Result<ClientMessage, ReadError> {
    let text = serde_json::from_str(text).map_err(ReadError::Text)?;
    Ok(ClientMessage::Text(text))
}

/// Reads a binary message of a client.
///
/// # Errors
/// Fails if it is no message of the protocol.
pub fn read_binary(bytes: &[u8]) -> Result<ClientMessage, ReadError> {
    let mut rest = Rest(bytes);
    let [kind] = rest.array()?;
    match kind {
        MESSAGE_DATA => Ok(ClientMessage::Data {
            channel: rest.number()?,
            payload: rest.0.to_vec(),
        }),
        SERVICE_CALL => Ok(ClientMessage::Call(ServiceCall {
            service: rest.number()?,
            call: rest.number()?,
            encoding: rest.word()?,
            payload: rest.0.to_vec(),
        })),
        PLAYBACK_CONTROL => {
            let [command] = rest.array()?;
            let speed = f32::from_le_bytes(rest.array()?);
            let [seeks] = rest.array()?;
            let time_ns = u64::from_le_bytes(rest.array()?);
            Ok(ClientMessage::Playback(PlaybackRequest {
                plays: command == 0,
                speed,
                seek_ns: (seeks != 0).then_some(time_ns),
                request: rest.word()?,
            }))
        }
        other => Err(ReadError::Kind(other)),
    }
}

/// The part of a message that is not read yet.
struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], ReadError> {
        let (head, rest) = self.0.split_first_chunk().ok_or(ReadError::Short)?;
        self.0 = rest;
        Ok(*head)
    }

    fn number(&mut self) -> Result<u32, ReadError> {
        self.array().map(u32::from_le_bytes)
    }

    fn word(&mut self) -> Result<String, ReadError> {
        let length = self.number()? as usize;
        if length > WORD_BYTES_MAX {
            return Err(ReadError::Word);
        }
        let (word, rest) = self.0.split_at_checked(length).ok_or(ReadError::Short)?;
        self.0 = rest;
        String::from_utf8(word.to_vec()).map_err(|_| ReadError::Word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_the_protocol_are_read() {
        let read = |text: &str| match read_text(text).unwrap() {
            ClientMessage::Text(text) => text,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            read(r#"{"op":"subscribe","subscriptions":[{"id":7,"channelId":2}]}"#),
            ClientText::Subscribe {
                subscriptions: vec![Subscription {
                    id: SubscriptionId(7),
                    channel_id: ChannelId(2),
                }],
            }
        );
        let graph = read(r#"{"op":"subscribeConnectionGraph"}"#);
        assert_eq!(graph, ClientText::SubscribeConnectionGraph);
        for wrong in ["", "[]", r#"{"op":"fly"}"#, r#"{"op":"subscribe"}"#] {
            assert!(read_text(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn binary_messages_that_end_early_or_lie_about_lengths_are_refused() {
        let mut call = vec![SERVICE_CALL];
        call.extend([3_u32, 4, 4].map(u32::to_le_bytes).concat());
        call.extend(b"json{}");
        let whole = read_binary(&call).unwrap();
        assert_eq!(
            whole,
            ClientMessage::Call(ServiceCall {
                service: 3,
                call: 4,
                encoding: "json".to_owned(),
                payload: b"{}".to_vec(),
            })
        );
        for end in 0..17 {
            assert!(read_binary(&call[..end]).is_err(), "{end}");
        }
        call[9..13].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(matches!(read_binary(&call), Err(ReadError::Word)));
        assert!(matches!(read_binary(&[9, 0]), Err(ReadError::Kind(9))));
    }
}
