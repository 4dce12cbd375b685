//! The graph of ROS 2: each participant says on one topic which nodes it has, and which readers
//! and writers are theirs.
//!
//! That is `rmw_dds_common/msg/ParticipantEntitiesInfo`, with the identifiers of 16 bytes that
//! ROS 2 has since Iron. It is for `ros2 node list` and `ros2 topic info -v`; messages flow
//! without it.

use crate::names::{self, NameError};

/// Name of the topic in DDS.
pub(crate) const TOPIC: &str = "ros_discovery_info";
/// Name of its type in DDS.
pub(crate) const TYPE: &str = "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_";

/// Name of a node: namespace and own name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NodeName {
    namespace: String,
    name: String,
}

/// Readers and writers of a node, by their global numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodeEntities {
    pub(crate) readers: Vec<[u8; 16]>,
    pub(crate) writers: Vec<[u8; 16]>,
}

impl NodeName {
    /// Reads the full name of a node: `/phalanx/s1` is `s1` in the namespace `/phalanx`.
    pub(crate) fn parse(full: &str) -> Result<Self, NameError> {
        names::check(full)?;
        let (namespace, name) = full.rsplit_once('/').unwrap_or(("", full));
        let namespace = if namespace.is_empty() { "/" } else { namespace };
        Ok(Self {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        })
    }
}

/// Returns the message of a participant that has one node, in CDR with its header.
pub(crate) fn message(participant: &[u8; 16], name: &NodeName, entities: &NodeEntities) -> Vec<u8> {
    let mut cdr = vec![0, 1, 0, 0];
    cdr.extend(participant);
    put_count(&mut cdr, 1);
    put_text(&mut cdr, &name.namespace);
    put_text(&mut cdr, &name.name);
    for list in [&entities.readers, &entities.writers] {
        put_count(&mut cdr, list.len());
        cdr.extend(list.iter().flatten());
    }
    cdr
}

/// Puts a number of elements, aligned to its size; the header of 4 bytes changes no alignment.
fn put_count(cdr: &mut Vec<u8>, count: usize) {
    cdr.resize(cdr.len().next_multiple_of(4), 0);
    cdr.extend((count as u32).to_le_bytes());
}

fn put_text(cdr: &mut Vec<u8>, text: &str) {
    put_count(cdr, text.len() + 1);
    cdr.extend(text.bytes().chain([0]));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_has_a_namespace_and_a_name() {
        let parse = |full: &str| NodeName::parse(full).map(|it| (it.namespace, it.name));
        let expected = ("/phalanx".to_owned(), "s1".to_owned());
        assert_eq!(parse("/phalanx/s1"), Ok(expected));
        assert_eq!(parse("/s1"), Ok(("/".to_owned(), "s1".to_owned())));
        assert!(parse("s1").is_err());
    }

    #[test]
    fn counts_are_aligned_after_texts() {
        let name = NodeName::parse("/ab/c").unwrap();
        let entities = NodeEntities {
            readers: vec![[1; 16]],
            writers: vec![],
        };
        let cdr = message(&[9; 16], &name, &entities);
        let mut expected = vec![0, 1, 0, 0];
        expected.extend([9; 16]);
        expected.extend([1, 0, 0, 0, 4, 0, 0, 0, b'/', b'a', b'b', 0]);
        expected.extend([2, 0, 0, 0, b'c', 0, 0, 0, 1, 0, 0, 0]);
        expected.extend([1; 16]);
        expected.extend([0, 0, 0, 0]);
        assert_eq!(cdr, expected);
    }
}
