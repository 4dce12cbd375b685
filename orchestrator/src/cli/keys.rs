//! The command line of keys: which one proves who this is, and `phalanx keygen`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::key_files::ChosenKeys;

/// By which keys a primary is reached that is named by its address.
#[derive(Clone, Debug, Default, Args)]
pub struct KeyArguments {
    /// The secret key of this client, a file of `phalanx keygen` [default: controller.key or
    /// observer.key of the folder of keys]
    #[arg(long, value_name = "FILE", env = "PHALANX_KEY", global = true)]
    pub key: Option<PathBuf>,
    /// The public key of the primary, or its .pub file [default: primary.pub of the folder of keys]
    #[arg(
        long,
        value_name = "KEY | FILE",
        env = "PHALANX_SERVER_KEY",
        global = true
    )]
    pub server_key: Option<String>,
    /// The folder of your keys [default: keys in your folder of settings]
    #[arg(long, value_name = "FOLDER", env = "PHALANX_KEYS", global = true)]
    pub keys: Option<PathBuf>,
    /// Reach a primary on another machine without encryption where no key is found
    #[arg(
        long,
        value_name = "BOOL",
        env = "PHALANX_INSECURE",
        global = true,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        value_parser = clap::builder::BoolishValueParser::new()
    )]
    pub insecure: Option<bool>,
}

impl KeyArguments {
    /// Returns what was chosen.
    pub fn chosen(&self) -> ChosenKeys {
        ChosenKeys {
            key: self.key.clone(),
            server_key: self.server_key.clone(),
            folder: self.keys.clone(),
            is_insecure: self.insecure.unwrap_or_default(),
        }
    }
}

/// The arguments of `phalanx keygen`.
#[derive(Debug, Args)]
pub struct KeygenArguments {
    /// Name of the key: NAME.key and NAME.pub are written [default: its role]
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Rights of the key's holder
    #[arg(long, value_enum, default_value_t)]
    pub role: KeyRole,
    /// Validity of the key from now on: a number of hours, days or weeks, such as 12h, 30d, 4w
    #[arg(long, value_name = "TIME", value_parser = validity)]
    pub valid_for: Option<Duration>,
    /// Topics and models that it may command, as patterns: `/model/r1/**,/cmd_vel` [default: all]
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    pub allow: Vec<String>,
    /// The folder that it is written to [default: the folder of your keys]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Replace a key that is there
    #[arg(long)]
    pub force: bool,
}

/// Reads how long a key is valid.
fn validity(text: &str) -> Result<Duration, String> {
    let form = || format!("{text:?} is no such time: write 12h, 30d or 4w");
    let (number, unit) = text.split_at(text.len().saturating_sub(1));
    let hours = match unit {
        "h" => 1,
        "d" => 24,
        "w" => 7 * 24,
        _ => return Err(form()),
    };
    // Times of lines have years of four digits.
    let is_some_time = |number: &u64| (1..=10_000).contains(number);
    let number = number.parse().ok().filter(is_some_time).ok_or_else(form)?;
    Ok(Duration::from_hours(number * hours))
}

/// Rights of a key's holder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum KeyRole {
    /// Prove that a primary is the one that is meant.
    Primary,
    /// Take part in runs as a secondary.
    Secondary,
    /// View and command runs.
    #[default]
    Controller,
    /// View runs.
    Observer,
}

impl KeyRole {
    /// Returns the role's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Primary => "primary",
            Self::Secondary => "secondary",
            Self::Controller => "controller",
            Self::Observer => "observer",
        }
    }
}
