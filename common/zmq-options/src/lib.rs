//! Options of libzmq 4.3.5 that crate `zmq` leaves out, and the end of a single connection, which
//! libzmq has no function for.

mod connection;

use std::ffi::c_int;

pub use connection::{Connection, Peer};

/// An option that is on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flag {
    /// An XPUB is told of each subscription and of each end of one, also of those that are not the
    /// first or the last on their topic.
    TellEverySubscription,
    /// Nobody enters by CURVE while no thread answers who may.
    RefuseWithoutDoorkeeper,
}

impl Flag {
    /// Returns its number in `zmq.h`.
    fn number(self) -> c_int {
        match self {
            Self::TellEverySubscription => 78,
            Self::RefuseWithoutDoorkeeper => 93,
        }
    }
}

/// Sets an option of a socket that is neither bound nor connected yet.
///
/// # Errors
/// Fails if libzmq refuses, as for an option of another kind of socket.
pub fn set(socket: &mut zmq::Socket, flag: Flag) -> zmq::Result<()> {
    let on: c_int = 1;
    // SAFETY: the socket is open as long as it is borrowed, and the value is an `int` that lives
    // during the call.
    let result = unsafe {
        zmq_sys::zmq_setsockopt(
            socket.as_mut_ptr(),
            flag.number(),
            std::ptr::from_ref(&on).cast(),
            size_of::<c_int>(),
        )
    };
    if result == 0 {
        Ok(())
    } else {
        // SAFETY: it reads the number of this thread's last error.
        Err(zmq::Error::from_raw(unsafe { zmq_sys::zmq_errno() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_for_its_kind_of_socket() {
        let context = zmq::Context::new();
        let mut publisher = context.socket(zmq::XPUB).expect("a socket");
        assert_eq!(set(&mut publisher, Flag::TellEverySubscription), Ok(()));
        assert_eq!(set(&mut publisher, Flag::RefuseWithoutDoorkeeper), Ok(()));
        let mut router = context.socket(zmq::ROUTER).expect("a socket");
        let refused = set(&mut router, Flag::TellEverySubscription);
        assert_eq!(refused, Err(zmq::Error::EINVAL));
    }
}
