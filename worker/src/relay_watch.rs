//! [`RelayWatch`]: tells when a relay falls silent, and when it is heard again.
//!
//! A relay that is stopped, or whose way is cut, keeps its connection: until its secondaries are
//! given up, nothing but its silence says why a step waits for all of them.

use std::collections::BTreeMap;
use std::time::Duration;

use protocol::PeerName;
use protocol::primary_to_observers::Severity;
use protocol::report::RELAY_SILENCE_MS;

/// Relay through which a secondary takes part.
#[derive(Clone, Debug)]
pub struct RelayContact {
    /// Its name.
    pub name: String,
    /// The machine of both.
    pub host: String,
    /// Time since anything came from it.
    pub silence: Duration,
}

/// Relays that were told to be silent.
#[derive(Debug, Default)]
pub struct RelayWatch {
    /// The longest silence of each that was seen.
    silent: BTreeMap<String, Duration>,
}

impl RelayWatch {
    /// Looks at the relays through which secondaries take part; returns what is to be told.
    pub fn look(&mut self, contacts: &BTreeMap<PeerName, RelayContact>) -> Vec<(Severity, String)> {
        if contacts.is_empty() && self.silent.is_empty() {
            return Vec::new();
        }
        let mut relays: BTreeMap<&str, Vec<(&PeerName, &RelayContact)>> = BTreeMap::new();
        for (secondary, contact) in contacts {
            let behind = relays.entry(&contact.name).or_default();
            behind.push((secondary, contact));
        }
        // What becomes of one without secondaries is told with the loss of these.
        self.silent.retain(|name, _| relays.contains_key(&**name));
        let mut news = Vec::new();
        for (name, behind) in relays {
            let Some((_, RelayContact { host, silence, .. })) = behind.first() else {
                continue;
            };
            if silence.as_secs_f64() * 1e3 >= RELAY_SILENCE_MS {
                let known = self.silent.insert(name.to_owned(), *silence);
                if known.is_none() {
                    let seconds = silence.as_secs_f64();
                    let names = behind.iter().map(|(secondary, _)| secondary.as_str());
                    let names: Vec<&str> = names.collect();
                    let text = format!(
                        "the relay {name} on {host} is silent: nothing came from it for \
                         {seconds:.1} s; behind it: {}",
                        names.join(", ")
                    );
                    news.push((Severity::Warning, text));
                }
            } else if let Some(longest) = self.silent.remove(name) {
                let seconds = longest.as_secs_f64();
                let text =
                    format!("the relay {name} on {host} is heard again after {seconds:.1} s");
                news.push((Severity::Info, text));
            }
        }
        news
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks at secondaries behind relays that were heard so long ago \[ms\].
    fn look(watch: &mut RelayWatch, contacts: &[(&str, &str, u64)]) -> Vec<String> {
        let contacts = contacts.iter().map(|(secondary, relay, silence_ms)| {
            let contact = RelayContact {
                name: (*relay).to_owned(),
                host: "lab".to_owned(),
                silence: Duration::from_millis(*silence_ms),
            };
            (secondary.parse().unwrap(), contact)
        });
        let news = watch.look(&contacts.collect());
        news.into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn silence_and_its_end_are_told_once() {
        let mut watch = RelayWatch::default();
        let nothing: [&str; 0] = [];
        let at = |silence_ms| {
            [
                ("s1", "r2", 10),
                ("s2", "r1", silence_ms),
                ("s3", "r1", silence_ms),
            ]
        };
        assert_eq!(look(&mut watch, &at(999)), nothing);
        let silent = "the relay r1 on lab is silent: nothing came from it for 1.0 s; behind it: \
                      s2, s3";
        assert_eq!(look(&mut watch, &at(1_000)), [silent]);
        assert_eq!(look(&mut watch, &at(4_200)), nothing);
        let heard = "the relay r1 on lab is heard again after 4.2 s";
        assert_eq!(look(&mut watch, &at(0)), [heard]);
        assert_eq!(look(&mut watch, &at(0)), nothing);
        assert_eq!(look(&mut watch, &at(2_000)).len(), 1, "it is told anew");
    }

    #[test]
    fn one_that_is_lost_with_all_its_secondaries_is_not_heard_again() {
        let mut watch = RelayWatch::default();
        assert_eq!(look(&mut watch, &[("s2", "r1", 1_500)]).len(), 1);
        assert!(look(&mut watch, &[]).is_empty());
        assert!(look(&mut watch, &[("s2", "r1", 0)]).is_empty());
    }
}
