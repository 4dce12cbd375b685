//! Tests of a participant with others, and with one in another process, which can be stopped.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::*;

/// Name of the domain in the environment of the other process.
const DOMAIN: &str = "TEST_ROS_DOMAIN";
/// Time in which everything happens, with much to spare.
const TIMEOUT: Duration = Duration::from_mins(2);
/// Size of a message \[bytes\].
const SIZE: usize = 4 << 20;

struct Deaf;

impl OnArrival for Deaf {
    fn on_arrival(&self) {}
}

fn join(domain: u16, name: &str) -> Participant {
    let domain = Domain {
        id: domain,
        is_local: true,
    };
    Participant::join(&domain, name, Arc::new(Deaf)).unwrap()
}

fn topic() -> Topic<'static> {
    Topic {
        name: "/large",
        type_name: "std_msgs/msg/UInt8MultiArray",
        quality: Quality {
            is_reliable: true,
            is_kept: false,
            depth: 5,
        },
    }
}

/// The other process; killed when dropped.
struct Reader(Child);

impl Reader {
    fn start(domain: u16) -> Self {
        let own = std::env::current_exe().unwrap();
        let mut command = Command::new(own);
        command.args(["--exact", "participant::tests::a_reader_that_takes_all"]);
        command.args(["--ignored", "--nocapture"]);
        command
            .env(DOMAIN, domain.to_string())
            .stdout(Stdio::piped());
        Self(command.spawn().unwrap())
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Waits until something holds.
fn wait_for(what: &str, holds: impl Fn() -> bool) {
    let until = Instant::now() + TIMEOUT;
    while !holds() {
        assert!(Instant::now() < until, "{what} in vain");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn message() -> Vec<u8> {
    let mut cdr = vec![0; SIZE];
    cdr[1] = 1;
    cdr
}

#[test]
#[ignore = "the other process of a test"]
fn a_reader_that_takes_all() {
    let Ok(domain) = std::env::var(DOMAIN) else {
        return;
    };
    let mut participant = join(domain.parse().unwrap(), "/reader");
    let subscription = participant.subscribe_quietly(&topic()).unwrap();
    let mut is_told = false;
    let until = Instant::now() + TIMEOUT;
    loop {
        assert!(is_told || Instant::now() < until, "nothing came");
        while let Some(sample) = subscription.take() {
            // Nobody hears more than that.
            if !std::mem::replace(&mut is_told, true) {
                println!("took {}", sample.cdr.len());
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn readers_that_come_all_at_once_are_counted() {
    const COUNT: usize = 2 * STATUSES_MAX;
    let domain = 1 + ((std::process::id() + 50) % 100) as u16;
    let mut participant = join(domain, "/writer");
    let publication = participant.advertise(&topic()).unwrap();
    // One of its own does not count.
    let own = participant.subscribe_quietly(&topic()).unwrap();
    let readers = (0..COUNT).map(|number| {
        let mut reader = join(domain, &format!("/reader{number}"));
        let subscription = reader.subscribe_quietly(&topic()).unwrap();
        (reader, subscription)
    });
    let mut readers: Vec<_> = readers.collect();
    // Nobody takes what the middleware tells meanwhile.
    let are_known = || participant.domain.discovered_readers().len() >= COUNT;
    wait_for("all readers are known", are_known);
    wait_for("all are counted", || publication.reader_count() == COUNT);
    readers.pop();
    wait_for("one has left", || publication.reader_count() == COUNT - 1);
    drop(own);
}

#[test]
fn bytes_for_a_reader_that_acknowledges_nothing_are_bounded() {
    let domain = 1 + (std::process::id() % 100) as u16;
    let mut participant = join(domain, "/writer");
    let publication = participant.advertise(&topic()).unwrap();
    let mut reader = Reader::start(domain);
    wait_for("a reader is found", || publication.reader_count() > 0);
    publication.publish(message()).unwrap();
    // Read to the end: a reader that cannot say what it takes would end.
    let lines = BufReader::new(reader.0.stdout.take().unwrap()).lines();
    let mut lines = lines.map_while(Result::ok);
    let took = lines.find(|line| line.contains("took"));
    assert!(took.is_some(), "the reader has ended");
    wait_for("it acknowledges", || {
        publication.wait_until_received(Duration::from_millis(10))
    });

    reader.signal(Signal::STOP);
    let most = WINDOW_BYTES / SIZE;
    let mut count = 0;
    let refused = loop {
        match publication.publish(message()) {
            Ok(()) => count += 1,
            Err(error) => break error,
        }
        assert!(count <= most, "{count} messages of {SIZE} bytes wait");
    };
    assert_eq!((count, refused), (most, PublishError::Full));
    reader.signal(Signal::CONT);
    wait_for("there is room again", || {
        publication.publish(message()).is_ok()
    });
    // By an acknowledgement, and not since the reader was given up.
    assert_eq!(publication.reader_count(), 1, "the reader goes on");
    drop(lines);
}
