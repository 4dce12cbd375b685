//! Merges the events before a connection with those received since.
//!
//! The primary sends the past once after each connection. It may begin before what was received,
//! fill a gap in it, or end before it does; the merged list has each event once.

use std::collections::VecDeque;

use protocol::PrimaryToObservers;
use protocol::primary_to_observers::Event;
use protocol::report::EVENTS_MAX;

use client::feed::Feed;

/// Returns what was heard and what was told of the past as one, oldest first.
pub fn merged(past: &[Event], heard: &[Event]) -> Vec<Event> {
    let Some(first) = past.first() else {
        return heard.to_vec();
    };
    let is_first = heard.iter().position(|event| event == first);
    let is_older = |event: &Event| event.iteration < first.iteration;
    let older = is_first.unwrap_or_else(|| heard.partition_point(is_older));
    let (before, heard) = heard.split_at(older);
    let known = match overlap(past, heard) {
        // After a gap in what was heard: all up to the last event that both have.
        0 => heard
            .iter()
            .rposition(|event| past.contains(event))
            .map_or(0, |last| last + 1),
        known => known,
    };
    [before, past, &heard[known..]].concat()
}

/// Returns how many of the first events heard are the last ones of the past.
fn overlap(past: &[Event], heard: &[Event]) -> usize {
    let most = heard.len().min(past.len());
    let is_end = |count: &usize| past.ends_with(&heard[..*count]);
    (0..=most).rev().find(is_end).unwrap_or(0)
}

/// All events of a run for who tells each once, in their order: what comes before the past is
/// known waits for it.
#[derive(Debug, Default)]
pub struct EventsInOrder {
    early: Vec<Event>,
    is_past_known: bool,
    /// The last events that were told, as many as a primary remembers.
    told: VecDeque<Event>,
}

impl EventsInOrder {
    /// Takes news, and returns what is to be told now.
    pub fn on_feed(&mut self, feed: &Feed) -> Vec<Event> {
        let now = match feed {
            Feed::History(history) if !self.is_past_known => {
                self.is_past_known = true;
                merged(&history.events, &std::mem::take(&mut self.early))
            }
            Feed::Status(PrimaryToObservers::Event(event)) if self.is_past_known => {
                vec![event.clone()]
            }
            Feed::Status(PrimaryToObservers::Event(event)) => {
                self.early.push(event.clone());
                Vec::new()
            }
            _ => Vec::new(),
        };
        self.told.extend(now.iter().cloned());
        let surplus = self.told.len().saturating_sub(EVENTS_MAX);
        self.told.drain(..surplus);
        now
    }

    /// Returns what was not told of a run that has ended, by its last events; without them, what
    /// has waited for its past.
    pub fn end(&mut self, last: &[Event]) -> Vec<Event> {
        let early = std::mem::take(&mut self.early);
        self.is_past_known = true;
        if last.is_empty() {
            return early;
        }
        let told = self.told.make_contiguous();
        let is_told = |count: &usize| {
            let known = &last[..*count];
            told.ends_with(known) || (!told.is_empty() && known.ends_with(told))
        };
        let known = if last.starts_with(told) {
            told.len()
        } else {
            match (0..=last.len()).rev().find(is_told) {
                // After a gap in what was told: what comes after the last event that both have.
                None | Some(0) => {
                    let both = last.iter().rposition(|event| told.contains(event));
                    both.map_or(0, |both| both + 1)
                }
                Some(known) => known,
            }
        };
        last[known..].to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::Iteration;
    use protocol::primary_to_observers::Severity;
    use protocol::report::History;

    fn events(numbers: impl IntoIterator<Item = u64>) -> Vec<Event> {
        let event = |number| Event {
            iteration: Iteration(number),
            severity: Severity::Info,
            kind: "level".to_owned(),
            text: String::new(),
        };
        numbers.into_iter().map(event).collect()
    }

    fn check(past: &[u64], heard: &[u64], expected: &[u64]) {
        let merged = merged(&events(past.to_vec()), &events(heard.to_vec()));
        let expected = events(expected.to_vec());
        assert_eq!(merged, expected, "{past:?} and {heard:?}");
    }

    #[test]
    fn each_event_is_there_once_and_in_order() {
        check(&[], &[1, 2], &[1, 2]);
        check(&[1, 2], &[], &[1, 2]);
        check(&[1, 2], &[3, 4], &[1, 2, 3, 4]);
        check(&[1, 2, 3], &[2, 3, 4], &[1, 2, 3, 4]);
        check(&[1, 2, 3], &[1, 2, 3], &[1, 2, 3]);
    }

    #[test]
    fn a_past_fills_the_gap_that_a_lost_link_has_left() {
        check(&[1, 2, 3, 4], &[1, 2], &[1, 2, 3, 4]);
        check(&[1, 2, 3, 4], &[1, 2, 5], &[1, 2, 3, 4, 5]);
        check(&[1, 2, 3, 4], &[1, 4, 5], &[1, 2, 3, 4, 5]);
    }

    #[test]
    fn events_before_the_history_stay() {
        check(&[3, 4, 5], &[1, 2, 3, 4], &[1, 2, 3, 4, 5]);
        check(&[7, 8], &[1, 2], &[1, 2, 7, 8]);
        check(&[7, 8], &[1, 2, 8, 9], &[1, 2, 7, 8, 9]);
    }

    #[test]
    fn events_of_the_same_words_are_not_taken_for_one() {
        check(&[1], &[1, 1], &[1, 1]);
        check(&[1, 1], &[1, 1, 2], &[1, 1, 2]);
    }

    fn live(number: u64) -> Feed {
        let event = events([number]).remove(0);
        Feed::Status(PrimaryToObservers::Event(event))
    }

    #[test]
    fn early_events_wait_for_the_past_and_are_told_once() {
        let past = |numbers: &[u64]| {
            Feed::History(Box::new(History {
                events: events(numbers.to_vec()),
                ..History::default()
            }))
        };
        let mut all = EventsInOrder::default();
        assert_eq!(all.on_feed(&live(2)), []);
        assert_eq!(all.on_feed(&live(3)), []);
        assert_eq!(all.on_feed(&past(&[1, 2])), events(1..=3));
        assert_eq!(all.on_feed(&live(4)), events([4]));
        assert_eq!(all.on_feed(&past(&[1])), []);
        let mut unknown = EventsInOrder::default();
        assert_eq!(unknown.on_feed(&live(1)), []);
        assert_eq!(unknown.end(&[]), events([1]));
        assert_eq!(unknown.on_feed(&live(2)), events([2]));
    }

    #[test]
    fn a_run_that_ended_before_all_was_heard_tells_the_rest() {
        let check = |past: &[u64], told: &[u64], last: &[u64], expected: &[u64]| {
            let mut all = EventsInOrder::default();
            all.on_feed(&Feed::History(Box::new(History {
                events: events(past.to_vec()),
                ..History::default()
            })));
            for number in told {
                all.on_feed(&live(*number));
            }
            let rest = all.end(&events(last.to_vec()));
            assert_eq!(rest, events(expected.to_vec()), "{told:?} and {last:?}");
        };
        check(&[], &[], &[1, 2], &[1, 2]);
        check(&[1], &[2, 3], &[1, 2, 3, 4, 5], &[4, 5]);
        check(&[1], &[2, 3], &[1, 2, 3], &[]);
        check(&[1], &[2, 3], &[2, 3, 4], &[4]);
        check(&[1, 1], &[], &[1, 1, 1], &[1]);
        check(&[1, 2], &[4], &[1, 2, 3, 4, 5], &[5]);
        let mut unheard = EventsInOrder::default();
        unheard.on_feed(&live(2));
        assert_eq!(unheard.end(&events([1, 2, 3])), events(1..=3));
    }
}
