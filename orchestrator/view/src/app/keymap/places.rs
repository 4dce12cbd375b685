//! Selects the bindings that hold in each context and are offered to this view.

use super::{Action, Binding, Context};
use crate::app::event::Key;
use crate::app::model::{Mode, Model, Question};
use crate::panels::Panel;

use Context as C;

/// Returns the contexts that hold now, the most special first.
pub fn contexts(model: &Model) -> Vec<Context> {
    match &model.mode {
        Mode::Browse if model.screen.focus == Panel::Map && model.map.cursor.is_some() => {
            let mut contexts = Panel::Map.contexts();
            contexts.insert(0, C::Cursor);
            contexts
        }
        Mode::Browse => model.screen.focus.contexts(),
        Mode::Filter => vec![C::Filter],
        Mode::Palette { .. } => vec![C::Palette],
        Mode::Confirm(Question::Quit) => vec![C::Quit],
        Mode::Confirm(Question::Command { .. }) => vec![C::Confirm],
        Mode::Detail { .. } => vec![C::Detail, C::Run],
        Mode::Drive(_) => vec![C::Drive],
        Mode::Help { .. } if model.prompt.help.is_typed => vec![C::Filter],
        Mode::Help { .. } => vec![C::Help],
        Mode::Ended { .. } => vec![C::Ended],
    }
}

/// Returns the bindings that hold now and do something, the most special first; of a key that
/// has two, the more special one.
pub fn active(model: &Model) -> impl Iterator<Item = Binding<'_>> {
    let all: Vec<Binding<'_>> = bindings(model).collect();
    let first = |key: &Key| all.iter().position(|binding| binding.keys.contains(key));
    let does_something = |(index, binding): &(usize, &Binding<'_>)| {
        is_offered(model, binding.action)
            && binding.keys.iter().any(|key| first(key) == Some(*index))
    };
    let active: Vec<Binding<'_>> = all
        .iter()
        .enumerate()
        .filter(does_something)
        .map(|(_, binding)| *binding)
        .collect();
    active.into_iter()
}

/// Returns what a key does now; what the view may not do is refused when it is tried.
pub fn action(model: &Model, key: Key) -> Option<Action> {
    bindings(model)
        .find(|binding| binding.keys.contains(&key))
        .map(|binding| binding.action)
        .filter(|action| *action != Action::Detach || is_offered(model, *action))
}

/// Returns the bindings of this key in other places.
pub fn elsewhere(model: &Model, key: Key) -> impl Iterator<Item = Binding<'_>> {
    let bindings = model.keymap.bindings();
    bindings.filter(move |binding| binding.keys.contains(&key))
}

/// Returns the names of the panels of a place, where it is one of panels.
pub fn place_name(context: Context) -> Option<String> {
    let named = |panel: Panel| format!("{} ({})", panel.title(), panel.key_name());
    match context {
        C::Table => {
            let tables = Panel::ALL.into_iter().filter(|panel| panel.is_table());
            let keys: Vec<String> = tables.map(Panel::key_name).collect();
            Some(format!("tables ({})", keys.join(" ")))
        }
        C::Panel(panel) => Some(named(panel)),
        C::Cursor => Some(named(Panel::Map)),
        C::Text => Some(texts().map(named).collect::<Vec<_>>().join(" and ")),
        C::Everywhere
        | C::Run
        | C::Recording
        | C::Detail
        | C::Drive
        | C::Filter
        | C::Palette
        | C::Confirm
        | C::Help
        | C::Quit
        | C::Over
        | C::Ended => None,
    }
}

/// Returns the titles of the panels that are texts.
pub fn titles_of_texts() -> String {
    texts().map(Panel::title).collect::<Vec<_>>().join(" and ")
}

fn texts() -> impl Iterator<Item = Panel> {
    Panel::ALL.into_iter().filter(|panel| panel.is_text())
}

/// Tells whether an action is one of this view: help and footer leave the others out.
pub fn is_offered(model: &Model, action: Action) -> bool {
    match action {
        Action::Detach => !model.is_over() && model.session.recording.is_none(),
        _ if model.session.recording.is_some() => !changes_run(action) || plays(action),
        _ => !(changes_run(action) && (model.session.is_read_only || model.is_over())),
    }
}

/// Tells whether an action changes the run.
pub fn changes_run(action: Action) -> bool {
    matches!(
        action,
        Action::TogglePlay
            | Action::Step(_)
            | Action::RunTo
            | Action::Slower
            | Action::Faster
            | Action::Reset
            | Action::Drive
            | Action::Stop
            | Action::MoveCell
            | Action::Spawn
            | Action::Remove
            | Action::Publish
    )
}

/// Tells whether an action that changes a run plays a recording.
fn plays(action: Action) -> bool {
    matches!(action, Action::TogglePlay | Action::Step(_) | Action::RunTo)
}

fn bindings(model: &Model) -> impl Iterator<Item = Binding<'_>> {
    let is_over = model.mode == Mode::Browse && model.is_over();
    let over = is_over.then_some(Context::Over);
    let is_recording = model.session.recording.is_some();
    let of = move |context: Context| {
        let context = match context {
            C::Run if is_recording => C::Recording,
            other => other,
        };
        let bindings = model.keymap.bindings();
        bindings.filter(move |binding| binding.context == context)
    };
    // To stop the run is no answer of a view that only watches.
    let may_stop = |binding: &Binding<'_>| {
        let stops = binding.context == C::Quit && binding.action == Action::Accept;
        !(stops && model.session.is_read_only)
    };
    let contexts = over.into_iter().chain(contexts(model));
    contexts.flat_map(of).filter(may_stop)
}
