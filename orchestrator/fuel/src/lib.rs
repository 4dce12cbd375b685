//! Models and worlds of Gazebo's Fuel: fetched once into a cache, offline ever after.
//!
//! [`Wanted`] finds the addresses of Fuel that a world and all that it includes have, [`Fetcher`]
//! brings what is missing into the [`Store`], through [`http`] and `unpack`. Only this crate goes
//! to a server, and only while a command waits for it: whatever reads a world afterwards finds the
//! files by [`sdf::FuelCaches`], without a network.

mod details;
mod fetcher;
pub mod http;
mod servers;
mod store;
mod trust;
mod unpack;
mod wanted;
mod zip_end;

pub use details::Details;
pub use fetcher::{FetchError, Fetched, Fetcher, FetcherError, Progress};
pub use servers::{SERVERS, ServerError, Servers, TOKEN};
pub use store::{Change, Record, RecordedFile, Store, StoreError, Stored};
pub use trust::Advice;
pub use unpack::{UNPACKED_BYTES_MAX, UnpackError};
pub use wanted::{Need, Wanted, WantedResource};

/// The most bytes of a packed model or world.
pub const PACKED_BYTES_MAX: u64 = 1 << 30;
