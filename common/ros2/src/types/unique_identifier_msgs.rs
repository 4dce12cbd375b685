//! `unique_identifier_msgs`: identifiers of goals.

super::ros_types! {
    /// An identifier that nobody else draws.
    UUID("unique_identifier_msgs/msg/UUID") {
        /// Its bytes.
        uuid: [u8; 16],
    }
}
