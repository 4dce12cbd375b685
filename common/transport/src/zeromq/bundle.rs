//! [`Bundle`]: what a relay and its primary say to each other in one message of `control`.
//!
//! A message is a sequence of items. Those of secondaries are in the order in which they came; a
//! payload is a part of the message that it came in, without a copy of it. Bytes that break the
//! rules are refused together with all that follows them.

use std::time::Duration;

use bytes::{Buf, Bytes};
use protocol::{ProtocolVersion, RoutingId};

/// The most bytes that an item takes besides its payload.
pub(super) const ITEM_OVERHEAD_MAX: usize = 1 + 1 + 2 + 4 + ADDRESS_BYTES_MAX + TOPIC_BYTES_MAX;

/// The longest routing id \[bytes\], as ZeroMQ has it.
pub(super) const ADDRESS_BYTES_MAX: usize = 255;

/// The longest topic of a message on `control` \[bytes\].
pub(super) const TOPIC_BYTES_MAX: usize = 255;

/// The longest reason of a refusal, and the longest name of a relay \[bytes\].
const TEXT_BYTES_MAX: usize = 1024;

/// Part of what a relay and a primary say to each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// From a relay, again and again until it is answered: its name and protocol version.
    Hello {
        /// Its name, for people.
        name: String,
        /// Number of its protocol version.
        version: u32,
    },
    /// From a primary: it has seen the relay's subscription, and hears what comes through it.
    Welcome {
        /// Silence after which secondaries give the primary up, a whole number of milliseconds;
        /// zero for never.
        timeout: Duration,
    },
    /// From a primary: the relay is not wanted, and why.
    Refused(String),
    /// From a relay: this secondary's subscription to `step` is in force.
    Came(RoutingId),
    /// From a relay: this secondary's subscription is gone, and so is its connection.
    Went(RoutingId),
    /// A message: from a relay, of a secondary; from a primary, for one.
    Message {
        /// The secondary's address.
        address: RoutingId,
        /// The topic frame.
        topic: Vec<u8>,
        /// The message itself.
        payload: Bytes,
    },
    /// From a primary: it has not seen the relay's subscription, or not any more.
    Unknown,
    /// From a relay, now and then: it takes itself for welcome.
    Here,
}

/// Bytes that are no bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed;

/// Items that are written one after the other.
#[derive(Debug, Default)]
pub(super) struct Bundle {
    bytes: Vec<u8>,
}

#[derive(Clone, Copy)]
#[repr(u8)]
enum Kind {
    Hello = 1,
    Welcome = 2,
    Refused = 3,
    Came = 4,
    Went = 5,
    Message = 6,
    Unknown = 7,
    Here = 8,
}

impl Bundle {
    /// Returns the bytes of one item.
    pub(super) fn of(item: &Item) -> Self {
        let mut bundle = Self::default();
        bundle.push(item);
        bundle
    }

    /// Appends an item; false if no item can hold what it has, and it is left out.
    pub(super) fn push(&mut self, item: &Item) -> bool {
        match item {
            Item::Hello { name, version } => {
                self.write(Kind::Hello, &[], name.as_bytes(), &version.to_le_bytes())
            }
            Item::Welcome { timeout } => {
                let milliseconds = u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX);
                self.write(Kind::Welcome, &[], &[], &milliseconds.to_le_bytes())
            }
            Item::Refused(reason) => self.write(Kind::Refused, &[], &[], reason.as_bytes()),
            Item::Came(address) => self.write(Kind::Came, &address.0, &[], &[]),
            Item::Went(address) => self.write(Kind::Went, &address.0, &[], &[]),
            Item::Message {
                address,
                topic,
                payload,
            } => self.push_message(address, topic, payload),
            Item::Unknown => self.write(Kind::Unknown, &[], &[], &[]),
            Item::Here => self.write(Kind::Here, &[], &[], &[]),
        }
    }

    /// Appends a message; false if no item can hold it, and it is left out.
    pub(super) fn push_message(
        &mut self,
        address: &RoutingId,
        topic: &[u8],
        payload: &[u8],
    ) -> bool {
        self.write(Kind::Message, &address.0, topic, payload)
    }

    /// Returns the bytes so far.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Tells whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Begins anew; the memory is kept unless it is much.
    pub(super) fn clear(&mut self) {
        const KEPT_BYTES_MAX: usize = 8 << 20;
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_BYTES_MAX);
    }

    fn write(&mut self, kind: Kind, address: &[u8], topic: &[u8], payload: &[u8]) -> bool {
        let lengths = (
            u8::try_from(address.len()),
            u16::try_from(topic.len()),
            u32::try_from(payload.len()),
        );
        let (Ok(of_address), Ok(of_topic), Ok(of_payload)) = lengths else {
            return false;
        };
        self.bytes.push(kind as u8);
        self.bytes.push(of_address);
        self.bytes.extend_from_slice(&of_topic.to_le_bytes());
        self.bytes.extend_from_slice(&of_payload.to_le_bytes());
        for part in [address, topic, payload] {
            self.bytes.extend_from_slice(part);
        }
        true
    }
}

/// Takes the next item from the front of a bundle; `None` at its end.
pub(super) fn next_item(bundle: &mut Bytes) -> Result<Option<Item>, Malformed> {
    if bundle.is_empty() {
        return Ok(None);
    }
    let kind = bundle.try_get_u8().map_err(|_| Malformed)?;
    let address = usize::from(bundle.try_get_u8().map_err(|_| Malformed)?);
    let topic = usize::from(bundle.try_get_u16_le().map_err(|_| Malformed)?);
    let payload = bundle.try_get_u32_le().map_err(|_| Malformed)? as usize;
    let address = RoutingId(take(bundle, address)?.to_vec());
    let topic = take(bundle, topic)?;
    let payload = take(bundle, payload)?;
    let is_bare = topic.is_empty() && payload.is_empty();
    let has_address = !address.0.is_empty();
    let item = match kind {
        1 if !has_address && topic.len() <= TEXT_BYTES_MAX => Item::Hello {
            name: text(&topic)?,
            version: u32_of(&payload)?,
        },
        2 if !has_address && topic.is_empty() => Item::Welcome {
            timeout: Duration::from_millis(u32_of(&payload)?.into()),
        },
        3 if !has_address && topic.is_empty() && payload.len() <= TEXT_BYTES_MAX => {
            Item::Refused(text(&payload)?)
        }
        4 if has_address && is_bare => Item::Came(address),
        5 if has_address && is_bare => Item::Went(address),
        6 if has_address && topic.len() <= TOPIC_BYTES_MAX => Item::Message {
            address,
            topic: topic.to_vec(),
            payload,
        },
        7 if !has_address && is_bare => Item::Unknown,
        8 if !has_address && is_bare => Item::Here,
        _ => return Err(Malformed),
    };
    Ok(Some(item))
}

/// Returns the greeting of a relay.
pub(super) fn hello(name: &str) -> Item {
    Item::Hello {
        name: name.to_owned(),
        version: u32::from(u16::from(ProtocolVersion::CURRENT)),
    }
}

fn take(bundle: &mut Bytes, count: usize) -> Result<Bytes, Malformed> {
    if count > bundle.len() {
        return Err(Malformed);
    }
    Ok(bundle.split_to(count))
}

fn u32_of(bytes: &[u8]) -> Result<u32, Malformed> {
    Ok(u32::from_le_bytes(bytes.try_into().map_err(|_| Malformed)?))
}

fn text(bytes: &[u8]) -> Result<String, Malformed> {
    let text = std::str::from_utf8(bytes).map_err(|_| Malformed)?;
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<Item> {
        let address = RoutingId::from("s1-00ff");
        vec![
            hello("r1"),
            Item::Welcome {
                timeout: Duration::from_secs(2),
            },
            Item::Refused("another version".to_owned()),
            Item::Came(address.clone()),
            Item::Message {
                address: address.clone(),
                topic: b"/step_ack".to_vec(),
                payload: Bytes::from_static(b"payload"),
            },
            Item::Message {
                address: address.heartbeat(),
                topic: Vec::new(),
                payload: Bytes::new(),
            },
            Item::Went(address),
            Item::Unknown,
            Item::Here,
        ]
    }

    fn read(mut bytes: Bytes) -> Result<Vec<Item>, Malformed> {
        let mut items = Vec::new();
        while let Some(item) = next_item(&mut bytes)? {
            items.push(item);
        }
        Ok(items)
    }

    #[test]
    fn every_item_is_read_back_in_its_order() {
        let mut bundle = Bundle::default();
        for item in all() {
            assert!(bundle.push(&item), "{item:?}");
        }
        assert_eq!(read(Bytes::copy_from_slice(bundle.bytes())), Ok(all()));
        bundle.clear();
        assert!(bundle.is_empty());
    }

    #[test]
    fn what_is_too_long_for_an_item_is_left_out() {
        let mut bundle = Bundle::of(&Item::Here);
        let long = RoutingId(vec![b's'; ADDRESS_BYTES_MAX + 1]);
        assert!(!bundle.push(&Item::Came(long.clone())));
        assert!(!bundle.push_message(&long, b"/step_ack", b""));
        let topic = vec![b'/'; 1 << 16];
        assert!(!bundle.push_message(&RoutingId::from("s1"), &topic, b""));
        let fits = Item::Came(RoutingId(long.0[1..].to_vec()));
        assert!(bundle.push(&fits));
        let read = read(Bytes::copy_from_slice(bundle.bytes()));
        assert_eq!(read, Ok(vec![Item::Here, fits]));
    }

    #[test]
    fn bytes_that_are_cut_or_changed_are_refused_and_never_read_beyond_their_end() {
        for item in all() {
            let whole = Bundle::of(&item).bytes().to_vec();
            assert!(whole.len() <= ITEM_OVERHEAD_MAX + 16, "{item:?}");
            for length in 1..whole.len() {
                let cut = Bytes::copy_from_slice(&whole[..length]);
                assert_eq!(read(cut), Err(Malformed), "{item:?} cut to {length}");
            }
            for place in 0..whole.len() {
                for value in [0, 1, 7, 0x7f, 0xff] {
                    let mut changed = whole.clone();
                    changed[place] = value;
                    let _ = read(Bytes::from(changed)); // Whatever it says, nothing panics.
                }
            }
        }
    }
}
