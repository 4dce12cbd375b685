//! `phalanx keygen`: a new key, and what to do with it.

use protocol::ExitCode;
use transport::{KeyError, KeyPair};

use super::{CommandResult, Failed, output};
use crate::cli::{KeyRole, KeygenArguments};
use crate::config::Config;
use crate::key_files::{make_private_folder, user_folder};
use crate::run_directory::check_run_name;

/// Writes a new key, and tells its public half.
pub(super) fn keygen(arguments: &KeygenArguments) -> CommandResult {
    let role = arguments.role;
    let name = arguments.name.as_deref().unwrap_or(role.name());
    check_run_name(name)
        .map_err(|error| Failed::message(ExitCode::Usage, format!("the name of a key {error}")))?;
    let folder = match &arguments.out {
        Some(folder) => folder.clone(),
        None => default_folder()?,
    };
    make_private_folder(&folder).map_err(anyhow::Error::new)?;
    let key = KeyPair::generate().map_err(anyhow::Error::new)?;
    let written = key.write(&folder, name, role.name(), arguments.force);
    let [secret, public] = written.map_err(|error| {
        let code = match error {
            KeyError::Exists { .. } => ExitCode::Usage,
            _ => ExitCode::Failure,
        };
        Failed::new(code, error)
    })?;
    let what_next = match role {
        KeyRole::Primary => format!(
            "Give {public} to who connects: --server-key takes the file or the key. In the folder \
             of your keys,\nit is what all of your runs prove themselves by.",
            public = public.display()
        ),
        KeyRole::Secondary | KeyRole::Controller | KeyRole::Observer => format!(
            "Put {public} into the folder `authorized` beside the primary's key, or its line into \
             a file that\nthe primary is given as --authorized. {secret} stays here: --key takes \
             it.",
            public = public.display(),
            secret = secret.display()
        ),
    };
    let (public, secret) = (key.public(), secret.display());
    output::print(&format!(
        "public key: {public}\nsecret key: {secret}\n\n{what_next}\n"
    ))
}

fn default_folder() -> Result<std::path::PathBuf, Failed> {
    let config = Config::load(None).map_err(|error| Failed::new(ExitCode::Configuration, error))?;
    user_folder(config.security.keys_folder().as_deref()).ok_or_else(|| {
        let message = "there is no folder for keys: name one with --out";
        Failed::message(ExitCode::Usage, message)
    })
}
