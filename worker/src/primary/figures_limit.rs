//! [`FiguresLimit`]: how often clients may ask for what is made anew for each of them.
//!
//! A snapshot, a layout or the past of a run takes time of the thread that steps; views ask for
//! them when they come and when models do.

use std::collections::BTreeMap;
use std::time::Instant;

use protocol::RoutingId;
use transport::rate::{Bucket, Rate};

/// Rate limit of the requests of one client.
const OF_CLIENT: Rate = Rate {
    per_second: 20.0,
    at_once: 40.0,
};

/// Rate limit of the requests of all clients together.
const OF_ALL: Rate = Rate {
    per_second: 100.0,
    at_once: 400.0,
};

/// Number of clients whose rates are kept.
const CLIENTS_MAX: usize = 1024;

/// Limit of how often clients may ask for figures.
#[derive(Debug)]
pub(super) struct FiguresLimit {
    all: Bucket,
    clients: BTreeMap<RoutingId, Bucket>,
}

impl Default for FiguresLimit {
    fn default() -> Self {
        Self {
            all: Bucket::full(OF_ALL, Instant::now()),
            clients: BTreeMap::new(),
        }
    }
}

impl FiguresLimit {
    /// Tells whether a client may have figures now.
    pub(super) fn admits(&mut self, client: &RoutingId) -> bool {
        let now = Instant::now();
        if !self.clients.contains_key(client) {
            if self.clients.len() >= CLIENTS_MAX {
                self.clients
                    .retain(|_, bucket| !bucket.is_full(OF_CLIENT, now));
            }
            if self.clients.len() >= CLIENTS_MAX {
                self.clients.pop_first();
            }
            let full = Bucket::full(OF_CLIENT, now);
            self.clients.insert(client.clone(), full);
        }
        let own = self.clients.get_mut(client);
        own.is_some_and(|own| own.take(OF_CLIENT, now)) && self.all.take(OF_ALL, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequent_requests_of_one_client_do_not_exhaust_those_of_others() {
        let mut limit = FiguresLimit::default();
        let flood = RoutingId::from("flood");
        let admitted = (0..10_000).filter(|_| limit.admits(&flood)).count();
        assert!((40..200).contains(&admitted), "{admitted}");
        assert!(limit.admits(&RoutingId::from("other")));
        for number in 0..4 * CLIENTS_MAX {
            limit.admits(&RoutingId::from(&*number.to_string()));
        }
        assert!(limit.clients.len() <= CLIENTS_MAX);
    }
}
