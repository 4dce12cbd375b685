//! What the run remembers of its past, taken into the model.

use protocol::primary_to_observers::Event;
use protocol::report::{EVENTS_MAX, History};

use crate::app::model::Model;
use crate::app::plain_text::plain;
use crate::app::scrollback::overlap;

/// Puts the run's past before what the view has seen of it.
pub(super) fn on_history(model: &mut Model, history: History) {
    model.latency.recall(&history.samples, model.now);
    let skipped = history.events.len().saturating_sub(EVENTS_MAX);
    let mut events: Vec<Event> = history.events.into_iter().skip(skipped).collect();
    for event in &mut events {
        event.kind = plain(&event.kind);
        event.text = plain(&event.text);
    }
    // What came while the answer was under way is in both.
    let seen: Vec<Event> = model.events.newest(EVENTS_MAX).cloned().collect();
    let known = overlap(&events, &seen);
    events.extend(seen.into_iter().skip(known));
    model.events.replace(events);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::event::Feed;
    use crate::app::fixture::feed;
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
        let all = model.events.newest(EVENTS_MAX);
        all.map(|event| event.iteration.0).collect()
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
}
