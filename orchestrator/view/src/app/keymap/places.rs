//! Selects the bindings that hold in each context and are offered to this view.

use super::{Action, Binding, Context};
use crate::app::event::Key;
use crate::app::model::{Mode, Model, Question};
use crate::app::panel::Panel;

use Context as C;

/// Returns the contexts that hold in a panel, the most special first.
pub fn place_of(panel: Panel) -> &'static [Context] {
    match panel {
        Panel::Peers => &[C::Table, C::Run, C::Everywhere],
        Panel::Levels => &[C::Levels, C::Table, C::Run, C::Everywhere],
        Panel::Topics => &[C::Topics, C::Table, C::Run, C::Everywhere],
        Panel::Performers => &[C::Performers, C::Table, C::Run, C::Everywhere],
        Panel::Map => &[C::Map, C::Run, C::Everywhere],
        Panel::Overview | Panel::Latency => &[C::Run, C::Everywhere],
        Panel::Logs | Panel::Events => &[C::Text, C::Run, C::Everywhere],
    }
}

/// Returns the contexts that hold now, the most special first.
pub fn contexts(model: &Model) -> &'static [Context] {
    match &model.mode {
        Mode::Browse => match model.focus {
            Panel::Map if model.map.cursor.is_some() => &[C::Cursor, C::Map, C::Run, C::Everywhere],
            panel => place_of(panel),
        },
        Mode::Filter => &[C::Filter],
        Mode::Palette { .. } => &[C::Palette],
        Mode::Confirm(Question::Quit) => &[C::Quit],
        Mode::Confirm(Question::Command { .. }) => &[C::Confirm],
        Mode::Detail { .. } => &[C::Detail, C::Run],
        Mode::Drive(_) => &[C::Drive],
        Mode::Help { .. } if model.help.is_typed => &[C::Filter],
        Mode::Help { .. } => &[C::Help],
        Mode::Ended { .. } => &[C::Ended],
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

/// Returns what the panels of a place are called, where it is one of panels.
pub fn place_name(context: Context) -> Option<&'static str> {
    match context {
        C::Table => Some("tables (2 3 5 7)"),
        C::Levels => Some("Levels (3)"),
        C::Performers => Some("Performers (5)"),
        C::Topics => Some("Topics (7)"),
        C::Map | C::Cursor => Some("Map (4)"),
        C::Text => Some("Events (8) and Logs (9)"),
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

/// Tells whether an action is one of this view: help and footer leave the others out.
pub fn is_offered(model: &Model, action: Action) -> bool {
    match action {
        Action::Detach => !model.is_over() && model.recording.is_none(),
        _ if model.recording.is_some() => !changes_run(action) || plays(action),
        _ => !(changes_run(action) && (model.is_read_only || model.is_over())),
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
    let over: &'static [Context] = match model.mode {
        Mode::Browse if model.is_over() => &[Context::Over],
        _ => &[],
    };
    let is_recording = model.recording.is_some();
    let of = move |context: &'static Context| {
        let context = match context {
            C::Run if is_recording => C::Recording,
            other => *other,
        };
        let bindings = model.keymap.bindings();
        bindings.filter(move |binding| binding.context == context)
    };
    // To stop the run is no answer of a view that only watches.
    let may_stop = |binding: &Binding<'_>| {
        let stops = binding.context == C::Quit && binding.action == Action::Accept;
        !(stops && model.is_read_only)
    };
    let contexts = over.iter().chain(contexts(model));
    contexts.flat_map(of).filter(may_stop)
}
