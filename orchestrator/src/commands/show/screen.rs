//! Panels that are pictures, drawn as text by the code of the view.

use client::feed::Feed;
use protocol::SessionTime;
use protocol::report::{History, Layout, Snapshot};
use view::app::event::Event;
use view::app::model::Model;
use view::app::panel::Panel;
use view::app::update::update;
use view::options::UnicodeChoice;
use view::ui::painting;

use crate::commands::target::Target;

/// Makes a model of a run as it is now.
pub(super) fn model(target: &Target, snapshot: Snapshot, history: History) -> Model {
    let mut model = Model::new(target.name(), false);
    model.has_color = false;
    model.has_unicode = UnicodeChoice::Auto.has_unicode(|name| std::env::var(name).ok());
    feed(&mut model, Feed::Connected);
    feed(&mut model, Feed::History(Box::new(history)));
    feed(&mut model, Feed::Snapshot(Box::new(snapshot)));
    model
}

/// Adds what stands still.
pub(super) fn add_layout(model: &mut Model, layout: Layout) {
    feed(model, Feed::Layout(Box::new(layout)));
}

/// Returns a panel of a model, without trailing blanks.
pub(super) fn drawn(mut model: Model, panel: Panel, (width, height): (u16, u16)) -> String {
    model.focus = panel;
    painting::panel_as_text(&mut model, panel, (width, height))
}

fn feed(model: &mut Model, feed: Feed) {
    update(model, Event::Feed(feed), SessionTime::default());
}
