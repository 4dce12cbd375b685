//! [`wait`]: sleeps until one of several file descriptors can be read, to the microsecond.
//!
//! `zmq_poll` counts in milliseconds, which are whole iterations of a lockstep; this asks the
//! system itself. A descriptor from `ZMQ_FD` says only that its socket should be looked at.

use std::io;
use std::os::fd::RawFd;
use std::ptr;
use std::time::Duration;

/// A file descriptor to wait for, and what the last [`wait`] found.
#[repr(transparent)]
pub struct Watch(libc::pollfd);

impl Watch {
    /// Makes a watch on a descriptor, not ready yet.
    #[must_use]
    pub fn new(descriptor: RawFd) -> Self {
        Self(libc::pollfd {
            fd: descriptor,
            events: libc::POLLIN,
            revents: 0,
        })
    }

    /// Tells whether the last [`wait`] found something to read, an end or an error.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.0.revents != 0
    }
}

/// Waits until a descriptor is ready, at most so long (`None`: for ever); tells whether one is.
///
/// # Errors
/// Fails if a signal interrupts it ([`io::ErrorKind::Interrupted`]), or the system has no memory.
pub fn wait(watches: &mut [Watch], timeout: Option<Duration>) -> io::Result<bool> {
    let timeout = timeout.map(|timeout| libc::timespec {
        tv_sec: libc::time_t::try_from(timeout.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: libc::c_long::from(timeout.subsec_nanos().cast_signed()),
    });
    let timeout = timeout.as_ref().map_or(ptr::null(), ptr::from_ref);
    let count = libc::nfds_t::try_from(watches.len()).map_err(io::Error::other)?;
    // SAFETY: a slice of `Watch` is one of `pollfd`, alive and ours during the call; the timeout
    // is null or points to a local; no signal mask is given.
    let ready = unsafe { libc::ppoll(watches.as_mut_ptr().cast(), count, timeout, ptr::null()) };
    if ready < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(ready > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;
    use std::time::Instant;

    #[test]
    fn only_the_descriptor_that_can_be_read_is_ready() {
        let (mut near, far) = UnixStream::pair().expect("a pair of sockets");
        let mut watches = [Watch::new(near.as_raw_fd()), Watch::new(far.as_raw_fd())];
        assert!(!wait(&mut watches, Some(Duration::ZERO)).expect("a look"));
        near.write_all(b"x").expect("room for a byte");
        assert!(wait(&mut watches, None).expect("a wait"));
        assert!(!watches[0].is_ready());
        assert!(watches[1].is_ready());
    }

    #[test]
    fn a_wait_of_microseconds_is_neither_none_nor_milliseconds() {
        // On a busy machine most waits are longer; one that is not shows what was asked for.
        let is_short = (0..2_000).any(|_| {
            let start = Instant::now();
            assert!(!wait(&mut [], Some(Duration::from_micros(200))).expect("a wait"));
            let waited = start.elapsed();
            assert!(waited >= Duration::from_micros(200), "{waited:?}");
            waited < Duration::from_millis(1)
        });
        assert!(is_short, "each of many waits takes milliseconds");
    }
}
