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

/// All commands.
pub const VERBS: &[Verb] = &[
    verb("play", "", "let time run"),
    verb("pause", "", "stop time"),
    verb("step", "[N]", "advance N iterations while paused"),
    verb("run-to", "SECONDS", "advance to a time while paused"),
    Verb {
        takes: &[Named::ResetKind],
        ..verb("reset", "[all|time|models]", "set back to the start")
    },
    verb("set-seed", "N", "give random numbers another seed"),
    verb("set-real-time-factor", "X", "set the pace; 0 is unbounded"),
    verb(
        "set-step-size",
        "SECONDS",
        "set simulated time per iteration",
    ),
    Verb {
        options: &[
            "name",
            "pose",
            "relative-to",
            "allow-renaming",
            "world",
            "joint",
        ],
        ..verb("spawn", "FILE", "bring a model into the world")
    },
    about_model("remove", "MODEL", "take a model out of the world"),
    about_model(
        "set-pose",
        "MODEL X Y Z [R P Y]",
        "move a model, or several",
    ),
    Verb {
        options: &["torque", "duration"],
        ..about_model("apply-wrench", "LINK FX FY FZ", "push a link")
    },
    Verb {
        options: &["position", "velocity", "axis"],
        ..verb("set-joint", "MODEL JOINT=P ...", "set positions of joints")
    },
    verb("attach", "PARENT CHILD", "hold two links together"),
    verb("detach", "PARENT CHILD", "let two attached links go"),
    about_model(
        "enable-collisions",
        "ENTITY",
        "let a model or link touch again",
    ),
    about_model("disable-collisions", "ENTITY", "let it touch nothing"),
    Verb {
        takes: &[Named::Level, Named::Secondary],
        ..verb("move-cell", "LEVEL PEER", "let a peer host a level's cell")
    },
    Verb {
        takes: &[Named::Secondary],
        ..verb("drain", "PEER", "move a peer's cells and let it leave")
    },
    verb("checkpoint", "", "save the whole run now"),
    Verb {
        options: &["size"],
        ..about_model("set-performer", "MODEL", "let a model keep levels active")
    },
    Verb {
        is_list: true,
        ..verb("clients", "", "list who is connected")
    },
    Verb {
        takes: &[Named::Key],
        ..verb("disconnect", "KEY", "cut a key off and keep it out")
    },
    verb("stop", "", "end the run in order"),
];

/// Makes a command of the table.
pub const fn verb(name: &'static str, argument: &'static str, text: &'static str) -> Verb {
    Verb {
        name,
        argument,
        text,
        is_list: false,
        takes: &[],
        options: &[],
    }
}

const fn about_model(name: &'static str, argument: &'static str, text: &'static str) -> Verb {
    Verb {
        takes: &[Named::Performer],
        ..verb(name, argument, text)
    }
}

/// Options of commands, typed besides their words.
#[derive(Clone, Debug, Default, PartialEq, Args)]
pub struct ControlOptions {
    /// set-performer: edge lengths of the box with which it touches levels, in metres
    #[arg(long, num_args = 3, value_names = ["X", "Y", "Z"], allow_negative_numbers = true)]
    pub size: Option<Vec<f64>>,
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
    let asked = match verb {
        "spawn" => spawn(words.next("a file, or - for standard input")?, options)?,
        "set-pose" => words.poses()?,
        _ => Asked::from(command(verb, &mut words, options)?),
    };
    words.end()?;
    options.check(known)?;
    Ok(asked)
}

fn command(
    verb: &str,
    words: &mut Words<'_>,
    options: &ControlOptions,
) -> Result<Command, ParseControlError> {
    Ok(match verb {
        "play" => Command::Play,
        "pause" => Command::Pause,
        "stop" => Command::Stop,
        "step" => Command::Step {
            count: words.count()?,
        },
        "run-to" => Command::RunTo {
            sim_time_s: words.number("a simulated time in seconds")?,
        },
        "reset" => Command::Reset {
            what: words.reset_kind()?,
        },
        "set-seed" => Command::SetSeed {
            seed: words.whole("a seed")?,
        },
        "set-real-time-factor" => Command::SetRealTimeFactor {
            factor: words.number("a factor")?,
        },
        "set-step-size" => Command::SetStepSize {
            step_size_s: words.number("a time in seconds")?,
        },
        "remove" => Command::Remove {
            model: words.name("a model")?,
        },
        "apply-wrench" => wrench(words, options)?,
        "set-joint" => {
            let name = words.name("a joint as MODEL::JOINT, or a model and JOINT=POSITION ...")?;
            match words.joint_positions()? {
                positions if positions.is_empty() => joint(name, options)?,
                positions => joints(name, positions, options)?,
            }
        }
        "attach" => Command::Attach {
            parent: words.name("two links as MODEL::LINK")?,
            child: words.name("two links as MODEL::LINK")?,
        },
        "detach" => Command::Detach {
            parent: words.name("two links as MODEL::LINK")?,
            child: words.name("two links as MODEL::LINK")?,
        },
        "enable-collisions" | "disable-collisions" => Command::SetCollisions {
            entity: words.name("a model or a link as MODEL::LINK")?,
            enabled: verb == "enable-collisions",
        },
        "move-cell" => Command::MoveCell {
            level: words.name("a level and the peer that is to host its cell")?,
            peer: words
                .next("a level and the peer that is to host its cell")?
                .parse::<PeerName>()?,
        },
        "drain" => Command::Drain {
            peer: words.next("the peer that is to leave")?.parse()?,
        },
        "checkpoint" => Command::Checkpoint,
        "clients" => Command::Clients,
        "disconnect" => Command::Disconnect {
            key: words.name("the name of a key")?,
        },
        "set-performer" => Command::SetPerformer {
            model: words.name("a model")?,
            size: size(options)?,
        },
        _ => return Err(ParseControlError::no_command(verb)),
    })
}

impl ControlOptions {
    /// Returns the options that are given.
    fn given(&self) -> impl Iterator<Item = &'static str> {
        let all = [
            ("size", self.size.is_some()),
            ("name", self.name.is_some()),
            ("pose", self.pose.is_some()),
            ("relative-to", self.relative_to.is_some()),
            ("allow-renaming", self.allow_renaming),
            ("world", self.world.is_some()),
            ("joint", !self.joint.is_empty()),
            ("torque", self.torque.is_some()),
            ("duration", self.duration.is_some()),
            ("position", self.position.is_some()),
            ("velocity", self.velocity.is_some()),
            ("axis", self.axis.is_some()),
        ];
        all.into_iter()
            .filter_map(|(name, is_given)| is_given.then_some(name))
    }

    fn check(&self, verb: &Verb) -> Result<(), ParseControlError> {
        let Some(wrong) = self.given().find(|name| !verb.options.contains(name)) else {
            return Ok(());
        };
        let owners = VERBS.iter().filter(|verb| verb.options.contains(&wrong));
        let owners: Vec<&str> = owners.map(|verb| verb.name).collect();
        Err(ParseControlError::OptionOfAnother(wrong, owners.join(", ")))
    }
}

fn spawn(file: &str, options: &ControlOptions) -> Result<Asked, ParseControlError> {
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
    };
    Ok(Asked::with_file(Command::Spawn(Box::new(request)), file))
}

fn wrench(words: &mut Words<'_>, options: &ControlOptions) -> Result<Command, ParseControlError> {
    let wanted = "a link and a force in newtons: LINK FX FY FZ";
    let link = words.name(wanted)?;
    let force = [
        words.number(wanted)?,
        words.number(wanted)?,
        words.number(wanted)?,
    ];
    let duration_s = options.duration.unwrap_or(0.0);
    if !(duration_s.is_finite() && duration_s >= 0.0) {
        return Err(ParseControlError::BadOption("duration", "seconds from 0"));
    }
    let torque = three(options.torque.as_deref());
    let torque = torque.ok_or(ParseControlError::BadOption(
        "torque",
        "three finite numbers",
    ))?;
    Ok(Command::ApplyWrench {
        link,
        force,
        torque: torque.unwrap_or_default(),
        duration_s,
    })
}

fn joint(joint: String, options: &ControlOptions) -> Result<Command, ParseControlError> {
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
    Ok(Command::SetJoint {
        joint,
        axis,
        position: options.position,
        velocity: options.velocity,
    })
}

fn joints(
    model: String,
    positions: Vec<JointPosition>,
    options: &ControlOptions,
) -> Result<Command, ParseControlError> {
    let of_one = options
        .given()
        .find(|name| ["position", "velocity", "axis"].contains(name));
    match of_one {
        Some(name) => Err(ParseControlError::BadOption(
            name,
            "one joint, named MODEL::JOINT",
        )),
        None => Ok(Command::SetJoints { model, positions }),
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

/// Returns what may be reset, by name.
pub fn reset_kinds() -> [(&'static str, ResetKind); 3] {
    [
        ("all", ResetKind::All),
        ("time", ResetKind::Time),
        ("models", ResetKind::Models),
    ]
}
