//! The words of `phalanx ctl`: a run, where it is named, then what to do.

use std::fmt::Write as _;
use std::time::Duration;

use clap::Args;
use client::control::{self, Asked, ControlOptions, ParseControlError, VERBS, Verb, own_verb};
use run::{HostError, HostList, check_host_name};

use super::{KeyArguments, TableFormat, parse_seconds};
use crate::owner_socket::HostChange;

/// The arguments of `phalanx ctl`.
#[derive(Debug, Args)]
#[command(override_usage = "phalanx ctl [RUN] COMMAND ... [OPTIONS]")]
#[command(after_help = commands_help())]
pub struct CtlArguments {
    /// The run, if more than one is living, then what to do
    #[arg(required = true, num_args = 1.., value_name = "RUN COMMAND")]
    #[arg(allow_negative_numbers = true)]
    pub words: Vec<String>,
    /// Options of the commands.
    #[command(flatten)]
    pub options: ControlOptions,
    /// By which keys the run is reached.
    #[command(flatten)]
    pub keys: KeyArguments,
    /// Format of the answer; csv is for clients alone [default: text]
    #[arg(long, value_enum)]
    pub format: Option<TableFormat>,
    /// Give up after so many seconds
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = parse_seconds)]
    pub timeout: Duration,
}

/// Commands whose answer is a table.
const LISTS: [&str; 2] = ["clients", "participants"];

/// Commands that the process that owns a run carries out, and no primary.
const HOST_VERBS: &[Verb] = &[
    own_verb(ADD_HOST, "HOST[:N]", "start secondaries on a host over ssh"),
    own_verb(DRAIN_HOST, "HOST", "let a host's secondaries leave"),
];

const ADD_HOST: &str = "add-host";
const DRAIN_HOST: &str = "drain-host";

/// A command of `phalanx ctl`.
#[derive(Clone, Debug, PartialEq)]
pub enum CtlCommand {
    /// For the primary of the run.
    OfRun(Asked),
    /// For the process that owns the run.
    OfHosts(HostChange),
}

/// Words of `phalanx ctl` that are no command.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum CtlError {
    /// No word names a command.
    #[error("no command in {words:?}: use [RUN] {}", verb_names())]
    NoCommand {
        /// The words.
        words: String,
    },
    /// Words or options that do not go with their command.
    #[error(transparent)]
    Words(#[from] ParseControlError),
    /// A word that is no host.
    #[error("{0} {1}")]
    Host(&'static str, #[source] HostError),
}

/// Tells whether a word is a command of `phalanx ctl`.
pub fn is_verb(word: &str) -> bool {
    verbs().any(|verb| verb.name == word)
}

/// Returns all commands of `phalanx ctl`.
pub fn verbs() -> impl Iterator<Item = &'static Verb> {
    VERBS.iter().chain(HOST_VERBS)
}

fn verb_names() -> String {
    let names: Vec<&str> = verbs().map(|verb| verb.name).collect();
    names.join(", ")
}

impl CtlArguments {
    /// Returns the run, if one is named, and the command for it.
    ///
    /// # Errors
    /// Fails if the words are no command.
    pub fn parse(&self) -> Result<(Option<&str>, CtlCommand), CtlError> {
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        match words.as_slice() {
            [run, verb, rest @ ..] if is_verb(verb) => match self.parse_verb(verb, rest) {
                Ok(command) => Ok((Some(*run), command)),
                // What looks like a command may be the name of a level or a model.
                Err(error) => match self.parse_verb(run, &words[1..]) {
                    Ok(command) => Ok((None, command)),
                    Err(_) => Err(error),
                },
            },
            [verb, rest @ ..] if is_verb(verb) => Ok((None, self.parse_verb(verb, rest)?)),
            _ => Err(CtlError::NoCommand {
                words: words.join(" "),
            }),
        }
    }

    fn parse_verb(&self, verb: &str, rest: &[&str]) -> Result<CtlCommand, CtlError> {
        if self.format == Some(TableFormat::Csv) && !LISTS.contains(&verb) {
            let owner = LISTS.join(" and ");
            return Err(ParseControlError::OptionOfAnother("format csv", owner).into());
        }
        match HOST_VERBS.iter().find(|known| known.name == verb) {
            Some(known) => {
                self.options.check(known)?;
                parse_host(known.name, rest).map(CtlCommand::OfHosts)
            }
            None => Ok(CtlCommand::OfRun(control::parse(
                verb,
                rest,
                &self.options,
            )?)),
        }
    }
}

fn parse_host(verb: &'static str, words: &[&str]) -> Result<HostChange, CtlError> {
    let host = match words {
        [host] => *host,
        [] => {
            let wanted = "a host, as ssh takes its name";
            return Err(ParseControlError::Missing(verb.to_owned(), wanted).into());
        }
        [host, other, ..] => {
            let (other, host) = ((*other).to_owned(), (*host).to_owned());
            return Err(ParseControlError::Superfluous(other, host).into());
        }
    };
    let wrong = |error| CtlError::Host(verb, error);
    if verb == ADD_HOST {
        host.parse::<HostList>().map_err(wrong)?;
        return Ok(HostChange::Add(host.to_owned()));
    }
    let name = host.trim_start_matches('[').trim_end_matches(']');
    check_host_name(name).map_err(wrong)?;
    Ok(HostChange::Drain(name.to_owned()))
}

/// Returns the list of commands that follows the options in `--help`.
fn commands_help() -> String {
    let mut text = "Commands:\n".to_owned();
    for verb in verbs() {
        let words = format!("{} {}", verb.name, verb.argument);
        let _ = writeln!(text, "  {:<32} {}", words.trim_end(), verb.text);
    }
    text + "\nFILE may be - for standard input. set-pose takes several models one after the other, \
            or a JSON\nfile such as {\"box\": [1, 2, 3]}; set-joint also takes MODEL::JOINT with \
            --position,\n--velocity or both."
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use protocol::Command;
    use protocol::action::ModelVelocity;
    use protocol::client_to_primary::{JointPosition, NamedPose, NamedState, ResetKind};

    use super::*;
    use crate::cli::{Cli, CliCommand};

    fn parse(line: &str) -> Result<(Option<String>, CtlCommand), CtlError> {
        let words = ["phalanx", "ctl"]
            .into_iter()
            .chain(line.split_whitespace());
        let words = control::plain_numbers(words.map(Into::into));
        let Some(CliCommand::Ctl(arguments)) = Cli::try_parse_from(words).unwrap().command else {
            panic!("ctl was not named")
        };
        let (run, command) = arguments.parse()?;
        Ok((run.map(str::to_owned), command))
    }

    fn control(line: &str) -> Result<(Option<String>, Command), CtlError> {
        let (run, command) = parse(line)?;
        let CtlCommand::OfRun(asked) = command else {
            panic!("{line} is about hosts")
        };
        Ok((run, asked.load(false).expect("no file is named")))
    }

    #[test]
    fn hosts_are_added_and_drained() {
        let check = |line: &str, run: Option<&str>, change: HostChange| {
            let parsed = parse(line).unwrap();
            let expected = (run.map(str::to_owned), CtlCommand::OfHosts(change));
            assert_eq!(parsed, expected, "{line}");
        };
        check("add-host a", None, HostChange::Add("a".to_owned()));
        check(
            "r add-host me@a:4",
            Some("r"),
            HostChange::Add("me@a:4".to_owned()),
        );
        check("drain-host a", None, HostChange::Drain("a".to_owned()));
        check(
            "r drain-host [::1]",
            Some("r"),
            HostChange::Drain("::1".to_owned()),
        );
        let refused = |line: &str, part: &str| {
            let error = parse(line).unwrap_err().to_string();
            assert!(error.contains(part), "{line}: {error}");
        };
        refused("add-host", "needs a host");
        refused("drain-host a b", "is not understood after");
        refused("add-host a:0", "a host has 1 to 1000 secondaries");
        refused("drain-host a:2;b", "no name of a host");
        refused("add-host a --name b", "--name goes with spawn alone");
        refused("r fly", "add-host");
    }

    fn check(line: &str, run: Option<&str>, command: Command) {
        assert_eq!(
            control(line),
            Ok((run.map(str::to_owned), command)),
            "{line}"
        );
    }

    fn check_error(line: &str, part: &str) {
        let error = control(line).unwrap_err().to_string();
        assert!(error.contains(part), "{line}: {error}");
    }

    fn move_cell(level: &str, peer: &str) -> Command {
        Command::MoveCell {
            level: level.to_owned(),
            peer: peer.parse().unwrap(),
        }
    }

    fn set_performer(model: &str, size: Option<[f64; 3]>) -> Command {
        Command::SetPerformer {
            model: model.to_owned(),
            size,
        }
    }

    #[test]
    fn a_run_is_optional_before_a_control_command() {
        check("play", None, Command::Play);
        check("ramp-1 pause", Some("ramp-1"), Command::Pause);
        check("step 5", None, Command::Step { count: 5 });
        check("a step 5", Some("a"), Command::Step { count: 5 });
        check("play stop", Some("play"), Command::Stop);
        check("move-cell west s2", None, move_cell("west", "s2"));
        check(
            "a move-cell w::default s2",
            Some("a"),
            move_cell("w::default", "s2"),
        );
        check("set-performer box", None, set_performer("box", None));
    }

    #[test]
    fn a_peer_is_let_go_and_a_run_saved() {
        let drain = |peer: &str| Command::Drain {
            peer: peer.parse().unwrap(),
        };
        check("drain s2", None, drain("s2"));
        check("a drain s2", Some("a"), drain("s2"));
        check("a checkpoint", Some("a"), Command::Checkpoint);
        check_error("a drain", "needs the peer that is to leave");
        check_error("drain s/2", "a peer name is");
        check_error("checkpoint now", "is not understood after");
    }

    #[test]
    fn clients_are_listed_and_cut_off() {
        check("clients", None, Command::Clients);
        check("a clients --format json", Some("a"), Command::Clients);
        let key = "bob".to_owned();
        check("a disconnect bob", Some("a"), Command::Disconnect { key });
        check_error("a disconnect", "needs the name of a key");
        check("a play --format json", Some("a"), Command::Play);
        check_error(
            "a play --format csv",
            "--format csv goes with clients and participants alone",
        );
    }

    #[test]
    fn a_level_may_be_named_as_a_command_is() {
        check("move-cell play s1", None, move_cell("play", "s1"));
        check("a move-cell stop s1", Some("a"), move_cell("stop", "s1"));
        check(
            "a set-performer stop",
            Some("a"),
            set_performer("stop", None),
        );
    }

    #[test]
    fn a_performer_may_be_given_a_size() {
        let size = Some([1.0, 2.0, 0.5]);
        check(
            "a set-performer box --size 1 2 0.5",
            Some("a"),
            set_performer("box", size),
        );
        check(
            "set-performer --size 1 2 0.5 -- box",
            None,
            set_performer("box", size),
        );
        check_error("set-performer box --size 1 0 1", "above 0");
        check_error("set-performer box --size 1 -1 1", "above 0");
        check_error("set-performer box --size 1 inf 1", "finite");
        check_error("play --size 1 1 1", "--size goes with set-performer alone");
    }

    #[test]
    fn wrong_control_commands_are_refused() {
        check_error("a step 0", "no number of steps");
        check_error("a fly", "no command in");
        check_error("a play now", "is not understood after \"play\"");
        check_error("a move-cell west", "needs a level and the peer");
        check_error("move-cell west s/2", "a peer name is");
        check_error("a set-performer", "needs a model");
    }

    #[test]
    fn time_is_controlled() {
        check("run-to 1.5", None, Command::RunTo { sim_time_s: 1.5 });
        let reset = |what| Command::Reset { what };
        check("a reset", Some("a"), reset(ResetKind::All));
        check("reset models", None, reset(ResetKind::Models));
        check("set-seed 7", None, Command::SetSeed { seed: 7 });
        let factor = Command::SetRealTimeFactor { factor: 0.0 };
        check("set-real-time-factor 0", None, factor);
        let size = Command::SetStepSize { step_size_s: 2e-3 };
        check("set-step-size 2e-3", None, size);
        check_error("run-to", "needs a simulated time");
        check_error("reset everything", "no all, time or models");
        check_error("set-seed -1", "no whole number");
        check_error("run-to inf", "no finite number");
    }

    #[test]
    fn models_are_moved_one_or_several_with_negative_numbers() {
        let pose = |model: &str, pose| NamedPose {
            model: model.to_owned(),
            pose,
        };
        let poses = |poses| Command::SetPoses { poses };
        let here = [-1.0, 2.0, -3e-1, 0.0, 0.0, 0.0, 1.0];
        check(
            "set-pose box -1 2 -3e-1",
            None,
            poses(vec![pose("box", here)]),
        );
        let line = "a set-pose box -1 2 -0.3 0 0 0 ball -1 2 -0.3";
        check(
            line,
            Some("a"),
            poses(vec![pose("box", here), pose("ball", here)]),
        );
        check_error("set-pose box 1 2", "three or six numbers");
        check_error("set-pose box", "three or six numbers");
        check_error("set-pose box 1 2 3 ball", "three or six numbers");
    }

    #[test]
    fn a_model_gets_a_velocity() {
        let states = |linear, angular| Command::SetStates {
            states: vec![NamedState {
                model: "box".to_owned(),
                pose: None,
                velocity: Some(ModelVelocity { linear, angular }),
            }],
        };
        let linear = [-1.0, 2e-1, 0.0];
        check("set-velocity box -1 2e-1 0", None, states(linear, [0.0; 3]));
        let turning = states(linear, [0.0, -0.5, 3.0]);
        check("a set-velocity box -1 0.2 0 0 -0.5 3", Some("a"), turning);
        check_error("set-velocity box 1 2", "three or six numbers");
        check_error("set-velocity box 1 2 3 4", "three or six numbers");
        check_error("set-velocity box 1 2 x", "finite number");
        check_error("set-velocity box 1 2 3 4 5 6 7", "7");
    }

    #[test]
    fn links_and_joints_are_driven() {
        let wrench = Command::ApplyWrench {
            link: "box".to_owned(),
            force: [-10.0, 0.0, 0.0],
            torque: [0.0, -1.0, 0.0],
            duration_s: 0.5,
        };
        let line = "apply-wrench box -10 0 0 --torque 0 -1 0 --duration 0.5";
        check(line, None, wrench);
        let joint = Command::SetJoint {
            joint: "arm::elbow".to_owned(),
            axis: 0,
            position: Some(-1.5),
            velocity: None,
        };
        check("set-joint arm::elbow --position -1.5", None, joint);
        check_error("set-joint arm::elbow", "--position, --velocity or both");
        check_error("set-joint arm::elbow --velocity 1 --axis 2", "0 or 1");
        let joint = |joint: &str, position| JointPosition {
            joint: joint.to_owned(),
            position,
        };
        let joints = Command::SetJoints {
            model: "arm".to_owned(),
            positions: vec![joint("elbow", -1.5), joint("hand::a=b", 0.25)],
        };
        check(
            "a set-joint arm elbow=-1.5 hand::a=b=0.25",
            Some("a"),
            joints,
        );
        check_error("set-joint arm elbow", "\"elbow\" is no JOINT=POSITION");
        check_error("set-joint arm elbow=inf", "a finite number");
        check_error("set-joint arm elbow=1 --velocity 1", "one joint");
        check_error("apply-wrench box 1 0", "a force in newtons");
        check_error("apply-wrench box 1 0 0 --duration -1", "from 0");
        let attach = Command::Attach {
            parent: "a::l".to_owned(),
            child: "b::l".to_owned(),
        };
        check("attach a::l b::l", None, attach);
        let off = Command::SetCollisions {
            entity: "box".to_owned(),
            enabled: false,
        };
        check("disable-collisions box", None, off);
        check_error("detach a::l", "two links");
    }

    #[test]
    fn a_model_is_spawned_from_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("box.sdf");
        std::fs::write(&path, "<sdf/>").unwrap();
        let words = ["phalanx", "ctl", "spawn", path.to_str().unwrap()];
        let options = ["--name", "b", "--pose", "-1 0 2", "--allow-renaming"];
        let joints = ["--joint", "elbow=-1.5", "--joint", "wrist=2"];
        let cli = Cli::try_parse_from(words.into_iter().chain(options).chain(joints)).unwrap();
        let Some(CliCommand::Ctl(arguments)) = cli.command else {
            panic!("ctl was not named")
        };
        let (_, CtlCommand::OfRun(asked)) = arguments.parse().unwrap() else {
            panic!("a host was meant")
        };
        let Command::Spawn(request) = asked.load(false).unwrap() else {
            panic!("spawn was not asked for")
        };
        assert_eq!(request.sdf, "<sdf/>");
        assert_eq!(request.file.as_deref(), path.to_str());
        assert_eq!(request.pose, Some([-1.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0]));
        assert_eq!(
            (request.name.as_deref(), request.allow_renaming),
            (Some("b"), true)
        );
        let joints: Vec<_> = request.joints.iter().collect();
        let positions: Vec<_> = joints.iter().map(|joint| joint.position).collect();
        assert_eq!(positions, [-1.5, 2.0], "{joints:?}");
        check_error("play --joint a=1", "--joint goes with spawn alone");
        check_error("spawn x.sdf --joint a", "no JOINT=POSITION");
        let missing = control("spawn x.sdf --pose 1").unwrap_err();
        assert!(missing.to_string().contains("three or six"), "{missing}");
    }
}
