//! How every socket of a link is set up, before it is bound or connected, and how it sends.

use std::net::IpAddr;
use std::time::Duration;

use protocol::RoutingId;
use protocol::envelope::MESSAGE_BYTES_MAX;

use super::SocketOptions;
use crate::link::LinkError;

/// How many messages wait for an observer that reads too slowly; further ones are lost to it.
const STATUS_MESSAGES_MAX: i32 = 1_000;

/// How long a closed socket tries to deliver what it still holds, such as the order to stop.
const LINGER: Duration = Duration::from_millis(200);

/// How long one attempt to connect may take before the next one begins.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// How long a handshake may take.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// The largest subscription \[bytes\]; nothing else comes to a publishing socket.
const SUBSCRIPTION_BYTES_MAX: i64 = 64 << 10;

/// How much larger than its message an encrypted frame may be \[bytes\].
const CURVE_OVERHEAD_MAX: i64 = 64;

/// Whether a socket may lose messages.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Queue {
    /// `step`, `control` and `data`: never; lockstep itself bounds how much can wait.
    Unbounded,
    /// `status`: rather than hold anybody up.
    Bounded,
}

/// What a socket is called where it asks who may enter.
pub(super) type Domain = &'static str;

/// Makes a socket that is ready to be bound or connected to this address, `None` for ipc.
pub(super) fn open(
    context: &zmq::Context,
    kind: zmq::SocketType,
    (domain, queue): (Domain, Queue),
    address: Option<IpAddr>,
    options: &SocketOptions,
) -> zmq::Result<zmq::Socket> {
    let socket = context.socket(kind)?;
    let messages_max = match queue {
        Queue::Unbounded => 0,
        Queue::Bounded => STATUS_MESSAGES_MAX,
    };
    socket.set_sndhwm(messages_max)?;
    socket.set_rcvhwm(messages_max)?;
    socket.set_linger(milliseconds(LINGER))?;
    let bytes_max = if kind == zmq::XPUB {
        SUBSCRIPTION_BYTES_MAX
    } else {
        i64::try_from(MESSAGE_BYTES_MAX).unwrap_or(i64::MAX)
    };
    socket.set_maxmsgsize(bytes_max + CURVE_OVERHEAD_MAX)?;
    socket.set_handshake_ivl(milliseconds(HANDSHAKE_TIMEOUT))?;
    socket.set_connect_timeout(milliseconds(CONNECT_TIMEOUT))?;
    socket.set_heartbeat_ivl(milliseconds(options.heartbeat_interval))?;
    socket.set_heartbeat_timeout(milliseconds(options.heartbeat_timeout))?;
    socket.set_heartbeat_ttl(milliseconds(options.heartbeat_timeout))?;
    socket.set_ipv6(address.is_some_and(|address| address.is_ipv6()))?;
    if let Some(curve) = options.curve.as_ref().filter(|_| address.is_some()) {
        curve.apply(&socket, domain)?;
    }
    Ok(socket)
}

/// Sends frames as one message, without ever waiting.
pub(super) fn send(socket: &zmq::Socket, frames: &[&[u8]]) -> Result<(), LinkError> {
    if let Some(frame) = frames.iter().find(|frame| frame.len() > MESSAGE_BYTES_MAX) {
        // The receiver would drop the connection over it.
        let error = format!(
            "message of {} bytes is larger than {MESSAGE_BYTES_MAX}",
            frame.len()
        );
        return Err(LinkError::Transport(error.into()));
    }
    for (index, frame) in frames.iter().enumerate() {
        let more = if index + 1 < frames.len() {
            zmq::SNDMORE
        } else {
            0
        };
        loop {
            match socket.send(*frame, zmq::DONTWAIT | more) {
                Ok(()) => break,
                Err(zmq::Error::EINTR) => {}
                Err(zmq::Error::EAGAIN) => return Err(LinkError::Full),
                // Only a ROUTER says so, of its first frame: the routing id.
                Err(zmq::Error::EHOSTUNREACH) => {
                    return Err(LinkError::Unreachable(RoutingId(frame.to_vec())));
                }
                Err(error) => return Err(failed(error)),
            }
        }
    }
    Ok(())
}

/// Wraps libzmq's error.
pub(super) fn failed(error: zmq::Error) -> LinkError {
    LinkError::Transport(Box::new(error))
}

fn milliseconds(duration: Duration) -> i32 {
    i32::try_from(duration.as_millis()).unwrap_or(i32::MAX)
}
