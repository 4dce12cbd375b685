//! [`AdmittedKeys`]: the keys that were let in, what they may do now, and all living connections.
//!
//! A handshake says once what a key may do; whether that is still so is looked up here with each
//! message. Whoever is struck off or barred is heard no more, and its connections are cut. Where
//! nothing is encrypted there are connections alone, all of number 0.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::RawFd;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{SystemTime, UNIX_EPOCH};

use protocol::Access;
use protocol::report::{CONNECTIONS_MAX, ClientConnection, Clients, TOPICS_NAMED_MAX};
use zmq_options::{Connection, Peer};

use super::subscribers::Subscribers;
use crate::authorized::{Authorized, Holder};
use crate::keys::PublicKey;
use crate::link::{Client, DisconnectError};

/// Number of admitted clients that are kept until they are reported.
const ADMITTED_MAX: usize = 256;

/// Number of names of keys that are listed for one that there is not.
const NAMES_MAX: usize = 20;

/// The keys that were let in; clones are the same one.
#[derive(Clone, Debug, Default)]
pub(super) struct AdmittedKeys(Arc<Mutex<Entries>>);

#[derive(Debug, Default)]
struct Entries {
    all: Vec<Entry>,
    /// Living connections by descriptor, and some that are closed since.
    connections: BTreeMap<RawFd, Heard>,
    /// List of those who may connect, as it was read last; `None` where nothing is encrypted.
    authorized: Option<Arc<Authorized>>,
    /// Keys that a client had barred.
    barred: BTreeSet<PublicKey>,
    /// Clients that were admitted and are still to be reported.
    admitted: Vec<Client>,
}

/// A key that was let in; its place is its number less one.
#[derive(Debug)]
struct Entry {
    key: PublicKey,
    /// Holder of the key; kept when it is struck off, to name it then.
    holder: Holder,
    is_in: bool,
}

/// A connection by which something was heard.
#[derive(Debug)]
struct Heard {
    connection: Connection,
    /// The number of its key.
    key: u32,
    peer: Peer,
    /// The socket that it is connected to.
    socket: &'static str,
    since: SystemTime,
    requests: u64,
    refused: u64,
}

impl AdmittedKeys {
    /// Makes the list of a primary that lets in who is authorized.
    pub(super) fn of(authorized: Arc<Authorized>) -> Self {
        let entries = Entries {
            authorized: Some(authorized),
            ..Entries::default()
        };
        Self(Arc::new(Mutex::new(entries)))
    }

    /// Tells whether a client had a key barred.
    pub(super) fn is_barred(&self, key: &PublicKey) -> bool {
        self.entries().barred.contains(key)
    }

    /// Tells whether a key of this name is let in; anybody is where nothing is encrypted.
    pub(super) fn is_let_in(&self, name: &str) -> bool {
        let entries = self.entries();
        let mut of_name = entries.all.iter().filter(|entry| entry.holder.name == name);
        entries.authorized.is_none() || of_name.any(|entry| entry.is_in)
    }

    /// Lets a key in and returns its number; `None` when there are too many.
    pub(super) fn admit(&self, key: PublicKey, holder: &Holder) -> Option<u32> {
        let mut entries = self.entries();
        let entries = &mut entries.all;
        let known = entries.iter().position(|entry| entry.key == key);
        let place = known.unwrap_or(entries.len());
        let holder = holder.clone();
        match entries.get_mut(place) {
            Some(known) => (known.holder, known.is_in) = (holder, true),
            None => entries.push(Entry {
                key,
                holder,
                is_in: true,
            }),
        }
        // Number 0 is that of everybody where nothing is encrypted.
        u32::try_from(place + 1).ok()
    }

    /// Notes the connection by which somebody was heard on a socket, and returns what may be done
    /// by it now; `None` if its key is out, or nobody knows it.
    pub(super) fn hear(
        &self,
        number: u32,
        connection: Option<Connection>,
        socket: &'static str,
    ) -> Option<Access> {
        let mut entries = self.entries();
        if let Some(connection) = connection {
            entries.note(number, connection, socket);
        }
        let Some(place) = place(number) else {
            return Some(Access::Full);
        };
        let entry = entries.all.get(place)?;
        if entry.is_in {
            return Some(entry.holder.access);
        }
        entries.cut(number);
        None
    }

    /// Counts a request of a connection.
    pub(super) fn count(&self, connection: Option<Connection>, is_refused: bool) {
        self.with(connection, |heard| {
            heard.requests += 1;
            heard.refused += u64::from(is_refused);
        });
    }

    /// Notes that a request which was counted is refused after all.
    pub(super) fn refuse(&self, connection: Option<Connection>) {
        self.with(connection, |heard| heard.refused += 1);
    }

    /// Says for people why a key is heard no more.
    pub(super) fn why_out(&self, number: u32) -> String {
        let entries = self.entries();
        let Some(entry) = place(number).and_then(|place| entries.all.get(place)) else {
            return "an unknown key".to_owned();
        };
        let name = &entry.holder.name;
        if entries.barred.contains(&entry.key) {
            format!("{name}: a controller disconnected the key")
        } else {
            format!("{name}: the key is not authorized any more")
        }
    }

    /// Forgets the connection that had this descriptor, if it is gone.
    pub(super) fn forget(&self, descriptor: RawFd) {
        let connections = &mut self.entries().connections;
        // Another may have come under its descriptor since.
        if connections
            .get(&descriptor)
            .is_some_and(|heard| heard.connection.is_closed())
        {
            connections.remove(&descriptor);
        }
    }

    /// Takes over who may connect now; returns the names of those who were struck off.
    pub(super) fn update(&self, authorized: &Arc<Authorized>, now: SystemTime) -> Vec<String> {
        let mut entries = self.entries();
        entries.authorized = Some(Arc::clone(authorized));
        // Who takes a key out of the list and puts it back lets it in again.
        entries
            .barred
            .retain(|key| authorized.holder(key).is_some());
        let Entries { all, barred, .. } = &mut *entries;
        let mut struck_off = Vec::new();
        let mut out = Vec::new();
        for (place, entry) in all.iter_mut().enumerate() {
            let holder = authorized.holder(&entry.key);
            let holder = holder.filter(|holder| holder.is_valid(now));
            if let Some(holder) = holder {
                entry.holder.clone_from(holder);
                entry.is_in = !barred.contains(&entry.key);
            } else if entry.is_in {
                entry.is_in = false;
                struck_off.push(entry.holder.name.clone());
                out.extend(u32::try_from(place + 1));
            }
        }
        for number in out {
            entries.cut(number);
        }
        struck_off
    }

    /// Cuts all connections of the keys of a name and bars these keys; returns how many it cut.
    pub(super) fn disconnect(&self, name: &str) -> Result<u64, DisconnectError> {
        let mut entries = self.entries();
        let Some(authorized) = entries.authorized.clone() else {
            return Err(DisconnectError::NoKeys);
        };
        let keys = authorized.named(name);
        if keys.is_empty() {
            let names: BTreeSet<&str> = authorized.names().collect();
            let more = names.len().saturating_sub(NAMES_MAX);
            let mut known: Vec<&str> = names.into_iter().take(NAMES_MAX).collect();
            let others = format!("{more} others");
            known.extend((more > 0).then_some(&*others));
            return Err(DisconnectError::Unknown {
                name: name.chars().take(80).collect(),
                known: known.join(", "),
            });
        }
        let mut holders = keys.iter().filter_map(|key| authorized.holder(key));
        if holders.any(|holder| holder.is_kept) {
            let name = name.to_owned();
            return Err(DisconnectError::Kept { name });
        }
        let mut numbers = Vec::new();
        for (place, entry) in entries.all.iter_mut().enumerate() {
            if keys.contains(&entry.key) {
                entry.is_in = false;
                numbers.extend(u32::try_from(place + 1));
            }
        }
        entries.barred.extend(keys);
        Ok(numbers.into_iter().map(|number| entries.cut(number)).sum())
    }

    /// Returns all living connections, and what each listens to.
    pub(super) fn report(&self, subscribers: &Subscribers) -> Clients {
        let mut entries = self.entries();
        entries
            .connections
            .retain(|_, heard| !heard.connection.is_closed());
        let mut living: Vec<&Heard> = entries.connections.values().collect();
        living.sort_by_key(|heard| (heard.since, heard.connection));
        let told = living.iter().take(CONNECTIONS_MAX);
        let barred = entries.authorized.iter().flat_map(|authorized| {
            let holders = entries.barred.iter().map(|key| authorized.holder(key));
            holders.flatten().map(|holder| holder.name.clone())
        });
        Clients {
            connections: told
                .map(|heard| entries.describe(heard, subscribers))
                .collect(),
            left_out: living.len().saturating_sub(CONNECTIONS_MAX) as u64,
            barred: barred.collect(),
        }
    }

    /// Notes that somebody was let in from an address.
    pub(super) fn note_admitted(&self, number: u32, address: &str) {
        let mut entries = self.entries();
        let entry = place(number).and_then(|place| entries.all.get(place));
        let admitted = entry.map(|entry| entry.client(address.to_owned()));
        if entries.admitted.len() < ADMITTED_MAX {
            entries.admitted.extend(admitted);
        }
    }

    /// Returns who was let in since the last time.
    pub(super) fn take_admitted(&self) -> Vec<Client> {
        std::mem::take(&mut self.entries().admitted)
    }

    /// Returns who is at the other end of a connection.
    pub(super) fn client(&self, number: u32, connection: Option<Connection>) -> Option<Client> {
        let entries = self.entries();
        let entry = entries.all.get(place(number)?)?;
        let heard = connection.and_then(|it| entries.connections.get(&it.descriptor()));
        let heard = heard.filter(|heard| Some(heard.connection) == connection);
        let address = heard.map(|heard| heard.peer.to_string());
        Some(entry.client(address.unwrap_or_default()))
    }

    fn with(&self, connection: Option<Connection>, change: impl FnOnce(&mut Heard)) {
        let Some(connection) = connection else {
            return;
        };
        let mut entries = self.entries();
        let heard = entries.connections.get_mut(&connection.descriptor());
        if let Some(heard) = heard.filter(|heard| heard.connection == connection) {
            change(heard);
        }
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        let entries = self.0.lock();
        entries.expect("nobody panics while holding the admitted_keys")
    }
}

impl Entries {
    /// Notes a connection, unless it is known; one that had its descriptor before is gone.
    fn note(&mut self, key: u32, connection: Connection, socket: &'static str) {
        let known = self.connections.get(&connection.descriptor());
        if known.is_some_and(|known| known.connection == connection) {
            return;
        }
        if let Some(peer) = connection.peer() {
            let heard = Heard {
                connection,
                key,
                peer,
                socket,
                since: SystemTime::now(),
                requests: 0,
                refused: 0,
            };
            self.connections.insert(connection.descriptor(), heard);
        }
    }

    /// Cuts the connections of a key, and returns how many there were.
    fn cut(&mut self, number: u32) -> u64 {
        let of_key = self
            .connections
            .extract_if(.., |_, heard| heard.key == number);
        of_key.filter(|(_, heard)| heard.connection.cut()).count() as u64
    }

    fn describe(&self, heard: &Heard, subscribers: &Subscribers) -> ClientConnection {
        let entry = place(heard.key).and_then(|place| self.all.get(place));
        let (address, process) = match heard.peer {
            Peer::Host(address) => (Some(address.to_string()), None),
            Peer::Process { uid, pid } => (None, Some((uid, pid))),
        };
        let since = heard.since.duration_since(UNIX_EPOCH).unwrap_or_default();
        let topics = subscribers.topics_of(heard.connection);
        let subscriptions = topics.len() as u64;
        let named = topics.into_iter().take(TOPICS_NAMED_MAX);
        ClientConnection {
            key: entry.map(|entry| entry.holder.name.clone()),
            role: entry.map_or(Access::Full, |entry| entry.holder.access),
            socket: heard.socket.to_owned(),
            address,
            uid: process.map(|(uid, _)| uid),
            pid: process.map(|(_, pid)| pid).filter(|pid| *pid > 0),
            since_unix_s: since.as_secs(),
            requests: heard.requests,
            refused: heard.refused,
            subscriptions,
            topics: named
                .map(|topic| String::from_utf8_lossy(topic).into_owned())
                .collect(),
        }
    }
}

impl Entry {
    fn client(&self, address: String) -> Client {
        Client {
            name: self.holder.name.clone(),
            access: self.holder.access,
            address,
            allow: self.holder.allow.clone(),
        }
    }
}

fn place(number: u32) -> Option<usize> {
    usize::try_from(number.checked_sub(1)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::KeyPair;
    use std::io::Read;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    fn key() -> PublicKey {
        KeyPair::generate().unwrap().public()
    }

    /// Connects, and returns both ends.
    fn connection() -> (TcpStream, TcpStream, Connection) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let far = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (near, _) = listener.accept().unwrap();
        let connection = Connection::at(near.as_raw_fd());
        (near, far, connection)
    }

    /// A list of two keys, bob who looks and ann who commands, with a connection each.
    struct Two {
        admitted_keys: AdmittedKeys,
        authorized: Arc<Authorized>,
        keys: [PublicKey; 2],
        numbers: [u32; 2],
        ends: [(TcpStream, TcpStream, Connection); 2],
    }

    impl Two {
        fn new() -> Self {
            let keys = [key(), key()];
            let authorized = Authorized::default()
                .with(keys[0], Access::Observer, "bob")
                .with(keys[1], Access::Controller, "ann");
            let authorized = Arc::new(authorized);
            let admitted_keys = AdmittedKeys::of(Arc::clone(&authorized));
            let ends = [connection(), connection()];
            let numbers = [0, 1].map(|at: usize| {
                let holder = authorized.holder(&keys[at]).unwrap();
                let number = admitted_keys.admit(keys[at], holder).unwrap();
                let access = admitted_keys.hear(number, Some(ends[at].2), "clients");
                assert_eq!(access, Some(holder.access));
                number
            });
            Self {
                admitted_keys,
                authorized,
                keys,
                numbers,
                ends,
            }
        }

        fn names(&self) -> Vec<Option<String>> {
            let clients = self.admitted_keys.report(&Subscribers::default());
            clients.connections.into_iter().map(|one| one.key).collect()
        }
    }

    #[test]
    fn a_disconnected_key_stays_out_until_the_list_admits_it_again() {
        let mut two = Two::new();
        assert_eq!(
            two.names(),
            [Some("bob".to_owned()), Some("ann".to_owned())]
        );
        assert_eq!(two.admitted_keys.disconnect("bob").unwrap(), 1);
        assert_eq!(two.ends[0].1.read(&mut [0]).unwrap(), 0, "bob is cut off");
        assert_eq!(two.names(), [Some("ann".to_owned())]);
        let [bob, ann] = two.numbers;
        let heard = |number| two.admitted_keys.hear(number, None, "clients");
        assert_eq!((heard(bob), heard(ann)), (None, Some(Access::Controller)));
        assert!(
            two.admitted_keys.is_barred(&two.keys[0]) && !two.admitted_keys.is_barred(&two.keys[1])
        );
        assert!(two.admitted_keys.why_out(bob).contains("disconnected"));
        let barred = two.admitted_keys.report(&Subscribers::default()).barred;
        assert_eq!(barred, ["bob"]);
        // The same list again changes nothing, also if others come.
        let more = (*two.authorized)
            .clone()
            .with(key(), Access::Observer, "eve");
        assert!(
            two.admitted_keys
                .update(&Arc::new(more), SystemTime::now())
                .is_empty()
        );
        assert_eq!(heard(bob), None);
        // Without its line it is out anyway, and let in when it comes back.
        let without = Authorized::default().with(two.keys[1], Access::Controller, "ann");
        two.admitted_keys
            .update(&Arc::new(without), SystemTime::now());
        assert_eq!(heard(bob), None);
        two.admitted_keys.update(&two.authorized, SystemTime::now());
        assert_eq!(heard(bob), Some(Access::Observer));
    }

    #[test]
    fn a_key_that_has_not_come_can_be_barred_and_an_unknown_one_is_told() {
        let two = Two::new();
        let more = (*two.authorized)
            .clone()
            .with(key(), Access::Observer, "eve");
        two.admitted_keys.update(&Arc::new(more), SystemTime::now());
        assert_eq!(two.admitted_keys.disconnect("eve").unwrap(), 0);
        let unknown = two
            .admitted_keys
            .disconnect("bobby")
            .unwrap_err()
            .to_string();
        assert!(unknown.contains("ann, bob, eve"), "{unknown}");
        let many = (0..100).fold(Authorized::default(), |all, number| {
            all.with(key(), Access::Observer, &format!("k{number:02}"))
        });
        two.admitted_keys.update(&Arc::new(many), SystemTime::now());
        let unknown = two.admitted_keys.disconnect("bob").unwrap_err().to_string();
        assert!(unknown.contains("k19, 80 others"), "{unknown}");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("authorized");
        let line = format!("controller {} views keep # of the run", two.keys[0]);
        std::fs::write(&path, line).unwrap();
        let kept = Authorized::read(&[path]).unwrap();
        two.admitted_keys.update(&Arc::new(kept), SystemTime::now());
        let refused = two
            .admitted_keys
            .disconnect("views")
            .unwrap_err()
            .to_string();
        assert!(refused.contains("views is kept"), "{refused}");
        let nobody = AdmittedKeys::default().disconnect("bob").unwrap_err();
        assert!(matches!(nobody, DisconnectError::NoKeys));
    }

    #[test]
    fn each_connection_is_told_with_what_it_asked_and_hears() {
        let two = Two::new();
        let bob = two.ends[0].2;
        two.admitted_keys.count(Some(bob), false);
        two.admitted_keys.count(Some(bob), true);
        two.admitted_keys.refuse(Some(bob));
        let mut subscribers = Subscribers::default();
        for number in 0..20 {
            let topic = format!("/t{number:02}");
            subscribers.subscribe(bob, 1, topic.as_bytes(), std::time::Instant::now());
        }
        let [first, _] =
            <[_; 2]>::try_from(two.admitted_keys.report(&subscribers).connections).unwrap();
        let address = two.ends[0].1.local_addr().unwrap().to_string();
        assert_eq!(first.address, Some(address));
        assert_eq!((first.requests, first.refused), (2, 2));
        assert_eq!((first.subscriptions, first.topics.len()), (20, 16));
        assert_eq!(first.topics[0], "/t00");
        assert_eq!((first.role, &*first.socket), (Access::Observer, "clients"));
        // Who is gone is not told any more, whatever has its descriptor.
        drop(two.ends);
        assert!(
            two.admitted_keys
                .report(&subscribers)
                .connections
                .is_empty()
        );
    }

    #[test]
    fn without_keys_processes_are_told_by_their_ids() {
        let (admitted_keys, (near, _far)) = (AdmittedKeys::default(), UnixStream::pair().unwrap());
        let connection = Connection::at(near.as_raw_fd());
        assert_eq!(
            admitted_keys.hear(0, Some(connection), "status"),
            Some(Access::Full)
        );
        let told = admitted_keys.report(&Subscribers::default()).connections;
        let [one] = told.as_slice() else {
            panic!("{told:?}");
        };
        assert_eq!(one.pid, Some(std::process::id()));
        assert_eq!((one.key.as_ref(), one.role), (None, Access::Full));
        assert!(one.uid.is_some() && one.address.is_none());
    }
}
