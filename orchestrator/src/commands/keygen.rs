//! `phalanx keygen`: a new key, and what to do with it.

use std::time::{SystemTime, UNIX_EPOCH};

use protocol::ExitCode;
use run::check_run_name;
use transport::authorized::time_text;
use transport::{KeyError, KeyPair};

use super::{CommandResult, Failed, output};
use crate::cli::{KeyRole, KeygenArguments};
use crate::config::Config;
use crate::key_files::{keys_folder, make_private_folder, user_folder};

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
    let limits = limits(arguments)?;
    let written = key.write_limited(&folder, name, role.name(), &limits, arguments.force);
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

/// Returns what is said of the key in the line for others besides its name.
fn limits(arguments: &KeygenArguments) -> Result<String, Failed> {
    let KeygenArguments {
        role,
        valid_for,
        allow,
        ..
    } = arguments;
    let refused = |text: &str| Err(Failed::message(ExitCode::Usage, text.to_owned()));
    if *role == KeyRole::Primary && valid_for.is_some() {
        return refused("--valid-for is for keys that are authorized, and a primary's is not");
    }
    if *role != KeyRole::Controller && !allow.is_empty() {
        return refused("--allow limits what a controller may command");
    }
    let is_pattern = |pattern: &String| {
        let is_in_list = |c: char| c == '#' || c.is_whitespace() || c.is_control();
        pattern.starts_with('/') && !pattern.contains(is_in_list)
    };
    if !allow.iter().all(is_pattern) {
        return refused("--allow takes patterns such as /model/r1/**,/cmd_vel");
    }
    let mut limits = Vec::new();
    if let Some(valid_for) = valid_for {
        let end = SystemTime::now() + *valid_for;
        let since = end.duration_since(UNIX_EPOCH).unwrap_or_default();
        limits.push(format!("valid-until={}", time_text(since.as_secs())));
    }
    if !allow.is_empty() {
        limits.push(format!("allow={}", allow.join(",")));
    }
    Ok(limits.join(" "))
}

fn default_folder() -> Result<std::path::PathBuf, Failed> {
    let config = Config::load(None).map_err(|error| Failed::new(ExitCode::Configuration, error))?;
    user_folder(keys_folder(&config.spec.security).as_deref()).ok_or_else(|| {
        let message = "there is no folder for keys: name one with --out";
        Failed::message(ExitCode::Usage, message)
    })
}
