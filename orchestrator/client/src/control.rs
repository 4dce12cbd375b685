//! Commands in words, as `phalanx ctl` and the view's palette take them.
//!
//! [`VERBS`] is the table of all of them. [`parse`] makes of a verb, the words after it and
//! [`ControlOptions`] what is [`Asked`]; [`Asked::load`] reads the file that it names, if any.

mod asked;
mod words;

use std::ffi::OsString;

use clap::Args;
use protocol::client_to_primary::{JointPosition, ResetKind, SpawnRequest};
use protocol::{Command, PeerName};

pub use asked::read as read_input;
pub use asked::{Asked, LoadError};
use words::Words;

/// A command in words.
#[derive(Debug)]
pub struct Verb {
    /// Its name.
    pub name: &'static str,
    /// Arguments that follow it, empty for none.
    pub argument: &'static str,
    /// Description of its effect.
    pub text: &'static str,
    /// True if it asks for a list, which the view has no place for.
    pub is_list: bool,
    /// Kinds of names that follow it, in this order.
    pub takes: &'static [Named],
    /// The options that go with it.
    options: &'static [&'static str],
    /// Reads its words and options.
    parse: Parse,
}

/// A kind of name that follows a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// A level or default cell.
    Level,
    /// A secondary.
    Secondary,
    /// A performer.
    Performer,
    /// A part that can be reset.
    ResetKind,
    /// A key.
    Key,
}

/// Reads the words and options of a command.
type Parse = fn(&mut Words<'_>, &ControlOptions) -> Result<Asked, ParseControlError>;

/// All commands.
pub const VERBS: &[Verb] = &[
    verb("play", "", "let time run", |_, _| Ok(Command::Play.into())),
    verb("pause", "", "stop time", |_, _| Ok(Command::Pause.into())),
    verb(
        "step",
        "[N]",
        "advance N iterations while paused",
        |words, _| {
            let count = words.count()?;
            Ok(Command::Step { count }.into())
        },
    ),
    verb(
        "run-to",
        "SECONDS",
        "advance to a time while paused",
        |words, _| {
            let sim_time_s = words.number("a simulated time in seconds")?;
            Ok(Command::RunTo { sim_time_s }.into())
        },
    ),
    Verb {
        takes: &[Named::ResetKind],
        ..verb(
            "reset",
            "[all|time|models]",
            "set back to the start",
            |words, _| {
                let what = words.reset_kind()?;
                Ok(Command::Reset { what }.into())
            },
        )
    },
    verb(
        "set-seed",
        "N",
        "give random numbers another seed",
        |words, _| {
            let seed = words.whole("a seed")?;
            Ok(Command::SetSeed { seed }.into())
        },
    ),
    verb(
        "set-real-time-factor",
        "X",
        "set the pace; 0 is unbounded",
        |words, _| {
            let factor = words.number("a factor")?;
            Ok(Command::SetRealTimeFactor { factor }.into())
        },
    ),
    verb(
        "set-step-size",
        "SECONDS",
        "set simulated time per iteration",
        |words, _| {
            let step_size_s = words.number("a time in seconds")?;
            Ok(Command::SetStepSize { step_size_s }.into())
        },
    ),
    Verb {
        options: &[
            "name",
            "pose",
            "relative-to",
            "allow-renaming",
            "world",
            "joint",
            "namespace",
        ],
        ..verb("spawn", "FILE", "bring a model into the world", spawn)
    },
    about_model(
        "remove",
        "MODEL",
        "take a model out of the world",
        |words, _| {
            let model = words.name("a model")?;
            Ok(Command::Remove { model }.into())
        },
    ),
    about_model(
        "set-pose",
        "MODEL X Y Z [R P Y]",
        "move a model, or several",
        |words, _| words.poses(),
    ),
    about_model(
        "set-velocity",
        "MODEL X Y Z [P Q R]",
        "let a model move as one",
        |words, _| words.velocity(),
    ),
    Verb {
        options: &["torque", "duration"],
        ..about_model("apply-wrench", "LINK FX FY FZ", "push a link", wrench)
    },
    Verb {
        options: &["position", "velocity", "axis"],
        ..verb(
            "set-joint",
            "MODEL JOINT=P ...",
            "set positions of joints",
            |words, options| {
                let wanted = "a joint as MODEL::JOINT, or a model and JOINT=POSITION ...";
                let name = words.name(wanted)?;
                match words.joint_positions()? {
                    positions if positions.is_empty() => joint(name, options),
                    positions => joints(name, positions, options),
                }
            },
        )
    },
    verb(
        "attach",
        "PARENT CHILD",
        "hold two links together",
        |words, _| {
            let [parent, child] = words.two_links()?;
            Ok(Command::Attach { parent, child }.into())
        },
    ),
    verb(
        "detach",
        "PARENT CHILD",
        "let two attached links go",
        |words, _| {
            let [parent, child] = words.two_links()?;
            Ok(Command::Detach { parent, child }.into())
        },
    ),
    about_model(
        "enable-collisions",
        "ENTITY",
        "let a model or link touch again",
        |words, _| collisions(words, true),
    ),
    about_model(
        "disable-collisions",
        "ENTITY",
        "let it touch nothing",
        |words, _| collisions(words, false),
    ),
    Verb {
        takes: &[Named::Level, Named::Secondary],
        ..verb(
            "move-cell",
            "LEVEL PEER",
            "let a peer host a level's cell",
            |words, _| {
                let wanted = "a level and the peer that is to host its cell";
                let level = words.name(wanted)?;
                let peer = words.next(wanted)?.parse::<PeerName>()?;
                Ok(Command::MoveCell { level, peer }.into())
            },
        )
    },
    Verb {
        takes: &[Named::Secondary],
        ..verb(
            "drain",
            "PEER",
            "move a peer's cells and let it leave",
            |words, _| {
                let peer = words.next("the peer that is to leave")?.parse()?;
                Ok(Command::Drain { peer }.into())
            },
        )
    },
    verb("checkpoint", "", "save the whole run now", |_, _| {
        Ok(Command::Checkpoint.into())
    }),
    Verb {
        options: &["size"],
        ..about_model(
            "set-performer",
            "MODEL",
            "let a model keep levels active",
            |words, options| {
                let (model, size) = (words.name("a model")?, size(options)?);
                Ok(Command::SetPerformer { model, size }.into())
            },
        )
    },
    Verb {
        is_list: true,
        ..verb("clients", "", "list who is connected", |_, _| {
            Ok(Command::Clients.into())
        })
    },
    Verb {
        is_list: true,
        ..verb(
            "participants",
            "",
            "list the programs in lockstep",
            |_, _| Ok(Command::Participants.into()),
        )
    },
    Verb {
        takes: &[Named::Key],
        ..verb(
            "disconnect",
            "KEY",
            "cut a key off and keep it out",
            |words, _| {
                let key = words.name("the name of a key")?;
                Ok(Command::Disconnect { key }.into())
            },
        )
    },
    verb("stop", "", "end the run in order", |_, _| {
        Ok(Command::Stop.into())
    }),
];

/// Makes a command of the table.
const fn verb(
    name: &'static str,
    argument: &'static str,
    text: &'static str,
    parse: Parse,
) -> Verb {
    Verb {
        name,
        argument,
        text,
        is_list: false,
        takes: &[],
        options: &[],
        parse,
    }
}

/// Makes a command whose first word is the name of a performer.
const fn about_model(
    name: &'static str,
    argument: &'static str,
    text: &'static str,
    parse: Parse,
) -> Verb {
    Verb {
        takes: &[Named::Performer],
        ..verb(name, argument, text, parse)
    }
}

/// Makes a command that a program carries out itself, for its list of commands.
pub const fn own_verb(name: &'static str, argument: &'static str, text: &'static str) -> Verb {
    verb(name, argument, text, |words, _| {
        Err(ParseControlError::no_command(words.verb()))
    })
}

/// Options of commands, typed besides their words.
#[derive(Clone, Debug, Default, PartialEq, Args)]
pub struct ControlOptions {
    /// set-performer: edge lengths of the box with which it touches levels, in metres
    #[arg(long, num_args = 3, value_names = ["X", "Y", "Z"], allow_negative_numbers = true)]
    pub size: Option<Vec<f64>>,
    /// Those of `spawn`.
    #[command(flatten)]
    pub spawn: SpawnOptions,
    /// apply-wrench: a torque besides the force, in newton metres, world frame
    #[arg(long, num_args = 3, value_names = ["X", "Y", "Z"], allow_negative_numbers = true)]
    pub torque: Option<Vec<f64>>,
    /// apply-wrench: for how long, in simulated seconds [default: one step]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub duration: Option<f64>,
    /// set-joint: the position that it gets, in radians or metres
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub position: Option<f64>,
    /// set-joint: the velocity that it gets, in radians or metres per second
    #[arg(long, value_name = "V", allow_negative_numbers = true)]
    pub velocity: Option<f64>,
    /// set-joint: which of its axes, 0 or 1 [default: 0]
    #[arg(long, value_name = "N")]
    pub axis: Option<u32>,
}

/// Options of `spawn`.
#[derive(Clone, Debug, Default, PartialEq, Args)]
pub struct SpawnOptions {
    /// spawn: the model's name, unless the file's
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// spawn: where its origin is placed, in metres and radians, as one word in quotes
    #[arg(long, value_name = "X Y Z [R P Y]", allow_hyphen_values = true)]
    pub pose: Option<String>,
    /// spawn: the model in whose frame that pose is
    #[arg(long, value_name = "MODEL")]
    pub relative_to: Option<String>,
    /// spawn: give it another name when its own is taken
    #[arg(long)]
    pub allow_renaming: bool,
    /// spawn: the world, where there are several
    #[arg(long, value_name = "WORLD")]
    pub world: Option<String>,
    /// spawn: a joint that starts at a position, in radians or metres; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub joint: Vec<String>,
    /// spawn: the namespace of its topics, such as `/robot_7`
    #[arg(long, value_name = "NAMESPACE")]
    pub namespace: Option<String>,
}

/// Words that are no command.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ParseControlError {
    /// No word names a command.
    #[error("no command in {words:?}: use [RUN] {}", verb_names())]
    NoCommand {
        /// The words.
        words: String,
    },
    /// Something follows the command.
    #[error("{0:?} is not understood after {1:?}")]
    Superfluous(String, String),
    /// Something must follow the command.
    #[error("{0} needs {1}")]
    Missing(String, &'static str),
    /// A word that is not what it should be.
    #[error("{0:?} is no {1}")]
    Bad(String, &'static str),
    /// A peer's name that is none.
    #[error(transparent)]
    BadPeer(#[from] protocol::id::PeerNameError),
    /// An option whose values are out of range.
    #[error("--{0} takes {1}")]
    BadOption(&'static str, &'static str),
    /// An option of another command.
    #[error("--{0} goes with {1} alone")]
    OptionOfAnother(&'static str, String),
}

impl ParseControlError {
    /// Makes the error of words of which none is a command.
    pub fn no_command(words: &str) -> Self {
        Self::NoCommand {
            words: words.to_owned(),
        }
    }
}

/// Writes negative numbers with exponents without them, since clap takes those for options.
pub fn plain_numbers(words: impl Iterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    words.map(|word| {
        let text = word.to_str().filter(|text| text.starts_with('-'));
        let number = text
            .filter(|text| text.contains(['e', 'E']))
            .and_then(|text| text.parse::<f64>().ok());
        number.map_or(word, |number| number.to_string().into())
    })
}

/// Tells whether a word is a command.
pub fn is_verb(word: &str) -> bool {
    VERBS.iter().any(|verb| verb.name == word)
}

/// Parses a command.
///
/// # Errors
/// Fails if they are no command.
pub fn parse(
    verb: &str,
    rest: &[&str],
    options: &ControlOptions,
) -> Result<Asked, ParseControlError> {
    let Some(known) = VERBS.iter().find(|known| known.name == verb) else {
        return Err(ParseControlError::no_command(verb));
    };
    let mut words = Words::new(verb, rest);
    let asked = (known.parse)(&mut words, options)?;
    words.end()?;
    options.check(known)?;
    Ok(asked)
}

impl ControlOptions {
    /// Returns the options that are given.
    fn given(&self) -> impl Iterator<Item = &'static str> {
        let spawn = &self.spawn;
        let all = [
            ("size", self.size.is_some()),
            ("name", spawn.name.is_some()),
            ("pose", spawn.pose.is_some()),
            ("relative-to", spawn.relative_to.is_some()),
            ("allow-renaming", spawn.allow_renaming),
            ("world", spawn.world.is_some()),
            ("joint", !spawn.joint.is_empty()),
            ("namespace", spawn.namespace.is_some()),
            ("torque", self.torque.is_some()),
            ("duration", self.duration.is_some()),
            ("position", self.position.is_some()),
            ("velocity", self.velocity.is_some()),
            ("axis", self.axis.is_some()),
        ];
        all.into_iter()
            .filter_map(|(name, is_given)| is_given.then_some(name))
    }

    /// Checks that all options that are given go with a command.
    ///
    /// # Errors
    /// Fails with the first that does not.
    pub fn check(&self, verb: &Verb) -> Result<(), ParseControlError> {
        let Some(wrong) = self.given().find(|name| !verb.options.contains(name)) else {
            return Ok(());
        };
        let owners = VERBS.iter().filter(|verb| verb.options.contains(&wrong));
        let owners: Vec<&str> = owners.map(|verb| verb.name).collect();
        Err(ParseControlError::OptionOfAnother(wrong, owners.join(", ")))
    }
}

fn spawn(words: &mut Words<'_>, options: &ControlOptions) -> Result<Asked, ParseControlError> {
    let file = words.next("a file, or - for standard input")?;
    let options = &options.spawn;
    let numbers = "three or six finite numbers: \"X Y Z [ROLL PITCH YAW]\"";
    let pose = options.pose.as_deref().map(|text| {
        let read = text.split_whitespace().map(str::parse::<f64>);
        let read: Option<Vec<f64>> = read.collect::<Result<_, _>>().ok();
        read.and_then(|numbers| words::pose(&numbers))
            .ok_or(ParseControlError::BadOption("pose", numbers))
    });
    let request = SpawnRequest {
        sdf: String::new(),
        file: None,
        name: options.name.clone(),
        allow_renaming: options.allow_renaming,
        pose: pose.transpose()?,
        relative_to: options.relative_to.clone(),
        world: options.world.clone(),
        joints: options
            .joint
            .iter()
            .map(|word| words::joint_position(word))
            .collect::<Result<_, _>>()?,
        namespace: options.namespace.clone(),
    };
    Ok(Asked::with_file(Command::Spawn(Box::new(request)), file))
}

fn wrench(words: &mut Words<'_>, options: &ControlOptions) -> Result<Asked, ParseControlError> {
    let wanted = "a link and a force in newtons: LINK FX FY FZ";
    let link = words.name(wanted)?;
    let force = words.three_numbers(wanted)?;
    let duration_s = options.duration.unwrap_or(0.0);
    if !(duration_s.is_finite() && duration_s >= 0.0) {
        return Err(ParseControlError::BadOption("duration", "seconds from 0"));
    }
    let torque = three(options.torque.as_deref());
    let torque = torque.ok_or(ParseControlError::BadOption(
        "torque",
        "three finite numbers",
    ))?;
    let torque = torque.unwrap_or_default();
    Ok(Asked::from(Command::ApplyWrench {
        link,
        force,
        torque,
        duration_s,
    }))
}

fn collisions(words: &mut Words<'_>, enabled: bool) -> Result<Asked, ParseControlError> {
    let entity = words.name("a model or a link as MODEL::LINK")?;
    Ok(Command::SetCollisions { entity, enabled }.into())
}

fn joint(joint: String, options: &ControlOptions) -> Result<Asked, ParseControlError> {
    let is_finite = |value: Option<f64>| value.is_none_or(f64::is_finite);
    for (name, value) in [
        ("position", options.position),
        ("velocity", options.velocity),
    ] {
        if !is_finite(value) {
            return Err(ParseControlError::BadOption(name, "a finite number"));
        }
    }
    if options.position.is_none() && options.velocity.is_none() {
        let wanted = "--position, --velocity or both";
        return Err(ParseControlError::Missing("set-joint".to_owned(), wanted));
    }
    let axis = options.axis.unwrap_or(0);
    if axis > 1 {
        return Err(ParseControlError::BadOption("axis", "0 or 1"));
    }
    Ok(Asked::from(Command::SetJoint {
        joint,
        axis,
        position: options.position,
        velocity: options.velocity,
    }))
}

fn joints(
    model: String,
    positions: Vec<JointPosition>,
    options: &ControlOptions,
) -> Result<Asked, ParseControlError> {
    let of_one = options
        .given()
        .find(|name| ["position", "velocity", "axis"].contains(name));
    match of_one {
        Some(name) => Err(ParseControlError::BadOption(
            name,
            "one joint, named MODEL::JOINT",
        )),
        None => Ok(Command::SetJoints { model, positions }.into()),
    }
}

fn size(options: &ControlOptions) -> Result<Option<[f64; 3]>, ParseControlError> {
    let wanted = "three finite edge lengths above 0, in metres";
    let size = three(options.size.as_deref())
        .filter(|size| size.is_none_or(|size| size.iter().all(|edge| *edge > 0.0)));
    size.ok_or(ParseControlError::BadOption("size", wanted))
}

/// Returns three finite numbers, if they are given; `None` when they are something else.
#[expect(
    clippy::option_option,
    reason = "what is not given and what is wrong are apart"
)]
fn three(given: Option<&[f64]>) -> Option<Option<[f64; 3]>> {
    let Some(given) = given else {
        return Some(None);
    };
    let numbers = <[f64; 3]>::try_from(given).ok()?;
    numbers
        .iter()
        .all(|number| number.is_finite())
        .then_some(Some(numbers))
}

fn verb_names() -> String {
    let names: Vec<&str> = VERBS.iter().map(|verb| verb.name).collect();
    names.join(", ")
}

/// Returns the parts of a run that may be reset, by name.
pub fn reset_kinds() -> [(&'static str, ResetKind); 3] {
    [ResetKind::All, ResetKind::Time, ResetKind::Models].map(|kind| (kind.name(), kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns words that a verb takes, made of the names of its arguments.
    fn sample(verb: &Verb) -> Vec<&'static str> {
        let wanted = verb
            .argument
            .split_once('[')
            .map_or(verb.argument, |(wanted, _)| wanted);
        let word = |argument| match argument {
            "FILE" => "box.sdf",
            "LEVEL" | "MODEL" | "ENTITY" | "KEY" => "box",
            "LINK" | "PARENT" | "CHILD" => "box::link",
            "PEER" => "s1",
            "JOINT=P" => "hinge=1",
            _ => "1",
        };
        let words = wanted
            .split_whitespace()
            .filter(|argument| *argument != "...");
        words.map(word).collect()
    }

    #[test]
    fn every_verb_is_read_and_has_a_command_of_its_name() {
        for verb in VERBS {
            let asked = parse(verb.name, &sample(verb), &ControlOptions::default()).unwrap();
            let command = asked.command().unwrap_or_else(|asked| {
                assert_eq!(asked.file(), Some("box.sdf".as_ref()));
                Command::Spawn(Box::default())
            });
            let row = command.row();
            let text = row.text.expect("users type it");
            assert_eq!(text.split(' ').next(), Some(verb.name));
            assert!(
                !row.done.is_empty() && !verb.text.is_empty(),
                "{}",
                verb.name
            );
        }
    }
}
