//! [`ViewDetails`]: details of things, as the view in a terminal shows them.

use client::feed::Feed;
use protocol::SessionTime;
use view::app::detail::row_detail;
use view::app::event::Event;
use view::app::model::Model;
use view::app::update::update;
use view::panels::Panel;
use web::hub::{DescribeError, Described, Details};

use crate::commands::output;

/// Kinds of things, and the panels that show them.
const SUBJECTS: &[(&str, Panel)] = &[
    ("model", Panel::Performers),
    ("performer", Panel::Performers),
    ("level", Panel::Levels),
    ("peer", Panel::Peers),
    ("topic", Panel::Topics),
];

/// The model of a view without a screen.
pub(super) struct ViewDetails(Model);

impl ViewDetails {
    pub(super) fn new(run: &str) -> Self {
        Self(Model::new(run.to_owned(), false))
    }
}

impl Details for ViewDetails {
    fn note(&mut self, feed: &Feed) {
        update(
            &mut self.0,
            Event::Feed(feed.clone()),
            SessionTime::default(),
        );
    }

    fn describe(&self, subject: &str, name: &str) -> Result<Described, DescribeError> {
        let panel = SUBJECTS.iter().find(|(known, _)| *known == subject);
        let (_, panel) = panel.ok_or_else(|| DescribeError::Subject {
            subject: subject.to_owned(),
            known: SUBJECTS.iter().map(|(known, _)| *known).collect(),
        })?;
        let detail = row_detail(&self.0, *panel, name);
        let detail = detail.ok_or_else(|| DescribeError::Unknown {
            subject: subject.to_owned(),
            name: name.to_owned(),
        })?;
        Ok(Described {
            title: detail.title,
            lines: detail.lines,
        })
    }

    fn warn(&mut self, text: &str) {
        output::note(text);
    }
}

#[cfg(test)]
mod tests {
    use view::app::fixture;

    use super::*;

    #[test]
    fn performers_levels_and_peers_are_described_as_in_a_terminal() {
        let mut details = ViewDetails::new("demo");
        details.note(&Feed::Snapshot(Box::new(protocol::report::Snapshot {
            stats: fixture::stats(),
            peers: fixture::peers(),
            levels: fixture::levels(),
            performers: fixture::performers(),
        })));
        let rover = details.describe("model", "rover_1").unwrap();
        let owner = ("physics run by".to_owned(), "s2".to_owned());
        assert!(rover.lines.contains(&owner), "{rover:?}");
        assert!(details.describe("level", "west").is_ok());
        assert!(details.describe("peer", "s1").is_ok());
        let refused = details.describe("planet", "x").unwrap_err();
        assert!(refused.to_string().contains("performer"), "{refused}");
    }
}
