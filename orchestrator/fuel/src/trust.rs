//! [`Trust`]: the certificates by which servers are known, and [`Advice`] about those of others.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use rustls::CertificateError;
use ureq::tls::{PemItem, RootCerts, parse_pem};

use crate::http::HttpError;

/// The variable that names a file of certificates to trust in place of Mozilla's.
const CERTIFICATES: &str = "SSL_CERT_FILE";
/// Places where systems keep the certificates that they trust: Debian, Fedora, SUSE, Alpine.
const OF_SYSTEMS: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// Certificates that servers are trusted by.
#[derive(Debug)]
pub(crate) struct Trust {
    /// The file that they are from; without one they are Mozilla's.
    file: Option<PathBuf>,
    /// All of them.
    pub(crate) roots: RootCerts,
}

/// Remedy for a server whose certificate is not trusted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Advice {
    /// No authority that is trusted has signed it.
    #[error("{}", name_authority(.file.as_deref()))]
    NameAuthority {
        /// The file of certificates that are trusted; without one they are Mozilla's.
        file: Option<PathBuf>,
    },
    /// It is not valid at the time of this machine.
    #[error("see whether the clock of this machine is right; if it is, its owner has to renew it")]
    SetClock,
    /// It is for servers with other names.
    #[error("reach the server by a name that its certificate has")]
    UseItsName,
    /// Something else is wrong with it.
    #[error("its owner has to mend it")]
    AskOwner,
}

impl Trust {
    /// Reads the certificates that the environment names.
    ///
    /// # Errors
    /// Fails if there is such a file, and no certificate can be read from it.
    pub(crate) fn from_environment() -> Result<Self, HttpError> {
        let named = env::var_os(CERTIFICATES).filter(|file| !file.is_empty());
        let Some(file) = named.map(PathBuf::from) else {
            return Ok(Self {
                file: None,
                roots: RootCerts::WebPki,
            });
        };
        let wrong = |problem: String| HttpError::Variable {
            variable: CERTIFICATES,
            problem: format!("{}: {problem}", file.display()),
        };
        let text = fs::read(&file).map_err(|error| wrong(error.to_string()))?;
        let mut certificates = Vec::new();
        for item in parse_pem(&text) {
            let item = item.map_err(|error| wrong(error.to_string()))?;
            if let PemItem::Certificate(certificate) = item {
                certificates.push(certificate);
            }
        }
        if certificates.is_empty() {
            return Err(wrong("there is no certificate in it".to_owned()));
        }
        Ok(Self {
            roots: RootCerts::new_with_certs(&certificates),
            file: Some(file),
        })
    }

    /// Returns the remedy for a certificate that is not trusted.
    pub(crate) fn advise(&self, problem: &CertificateError) -> Advice {
        match problem {
            CertificateError::UnknownIssuer => Advice::NameAuthority {
                file: self.file.clone(),
            },
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. } => Advice::SetClock,
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                Advice::UseItsName
            }
            _ => Advice::AskOwner,
        }
    }
}

fn name_authority(file: Option<&Path>) -> String {
    if let Some(file) = file {
        return format!(
            "if you trust its authority, such as that of a proxy, add that one's certificate to {} \
             ({CERTIFICATES})",
            file.display()
        );
    }
    let of_system = OF_SYSTEMS.iter().find(|file| Path::new(file).is_file());
    let example = of_system.map_or(String::new(), |file| {
        format!("; those of this machine are in {file}")
    });
    format!(
        "if you trust its authority, such as that of a proxy, {CERTIFICATES} takes a file with the \
         certificates to trust in place of Mozilla's{example}"
    )
}
