//! [`FuelAddress`]: a model, a world, or a file of one, by its address on a server of Gazebo's
//! Fuel.
//!
//! Text alone: nothing here opens a file or a connection. Where the caches of this machine have
//! what an address means is in `search_paths/fuel_caches.rs`.

use std::fmt::{self, Write};
use std::path::PathBuf;

/// The server of Gazebo's own models and worlds.
pub const FUEL_SERVER: &str = "https://fuel.gazebosim.org";
/// The former name of its host, which many worlds have.
const FORMER_HOST: &str = "fuel.ignitionrobotics.org";
/// The host of its web page, whose addresses people copy.
const PAGE_HOST: &str = "app.gazebosim.org";
/// The host of [`FUEL_SERVER`].
const HOST: &str = "fuel.gazebosim.org";
/// The version of the interface of servers, as paths have it.
const INTERFACE_VERSION: &str = "1.0";
/// The most bytes of an address, and of a name in it.
const ADDRESS_BYTES_MAX: usize = 2048;
const NAME_BYTES_MAX: usize = 200;

/// Kind of a resource of Fuel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FuelKind {
    /// A folder with a `model.config`.
    Model,
    /// A folder with a world file.
    World,
}

impl FuelKind {
    /// Returns the word for it in addresses and in the folders of a cache.
    pub fn folder(self) -> &'static str {
        match self {
            Self::Model => "models",
            Self::World => "worlds",
        }
    }

    /// Returns the word for one of it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::World => "world",
        }
    }
}

/// A model or world on a server, whatever its version. Servers and caches of Gazebo do not tell
/// small letters of names from capital ones, nor does the order here.
#[derive(Clone, Debug)]
pub struct FuelResource {
    /// Scheme, host and port, such as `https://fuel.gazebosim.org`.
    pub server: String,
    /// The user or organisation that it belongs to.
    pub owner: String,
    /// Whether it is a model or a world.
    pub kind: FuelKind,
    /// Its name, with spaces and capital letters as they were written.
    pub name: String,
}

/// An address that means a resource, or a file of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FuelAddress {
    /// The resource.
    pub resource: FuelResource,
    /// Its version, counted from 1; `None` is the newest, which addresses call `tip`.
    pub version: Option<u32>,
    /// The path of a file in it; `None` is the whole.
    pub file: Option<PathBuf>,
}

impl FuelResource {
    /// Returns its folder below a cache; versions of it are folders therein, by their numbers.
    pub fn folder(&self) -> PathBuf {
        let (host, owner, kind, name) = self.key();
        [&host, &owner, kind, &name].iter().collect()
    }

    /// Returns the address of one of its versions, or of the newest, without a file.
    pub fn at(&self, version: Option<u32>) -> FuelAddress {
        FuelAddress {
            resource: self.clone(),
            version,
            file: None,
        }
    }

    /// Returns the host of its server, with its port.
    pub fn host(&self) -> &str {
        let host = self.server.split_once("://");
        host.map_or(self.server.as_str(), |(_, host)| host)
    }

    /// Returns the path of one of its requests, percent-encoded; the parts follow its name.
    pub fn request_path(&self, parts: &[&str]) -> String {
        let first = [
            INTERFACE_VERSION,
            &self.owner,
            self.kind.folder(),
            &self.name,
        ];
        let all = first.iter().chain(parts);
        all.fold(String::new(), |path, part| path + "/" + &encoded(part))
    }

    /// Returns what equal ones have in common: host, owner and name in small letters.
    fn key(&self) -> (String, String, &'static str, String) {
        // A colon separates folders in lists of them.
        let host = self.host().replace(':', "_").to_lowercase();
        let owner = self.owner.to_lowercase();
        (host, owner, self.kind.folder(), self.name.to_lowercase())
    }
}

impl PartialEq for FuelResource {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for FuelResource {}

impl PartialOrd for FuelResource {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for FuelResource {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl fmt::Display for FuelResource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{}", self.server, self.request_path(&[]))
    }
}

impl FuelAddress {
    /// Reads an address such as `https://fuel.gazebosim.org/1.0/OpenRobotics/models/Sun/2`, with
    /// `tip` or nothing in place of the version, and `/files/PATH` behind it for a file. Names may
    /// be percent-encoded or not. `None` if a text is no such address.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (scheme, rest) = text.split_once("://")?;
        let is_web = matches!(scheme, "http" | "https");
        if !is_web || text.len() > ADDRESS_BYTES_MAX || text.contains(['?', '#', '\\']) {
            return None;
        }
        let mut parts = rest.split('/').filter(|part| !part.is_empty());
        let host = parts.next().filter(|host| is_host(host))?;
        let mut parts = parts.peekable();
        let is_page = host.eq_ignore_ascii_case(PAGE_HOST);
        if parts.peek().is_some_and(|part| is_interface_version(part)) {
            parts.next();
        }
        let owner = name(parts.next()?)?;
        if is_page && parts.next() != Some("fuel") {
            return None;
        }
        let kind = match parts.next()? {
            "models" => FuelKind::Model,
            "worlds" => FuelKind::World,
            _ => return None,
        };
        let resource = FuelResource {
            server: server(scheme, host),
            owner,
            kind,
            name: name(parts.next()?)?,
        };
        let version = match parts.next() {
            None => return Some(resource.at(None)),
            Some("tip") => None,
            Some(number) => Some(number.parse().ok().filter(|number| *number > 0)?),
        };
        let address = resource.at(version);
        let Some(part) = parts.next() else {
            return Some(address);
        };
        let names = parts.map(name).collect::<Option<PathBuf>>()?;
        let is_file = part == "files" && names.components().next().is_some();
        is_file.then_some(Self {
            file: Some(names),
            ..address
        })
    }

    /// Returns the address of the whole that it is, or that its file is in.
    #[must_use]
    pub fn whole(&self) -> Self {
        self.resource.at(self.version)
    }

    /// Returns the word for its version in addresses.
    pub fn version_word(&self) -> String {
        self.version
            .map_or_else(|| "tip".to_owned(), |number| number.to_string())
    }
}

impl fmt::Display for FuelAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.resource)?;
        if self.version.is_some() || self.file.is_some() {
            write!(formatter, "/{}", self.version_word())?;
        }
        let Some(file) = &self.file else {
            return Ok(());
        };
        formatter.write_str("/files")?;
        for part in file {
            write!(formatter, "/{}", encoded(&part.to_string_lossy()))?;
        }
        Ok(())
    }
}

/// Returns scheme and host of a server, under the present name of Gazebo's.
fn server(scheme: &str, host: &str) -> String {
    let host = host.to_ascii_lowercase();
    if [HOST, FORMER_HOST, PAGE_HOST].contains(&host.as_str()) {
        return FUEL_SERVER.to_owned();
    }
    format!("{scheme}://{host}")
}

/// Tells whether a text may be a host with a port: letters, digits, `.`, `-`, and those of IPv6.
fn is_host(text: &str) -> bool {
    let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]_".contains(&byte);
    text.bytes().all(is_fit) && text.bytes().any(|byte| byte.is_ascii_alphanumeric())
}

fn is_interface_version(text: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.split_once('.')
        .is_some_and(|(major, minor)| is_number(major) && is_number(minor))
}

/// Returns a part of a path without percent-encoding, if it names one thing and nothing hidden.
fn name(part: &str) -> Option<String> {
    let name = String::from_utf8(decoded(part)?).ok()?;
    let is_fit = !name.is_empty()
        && name.len() <= NAME_BYTES_MAX
        && !name.starts_with('.')
        && !name.contains(['/', '\\'])
        && !name.chars().any(char::is_control);
    is_fit.then_some(name)
}

/// Returns bytes without percent-encoding; `None` if that is broken.
fn decoded(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &rest[2..];
    }
    Some(bytes)
}

/// Returns a part of a path with all but the unreserved characters of RFC 3986 percent-encoded.
fn encoded(part: &str) -> String {
    let mut text = String::with_capacity(part.len());
    for byte in part.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

/// Returns a name of a URI such as `model://ground%20plane` without percent-encoding.
pub(crate) fn plain_name(part: &str) -> Option<String> {
    name(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: Option<&str>) {
        let read = FuelAddress::parse(text);
        assert_eq!(
            read.as_ref().map(ToString::to_string).as_deref(),
            expect,
            "{text}"
        );
        if let Some(read) = read {
            assert_eq!(FuelAddress::parse(&read.to_string()), Some(read), "{text}");
        }
    }

    #[test]
    fn addresses_are_read_as_gazebo_reads_them() {
        let sun = "https://fuel.gazebosim.org/1.0/OpenRobotics/models/Sun";
        check(sun, Some(sun));
        check(&format!(" {sun}/\n"), Some(sun));
        check(&format!("{sun}/tip"), Some(sun));
        check(&format!("{sun}/4"), Some(&format!("{sun}/4")));
        check(
            "https://fuel.gazebosim.org/OpenRobotics/models/Sun",
            Some(sun),
        );
        check(
            "https://fuel.ignitionrobotics.org/1.0/OpenRobotics/models/Sun",
            Some(sun),
        );
        check(
            "https://app.gazebosim.org/OpenRobotics/fuel/models/Sun",
            Some(sun),
        );
        check(
            "http://fuel.gazebosim.org/1.0/OpenRobotics/models/Sun",
            Some(sun),
        );
        let mesh = "https://fuel.gazebosim.org/1.0/a/models/b%20c/tip/files/meshes/d%20e.dae";
        check(mesh, Some(mesh));
        check(&mesh.replace("%20", " "), Some(mesh));
        let world = "http://127.0.0.1:8080/1.0/a/worlds/w/2";
        check(world, Some(world));
    }

    #[test]
    fn other_texts_are_no_addresses() {
        for text in [
            "model://Sun",
            "https://fuel.gazebosim.org",
            "https://fuel.gazebosim.org/1.0/OpenRobotics/models",
            "https://fuel.gazebosim.org/1.0/OpenRobotics/collections/All",
            "https://fuel.gazebosim.org/1.0/an_org/models/a_model/mesh/mesh.dae",
            "https://fuel.gazebosim.org/1.0/a/models/b/0",
            "https://fuel.gazebosim.org/1.0/a/models/b/tip/files",
            "https://fuel.gazebosim.org/1.0/a/models/..",
            "https://fuel.gazebosim.org/1.0/a/models/%2e%2e/1",
            "https://fuel.gazebosim.org/1.0/a/models/b%2Fc/1",
            "https://fuel.gazebosim.org/1.0/a/models/b/1/files/../x",
            "https://fuel.gazebosim.org/1.0/a/models/b/1/files/%zz",
            "https://fuel.gazebosim.org/1.0/a/models/b?x=1",
            "https://user@host/1.0/a/models/b",
            "file:///1.0/a/models/b",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn names_are_the_same_in_small_and_capital_letters() {
        let read = |text: &str| FuelAddress::parse(text).unwrap();
        let one = read("https://fuel.gazebosim.org/1.0/OpenRobotics/models/Ground Plane/1");
        let other = read("https://fuel.gazebosim.org/1.0/openrobotics/models/ground%20plane/1");
        assert_eq!(one, other);
        let folder = PathBuf::from("fuel.gazebosim.org/openrobotics/models/ground plane");
        assert_eq!(one.resource.folder(), folder);
        let local = read("http://127.0.0.1:80/1.0/a/worlds/w");
        assert_eq!(
            local.resource.folder(),
            PathBuf::from("127.0.0.1_80/a/worlds/w")
        );
    }
}
