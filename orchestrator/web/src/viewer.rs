//! One client: its WebSocket, between what it says and what waits for it.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::sync::mpsc::Sender;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Bytes, Message};

use crate::assets::Assets;
use crate::outbox::{Outbox, Outgoing};
use crate::protocol::Agreement;
use crate::protocol::client_to_server::{self, ClientMessage};
use crate::protocol::server_to_client::{self, ServerText};

/// The largest message of a client \[bytes\].
pub const MESSAGE_BYTES_MAX: usize = 4 << 20;
/// Time between two signs of life that a client is asked for.
const PING_TIME: Duration = Duration::from_secs(10);
/// Silence after which a client is taken for gone.
const SILENCE_MAX: Duration = Duration::from_secs(45);
/// Time in which a client must take a message.
const SEND_TIME_MAX: Duration = Duration::from_secs(30);
/// Number of messages that are not understood until a client is cut off.
const MISTAKES_MAX: u32 = 100;

/// Number of a client of this server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ViewerId(pub u64);

/// News of a client.
#[derive(Debug)]
pub enum ViewerNews {
    /// It has come on these terms; what it is told goes here.
    Came(Outbox, Agreement),
    /// It says something.
    Said(ClientMessage),
    /// It is gone.
    Left,
}

/// Way for the news of all clients.
pub type ViewerSender = Sender<(ViewerId, ViewerNews)>;

/// Serves a client until it or the server ends.
pub async fn serve(
    upgraded: Upgraded,
    id: ViewerId,
    agreement: Agreement,
    assets: Assets,
    news: ViewerSender,
) {
    let config = WebSocketConfig::default()
        .read_buffer_size(16 << 10)
        .max_message_size(Some(MESSAGE_BYTES_MAX))
        .max_frame_size(Some(MESSAGE_BYTES_MAX));
    let io = TokioIo::new(upgraded);
    let mut socket = WebSocketStream::from_raw_socket(io, Role::Server, Some(config)).await;
    let outbox = Outbox::default();
    if news
        .send((id, ViewerNews::Came(outbox.clone(), agreement)))
        .await
        .is_ok()
    {
        converse(&mut socket, id, (&outbox, &assets), &news).await;
        let _ = news.send((id, ViewerNews::Left)).await;
    }
}

/// Sends what waits and hands on what comes, until one side ends.
async fn converse(
    socket: &mut WebSocketStream<TokioIo<Upgraded>>,
    id: ViewerId,
    (outbox, assets): (&Outbox, &Assets),
    news: &ViewerSender,
) {
    let mut pings = interval(PING_TIME);
    pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut heard_at = Instant::now();
    let mut mistakes = 0;
    loop {
        let to_send = tokio::select! {
            outgoing = outbox.next() => match outgoing {
                Some(outgoing) => message(outgoing, assets),
                None => return,
            },
            incoming = socket.next() => {
                let Some(Ok(incoming)) = incoming else {
                    return;
                };
                heard_at = Instant::now();
                match read(&incoming) {
                    None => {}
                    Some(Ok(said)) => {
                        let is_heard = news.send((id, ViewerNews::Said(said))).await.is_ok();
                        if !is_heard {
                            return;
                        }
                    }
                    Some(Err(error)) => {
                        mistakes += 1;
                        complain(outbox, &error);
                        if mistakes > MISTAKES_MAX {
                            outbox.close("too many messages are not understood");
                        }
                    }
                }
                continue;
            }
            _ = pings.tick() => {
                if heard_at.elapsed() > SILENCE_MAX {
                    return;
                }
                Message::Ping(Bytes::new())
            }
        };
        let is_end = matches!(to_send, Message::Close(_));
        let sent = timeout(SEND_TIME_MAX, socket.send(to_send)).await;
        if is_end || !matches!(sent, Ok(Ok(()))) {
            return;
        }
    }
}

fn message(outgoing: Outgoing, assets: &Assets) -> Message {
    match outgoing {
        Outgoing::Text(text) => Message::Text(text.into()),
        Outgoing::Binary(bytes) => Message::Binary(bytes),
        Outgoing::Asset { request, name } => {
            let found = assets.find(&name);
            let found = found.as_ref().map(|asset| &*asset.bytes);
            Message::Binary(server_to_client::asset_response(request, found))
        }
        Outgoing::Close(reason) => Message::Close(Some(CloseFrame {
            code: CloseCode::Away,
            reason: reason.into(),
        })),
    }
}

/// Reads what came; `None` for signs of life.
fn read(message: &Message) -> Option<Result<ClientMessage, client_to_server::ReadError>> {
    match message {
        Message::Text(text) => Some(client_to_server::read_text(text)),
        Message::Binary(bytes) => Some(client_to_server::read_binary(bytes)),
        Message::Ping(_) | Message::Pong(_) | Message::Close(_) | Message::Frame(_) => None,
    }
}

fn complain(outbox: &Outbox, error: &client_to_server::ReadError) {
    let message = match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    };
    outbox.text(ServerText::error(message).text());
}
