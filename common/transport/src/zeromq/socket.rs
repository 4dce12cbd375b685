//! Set-up of every socket of a link before it is bound or connected, and sending by it.

use std::net::IpAddr;
use std::time::Duration;

use protocol::RoutingId;
use protocol::envelope::MESSAGE_BYTES_MAX;

use zmq_options::Flag;

use super::SocketOptions;
use super::curve::Curve;
use crate::link::LinkError;

/// Number of messages that wait for an observer that reads too slowly; further ones are lost to it.
const STATUS_MESSAGES_MAX: i32 = 1_000;

/// Number of steps that wait for one who does not read; further ones are lost to it. Whoever takes
/// part reads them as they come, also while it is busy, or the run waits for it.
const STEP_MESSAGES_MAX: i32 = 20_000;

/// Time for which a closed socket of a primary tries to deliver what it still holds, such as the
/// order to stop: a busy machine has others to serve first. Who takes nothing delays the end.
const LINGER_OF_PRIMARY: Duration = Duration::from_secs(1);

/// The same for a socket that connects to a primary, which takes nothing when it is gone.
const LINGER_OF_PEER: Duration = Duration::from_millis(200);

/// Time that one attempt to connect may take before the next one begins.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Time that a handshake may take: until then a stranger holds a descriptor.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(3);

/// The largest subscription \[bytes\], a topic's name; nothing else comes to a publishing socket.
const SUBSCRIPTION_BYTES_MAX: i64 = 2 << 10;

/// Number of subscriptions of one connection that wait in libzmq for a primary.
const SUBSCRIPTIONS_MAX: i32 = 100;

/// Number of messages of one connection that wait in libzmq for a primary; then it reads no more of
/// it.
const INBOX_MESSAGES_MAX: i32 = 1_000;

/// Number of batches of data that wait in libzmq on each side of a connection; the others wait
/// where their bytes are counted.
const DATA_MESSAGES_MAX: i32 = 16;

/// Number of answers to one client that wait in libzmq; the others wait where their bytes are
/// counted.
const ANSWERS_MAX: i32 = 2;

/// After how many seconds of silence the system asks whether the other host is there, how often,
/// and after how many questions without an answer a connection is closed.
const KEEPALIVE: [i32; 3] = [5, 1, 5];

/// Size of an encrypted frame beyond that of its message, at most \[bytes\].
const CURVE_OVERHEAD_MAX: i64 = 64;

/// Number of messages that may wait in a socket.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Queue {
    /// `control` and `step` of those that connect: any number, since lockstep itself bounds how
    /// much can wait.
    Unbounded,
    /// `data`: few, since nothing is lost there, and who sends keeps the others.
    Data,
    /// `step` of a primary: far more than ever wait for one who takes part.
    Steps,
    /// `control` of a primary: any number to others, so many from each.
    Inbox,
    /// `clients` of a primary: few, the thread that serves them keeps the others.
    Answers,
    /// `status`, `beats` and heartbeats: who reads too slowly loses messages rather than hold
    /// anybody up.
    Bounded,
    /// The same at a primary, where few subscriptions of each connection wait to be counted.
    Published,
}

impl Queue {
    /// Returns how many messages may wait on the way out and in; 0 is any number.
    fn marks(self) -> [i32; 2] {
        match self {
            Self::Unbounded => [0, 0],
            Self::Data => [DATA_MESSAGES_MAX, DATA_MESSAGES_MAX],
            Self::Steps => [STEP_MESSAGES_MAX, 0],
            Self::Inbox => [0, INBOX_MESSAGES_MAX],
            Self::Answers => [ANSWERS_MAX, INBOX_MESSAGES_MAX],
            Self::Bounded => [STATUS_MESSAGES_MAX, STATUS_MESSAGES_MAX],
            Self::Published => [STATUS_MESSAGES_MAX, SUBSCRIPTIONS_MAX],
        }
    }

    /// Returns how long a closed socket tries to deliver what waits.
    fn linger(self) -> Duration {
        match self {
            Self::Unbounded | Self::Data | Self::Bounded => LINGER_OF_PEER,
            Self::Steps | Self::Inbox | Self::Answers | Self::Published => LINGER_OF_PRIMARY,
        }
    }
}

/// Name of a socket in its requests to the `Authenticator`, which decides which peers may enter.
pub(super) type Domain = &'static str;

/// Makes a socket that is ready to be bound or connected to this address, `None` for ipc.
pub(super) fn open(
    context: &zmq::Context,
    kind: zmq::SocketType,
    (domain, queue): (Domain, Queue),
    address: Option<IpAddr>,
    options: &SocketOptions,
) -> zmq::Result<zmq::Socket> {
    let mut socket = context.socket(kind)?;
    let [out, into] = queue.marks();
    socket.set_sndhwm(out)?;
    socket.set_rcvhwm(into)?;
    socket.set_linger(milliseconds(queue.linger()))?;
    let bytes_max = if kind == zmq::XPUB {
        SUBSCRIPTION_BYTES_MAX
    } else {
        i64::try_from(MESSAGE_BYTES_MAX).unwrap_or(i64::MAX)
    };
    socket.set_maxmsgsize(bytes_max + CURVE_OVERHEAD_MAX)?;
    socket.set_handshake_ivl(milliseconds(HANDSHAKE_TIMEOUT))?;
    socket.set_connect_timeout(milliseconds(CONNECT_TIMEOUT))?;
    // libzmq 4.3.5 aborts the process when its own heartbeat is due on a connection that was lost
    // before all that came over it was taken: the system asks after hosts instead.
    let [idle, interval, count] = KEEPALIVE;
    socket.set_tcp_keepalive(1)?;
    socket.set_tcp_keepalive_idle(idle)?;
    socket.set_tcp_keepalive_intvl(interval)?;
    socket.set_tcp_keepalive_cnt(count)?;
    socket.set_ipv6(address.is_some_and(|address| address.is_ipv6()))?;
    if let Some(curve) = options.curve.as_ref().filter(|_| address.is_some()) {
        curve.apply(&socket, domain)?;
        if matches!(curve, Curve::Primary { .. }) {
            zmq_options::set(&mut socket, Flag::RefuseWithoutDoorkeeper)?;
        }
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
        match uninterrupted(|| socket.send(*frame, zmq::DONTWAIT | more)) {
            Ok(()) => {}
            // Only a ROUTER says so, of its first frame: the routing id.
            Err(zmq::Error::EHOSTUNREACH) => {
                return Err(LinkError::Unreachable(RoutingId(frame.to_vec())));
            }
            Err(error) => return Err(not_sent(error)),
        }
    }
    Ok(())
}

/// Repeats a call for as long as signals interrupt it.
pub(super) fn uninterrupted(mut call: impl FnMut() -> zmq::Result<()>) -> zmq::Result<()> {
    loop {
        match call() {
            Err(zmq::Error::EINTR) => {}
            result => return result,
        }
    }
}

/// Returns why a message could not be sent.
pub(super) fn not_sent(error: zmq::Error) -> LinkError {
    match error {
        zmq::Error::EAGAIN => LinkError::Full,
        error => failed(error),
    }
}

/// Wraps libzmq's error.
pub(super) fn failed(error: zmq::Error) -> LinkError {
    LinkError::Transport(Box::new(error))
}

pub(super) fn milliseconds(duration: Duration) -> i32 {
    i32::try_from(duration.as_millis()).unwrap_or(i32::MAX)
}
