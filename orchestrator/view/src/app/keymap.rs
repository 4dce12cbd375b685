//! Key bindings: one table of keys, contexts and actions, from which help and footer are made too.
//!
//! [`BINDINGS`] has the keys that come with the program; a [`Keymap`] those in force, which a user
//! may have changed by the names in [`names`].

mod names;
mod overrides;
mod places;

pub use names::{KeyNameError, action_name, key_name, parse_key};
pub use overrides::{Keymap, OverrideError};
pub use places::{
    action, active, changes_run, contexts, elsewhere, is_offered, place_name, titles_of_texts,
};

use std::sync::LazyLock;

use super::event::Key;
use crate::panels::Panel;

/// The context in which a key has a meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Context {
    /// In every panel.
    Everywhere,
    /// In every panel and in details: what changes the run.
    Run,
    /// In every panel and in details of a recording: what plays it.
    Recording,
    /// In tables: peers, levels, performers and topics.
    Table,
    /// In one panel.
    Panel(Panel),
    /// In the map while it has a cursor.
    Cursor,
    /// In texts: logs and events.
    Text,
    /// In the details of one thing.
    Detail,
    /// While the keys steer a robot.
    Drive,
    /// While a filter is typed.
    Filter,
    /// While a command is typed.
    Palette,
    /// At a question.
    Confirm,
    /// At the question whether to stop the run on leaving.
    Quit,
    /// In help.
    Help,
    /// On the last screen.
    Ended,
    /// In every panel after the run's end.
    Over,
}

/// The action of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the table below says what each one does")]
pub enum Action {
    TogglePlay,
    Step(u64),
    RunTo,
    Slower,
    Faster,
    Reset,
    Drive,
    Stop,
    MoveCell,
    Spawn,
    Remove,
    Publish,
    Quit,
    Detach,
    Focus(Panel),
    FocusNext,
    FocusPrevious,
    Zoom,
    Detail,
    Copy,
    CopyAll,
    Filter,
    Back,
    Palette,
    Help,
    Repaint,
    Move(isize),
    MovePages(isize),
    MoveColumns(isize),
    SortNext,
    SortReverse,
    Follow,
    NextSource,
    Wrap,
    Magnify(i32),
    Fit,
    Pan(i8, i8),
    Cursor,
    MoveCursor(i8, i8),
    Pick,
    Select(isize),
    ToggleMouse,
    Accept,
    Complete,
    Previous,
    Next,
    Accelerate(i8, i8),
    Halt,
    ChangeStep(i8),
    NextTopic,
    Cancel,
    Leave,
    ShowEnd,
    FramesBack(u64),
    PlaySlower,
    PlayFaster,
    SeekOn(i8),
    SeekStart,
    SeekEnd,
    SeekTo,
}

/// A line of the keymap.
#[derive(Clone, Copy, Debug)]
pub struct Binding<'a> {
    /// Where.
    pub context: Context,
    /// The keys; any of them.
    pub keys: &'a [Key],
    /// Action of the keys.
    pub action: Action,
    /// The action in one or two words, for the footer; empty to leave it out there.
    pub short: &'static str,
    /// The action, for help.
    pub text: &'static str,
}

/// Makes a line of the keymap.
pub const fn bind(
    context: Context,
    keys: &'static [Key],
    action: Action,
    short: &'static str,
    text: &'static str,
) -> Binding<'static> {
    Binding {
        context,
        keys,
        action,
        short,
        text,
    }
}

use Action as A;
use Context as C;
use Key as K;

/// More than any table or text has rows.
const ALL_ROWS: isize = 1 << 40;

/// The keymap. Within a context the footer shows bindings in this order.
pub static BINDINGS: LazyLock<Vec<Binding<'static>>> = LazyLock::new(|| {
    let choices = Panel::ALL.map(|panel| Binding {
        context: Context::Everywhere,
        keys: std::slice::from_ref(&panel.row().key),
        action: Action::Focus(panel),
        short: "",
        text: panel.title(),
    });
    let own = |is_such: fn(Panel) -> bool| {
        let panels = Panel::ALL.into_iter().filter(move |panel| is_such(*panel));
        panels.flat_map(|panel| panel.row().keys).copied()
    };
    let mut bindings = FIRST.to_vec();
    bindings.extend(choices);
    bindings.extend(EVERYWHERE_AND_TABLES);
    bindings.extend(own(Panel::is_table));
    bindings.extend(own(|panel| !panel.is_table() && !panel.is_text()));
    bindings.extend(TEXTS);
    bindings.extend(own(Panel::is_text));
    bindings.extend(OTHERS);
    bindings
});

/// The keys before those that choose panels.
#[rustfmt::skip]
const FIRST: &[Binding<'static>] = &[
    bind(C::Run, &[K::Char(' ')], A::TogglePlay, "play/pause", "play or pause"),
    bind(C::Run, &[K::Char('n')], A::Step(1), "step", "one iteration while paused"),
    bind(C::Run, &[K::Char('N')], A::Step(10), "", "ten iterations while paused"),
    bind(C::Run, &[K::Char('t')], A::RunTo, "", "run to a simulated time while paused"),
    bind(C::Run, &[K::Char('<')], A::Slower, "", "halve the real-time factor that is asked for"),
    bind(C::Run, &[K::Char('>')], A::Faster, "", "double the real-time factor that is asked for"),
    bind(C::Run, &[K::Char('D')], A::Drive, "drive", "drive the selected robot"),
    bind(C::Run, &[K::Char('R')], A::Reset, "", "set time and models back to the start"),
    bind(C::Run, &[K::Char('S')], A::Stop, "", "stop the run on all its peers"),
    bind(C::Recording, &[K::Char(' ')], A::TogglePlay, "play/pause", "play or pause"),
    bind(C::Recording, &[K::Char('n')], A::Step(1), "on", "one frame on"),
    bind(C::Recording, &[K::Char('b')], A::FramesBack(1), "back", "one frame back"),
    bind(C::Recording, &[K::Char('N')], A::Step(10), "", "ten frames on"),
    bind(C::Recording, &[K::Char('B')], A::FramesBack(10), "", "ten frames back"),
    bind(C::Recording, &[K::Char('>'), K::Char('+'), K::Char('=')], A::PlayFaster,
        "faster", "play twice as fast"),
    bind(C::Recording, &[K::Char('<'), K::Char('-')], A::PlaySlower,
        "slower", "play half as fast"),
    bind(C::Recording, &[K::Char('}')], A::SeekOn(1), "seek", "a twentieth of the recording on"),
    bind(C::Recording, &[K::Char('{')], A::SeekOn(-1), "", "a twentieth of the recording back"),
    bind(C::Recording, &[K::Char('^')], A::SeekStart, "", "to the first frame"),
    bind(C::Recording, &[K::Char('$')], A::SeekEnd, "", "to the last frame"),
    bind(C::Recording, &[K::Char('T')], A::SeekTo, "", "go to a simulated time"),
    bind(C::Recording, &[K::Char('t')], A::RunTo, "", "play until a simulated time"),
    bind(C::Everywhere, &[K::Char(':')], A::Palette, "command", "type a command; Tab completes"),
    bind(C::Everywhere, &[K::Tab], A::FocusNext, "panel", "next panel"),
    bind(C::Everywhere, &[K::BackTab], A::FocusPrevious, "", "previous panel"),
];

/// The keys of all panels and of tables.
#[rustfmt::skip]
const EVERYWHERE_AND_TABLES: &[Binding<'static>] = &[
    bind(C::Everywhere, &[K::Char('z')], A::Zoom,
        "zoom", "panel on the whole screen, and back"),
    bind(C::Everywhere, &[K::Esc], A::Back, "", "one step back: clear the filter, leave the zoom"),
    bind(C::Everywhere, &[K::Char('?')], A::Help, "help", "show all keys"),
    bind(C::Everywhere, &[K::Char('d')], A::Detach, "detach", "detach: leave, the run goes on"),
    bind(C::Everywhere, &[K::Char('q'), K::Ctrl('c')], A::Quit,
        "quit", "leave; the view that started the run asks what becomes of it"),
    bind(C::Everywhere, &[K::Char('M')], A::ToggleMouse,
        "", "the mouse: for this view, or for the terminal's own selection"),
    bind(C::Everywhere, &[K::Ctrl('l')], A::Repaint, "", "paint the screen anew"),
    bind(C::Table, &[K::Enter], A::Detail, "detail", "all that is known of the selected row"),
    bind(C::Table, &[K::Char('/')], A::Filter,
        "filter", "show rows with a pattern, with ! those without"),
    bind(C::Table, &[K::Char('s')], A::SortNext, "sort", "sort by the next column"),
    bind(C::Table, &[K::Char('r')], A::SortReverse, "", "turn the order around"),
    bind(C::Table, &[K::Char('y')], A::Copy, "", "copy all that is known of the selected row"),
    bind(C::Table, &[K::Up, K::Char('k')], A::Move(-1), "", "row up"),
    bind(C::Table, &[K::Down, K::Char('j')], A::Move(1), "", "row down"),
    bind(C::Table, &[K::PageUp], A::MovePages(-1), "", "page up"),
    bind(C::Table, &[K::PageDown], A::MovePages(1), "", "page down"),
    bind(C::Table, &[K::Home, K::Char('g')], A::Move(-ALL_ROWS), "", "first row"),
    bind(C::Table, &[K::End, K::Char('G')], A::Move(ALL_ROWS), "", "last row"),
];

/// The keys of texts.
#[rustfmt::skip]
const TEXTS: &[Binding<'static>] = &[
    bind(C::Text, &[K::Enter], A::Detail, "detail", "the whole line"),
    bind(C::Text, &[K::Char('/')], A::Filter,
        "filter", "show lines with a pattern, with ! those without"),
    bind(C::Text, &[K::Char('p')], A::NextSource, "process", "one process or kind alone, then all"),
    bind(C::Text, &[K::Char('f')], A::Follow, "follow", "stay at the newest line, or no longer"),
    bind(C::Text, &[K::Char('w')], A::Wrap, "wrap", "let long lines go on in the next row, or not"),
    bind(C::Text, &[K::Char('y')], A::Copy, "copy", "copy the line"),
    bind(C::Text, &[K::Char('Y')], A::CopyAll, "", "copy all lines that pass the filter"),
    bind(C::Text, &[K::Up, K::Char('k')], A::Move(-1), "", "line up"),
    bind(C::Text, &[K::Down, K::Char('j')], A::Move(1), "", "line down"),
    bind(C::Text, &[K::PageUp], A::MovePages(-1), "", "page up"),
    bind(C::Text, &[K::PageDown], A::MovePages(1), "", "page down"),
    bind(C::Text, &[K::Home, K::Char('g')], A::Move(-ALL_ROWS), "", "oldest line"),
    bind(C::Text, &[K::End, K::Char('G')], A::Move(ALL_ROWS), "", "newest line"),
    bind(C::Text, &[K::Left, K::Char('h')], A::MoveColumns(-10), "", "scroll left"),
    bind(C::Text, &[K::Right, K::Char('l')], A::MoveColumns(10), "", "scroll right"),
];

/// The keys where no panel has them.
#[rustfmt::skip]
const OTHERS: &[Binding<'static>] = &[
    bind(C::Detail, &[K::Esc, K::Char('q'), K::Enter, K::Ctrl('c')], A::Cancel, "back", "back"),
    bind(C::Detail, &[K::Char('y')], A::Copy, "copy", "copy it to the clipboard"),
    bind(C::Detail, &[K::Up, K::Char('k')], A::Move(-1), "", "line up"),
    bind(C::Detail, &[K::Down, K::Char('j')], A::Move(1), "scroll", "line down"),
    bind(C::Detail, &[K::PageUp], A::MovePages(-1), "", "page up"),
    bind(C::Detail, &[K::PageDown], A::MovePages(1), "", "page down"),
    bind(C::Detail, &[K::Home, K::Char('g')], A::Move(-ALL_ROWS), "", "first line"),
    bind(C::Detail, &[K::End, K::Char('G')], A::Move(ALL_ROWS), "", "last line"),
    bind(C::Detail, &[K::Char('?')], A::Help, "help", "show all keys"),
    bind(C::Drive, &[K::Up, K::Char('w')], A::Accelerate(1, 0), "faster", "faster ahead"),
    bind(C::Drive, &[K::Down, K::Char('s')], A::Accelerate(-1, 0),
        "slower", "slower, then backwards"),
    bind(C::Drive, &[K::Left, K::Char('a')], A::Accelerate(0, 1), "left", "turn left"),
    bind(C::Drive, &[K::Right, K::Char('d')], A::Accelerate(0, -1), "right", "turn right"),
    bind(C::Drive, &[K::Char(' ')], A::Halt, "stop", "stop the robot"),
    bind(C::Drive, &[K::Char('+'), K::Char('=')], A::ChangeStep(1), "larger", "larger steps"),
    bind(C::Drive, &[K::Char('-')], A::ChangeStep(-1), "smaller", "smaller steps"),
    bind(C::Drive, &[K::Tab], A::NextTopic, "", "the next topic on which the robot is driven"),
    bind(C::Drive, &[K::Esc, K::Char('q'), K::Ctrl('c')], A::Cancel,
        "leave", "stop the robot and drive no longer"),
    bind(C::Filter, &[K::Enter], A::Accept, "keep", "keep the filter"),
    bind(C::Filter, &[K::Esc, K::Ctrl('c')], A::Cancel, "clear", "clear the filter"),
    bind(C::Palette, &[K::Enter], A::Accept, "run", "run the command"),
    bind(C::Palette, &[K::Tab], A::Complete, "complete", "complete a command, name or file"),
    bind(C::Palette, &[K::Up, K::Ctrl('p')], A::Previous, "before", "the line before"),
    bind(C::Palette, &[K::Down, K::Ctrl('n')], A::Next, "", "the line after"),
    bind(C::Palette, &[K::Esc, K::Ctrl('c')], A::Cancel, "cancel", "run nothing"),
    bind(C::Confirm, &[K::Char('y')], A::Accept, "yes", "yes"),
    bind(C::Confirm, &[K::Char('n'), K::Esc, K::Ctrl('c')], A::Cancel, "no", "no"),
    bind(C::Help, &[K::Esc, K::Char('?'), K::Char('q'), K::Enter, K::Ctrl('c')], A::Cancel,
        "close", "close this help"),
    bind(C::Help, &[K::Char('/')], A::Filter, "search", "show lines with these words alone"),
    bind(C::Help, &[K::Up, K::Char('k')], A::Move(-1), "", "line up"),
    bind(C::Help, &[K::Down, K::Char('j')], A::Move(1), "scroll", "line down"),
    bind(C::Help, &[K::PageUp], A::MovePages(-1), "", "page up"),
    bind(C::Help, &[K::PageDown], A::MovePages(1), "", "page down"),
    bind(C::Help, &[K::Home, K::Char('g')], A::Move(-ALL_ROWS), "", "first line"),
    bind(C::Help, &[K::End, K::Char('G')], A::Move(ALL_ROWS), "", "last line"),
    bind(C::Quit, &[K::Char('s'), K::Char('y'), K::Ctrl('c')], A::Accept,
        "stop the run", "stop the run and leave"),
    bind(C::Quit, &[K::Char('d')], A::Detach, "leave it running", "leave; the run goes on"),
    bind(C::Quit, &[K::Char('n'), K::Esc], A::Cancel, "stay", "stay in the view"),
    bind(C::Ended, &[K::Enter, K::Char('q'), K::Ctrl('c')], A::Leave, "leave", "leave the view"),
    bind(C::Ended, &[K::Esc, K::Tab, K::Char('b')], A::Cancel,
        "look around", "browse the panels as they were at the end"),
    bind(C::Ended, &[K::Char('y')], A::Copy, "copy", "copy how the run ended"),
    bind(C::Ended, &[K::Up, K::Char('k')], A::Move(-1), "", "line up"),
    bind(C::Ended, &[K::Down, K::Char('j')], A::Move(1), "scroll", "line down"),
    bind(C::Over, &[K::Char('e')], A::ShowEnd, "end", "how the run ended"),
];

/// Returns the names of a binding's keys.
pub fn key_names(binding: &Binding<'_>) -> String {
    let names: Vec<String> = binding.keys.iter().map(|key| key_name(*key)).collect();
    names.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::model::Model;

    #[test]
    fn no_key_has_two_meanings_in_one_context() {
        for (index, binding) in BINDINGS.iter().enumerate() {
            for other in &BINDINGS[index + 1..] {
                let shared = binding.keys.iter().find(|key| other.keys.contains(key));
                assert!(
                    binding.context != other.context || shared.is_none(),
                    "{shared:?}: {} and {}",
                    binding.text,
                    other.text
                );
            }
        }
    }

    #[test]
    fn every_panel_is_reached_by_its_key() {
        let model = Model::new("run".to_owned(), true);
        for panel in Panel::ALL {
            assert_eq!(action(&model, panel.row().key), Some(Action::Focus(panel)));
        }
    }

    #[test]
    fn every_view_of_a_living_run_can_detach() {
        for owns_run in [true, false] {
            let model = Model::new("run".to_owned(), owns_run);
            assert_eq!(action(&model, Key::Char('d')), Some(Action::Detach));
        }
    }
}
