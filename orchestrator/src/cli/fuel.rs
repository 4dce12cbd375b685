//! The command line of `phalanx fuel`.

use clap::{Args, Subcommand};

use super::Format;

/// The arguments of `phalanx fuel`.
#[derive(Debug, Args)]
pub struct FuelArguments {
    /// Action to take
    #[command(subcommand)]
    pub action: FuelAction,
}

/// Actions on models and worlds of Fuel.
#[derive(Debug, Subcommand)]
pub enum FuelAction {
    /// Fetch models and worlds with all that they include, or all that files name
    Fetch {
        /// Addresses of models and worlds, or world and model files
        #[arg(value_name = "ADDRESS | FILE", required = true)]
        what: Vec<String>,
        /// Fetch those of addresses even if they are here already
        #[arg(long)]
        again: bool,
        /// Keep the one of an address only if its zip has this SHA-256
        #[arg(long, value_name = "HEX", value_parser = sha256)]
        sha256: Option<String>,
    },
    /// List what was fetched
    List {
        /// Format of the list
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Ask for the newest versions, and use them from now on where an address names none
    Update {
        /// Addresses; without any, all that have been asked for without a version
        #[arg(value_name = "ADDRESS")]
        what: Vec<String>,
    },
    /// Compare what was fetched with its checksums
    Verify,
    /// Remove models and worlds: one version, or all of an address without one
    Remove {
        /// Addresses
        #[arg(
            value_name = "ADDRESS",
            required_unless_present = "all",
            conflicts_with = "all"
        )]
        what: Vec<String>,
        /// Remove all that was fetched
        #[arg(long)]
        all: bool,
    },
}

fn sha256(text: &str) -> Result<String, String> {
    let is_digest = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_digest {
        return Ok(text.to_ascii_lowercase());
    }
    Err("use 64 hexadecimal digits, as sha256sum prints them".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_has_64_digits() {
        assert_eq!(sha256(&"A".repeat(64)), Ok("a".repeat(64)));
        assert!(sha256("a").is_err() && sha256(&"g".repeat(64)).is_err());
    }
}
