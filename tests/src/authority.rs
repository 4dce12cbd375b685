//! [`Authority`]: signs certificates of servers that nobody but a test trusts.

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, date_time_ymd};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// An authority with a key of its own.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

/// A certificate of a server, with its key.
pub struct Identity {
    /// The certificate.
    pub certificate: CertificateDer<'static>,
    /// Its key.
    pub key: PrivateKeyDer<'static>,
}

impl Authority {
    /// Makes one with this name.
    ///
    /// # Panics
    /// Panics if the name is no text of certificates.
    pub fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let own = params.self_signed(&key).expect("a certificate");
        Self {
            pem: own.pem(),
            issuer: Issuer::new(params, key),
        }
    }

    /// Returns its certificate as PEM.
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// Signs a certificate for a name or address, valid from the beginning of one year to the
    /// beginning of another.
    ///
    /// # Panics
    /// Panics if the name is none of servers.
    pub fn sign(&self, name: &str, years: [i32; 2]) -> Identity {
        let params = CertificateParams::new([name.to_owned()]);
        let mut params = params.expect("a name of a server");
        [params.not_before, params.not_after] = years.map(|year| date_time_ymd(year, 1, 1));
        let key = KeyPair::generate().expect("a key");
        let signed = params.signed_by(&key, &self.issuer).expect("a certificate");
        Identity {
            certificate: signed.der().clone(),
            key: PrivatePkcs8KeyDer::from(key.serialize_der()).into(),
        }
    }
}
