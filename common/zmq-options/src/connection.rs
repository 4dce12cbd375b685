//! [`Connection`]: one of the connections of a socket, told apart by its descriptor.

use std::os::fd::RawFd;

/// A connection of one of libzmq's sockets, by the property that its messages have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Connection(RawFd);

impl Connection {
    /// Returns the connection that a message came by; `None` for what libzmq itself says, as of a
    /// subscriber that is gone.
    pub fn of(message: &mut zmq::Message) -> Option<Self> {
        message.gets("__fd")?.parse().ok().map(Self)
    }

    /// Tells whether it is closed. Another may have its descriptor by then, which looks open.
    #[must_use]
    pub fn is_closed(self) -> bool {
        // SAFETY: it looks at a descriptor, whatever that is.
        (unsafe { libc::fcntl(self.0, libc::F_GETFD) }) < 0
    }

    /// Ends it: libzmq closes it as one that the other side ended. Right after a message came by
    /// it, or in the rare case that it has closed since, another that got its descriptor ends.
    pub fn cut(self) {
        // SAFETY: what is no socket is refused by the system.
        unsafe { libc::shutdown(self.0, libc::SHUT_RDWR) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_is_known_by_its_messages_and_ends_alone() {
        let context = zmq::Context::new();
        let router = context.socket(zmq::ROUTER).expect("a socket");
        router.bind("tcp://127.0.0.1:0").expect("a port");
        let place = router.get_last_endpoint().expect("it is bound");
        let place = place.expect("it is text");
        let [one, other] = ["one", "other"].map(|name| {
            let dealer = context.socket(zmq::DEALER).expect("a socket");
            dealer.set_identity(name.as_bytes()).expect("it is short");
            dealer.set_linger(0).expect("it is a number");
            // What was cut is not to come back.
            dealer.set_reconnect_ivl(-1).expect("it is a number");
            dealer.connect(&place).expect("it is there");
            dealer
        });
        let mut connections = Vec::new();
        for (dealer, name) in [(&one, "one"), (&other, "other")] {
            dealer.send("hello", 0).expect("it is sent");
            let from = router.recv_msg(0).expect("a message comes");
            assert_eq!(&*from, name.as_bytes());
            let mut text = router.recv_msg(0).expect("its second frame");
            connections.extend(Connection::of(&mut text));
        }
        assert_ne!(connections[0], connections[1]);
        assert!(!connections[0].is_closed());
        connections[0].cut();
        while !connections[0].is_closed() {
            std::thread::yield_now();
        }
        other.send("still here", 0).expect("it is sent");
        assert_eq!(&*router.recv_msg(0).expect("a message comes"), b"other");
    }
}
