//! Connections of libzmq by their descriptors, which messages and monitors name.

use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::{BorrowedFd, RawFd};

/// Returns who is at the other end of a tcp connection; `None` if the descriptor is of none.
#[must_use]
pub fn peer_of(descriptor: RawFd) -> Option<SocketAddr> {
    stream(descriptor)?.peer_addr().ok()
}

/// Breaks off a tcp connection if it is still the one with this peer: its descriptor may have gone
/// to another since. libzmq notices as if the peer had gone; tells whether it was there.
#[must_use]
pub fn break_off(descriptor: RawFd, peer: SocketAddr) -> bool {
    let stream = stream(descriptor).filter(|it| it.peer_addr().is_ok_and(|found| found == peer));
    stream.is_some_and(|stream| stream.shutdown(Shutdown::Both).is_ok())
}

/// Returns a connection under a descriptor of its own, so that it is one and the same throughout.
fn stream(descriptor: RawFd) -> Option<TcpStream> {
    if descriptor < 0 {
        return None;
    }
    // SAFETY: the descriptor is only given to the system, to be duplicated. If libzmq has closed
    // it, that fails or gives another file, which is then found to be no such connection.
    let borrowed = unsafe { BorrowedFd::borrow_raw(descriptor) };
    Some(borrowed.try_clone_to_owned().ok()?.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::net::TcpListener;
    use std::os::fd::AsRawFd;

    #[test]
    fn a_connection_is_broken_off_if_it_is_the_one_that_is_meant() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it has an address");
        let mut far = TcpStream::connect(address).expect("it listens");
        let (near, peer) = listener.accept().expect("somebody came");
        let descriptor = near.as_raw_fd();
        assert_eq!(peer_of(descriptor), Some(peer));
        assert!(!break_off(descriptor, address));
        assert!(break_off(descriptor, peer));
        assert_eq!(far.read(&mut [0]).expect("the end"), 0);
        assert_eq!((peer_of(-1), peer_of(listener.as_raw_fd())), (None, None));
    }
}
