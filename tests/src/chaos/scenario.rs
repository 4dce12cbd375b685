//! [`Scenario`]: what is run, and what goes wrong when, all drawn from a seed.

use std::time::Duration;

use super::journal_damage::Damage;
use crate::cluster::random::Random;
use crate::worlds;

/// Run, with the faults that disturb it.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Seed that it was drawn from.
    pub seed: u64,
    /// Number of robots that drive from level to level.
    pub robots: u32,
    /// Number of secondaries it begins with.
    pub secondaries: u64,
    /// After how many iterations it ends.
    pub iterations: u64,
    /// After how many each checkpoint is made.
    pub checkpoint_every: u64,
    /// True if its journal is on a small disk of its own.
    pub has_small_disk: bool,
    /// True if its secondaries are on two hosts, with a cable that is pulled.
    pub is_on_two_hosts: bool,
    /// Faults and commands, each after a pause.
    pub acts: Vec<(Duration, Act)>,
}

/// Something that is done to a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// So many secondaries are killed at once; the numbers choose them.
    KillSecondaries(Vec<u64>),
    /// A secondary is stopped.
    StopSecondary(u64, Stall),
    /// The primary is killed, and the run resumed once it is over.
    KillPrimary(Resume),
    /// The run daemon is killed, and with it everybody.
    KillOwner(Resume),
    /// Everybody is killed at once.
    KillAll(Resume),
    /// The primary is stopped.
    StopPrimary(Stall),
    /// The primary is stopped and let go again and again for so long.
    SlowPrimary(Duration),
    /// The run daemon is stopped for so long.
    StopOwner(Duration),
    /// Everybody is killed, and the journal damaged before the run is resumed.
    DamageJournal(Damage),
    /// The disk of the journal is full for so long.
    FillDisk(Duration),
    /// The cable is pulled for so long.
    PullCable(Duration),
    /// A command is sent.
    Command(Ask),
}

/// For how long a process is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stall {
    /// It goes on after this.
    For(Duration),
    /// It never goes on.
    ForEver,
}

/// Manner in which a run is resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resume {
    /// True if at the very moment of the death, and not once everybody is gone.
    pub at_once: bool,
    /// With how many secondaries.
    pub secondaries: u64,
}

/// Commands to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// A box is spawned.
    Spawn,
    /// A box that was spawned is put elsewhere.
    SetPose,
    /// A box that was spawned is removed.
    Remove,
    /// A secondary is drained.
    Drain(u64),
    /// A cell goes to a secondary.
    MoveCell(u64, u64),
    /// A checkpoint is made.
    Checkpoint,
}

impl Scenario {
    /// Draws what a seed stands for.
    pub fn of_seed(seed: u64) -> Self {
        let mut random = Random::mixed(seed);
        let is_on_two_hosts = random.chance(60);
        let has_small_disk = !is_on_two_hosts && random.chance(120);
        let count = random.between(2, 8);
        let acts = (0..count).map(|_| {
            let pause = Duration::from_millis(random.between(0, 900));
            let act = if is_on_two_hosts {
                Act::PullCable(Duration::from_millis(
                    random.one_of(&[300, 1000, 3000, 8000]),
                ))
            } else if has_small_disk && random.chance(400) {
                Act::FillDisk(Duration::from_millis(random.between(300, 3000)))
            } else {
                act(&mut random)
            };
            (pause, act)
        });
        let acts = acts.collect();
        Self {
            seed,
            robots: random.between(6, 14) as u32,
            secondaries: random.between(1, 4),
            iterations: random.between(2500, 5000),
            checkpoint_every: random.one_of(&[50, 200, 1000]),
            has_small_disk,
            is_on_two_hosts,
            acts,
        }
    }

    /// Returns the script by which every robot drives, each in a bend of its own.
    pub fn script(&self) -> String {
        worlds::drive_in_bends(self.robots)
    }

    /// Returns the world.
    pub fn world(&self) -> String {
        sdf::generate_fleet(self.robots, [3, 2])
    }
}

fn act(random: &mut Random) -> Act {
    match random.below(100) {
        0..20 => {
            let count = random.one_of(&[1, 1, 1, 2, 9]);
            Act::KillSecondaries((0..count).map(|_| random.draw()).collect())
        }
        20..28 => Act::StopSecondary(random.draw(), stall(random)),
        28..34 => Act::KillPrimary(resume(random)),
        34..40 => Act::KillOwner(resume(random)),
        40..44 => Act::KillAll(resume(random)),
        44..50 => Act::StopPrimary(stall(random)),
        50..53 => Act::SlowPrimary(Duration::from_millis(random.between(500, 3000))),
        53..56 => Act::StopOwner(Duration::from_millis(random.between(300, 4000))),
        56..62 => Act::DamageJournal(Damage::draw(random)),
        _ => Act::Command(ask(random)),
    }
}

fn stall(random: &mut Random) -> Stall {
    let lengths = [Some(300), Some(300), Some(3000), None];
    match random.one_of(&lengths) {
        Some(length) => Stall::For(Duration::from_millis(length)),
        None => Stall::ForEver,
    }
}

fn resume(random: &mut Random) -> Resume {
    Resume {
        at_once: random.chance(400),
        secondaries: random.between(0, 4),
    }
}

fn ask(random: &mut Random) -> Ask {
    match random.below(10) {
        0..4 => Ask::Spawn,
        4..6 => Ask::SetPose,
        6 => Ask::Remove,
        7 => Ask::Drain(random.draw()),
        8 => Ask::MoveCell(random.draw(), random.draw()),
        _ => Ask::Checkpoint,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_always_stands_for_the_same_and_all_kinds_are_drawn() {
        let drawn = |seed| format!("{:?}", Scenario::of_seed(seed));
        assert_eq!(drawn(7), drawn(7));
        let all: String = (0..300).map(drawn).collect();
        for kind in [
            "KillSecondaries",
            "StopSecondary",
            "KillPrimary",
            "KillOwner",
            "KillAll",
            "StopPrimary(ForEver)",
            "SlowPrimary",
            "StopOwner",
            "FlipBit",
            "CutShort",
            "Missing",
            "Unreadable",
            "FillDisk",
            "PullCable",
            "at_once: true",
            "Spawn",
            "Remove",
            "Drain",
            "MoveCell",
            "Checkpoint",
        ] {
            assert!(all.contains(kind), "{kind}");
        }
    }
}
