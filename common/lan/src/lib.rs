//! Runs on a local network, found by mDNS: service `_phalanx._tcp`.
//!
//! A run that is announced tells where its primary is reached, in which partition, and the
//! beginning of its public key. All of that may be a lie: it finds addresses and trusts nobody. Who
//! connects is let in by keys, and knows the primary by its key, whatever was announced.

use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use mdns_sd::{ServiceDaemon, ServiceEvent, ServiceInfo};

/// The type of service.
const SERVICE: &str = "_phalanx._tcp.local.";

/// Names of what is told.
const PARTITION: &str = "partition";
const RUN: &str = "run";
const KEY: &str = "key";
const VERSION: &str = "version";

/// The longest text that is taken from an announcement \[characters\].
const TEXT_MAX: usize = 100;

/// The most runs that are listed, and the most addresses of one that are tried.
const RUNS_MAX: usize = 1000;
const ADDRESSES_MAX: usize = 16;

/// The most addresses that are tried at a look: others are tried at the next one.
const ATTEMPTS_MAX: usize = 32;

/// Time that an address has to take a connection.
const CONNECT_TIME: Duration = Duration::from_millis(500);

/// The longest label of a name of DNS \[bytes\].
const LABEL_MAX: usize = 63;

/// Interval at which a secondary looks whether what it found can be reached.
const LOOK_INTERVAL: Duration = Duration::from_millis(200);

/// Number of characters of a public key that are told.
const FINGERPRINT_CHARS: usize = 16;

/// News of a run: its name, and where it is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// Name of the run.
    pub run: String,
    /// Partition: those who look in another do not see it.
    pub partition: String,
    /// Address of the primary; `None` is every address of this machine.
    pub address: Option<IpAddr>,
    /// Port of the primary.
    pub port: u16,
    /// Public key of the primary, if it has one.
    pub key: Option<String>,
    /// Version of the program.
    pub version: String,
}

/// A run that is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sought<'a> {
    /// Partition of the run.
    pub partition: &'a str,
    /// Name of the run, where there may be several.
    pub run: Option<&'a str>,
    /// Public keys of which its primary has one; `None` if any will do.
    pub keys: Option<&'a [String]>,
}

/// A run that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LanRun {
    /// Name of the run.
    pub run: String,
    /// Name of its machine.
    pub host: String,
    /// Partition.
    pub partition: String,
    /// Addresses of its primary, in order.
    pub addresses: Vec<IpAddr>,
    /// Port of its primary.
    pub port: u16,
    /// Beginning of the public key of its primary; `None` if it has none.
    pub fingerprint: Option<String>,
    /// Version of its program.
    pub version: String,
}

/// Reason why runs are not announced or found.
#[derive(Debug, thiserror::Error)]
pub enum LanError {
    /// The system does not let this process use mDNS.
    #[error("cannot use mDNS on this machine")]
    Mdns(#[from] mdns_sd::Error),
    /// No run of the partition is announced.
    #[error(
        "no {sought} was found within {} s{others}; an address may be given instead",
        .time.as_secs_f64()
    )]
    Nobody {
        /// The run that was looked for, in words.
        sought: String,
        /// Time that was looked for.
        time: Duration,
        /// Runs that were found and do not fit, in words.
        others: String,
    },
    /// Several runs of the partition are announced.
    #[error("there is more than one {sought}: {runs}; the address of one may be given instead")]
    Several {
        /// The run that was looked for, in words.
        sought: String,
        /// Their names and addresses.
        runs: String,
    },
}

/// A run that is announced, until this is dropped.
pub struct Announcer {
    daemon: ServiceDaemon,
    name: String,
}

impl Announcer {
    /// Begins to announce a run.
    ///
    /// # Errors
    /// Fails if the system does not allow it.
    pub fn start(what: &Announcement, host: &str) -> Result<Self, LanError> {
        let daemon = ServiceDaemon::new()?;
        let mut told = vec![
            (RUN, what.run.clone()),
            (PARTITION, what.partition.clone()),
            (VERSION, what.version.clone()),
        ];
        told.extend(what.key.as_deref().map(|key| (KEY, fingerprint(key))));
        let instance = instance(what, host);
        let host = format!("{}.local.", label(host));
        let own: Vec<IpAddr> = what.address.into_iter().collect();
        let info = ServiceInfo::new(SERVICE, &instance, &host, &own[..], what.port, &told[..])?;
        let info = if own.is_empty() {
            info.enable_addr_auto()
        } else {
            info
        };
        let name = info.get_fullname().to_owned();
        daemon.register(info)?;
        Ok(Self { daemon, name })
    }
}

impl Drop for Announcer {
    fn drop(&mut self) {
        // Who cannot be told that it is gone finds out by itself.
        if let Ok(gone) = self.daemon.unregister(&self.name) {
            let _ = gone.recv_timeout(CONNECT_TIME);
        }
        let _ = self.daemon.shutdown();
    }
}

/// Returns the beginning of a public key, by which people and programs tell primaries apart.
pub fn fingerprint(key: &str) -> String {
    key.chars().take(FINGERPRINT_CHARS).collect()
}

/// Lists the runs that are announced, of all partitions, after listening for so long.
///
/// # Errors
/// Fails if the system does not allow it.
pub fn list(time: Duration) -> Result<Vec<LanRun>, LanError> {
    let mut search = Search::start()?;
    search.listen_until(Instant::now() + time);
    Ok(search.runs())
}

/// Finds the address of the only run that is as it should be and can be reached.
///
/// # Errors
/// Fails if there is none within the time given, or there are several.
pub fn find(sought: Sought<'_>, time: Duration) -> Result<SocketAddr, LanError> {
    let end = Instant::now() + time;
    let mut search = Search::start()?;
    let mut first = 0;
    loop {
        let now = Instant::now();
        search.listen_until(end.min(now + LOOK_INTERVAL));
        let found = search.runs();
        let (fitting, others): (Vec<LanRun>, Vec<LanRun>) =
            found.into_iter().partition(|run| run.fits(sought));
        let reached = reachable(&fitting, &mut first, end + CONNECT_TIME);
        match reached.as_slice() {
            [] if now < end => {}
            [] => {
                let others = match others.as_slice() {
                    [] => String::new(),
                    others => format!(" (found: {})", names(others)),
                };
                return Err(LanError::Nobody {
                    sought: sought.to_string(),
                    time,
                    others,
                });
            }
            [(_, address)] => return Ok(*address),
            several => {
                let runs: Vec<LanRun> = several.iter().map(|(run, _)| run.clone()).collect();
                return Err(LanError::Several {
                    sought: sought.to_string(),
                    runs: names(&runs),
                });
            }
        }
    }
}

/// Returns the runs of which an address takes a connection until then, with that address. Of more
/// addresses than are tried at a time, it begins with the one of this number.
fn reachable(runs: &[LanRun], first: &mut usize, until: Instant) -> Vec<(LanRun, SocketAddr)> {
    let of_run = |run: &LanRun| run.addresses.clone().into_iter();
    let all: Vec<(&LanRun, IpAddr)> = runs
        .iter()
        .flat_map(|run| of_run(run).map(move |ip| (run, ip)))
        .collect();
    let begin = if all.len() > ATTEMPTS_MAX { *first } else { 0 };
    let tried = all.iter().cycle().skip(begin).take(all.len());
    let mut reached: Vec<(LanRun, SocketAddr)> = Vec::new();
    for (run, ip) in tried.take(ATTEMPTS_MAX) {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        let address = SocketAddr::new(*ip, run.port);
        if reached.iter().all(|(known, _)| known != *run)
            && TcpStream::connect_timeout(&address, CONNECT_TIME.min(left)).is_ok()
        {
            reached.push(((*run).clone(), address));
        }
    }
    *first = (begin + ATTEMPTS_MAX) % all.len().max(1);
    reached
}

fn names(runs: &[LanRun]) -> String {
    let name = |run: &LanRun| {
        let LanRun {
            run,
            host,
            partition,
            port,
            ..
        } = run;
        format!("{run} on {host}, port {port}, in partition {partition}")
    };
    runs.iter().map(name).collect::<Vec<_>>().join("; ")
}

impl LanRun {
    /// Tells whether it is the one that is looked for.
    fn fits(&self, sought: Sought<'_>) -> bool {
        let is_known = |keys: &[String]| {
            let own = self.fingerprint.as_deref();
            keys.iter().any(|key| own == Some(&fingerprint(key)))
        };
        self.partition == sought.partition
            && sought.run.is_none_or(|run| self.run == run)
            && sought.keys.is_none_or(is_known)
    }
}

impl fmt::Display for Sought<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.run {
            Some(run) => write!(formatter, "run {run} of partition {}", self.partition),
            None => write!(formatter, "run of partition {}", self.partition),
        }
    }
}

/// Listening to announcements.
struct Search {
    daemon: ServiceDaemon,
    events: mdns_sd::Receiver<ServiceEvent>,
    found: BTreeMap<String, LanRun>,
}

impl Search {
    fn start() -> Result<Self, LanError> {
        let daemon = ServiceDaemon::new()?;
        let events = daemon.browse(SERVICE)?;
        Ok(Self {
            daemon,
            events,
            found: BTreeMap::new(),
        })
    }

    fn listen_until(&mut self, end: Instant) {
        while let Ok(event) = self.events.recv_deadline(end) {
            match event {
                ServiceEvent::ServiceResolved(service) => self.note(&service),
                ServiceEvent::ServiceRemoved(_, name) => {
                    self.found.remove(&name);
                }
                _ => {}
            }
        }
    }

    fn note(&mut self, service: &mdns_sd::ResolvedService) {
        let name = &service.fullname;
        if self.found.len() < RUNS_MAX || self.found.contains_key(name) {
            self.found.insert(name.clone(), read(service));
        }
    }

    /// Returns the runs that are known now, by partition and name.
    fn runs(&self) -> Vec<LanRun> {
        let mut runs: Vec<LanRun> = self.found.values().cloned().collect();
        runs.sort_by(|a, b| {
            let key = |run: &LanRun| (run.partition.clone(), run.run.clone(), run.port);
            key(a).cmp(&key(b))
        });
        runs
    }
}

impl Drop for Search {
    fn drop(&mut self) {
        // Its thread ends with the process if it does not hear this.
        let _ = self.daemon.shutdown();
    }
}

/// Reads an announcement, of which nothing is trusted.
fn read(service: &mdns_sd::ResolvedService) -> LanRun {
    let text = |name: &str| plain(service.get_property_val_str(name).unwrap_or_default());
    let mut addresses: Vec<IpAddr> = service
        .get_addresses()
        .iter()
        .map(mdns_sd::ScopedIp::to_ip_addr)
        .filter(|ip| !is_link_local(ip))
        .collect();
    // Loopback is last: it is this machine, whoever said it.
    addresses.sort_by_key(|ip| (ip.is_loopback(), ip.is_ipv6(), *ip));
    addresses.dedup();
    addresses.truncate(ADDRESSES_MAX);
    let host = service.get_hostname().trim_end_matches('.');
    LanRun {
        run: text(RUN),
        host: plain(host.trim_end_matches(".local")),
        partition: text(PARTITION),
        addresses,
        port: service.get_port(),
        fingerprint: Some(text(KEY)).filter(|key| !key.is_empty()),
        version: text(VERSION),
    }
}

/// Tells whether an address means nothing without the interface that it is of.
fn is_link_local(ip: &IpAddr) -> bool {
    match ip {
        IpAddr::V4(_) => false,
        IpAddr::V6(ip) => ip.is_unicast_link_local(),
    }
}

/// Returns a text of somebody unknown, shortened and without what acts on a terminal.
fn plain(text: &str) -> String {
    let shown = text.chars().filter(|c| !c.is_control());
    shown.take(TEXT_MAX).collect()
}

/// Returns the name under which a run is announced, as one label has it: runs of one machine differ
/// in their ports, and the whole name of the run is told apart from this.
fn instance(what: &Announcement, host: &str) -> String {
    let port = format!(" {}", what.port);
    let mut name = format!("{} {}", what.run, label(host));
    name.truncate(name.floor_char_boundary(LABEL_MAX - port.len()));
    name + &port
}

/// Returns a name as one label of a host's name has it.
fn label(name: &str) -> String {
    let first = name.split('.').next().unwrap_or_default();
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let label: String = first.chars().map(plain).take(LABEL_MAX).collect();
    if label.is_empty() {
        "phalanx".to_owned()
    } else {
        label
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(partition: &str, fingerprint: Option<&str>) -> LanRun {
        LanRun {
            run: "r".to_owned(),
            host: "lab".to_owned(),
            partition: partition.to_owned(),
            addresses: Vec::new(),
            port: 1,
            fingerprint: fingerprint.map(str::to_owned),
            version: String::new(),
        }
    }

    #[test]
    fn a_run_fits_by_partition_name_and_key() {
        let key = "0123456789abcdefghij".to_owned();
        let lab = Sought {
            partition: "lab",
            run: None,
            keys: None,
        };
        let keyed = Sought {
            keys: Some(std::slice::from_ref(&key)),
            ..lab
        };
        assert!(run("lab", None).fits(lab));
        assert!(run("lab", Some("0123456789abcdef")).fits(keyed));
        assert!(!run("lab", Some("0123456789abcdee")).fits(keyed));
        assert!(!run("lab", None).fits(keyed));
        assert!(!run("other", Some("0123456789abcdef")).fits(keyed));
        assert!(!run("", None).fits(lab));
        for (name, fits) in [("r", true), ("q", false)] {
            let named = Sought {
                run: Some(name),
                ..lab
            };
            assert_eq!(run("lab", None).fits(named), fits, "{named}");
        }
    }

    #[test]
    fn many_announcements_hold_up_nobody_for_long() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let own = listener.local_addr().unwrap();
        let mut runs = vec![run("lab", None); ATTEMPTS_MAX + 8];
        for (run, number) in runs.iter_mut().zip(1..) {
            // Nobody listens there, on another address of this machine.
            run.addresses = vec![IpAddr::from([127, 0, 1, number])];
        }
        let last = runs.last_mut().unwrap();
        (last.addresses, last.port) = (vec![own.ip()], own.port());
        let last = last.clone();
        let soon = Instant::now() + Duration::from_secs(20);
        let mut first = 0;
        assert_eq!(reachable(&runs, &mut first, soon), []);
        let reached = reachable(&runs, &mut first, soon);
        assert_eq!(reached, [(last.clone(), own)]);
        assert_eq!(reachable(&[last], &mut first, Instant::now()), []);
    }

    #[test]
    fn what_strangers_say_acts_on_no_terminal_and_is_short() {
        assert_eq!(plain("a\u{1b}[31mb\n"), "a[31mb");
        assert_eq!(plain(&"x".repeat(1000)).len(), TEXT_MAX);
    }

    #[test]
    fn a_run_is_announced_under_one_label() {
        let name = |run: &str, host: &str| {
            let what = Announcement {
                run: run.to_owned(),
                partition: "lab".to_owned(),
                address: None,
                port: 54_321,
                key: None,
                version: String::new(),
            };
            instance(&what, host)
        };
        assert_eq!(name("ramp-1", "n1.example.org"), "ramp-1 n1 54321");
        let long = name(&"x".repeat(80), "n1");
        assert_eq!(long, format!("{} 54321", "x".repeat(57)));
        let wide = name(&"ü".repeat(40), "n1");
        assert_eq!(wide, format!("{} 54321", "ü".repeat(28)));
    }

    #[test]
    fn the_name_of_a_machine_is_one_label() {
        assert_eq!(label("node1.example.org"), "node1");
        assert_eq!(label("it's"), "it-s");
        assert_eq!(label(""), "phalanx");
    }
}
