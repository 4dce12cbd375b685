//! [`Connection`]: one of the connections of a socket, told apart from all others.
//!
//! libzmq names a connection by its descriptor, which another gets when it is closed. So the inode
//! of its socket is kept as well: what is looked at or cut is that connection, or nothing.

use std::fmt;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers from here stand for connections that were closed before they were looked at; no inode
/// of a socket is so large.
const CLOSED: u64 = 1 << 63;

/// A connection of one of libzmq's sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Connection {
    descriptor: RawFd,
    inode: u64,
}

/// The other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// A host, by tcp.
    Host(SocketAddr),
    /// A process of this machine, by a socket file.
    Process {
        /// The user that it ran as when it connected.
        uid: u32,
        /// Its id as this process sees it; 0 if that is elsewhere.
        pid: u32,
    },
}

impl Connection {
    /// Returns the connection that a message came by; `None` for what libzmq itself says, as of a
    /// subscriber that is gone.
    pub fn of(message: &mut zmq::Message) -> Option<Self> {
        message.gets("__fd")?.parse().ok().map(Self::at)
    }

    /// Returns the connection that has this descriptor now; one that is closed if none has.
    #[must_use]
    pub fn at(descriptor: RawFd) -> Self {
        static GONE: AtomicU64 = AtomicU64::new(CLOSED);
        let found = socket_inode(descriptor);
        let inode = found.unwrap_or_else(|| GONE.fetch_add(1, Ordering::Relaxed));
        Self { descriptor, inode }
    }

    /// Returns its descriptor, which another has once it is closed.
    #[must_use]
    pub fn descriptor(self) -> RawFd {
        self.descriptor
    }

    /// Tells whether it is closed.
    #[must_use]
    pub fn is_closed(self) -> bool {
        socket_inode(self.descriptor) != Some(self.inode)
    }

    /// Returns who is at the other end; `None` if it is closed.
    #[must_use]
    pub fn peer(self) -> Option<Peer> {
        let socket = self.duplicate()?;
        if let Some((uid, pid)) = process_of(&socket) {
            return Some(Peer::Process { uid, pid });
        }
        TcpStream::from(socket).peer_addr().ok().map(Peer::Host)
    }

    /// Ends it: libzmq closes it as one that the other side ended. Tells whether it was there.
    #[must_use = "a connection that is gone cannot be cut"]
    pub fn cut(self) -> bool {
        self.duplicate().is_some_and(|socket| {
            // SAFETY: the descriptor is open as long as its owner lives.
            (unsafe { libc::shutdown(socket.as_raw_fd(), libc::SHUT_RDWR) }) == 0
        })
    }

    /// Returns it under a descriptor of its own, so that it is one and the same throughout.
    fn duplicate(self) -> Option<OwnedFd> {
        if self.descriptor < 0 {
            return None;
        }
        // SAFETY: the descriptor is only given to the system, to be duplicated. If libzmq has
        // closed it, that fails or gives another file, which then has another inode.
        let borrowed = unsafe { BorrowedFd::borrow_raw(self.descriptor) };
        let own = borrowed.try_clone_to_owned().ok()?;
        (socket_inode(own.as_raw_fd()) == Some(self.inode)).then_some(own)
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(address) => address.fmt(formatter),
            Self::Process { uid, pid } => write!(formatter, "pid {pid} of user {uid}"),
        }
    }
}

/// Returns the inode of a socket; `None` if the descriptor is of none.
fn socket_inode(descriptor: RawFd) -> Option<u64> {
    // SAFETY: zeros are a valid `stat`.
    let mut found: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: it looks at a descriptor, whatever that is, and fills a local.
    let result = unsafe { libc::fstat(descriptor, &raw mut found) };
    let is_socket = result == 0 && found.st_mode & libc::S_IFMT == libc::S_IFSOCK;
    is_socket.then_some(found.st_ino)
}

/// Returns the user and the id of the process at the other end of a socket file's connection.
fn process_of(socket: &OwnedFd) -> Option<(u32, u32)> {
    let mut found = libc::ucred {
        pid: 0,
        uid: 0,
        gid: 0,
    };
    let [mut family, size] = [size_of::<libc::c_int>(), size_of::<libc::ucred>()]
        .map(|size| libc::socklen_t::try_from(size).unwrap_or_default());
    let mut domain: libc::c_int = 0;
    let mut length = size;
    // SAFETY: the descriptor is open, and each value and its length are locals of that size.
    let is_found = unsafe {
        let socket = socket.as_raw_fd();
        let option = libc::SO_DOMAIN;
        let value = (&raw mut domain).cast();
        libc::getsockopt(socket, libc::SOL_SOCKET, option, value, &raw mut family) == 0
            && domain == libc::AF_UNIX
            && libc::getsockopt(
                socket,
                libc::SOL_SOCKET,
                libc::SO_PEERCRED,
                (&raw mut found).cast(),
                &raw mut length,
            ) == 0
    };
    is_found.then(|| (found.uid, u32::try_from(found.pid).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::net::TcpListener;
    use std::os::unix::net::UnixStream;

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
        assert!(connections[0].cut());
        while !connections[0].is_closed() {
            std::thread::yield_now();
        }
        other.send("still here", 0).expect("it is sent");
        assert_eq!(&*router.recv_msg(0).expect("a message comes"), b"other");
    }

    #[test]
    fn a_connection_that_got_the_descriptor_of_another_is_left_alone() {
        let (near, far) = UnixStream::pair().expect("a pair of sockets");
        let descriptor = near.as_raw_fd();
        let before = Connection::at(descriptor);
        assert!(!before.is_closed());
        drop((near, far));
        assert!(before.is_closed() || Connection::at(descriptor) != before);
        // Tests beside this one open descriptors too: take the freed one among many.
        let mut pairs = Vec::new();
        for _ in 0..64 {
            pairs.push(UnixStream::pair().expect("a pair of sockets"));
        }
        assert!(before.is_closed() && before.peer().is_none() && !before.cut());
        let mut closed = [Connection::at(-1), Connection::at(-1)];
        closed.sort();
        assert_ne!(closed[0], closed[1]);
        assert!(closed.iter().all(|one| one.is_closed() && !one.cut()));
        for (near, mut far) in pairs {
            let connection = Connection::at(near.as_raw_fd());
            assert!(connection.cut());
            assert_eq!(far.read(&mut [0]).expect("the end"), 0);
        }
    }

    #[test]
    fn the_other_end_is_a_host_or_a_process() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it has an address");
        let _far = TcpStream::connect(address).expect("it listens");
        let (near, peer) = listener.accept().expect("somebody came");
        let connection = Connection::at(near.as_raw_fd());
        assert_eq!(connection.peer(), Some(Peer::Host(peer)));
        assert_eq!(Connection::at(listener.as_raw_fd()).peer(), None);
        let (near, _far) = UnixStream::pair().expect("a pair of sockets");
        // SAFETY: it asks for the user of this process.
        let uid = unsafe { libc::getuid() };
        let pid = std::process::id();
        let peer = Connection::at(near.as_raw_fd()).peer();
        assert_eq!(peer, Some(Peer::Process { uid, pid }));
        let shown = Peer::Process { uid: 7, pid: 9 }.to_string();
        assert_eq!(shown, "pid 9 of user 7");
    }
}
