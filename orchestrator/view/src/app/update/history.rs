//! Takes the run's history into the model.

use client::plain_text::plain;
use protocol::primary_to_observers::Event;
use protocol::report::{EVENTS_MAX, History};

use crate::app::model::Model;
use crate::app::past_events::merged;

/// Number of the newest events that a history is compared with.
const SEEN_MAX: usize = 2 * EVENTS_MAX;

/// Puts the run's past before what the view has seen of it.
pub(super) fn on_history(model: &mut Model, history: History) {
    model.trends.latency.recall(&history.samples, model.now);
    let skipped = history.events.len().saturating_sub(EVENTS_MAX);
    let mut events: Vec<Event> = history.events.into_iter().skip(skipped).collect();
    for event in &mut events {
        event.kind = plain(&event.kind);
        event.text = plain(&event.text);
    }
    let seen: Vec<Event> = model.heard.events.newest(SEEN_MAX).cloned().collect();
    let all = merged(&events, &seen);
    let same = all.iter().zip(&seen).take_while(|(a, b)| a == b).count();
    let kept = model.heard.events.total() - seen.len() + same;
    model
        .heard
        .events
        .replace_after(kept, all.into_iter().skip(same));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::fixture::feed;
    use client::feed::Feed;
    use protocol::primary_to_observers::Severity;
    use protocol::{Iteration, PrimaryToObservers};

    fn event(number: u64) -> Event {
        Event {
            iteration: Iteration(number),
            severity: Severity::Info,
            kind: "level".to_owned(),
            text: format!("event\u{1b} {number}"),
        }
    }

    fn numbers(model: &Model) -> Vec<u64> {
        let all = model.heard.events.newest(model.heard.events.total());
        all.map(|event| event.iteration.0).collect()
    }

    fn push(model: &mut Model, numbers: std::ops::RangeInclusive<u64>) {
        for number in numbers {
            let event = PrimaryToObservers::Event(event(number));
            feed(model, Feed::Status(event));
        }
    }

    fn tell(model: &mut Model, numbers: std::ops::RangeInclusive<u64>) {
        let history = History {
            events: numbers.map(event).collect(),
            ..History::default()
        };
        feed(model, Feed::History(Box::new(history)));
    }

    fn check(live: &[u64], past: &[u64], expected: &[u64]) {
        let mut model = Model::new("run".to_owned(), false);
        for number in live {
            let event = PrimaryToObservers::Event(event(*number));
            feed(&mut model, Feed::Status(event));
        }
        let history = History {
            events: past.iter().map(|number| event(*number)).collect(),
            ..History::default()
        };
        feed(&mut model, Feed::History(Box::new(history)));
        assert_eq!(numbers(&model), expected);
    }

    #[test]
    fn each_event_is_there_once_and_in_order() {
        check(&[], &[1, 2], &[1, 2]);
        check(&[3, 4], &[1, 2], &[1, 2, 3, 4]);
        check(&[2, 3, 4], &[1, 2, 3], &[1, 2, 3, 4]);
        check(&[1, 2, 3], &[1, 2, 3], &[1, 2, 3]);
        check(&[1, 2], &[], &[1, 2]);
    }

    #[test]
    fn a_second_past_adds_what_was_missed_and_moves_nothing() {
        let mut model = Model::new("run".to_owned(), false);
        push(&mut model, 1..=500);
        model.heard.events.scroll(-300, 10);
        let place = model.heard.events.selected();
        tell(&mut model, 1..=520);
        assert_eq!(numbers(&model), (1..=520).collect::<Vec<_>>());
        assert_eq!(model.heard.events.selected(), place);
        push(&mut model, 521..=1600);
        tell(&mut model, 650..=1649);
        assert_eq!(numbers(&model), (1..=1649).collect::<Vec<_>>());
        assert_eq!(model.heard.events.selected(), place);
    }
}
