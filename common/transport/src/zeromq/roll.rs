//! [`Roll`]: the keys that were let in, what they may do now, and their living connections.
//!
//! A handshake says once what a key may do; whether that is still so is looked up here with each
//! message. Whoever is struck off is heard no more, and its connections are broken off.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::os::fd::RawFd;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::SystemTime;

use protocol::Access;

use crate::authorized::{Authorized, Holder};
use crate::keys::PublicKey;
use crate::link::Client;

/// How many of those who were let in are kept to be told.
const ADMITTED_MAX: usize = 256;

/// The keys that were let in; clones are the same one.
#[derive(Clone, Debug, Default)]
pub(super) struct Roll(Arc<Mutex<Entries>>);

#[derive(Debug, Default)]
struct Entries {
    all: Vec<Entry>,
    /// Who was let in and is still to be told.
    admitted: Vec<Client>,
}

/// A key that was let in; its place is its number less one.
#[derive(Debug)]
struct Entry {
    key: PublicKey,
    /// Who has it; kept when it is struck off, to say who that was.
    holder: Holder,
    is_in: bool,
    connections: BTreeMap<RawFd, SocketAddr>,
}

impl Roll {
    /// Lets a key in and returns its number; `None` when there are too many.
    pub(super) fn admit(&self, key: PublicKey, holder: &Holder) -> Option<u32> {
        let mut entries = self.entries();
        let entries = &mut entries.all;
        let known = entries.iter().position(|entry| entry.key == key);
        let place = known.unwrap_or(entries.len());
        let entry = Entry {
            key,
            holder: holder.clone(),
            is_in: true,
            connections: BTreeMap::new(),
        };
        match entries.get_mut(place) {
            Some(known) => (known.holder, known.is_in) = (entry.holder, true),
            None => entries.push(entry),
        }
        // Number 0 is that of everybody where nothing is encrypted.
        u32::try_from(place + 1).ok()
    }

    /// Returns what a key may do now, and notes the connection by which it was heard.
    pub(super) fn access(&self, number: u32, connection: Option<RawFd>) -> Option<Access> {
        let mut entries = self.entries();
        let entry = entries.all.get_mut(place(number)?)?;
        if let Some(connection) = connection
            && !entry.connections.contains_key(&connection)
            && let Some(peer) = zmq_sys::peer_of(connection)
        {
            entry.connections.insert(connection, peer);
        }
        if entry.is_in {
            return Some(entry.holder.access);
        }
        entry.break_off();
        None
    }

    /// Says for people who has a key.
    pub(super) fn name(&self, number: u32) -> String {
        let entries = self.entries();
        let entry = place(number).and_then(|place| entries.all.get(place));
        entry.map_or_else(
            || "an unknown key".to_owned(),
            |entry| entry.holder.name.clone(),
        )
    }

    /// Forgets a connection that is gone.
    pub(super) fn forget(&self, connection: RawFd) {
        for entry in &mut self.entries().all {
            let peer = entry.connections.get(&connection).copied();
            // Another may have come under its descriptor since.
            if peer.is_some() && zmq_sys::peer_of(connection) != peer {
                entry.connections.remove(&connection);
            }
        }
    }

    /// Takes over who may connect now; returns the names of those who were struck off.
    pub(super) fn update(&self, authorized: &Authorized, now: SystemTime) -> Vec<String> {
        let mut struck_off = Vec::new();
        for entry in &mut self.entries().all {
            let holder = authorized.holder(&entry.key);
            let holder = holder.filter(|holder| holder.is_valid(now));
            if let Some(holder) = holder {
                entry.holder.clone_from(holder);
                entry.is_in = true;
            } else if entry.is_in {
                entry.is_in = false;
                struck_off.push(entry.holder.name.clone());
                entry.break_off();
            }
        }
        struck_off
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
    pub(super) fn client(&self, number: u32, connection: Option<RawFd>) -> Option<Client> {
        let entries = self.entries();
        let entry = entries.all.get(place(number)?)?;
        let peer = connection.and_then(|connection| entry.connections.get(&connection));
        Some(entry.client(peer.map(ToString::to_string).unwrap_or_default()))
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        let entries = self.0.lock();
        entries.expect("nobody panics while holding the roll")
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

    fn break_off(&mut self) {
        for (connection, peer) in std::mem::take(&mut self.connections) {
            let _ = zmq_sys::break_off(connection, peer);
        }
    }
}

fn place(number: u32) -> Option<usize> {
    usize::try_from(number.checked_sub(1)?).ok()
}
