//! A cable between two network interfaces that takes its time and loses packets.
//!
//! Kernels without `netem` know no such queue: the interfaces are TUN devices, and this process is
//! what is between them. The packets, their protocols and what these do about losses are real.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use tun_rs::{DeviceBuilder, SyncDevice};

use crate::cluster::random::Random;
use crate::processes::let_pass;

/// The largest packet of an interface \[bytes\].
const PACKET_BYTES_MAX: usize = 1500;

/// Time for which packets wait at most before a narrow cable; others are lost.
const QUEUE_MAX: Duration = Duration::from_millis(200);

/// Delay, width and loss of packets in a cable.
#[derive(Clone, Copy, Debug)]
pub struct Impairment {
    /// Time that each takes, in each direction.
    pub delay: Duration,
    /// Number of bytes that it takes in a second, in each direction; `None` is any.
    pub bytes_per_s: Option<u32>,
    /// Number of packets in 1,000 that are lost.
    pub loss_permille: u64,
    /// Seed that the lost packets are drawn from.
    pub seed: u64,
}

/// Number of packets that a cable has taken and lost, in both directions.
#[derive(Debug, Default)]
pub struct PacketCounts {
    taken: AtomicU64,
    lost: AtomicU64,
}

impl PacketCounts {
    /// Returns the number of packets that entered the cable.
    pub fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Returns the number of packets that did not come out.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

/// Makes two interfaces with a cable between them, which lasts until the interfaces are removed.
///
/// # Errors
/// Fails if the system makes no such interfaces for this user.
pub fn connect(interfaces: &[String; 2], how: Impairment) -> io::Result<Arc<PacketCounts>> {
    let make = |name: &String| {
        let device = DeviceBuilder::new().name(name).mtu(PACKET_BYTES_MAX as u16);
        device.enable(false).build_sync().map(Arc::new)
    };
    let [near, far] = interfaces;
    let ends = [make(near)?, make(far)?];
    let counts = Arc::new(PacketCounts::default());
    for (from, to) in [(0, 1), (1, 0)] {
        let (sender, receiver) = mpsc::channel();
        let (source, target) = (Arc::clone(&ends[from]), Arc::clone(&ends[to]));
        let counts = Arc::clone(&counts);
        let mut random = Random::new(how.seed + from as u64);
        std::thread::spawn(move || {
            let mut buffer = [0; PACKET_BYTES_MAX];
            let mut free_at = Instant::now();
            while let Ok(length) = source.recv(&mut buffer) {
                counts.taken.fetch_add(1, Ordering::Relaxed);
                let now = Instant::now();
                let is_full = free_at > now + QUEUE_MAX;
                if is_full || random.chance(how.loss_permille) {
                    counts.lost.fetch_add(1, Ordering::Relaxed);
                    continue;
                }
                if let Some(bytes_per_s) = how.bytes_per_s {
                    let seconds = length as f64 / f64::from(bytes_per_s);
                    free_at = free_at.max(now) + Duration::from_secs_f64(seconds);
                }
                let packet = (free_at.max(now) + how.delay, buffer[..length].to_vec());
                if sender.send(packet).is_err() {
                    break;
                }
            }
        });
        std::thread::spawn(move || deliver(&receiver, &target));
    }
    Ok(counts)
}

/// Hands packets over when they are due, until there is nobody on one of the sides.
fn deliver(packets: &mpsc::Receiver<(Instant, Vec<u8>)>, target: &SyncDevice) {
    for (due, packet) in packets {
        let_pass(due.saturating_duration_since(Instant::now()));
        // An interface that is down takes no packet: it is lost as on any cable.
        let _ = target.send(&packet);
    }
}
