//! Inputs of the view: the run as [`Feed`], the user as [`Key`], and time.

use client::feed::Feed;
use protocol::Command;

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// News of the run.
    Feed(Feed),
    /// No more news will come.
    FeedClosed,
    /// A key was pressed.
    Key(Key),
    /// A text was pasted.
    Paste(String),
    /// The files of a folder that the palette offers.
    Files(FileList),
    /// A command has the file that it names.
    Loaded(Command),
    /// The file that a command names is of no use.
    LoadFailed {
        /// The error and its cause.
        reason: String,
    },
    /// The mouse was used.
    Mouse(Mouse),
    /// The terminal has this size now.
    Resized {
        /// Columns.
        width: u16,
        /// Rows.
        height: u16,
    },
    /// Time passed.
    Tick,
}

/// Entries of a folder that the palette offers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileList {
    /// The folder as it was typed, empty or with a `/` at its end.
    pub folder: String,
    /// Folders, with a `/` at their end, and files, by name.
    pub names: Vec<String>,
}

/// A mouse action and its place on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mouse {
    /// Action.
    pub action: MouseAction,
    /// Column, from 0.
    pub x: u16,
    /// Row, from 0.
    pub y: u16,
}

/// Kinds of mouse actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MouseAction {
    /// The left button went down.
    Press,
    /// It moved with the left button down.
    Drag,
    /// The wheel was turned away.
    ScrollUp,
    /// The wheel was turned to the user.
    ScrollDown,
}

/// A key as the keymap knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A character, with shift already applied.
    Char(char),
    /// A letter with the control key, in lower case.
    Ctrl(char),
    /// Enter.
    Enter,
    /// Escape.
    Esc,
    /// Tab.
    Tab,
    /// Tab with shift.
    BackTab,
    /// Backspace.
    Backspace,
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow left.
    Left,
    /// Arrow right.
    Right,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// Home.
    Home,
    /// End.
    End,
}
