//! [`Loss`]: what a journal once had and has no more.

use std::fmt;

use protocol::Iteration;

/// Policy for records that were written down and are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Losses {
    /// Nothing is taken up.
    Refuse,
    /// The run goes on from the last record before them.
    Accept,
}

/// Records that a journal once had and has no more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Names the file that is damaged or missing, and the place in it.
    pub cause: String,
    /// The last iteration that is kept.
    pub after: Iteration,
    /// The last iteration that is known to have been done, if that is later.
    pub until: Option<Iteration>,
    /// Number of known commands after it.
    pub commands: u64,
}

impl fmt::Display for Loss {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            cause,
            after,
            until,
            commands,
        } = self;
        write!(
            formatter,
            "{cause}; what was done after iteration {after} is lost: "
        )?;
        match until {
            Some(until) => {
                write!(formatter, "iterations {} to {until} or more", after.0 + 1)?;
            }
            None => formatter.write_str("how many iterations that were is not known")?,
        }
        match commands {
            0 => formatter.write_str(", and the commands that came with them"),
            1 => formatter.write_str(", and at least 1 command"),
            count => write!(formatter, ", and at least {count} commands"),
        }
    }
}
