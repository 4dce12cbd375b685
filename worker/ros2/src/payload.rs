//! [`Payload`]: a message as bytes, which no reader or writer here looks into.

use std::convert::Infallible;

use bytes::Bytes;
use rustdds::RepresentationIdentifier;
use rustdds::no_key::{Decode, DefaultDecoder, DeserializerAdapter, SerializerAdapter};

/// Size of the header that names the encoding \[bytes\].
pub(crate) const HEADER_BYTES: usize = 4;

/// Header of plain little-endian CDR.
const CDR_LE: [u8; HEADER_BYTES] = [0, 1, 0, 0];

/// Encodings that are received; the header of what is received names the one.
const RECEIVED: &[RepresentationIdentifier] = &[
    RepresentationIdentifier::CDR_LE,
    RepresentationIdentifier::CDR_BE,
    RepresentationIdentifier::CDR2_LE,
    RepresentationIdentifier::CDR2_BE,
];

/// A message as bytes, with the header that names their encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Payload(Bytes);

impl Payload {
    /// Makes the payload of a message, if it is plain little-endian CDR with its header.
    pub(crate) fn new(cdr: Vec<u8>) -> Option<Self> {
        cdr.starts_with(&CDR_LE).then(|| Self(cdr.into()))
    }

    /// Returns the message with its header.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0.into()
    }
}

/// Connects payloads with `rustdds`, which adds and removes the header itself.
pub(crate) struct Raw;

impl SerializerAdapter<Payload> for Raw {
    type Error = Infallible;

    fn output_encoding() -> RepresentationIdentifier {
        RepresentationIdentifier::CDR_LE
    }

    fn to_bytes(value: &Payload) -> Result<Bytes, Infallible> {
        Ok(value.0.slice(HEADER_BYTES..))
    }
}

impl DeserializerAdapter<Payload> for Raw {
    type Error = Infallible;
    type Decoded = Payload;

    fn supported_encodings() -> &'static [RepresentationIdentifier] {
        RECEIVED
    }

    fn transform_decoded(decoded: Payload) -> Payload {
        decoded
    }
}

impl DefaultDecoder<Payload> for Raw {
    type Decoder = WithHeader;
    const DECODER: WithHeader = WithHeader;
}

/// Puts the header before what is received again.
#[derive(Clone)]
pub(crate) struct WithHeader;

impl Decode<'_, Payload> for WithHeader {
    type Error = Infallible;

    fn decode_bytes(
        self,
        input: &[u8],
        encoding: RepresentationIdentifier,
    ) -> Result<Payload, Infallible> {
        let mut bytes = Vec::with_capacity(HEADER_BYTES + input.len());
        bytes.extend(encoding.to_bytes());
        bytes.extend([0, 0]);
        bytes.extend(input);
        Ok(Payload(bytes.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_the_same_on_both_sides() {
        let sent = vec![0, 1, 0, 0, 7, 0, 0, 0];
        let payload = Payload::new(sent.clone()).unwrap();
        let body = Raw::to_bytes(&payload).unwrap();
        assert_eq!(&body[..], [7, 0, 0, 0]);
        let decoded = WithHeader.decode_bytes(&body, RepresentationIdentifier::CDR_LE);
        assert_eq!(decoded.unwrap().into_bytes(), sent);
    }

    #[test]
    fn bytes_in_another_encoding_are_no_payload() {
        assert_eq!(Payload::new(vec![0, 0, 0, 0, 7]), None);
        assert_eq!(Payload::new(vec![0, 1]), None);
    }
}
