//! [`SocketWaker`]: a byte through a pair of local sockets, which wakes a thread that polls.

use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::link::Waker;

/// The waking side, shared by all threads that may wake.
pub(super) struct SocketWaker {
    socket: UnixStream,
    /// A byte is under way, so that any number of wake-ups costs one.
    pending: AtomicBool,
}

/// The side of the thread that is woken.
pub(super) struct WakeReceiver {
    socket: UnixStream,
    waker: Arc<SocketWaker>,
}

impl Waker for SocketWaker {
    fn wake(&self) {
        if !self.pending.swap(true, Ordering::AcqRel) {
            // One byte always finds room. It fails only when the link is gone, with nobody to wake.
            let _ = (&self.socket).write(&[1]);
        }
    }
}

impl WakeReceiver {
    pub(super) fn new() -> io::Result<Self> {
        let (sending, receiving) = UnixStream::pair()?;
        sending.set_nonblocking(true)?;
        receiving.set_nonblocking(true)?;
        let waker = Arc::new(SocketWaker {
            socket: sending,
            pending: AtomicBool::new(false),
        });
        Ok(Self {
            socket: receiving,
            waker,
        })
    }

    pub(super) fn waker(&self) -> Arc<SocketWaker> {
        Arc::clone(&self.waker)
    }

    pub(super) fn descriptor(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    /// Takes the byte, so that the next wake-up sends another one.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        self.socket.read_exact(&mut [0])?;
        // Acquires what the waking threads wrote before, also of those that sent no byte.
        self.waker.pending.swap(false, Ordering::AcqRel);
        Ok(())
    }
}

/// Wakes a thread for others than those who wake it for reasons of the link itself.
pub(super) struct OutsideWaker {
    waker: Arc<dyn Waker>,
    is_meant: AtomicBool,
}

impl OutsideWaker {
    pub(super) fn new(waker: Arc<dyn Waker>) -> Self {
        Self {
            waker,
            is_meant: AtomicBool::new(false),
        }
    }

    /// Tells whether it has woken since the last time.
    pub(super) fn was_woken(&self) -> bool {
        self.is_meant.swap(false, Ordering::AcqRel)
    }
}

impl Waker for OutsideWaker {
    fn wake(&self) {
        self.is_meant.store(true, Ordering::Release);
        self.waker.wake();
    }
}
