//! [`Details`]: facts that a server tells of a model or world without its content.

use serde::Deserialize;

/// Facts of the newest version of a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Details {
    /// The number of its version; 0 if the server does not say.
    pub version: u32,
    /// The number of bytes of its files; 0 if the server does not say.
    pub filesize: u64,
}

/// The most bytes of the answer with them.
pub(crate) const DETAILS_BYTES_MAX: usize = 1 << 20;

impl Details {
    /// Reads the answer of a server; fields that are not known are of no interest.
    ///
    /// # Errors
    /// Fails if it is no JSON object, or a field has another type.
    pub(crate) fn read(bytes: &[u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_are_read_from_what_servers_send() {
        let text = br#"{"name":"Sun","owner":"o","version":3,"filesize":12,"likes":1,
                        "license_name":"CC0","tags":["a"]}"#;
        let details = Details::read(text).unwrap();
        assert_eq!((details.version, details.filesize), (3, 12));
        assert_eq!(Details::read(b"{}").unwrap(), Details::default());
        assert!(Details::read(b"<html>").is_err());
    }
}
