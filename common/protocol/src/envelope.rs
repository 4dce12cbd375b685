//! The envelope of every message, and its codec: `MessagePack` maps with bounded sizes.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::id::{PeerName, SessionId};
use crate::version::ProtocolVersion;

/// The largest message that any socket takes \[bytes\]; worlds travel in the welcome.
pub const MESSAGE_BYTES_MAX: usize = 256 << 20;

/// Greatest depth to which the values of a message may be nested; real messages need a third of it.
const DEPTH_MAX: u16 = 64;

/// Header that every message carries besides its body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Envelope<B> {
    /// The protocol that the sender speaks.
    pub version: ProtocolVersion,
    /// The run that the message belongs to.
    pub session: SessionId,
    /// Peer that sent it.
    pub sender: PeerName,
    /// The message.
    pub body: B,
}

/// Bytes that are no message of the kind expected.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// More bytes than any message may have.
    #[error("message of {bytes} bytes is larger than {MESSAGE_BYTES_MAX}")]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
    /// Not `MessagePack`, or not of the shape expected.
    #[error("message is malformed")]
    Malformed(#[source] msgpack::Error),
}

/// Returns the bytes of a message.
///
/// # Panics
/// Never for the types of this crate: they hold nothing that `MessagePack` cannot express.
pub fn encode<B: Serialize>(envelope: &Envelope<B>) -> Vec<u8> {
    msgpack::to_vec_named(envelope).expect("messages hold only what MessagePack can express")
}

/// Returns the message in the bytes.
///
/// # Errors
/// Fails if the bytes are too many, are not `MessagePack`, or are another kind of message.
pub fn decode<B: DeserializeOwned>(bytes: &[u8]) -> Result<Envelope<B>, DecodeError> {
    if bytes.len() > MESSAGE_BYTES_MAX {
        return Err(DecodeError::TooLarge { bytes: bytes.len() });
    }
    let mut deserializer = msgpack::Deserializer::with_depth(bytes, DEPTH_MAX);
    Envelope::deserialize(&mut deserializer).map_err(DecodeError::Malformed)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::primary_to_secondary::PrimaryToSecondary;

    fn envelope() -> Envelope<PrimaryToSecondary> {
        Envelope {
            version: ProtocolVersion::CURRENT,
            session: SessionId(0xfeed),
            sender: PeerName::primary(),
            body: PrimaryToSecondary::Sync,
        }
    }

    #[test]
    fn a_message_comes_back() {
        let bytes = encode(&envelope());
        assert_eq!(decode::<PrimaryToSecondary>(&bytes).unwrap(), envelope());
    }

    #[test]
    fn every_cut_and_every_flipped_byte_is_an_error_or_a_message_but_no_panic() {
        let bytes = encode(&envelope());
        for length in 0..bytes.len() {
            assert!(decode::<PrimaryToSecondary>(&bytes[..length]).is_err());
        }
        for index in 0..bytes.len() {
            for bit in 0..8 {
                let mut flipped = bytes.clone();
                flipped[index] ^= 1 << bit;
                let _ = decode::<PrimaryToSecondary>(&flipped);
            }
        }
    }

    /// Returns the bytes of a message with a field that nobody knows.
    fn with_field(value: &[u8]) -> Vec<u8> {
        let mut bytes = encode(&envelope());
        assert_eq!(bytes[0], 0x84, "a map of four fields");
        bytes[0] = 0x85;
        bytes.extend(msgpack::to_vec("unknown").unwrap());
        bytes.extend(value);
        bytes
    }

    #[test]
    fn deep_nesting_is_an_error_and_no_overflow() {
        let nested = |depth: usize| [vec![0x91; depth], vec![0xc0]].concat();
        assert!(decode::<PrimaryToSecondary>(&with_field(&nested(50))).is_ok());
        for depth in [usize::from(DEPTH_MAX), 1_000, 10_000_000] {
            let error = decode::<PrimaryToSecondary>(&with_field(&nested(depth)));
            assert!(error.is_err(), "{depth}");
        }
        // Maps in maps, as keys and as values.
        let maps = with_field(&vec![0x81; 1_000_000]);
        assert!(decode::<PrimaryToSecondary>(&maps).is_err());
    }

    #[test]
    fn a_count_of_four_billion_allocates_nothing_for_what_is_not_there() {
        use crate::secondary_to_primary::{SecondaryToPrimary, tests::full_ack};
        let ack = encode(&Envelope {
            version: ProtocolVersion::CURRENT,
            session: SessionId(1),
            sender: PeerName::primary(),
            body: SecondaryToPrimary::StepAck(Arc::new(full_ack())),
        });
        // Arrays, maps, text and blobs of 2^32 - 1, in place of everything that has a count.
        for count in [0xdd, 0xdf, 0xdb, 0xc6] {
            for index in 0..ack.len() {
                let mut huge = ack[..index].to_vec();
                huge.extend([count, 0xff, 0xff, 0xff, 0xff]);
                huge.extend(&ack[index + 1..]);
                let _ = decode::<SecondaryToPrimary>(&huge);
            }
        }
    }

    #[test]
    fn an_unknown_version_is_named() {
        #[derive(Serialize)]
        struct Other {
            version: u16,
            session: u64,
            sender: &'static str,
            body: &'static str,
        }
        let bytes = msgpack::to_vec_named(&Other {
            version: 999,
            session: 1,
            sender: "primary",
            body: "Sync",
        })
        .unwrap();
        let DecodeError::Malformed(error) = decode::<PrimaryToSecondary>(&bytes).unwrap_err()
        else {
            panic!("an unknown version was accepted");
        };
        assert!(error.to_string().contains("version 999"), "{error}");
    }
}
