//! [`Server`]: a service of this node. DDS has no services: a request and its reply are messages
//! on two topics, and each mapping has its own way to say which reply is for whom.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::task::Waker;

use rustdds::dds::statusevents::DataWriterStatus;
use rustdds::dds::{CreateError, WriteError};
use rustdds::no_key::{DataWriter, SimpleDataReader};
use rustdds::rpc::SampleIdentity;
use rustdds::{GUID, StatusEvented, WriteOptionsBuilder};

use crate::names::{self, NameError};
use crate::participant::{Participant, PublishError, Quality};
use crate::payload::{HEADER_BYTES, Payload, Raw};

/// Size of the header that Cyclone DDS has before requests and replies: the client's number, then
/// that of its request \[bytes\].
const CYCLONE_BYTES: usize = 16;

/// Size of the part of a global number that names the participant \[bytes\].
const PREFIX_BYTES: usize = 12;

/// Quality of service of both topics, that of services in ROS 2.
const QUALITY: Quality = Quality {
    is_reliable: true,
    is_kept: false,
    depth: 1000,
};

/// Way in which services are mapped to topics; both sides have to have the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServiceMapping {
    /// That of Fast DDS, `rmw_fastrtps`: the reply names the request beside the message.
    #[default]
    FastDds,
    /// That of Cyclone DDS, `rmw_cyclonedds`: both begin with a header.
    CycloneDds,
}

/// Reason why a service cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The service or its type cannot be named so.
    #[error(transparent)]
    Name(#[from] NameError),
    /// The middleware refuses.
    #[error("service {service} cannot be made known to ROS 2: {source}")]
    Refused {
        /// The service.
        service: String,
        /// The cause.
        source: Box<CreateError>,
    },
}

/// A client's request, for its reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    identity: Identity,
    /// Global number of the client's participant.
    participant: [u8; PREFIX_BYTES],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Identity {
    Sample(SampleIdentity),
    Header([u8; CYCLONE_BYTES]),
}

/// A request that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The client.
    pub caller: Caller,
    /// The request, in CDR with its header.
    pub cdr: Vec<u8>,
}

/// A service, which ends with it.
pub struct Server {
    reader: SimpleDataReader<Payload, Raw>,
    writer: DataWriter<Payload, Raw>,
    waker: Waker,
    mapping: ServiceMapping,
    /// Participants whose readers get the replies.
    heard_by: RefCell<BTreeSet<[u8; PREFIX_BYTES]>>,
}

impl Participant {
    /// Makes a service of a type, such as `std_srvs/srv/Empty`.
    ///
    /// # Errors
    /// Fails if it cannot be named so, or the middleware has stopped.
    pub fn serve(
        &mut self,
        name: &str,
        type_name: &str,
        mapping: ServiceMapping,
    ) -> Result<Server, ServeError> {
        let dds = names::service(name, type_name)?;
        let refused = |source| ServeError::Refused {
            service: name.to_owned(),
            source: Box::new(source),
        };
        let writer = self.raw_writer(&dds.reply, &dds.reply_type, QUALITY);
        let writer = writer.map_err(refused)?;
        let reader = self.raw_reader(&dds.request, &dds.request_type, QUALITY);
        Ok(Server {
            reader: reader.map_err(refused)?,
            writer,
            waker: self.waker(),
            mapping,
            heard_by: RefCell::default(),
        })
    }
}

impl Server {
    /// Takes the next request that has arrived. Bytes that cannot be read are skipped.
    pub fn take(&self) -> Option<Call> {
        loop {
            match self.reader.try_take_one() {
                Ok(Some(change)) => {
                    let by_writer = SampleIdentity {
                        writer_guid: change.writer_guid,
                        sequence_number: change.sequence_number,
                    };
                    let related = change.write_options.related_sample_identity();
                    let cdr = change.into_value().into_bytes();
                    if let Some(call) = call(self.mapping, by_writer, related, cdr) {
                        return Some(call);
                    }
                    tracing::debug!("a request of ROS 2 is skipped: it has no header");
                }
                Ok(None) => return None,
                Err(error) => {
                    tracing::debug!("a request of ROS 2 is skipped: {error}");
                    if matches!(error, rustdds::dds::ReadError::Poisoned { .. }) {
                        return None;
                    }
                }
            }
        }
    }

    /// Has arrivals told again; to be called before what is here is taken.
    pub fn listen(&self) {
        self.reader.drain_read_notifications();
        self.reader.set_waker(Some(self.waker.clone()));
    }

    /// Tells whether a client's reader of replies is known. Until then a reply is lost: discovery
    /// finds the four ends of a service one after the other, and a request may come before that.
    pub fn is_heard_by(&self, caller: &Caller) -> bool {
        let mut heard_by = self.heard_by.borrow_mut();
        while let Some(status) = self.writer.try_recv_status() {
            if let DataWriterStatus::PublicationMatched {
                current, reader, ..
            } = status
            {
                if current.count_change() > 0 {
                    heard_by.insert(participant_of(reader));
                } else {
                    heard_by.remove(&participant_of(reader));
                }
            }
        }
        heard_by.contains(&caller.participant)
    }

    /// Answers a request: plain little-endian CDR with its header. Never waits.
    ///
    /// # Errors
    /// Fails if the bytes are in another encoding, clients acknowledge nothing any more, or the
    /// middleware has stopped.
    pub fn reply(&self, caller: Caller, cdr: Vec<u8>) -> Result<(), PublishError> {
        let (cdr, options) = match caller.identity {
            Identity::Sample(identity) => {
                let options = WriteOptionsBuilder::new().related_sample_identity(identity);
                (cdr, options.build())
            }
            Identity::Header(header) => (
                with_header(&header, &cdr),
                WriteOptionsBuilder::new().build(),
            ),
        };
        let payload = Payload::new(cdr).ok_or(PublishError::Encoding)?;
        match self.writer.write_with_options(payload, options) {
            Ok(_) => Ok(()),
            Err(WriteError::WouldBlock { .. }) => Err(PublishError::Full),
            Err(_) => Err(PublishError::Broken),
        }
    }
}

/// Makes a call of what arrived. A Fast DDS client may name its reader of replies beside the
/// request; the reply is for that one then.
fn call(
    mapping: ServiceMapping,
    by_writer: SampleIdentity,
    related: Option<SampleIdentity>,
    cdr: Vec<u8>,
) -> Option<Call> {
    let participant = participant_of(by_writer.writer_guid);
    match mapping {
        ServiceMapping::FastDds => {
            let named = related.map(|related| related.writer_guid);
            let named = named.filter(|guid| *guid != GUID::GUID_UNKNOWN);
            let identity = SampleIdentity {
                writer_guid: named.unwrap_or(by_writer.writer_guid),
                sequence_number: by_writer.sequence_number,
            };
            let caller = Caller {
                identity: Identity::Sample(identity),
                participant,
            };
            Some(Call { caller, cdr })
        }
        ServiceMapping::CycloneDds => {
            let (encoding, rest) = cdr.split_first_chunk::<HEADER_BYTES>()?;
            let (header, body) = rest.split_first_chunk::<CYCLONE_BYTES>()?;
            let caller = Caller {
                identity: Identity::Header(*header),
                participant,
            };
            // Values keep their alignment, since the header is a multiple of all alignments.
            let cdr = [encoding.as_slice(), body].concat();
            Some(Call { caller, cdr })
        }
    }
}

/// Returns the part of a global number that names the participant.
fn participant_of(guid: GUID) -> [u8; PREFIX_BYTES] {
    let bytes = guid.to_bytes();
    *bytes.first_chunk().expect("a global number has 16 bytes")
}

/// Puts the header of Cyclone DDS between the encoding and the message.
fn with_header(header: &[u8; CYCLONE_BYTES], cdr: &[u8]) -> Vec<u8> {
    let (encoding, body) = cdr.split_at(cdr.len().min(HEADER_BYTES));
    [encoding, header, body].concat()
}

#[cfg(test)]
mod tests {
    use rustdds::SequenceNumber;

    use super::*;

    fn identity(last: u8, number: i64) -> SampleIdentity {
        let mut bytes = [0; 16];
        bytes[15] = last;
        SampleIdentity {
            writer_guid: GUID::from_bytes(bytes),
            sequence_number: SequenceNumber::new(number),
        }
    }

    #[test]
    fn a_reply_of_fast_dds_is_for_the_reader_that_the_request_names() {
        let check = |related, expected| {
            let call = call(ServiceMapping::FastDds, identity(1, 7), related, vec![]).unwrap();
            assert_eq!(call.caller.identity, Identity::Sample(expected));
            assert_eq!(call.caller.participant, [0; 12]);
        };
        check(None, identity(1, 7));
        check(Some(identity(2, 0)), identity(2, 7));
        let unknown = SampleIdentity {
            writer_guid: GUID::GUID_UNKNOWN,
            ..identity(0, 0)
        };
        check(Some(unknown), identity(1, 7));
    }

    #[test]
    fn the_header_of_cyclone_dds_comes_back_with_the_reply() {
        let header: [u8; 16] = std::array::from_fn(|index| index as u8);
        let sent = with_header(&header, &[0, 1, 0, 0, 42]);
        assert_eq!(sent.len(), 21);
        let taken = call(ServiceMapping::CycloneDds, identity(1, 1), None, sent).unwrap();
        assert_eq!(taken.cdr, [0, 1, 0, 0, 42]);
        assert_eq!(taken.caller.identity, Identity::Header(header));
        let short = vec![0, 1, 0, 0, 42];
        let none = call(ServiceMapping::CycloneDds, identity(1, 1), None, short);
        assert_eq!(none, None);
    }
}
