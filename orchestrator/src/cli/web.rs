//! The arguments of `phalanx web`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use clap::Args;
use images::Quality;

use super::KeyArguments;

/// The port that is served unless another one is chosen.
const PORT: u16 = 8765;

/// The arguments of `phalanx web`.
#[derive(Debug, Args)]
pub struct WebArguments {
    /// A run of this machine or an endpoint, or a recording; may be left out when exactly one run
    /// is living
    #[arg(value_name = "RUN | ENDPOINT | FILE.mcap")]
    pub run: Option<String>,
    /// Address and port to serve: ADDR:PORT, or a port of this machine alone; port 0 is a free one
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:8765")]
    #[arg(value_parser = address)]
    pub bind: SocketAddr,
    /// A secret that whoever connects must know, 16 to 256 letters, digits, `-` and `_`, or the
    /// file that has it; other addresses than loopback get a random one
    #[arg(long, value_name = "TEXT | @FILE", hide_env_values = true)]
    pub token: Option<String>,
    /// A site whose pages may connect, too, such as `https://viewer.example`
    #[arg(long, value_name = "ORIGIN", value_delimiter = ',')]
    pub allow_origin: Vec<String>,
    /// Open the page in the browser of this machine
    #[arg(long)]
    pub open: bool,
    /// Quality of images that are sent as JPEG, from 1 to 100
    #[arg(long, value_name = "Q", default_value_t)]
    pub jpeg_quality: Quality,
    /// By which keys the run is reached.
    #[command(flatten)]
    pub keys: KeyArguments,
}

/// Reads an address to serve.
fn address(text: &str) -> Result<SocketAddr, String> {
    let own = IpAddr::V4(Ipv4Addr::LOCALHOST);
    if let Ok(port) = text.parse::<u16>() {
        return Ok(SocketAddr::new(own, port));
    }
    if let Ok(address) = text.parse::<IpAddr>() {
        return Ok(SocketAddr::new(address, PORT));
    }
    let named = text
        .strip_prefix("localhost:")
        .and_then(|port| port.parse().ok());
    let named = named.map(|port| SocketAddr::new(own, port));
    let read = text.parse().ok().or(named);
    read.ok_or_else(|| "use ADDR:PORT such as 127.0.0.1:8765 or 0.0.0.0:8765, or a port".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_one_of_this_machine_alone() {
        let check = |text, expected: &str| {
            assert_eq!(address(text), Ok(expected.parse().unwrap()), "{text}");
        };
        check("9000", "127.0.0.1:9000");
        check("localhost:0", "127.0.0.1:0");
        check("0.0.0.0", "0.0.0.0:8765");
        check("[::1]:80", "[::1]:80");
        for wrong in ["", "example.org:80", "127.0.0.1:99999", "web"] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
    }
}
