//! Access to a run: the keys of a primary and of a secondary, as the command line names them.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use run::Security;
use transport::zeromq::Curve;
use transport::{Authorized, Endpoints, KeyError, KeyPair, ServerKeys};

use super::UsageError;

/// The flags about keys; secrets are named by their files, never given.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct SecurityFlags {
    /// The secret key of this process, a file of `phalanx keygen`: its tcp connections are
    /// encrypted; `-` reads its two lines from standard input
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// The key that standard input had.
    #[arg(skip)]
    key_of_input: Option<KeyPair>,
    /// Keys that may connect to a primary that has a key: a file with lines `ROLE KEY NAME`, or a
    /// folder of .pub files; may be given several times
    #[arg(long, value_name = "FILE|FOLDER")]
    authorized: Vec<PathBuf>,
    /// The public key of the primary that a secondary connects to, or its .pub file
    #[arg(long, value_name = "KEY|FILE")]
    server_key: Option<String>,
}

impl SecurityFlags {
    /// Returns these flags, or the files of the settings where none were given.
    pub(super) fn or_those_of(self, settings: &Security) -> Self {
        let authorized = match self.authorized {
            none if none.is_empty() => settings.authorized.clone(),
            some => some,
        };
        Self {
            key: self.key.or_else(|| settings.key.clone()),
            key_of_input: self.key_of_input,
            authorized,
            server_key: self.server_key,
        }
    }

    /// Reads the key from standard input if that has it, before anything else reads there.
    ///
    /// # Errors
    /// Fails if it has none.
    pub(crate) fn read_input(&mut self) -> Result<(), KeyError> {
        if self.key.as_deref() == Some(Path::new("-")) {
            self.key_of_input = Some(KeyPair::read_lines(&mut std::io::stdin().lock())?);
        }
        Ok(())
    }

    fn key(&self, path: &Path) -> Result<KeyPair, KeyError> {
        match &self.key_of_input {
            Some(key) => Ok(key.clone()),
            None => KeyPair::read(path),
        }
    }

    /// Checks the flags of a primary or standalone run.
    pub(super) fn check_for_primary(&self) -> Result<(), UsageError> {
        if self.server_key.is_some() {
            return Err(UsageError::ServerKeyOfPrimary);
        }
        match (&self.key, self.authorized.is_empty()) {
            (Some(_), true) => Err(UsageError::KeyForNobody),
            (None, false) => Err(UsageError::AuthorizedWithoutKey),
            _ => Ok(()),
        }
    }

    /// Checks the flags of a secondary.
    pub(super) fn check_for_secondary(&self) -> Result<(), UsageError> {
        if !self.authorized.is_empty() {
            return Err(UsageError::AuthorizedBySecondary);
        }
        self.check_for_peer()
    }

    /// Checks the flags of a relay: a peer of its primary, and a primary to its secondaries, who
    /// reach it at an address or, if there is none, in a folder.
    pub(super) fn check_for_relay(&self, bind: Option<&Endpoints>) -> Result<(), UsageError> {
        if self.key.is_none() && !self.authorized.is_empty() {
            return Err(UsageError::RelayWithoutKey);
        }
        let is_in_folder = bind.is_none_or(|bind| bind.directory().is_some());
        if is_in_folder && !self.authorized.is_empty() {
            return Err(UsageError::AuthorizedOfFolder);
        }
        self.check_for_peer()
    }

    fn check_for_peer(&self) -> Result<(), UsageError> {
        match (&self.key, &self.server_key) {
            (Some(_), None) => Err(UsageError::KeyWithoutServerKey),
            (None, Some(_)) => Err(UsageError::ServerKeyWithoutKey),
            _ => Ok(()),
        }
    }

    /// Reads the keys of a primary.
    pub(crate) fn of_primary(&self, bind: Option<&Endpoints>) -> anyhow::Result<Option<Curve>> {
        let Some(path) = &self.key else {
            return Ok(None);
        };
        warn_of_ipc(bind);
        let authorized = Authorized::read(&self.authorized)
            .context("cannot read the list of authorized keys")?;
        if authorized.is_empty() {
            tracing::warn!(
                "nobody is authorized yet: what is added to --authorized counts at once"
            );
        }
        let key = self.key(path)?;
        Ok(Some(Curve::Primary { key, authorized }))
    }

    /// Reads the keys of the end of a relay that secondaries connect to.
    pub(crate) fn of_relay(&self, bind: Option<&Endpoints>) -> anyhow::Result<Option<Curve>> {
        // The mode of a folder protects it.
        let is_on_tcp = bind.is_some_and(|bind| bind.directory().is_none());
        if is_on_tcp && !self.authorized.is_empty() {
            self.of_primary(bind)
        } else {
            Ok(None)
        }
    }

    /// Reads the keys that the primary of a secondary may prove.
    pub(crate) fn server_keys(&self) -> anyhow::Result<Option<ServerKeys>> {
        let given = self.server_key.as_deref().map(ServerKeys::of_text_or_file);
        given.transpose().context("--server-key is no key")
    }

    /// Reads the keys of a secondary.
    pub(crate) fn of_secondary(&self, connect: &Endpoints) -> anyhow::Result<Option<Curve>> {
        let (Some(path), Some(primary)) = (&self.key, self.server_keys()?) else {
            return Ok(None);
        };
        warn_of_ipc(Some(connect));
        let key = self.key(path)?;
        Ok(Some(Curve::Peer { key, primary }))
    }
}

fn warn_of_ipc(endpoints: Option<&Endpoints>) {
    if endpoints.is_none_or(|endpoints| endpoints.directory().is_some()) {
        tracing::warn!("--key means nothing to ipc: the mode of its folder protects it");
    }
}
