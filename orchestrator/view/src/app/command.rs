//! Effects: requests of [`super::update`] to the loop around it.

use protocol::Command;

use client::control::Asked;
use client::observer_request::Twisting;
use client::recorded::ReplayRequest;

/// Something to be done outside the model.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Send this to the primary, without waiting.
    Send(Command),
    /// Paint the whole screen anew; something else wrote on it.
    Repaint,
    /// Listen to this topic of the simulated worlds, and to no other; `None` is to none.
    Listen(Option<String>),
    /// Send what steers a robot, and what stops it when the link or the view ends.
    Drive(Twisting),
    /// Play the recording otherwise.
    Replay(ReplayRequest),
    /// Look which files there are in a folder, as it was typed.
    ListFiles(String),
    /// Read the file that a command names.
    Load(Asked),
    /// Hear the mouse, or leave it to the terminal.
    Mouse(bool),
    /// Put this on the user's clipboard.
    Copy(String),
    /// Give the terminal back and stop the process until it is told to go on.
    Suspend,
    /// Leave the view.
    End(ViewEnd),
}

/// Reason why the view ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewEnd {
    /// The user quits: the run is to be stopped if this view started it, else only left.
    Quit,
    /// The user detaches; the run goes on.
    Detach,
    /// A signal asked for it.
    Interrupted,
    /// The terminal is gone; the run goes on.
    HungUp,
    /// The run was over and the user left the last screen.
    Ended,
}
