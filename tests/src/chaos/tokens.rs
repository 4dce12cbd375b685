//! [`Tokens`]: the commands that a run was sent, each with a text that only its record can hold.

use std::process::Command;

use crate::processes::{Process, Scratch};

/// The model that is spawned.
pub(super) const BOX: &str = "<sdf version='1.12'><model name='box'><link name='l'>\
    <collision name='c'><geometry><box><size>0.4 0.4 0.4</size></box></geometry></collision>\
    </link></model></sdf>";

/// Commands that were sent.
#[derive(Default)]
pub(super) struct Tokens {
    asked: Vec<Asked>,
    /// Number of boxes asked for.
    boxes: u64,
    /// Number of commands sent.
    count: u64,
}

struct Asked {
    process: Process,
    /// Texts that the record of a command that was done holds, each within one line.
    token: Option<[String; 2]>,
}

/// A command that was said to be done.
#[derive(Clone, Debug)]
pub(super) struct Done {
    /// Texts that its line in the record holds.
    pub(super) token: [String; 2],
}

impl Tokens {
    /// Returns the arguments that spawn another box.
    pub(super) fn spawn(&mut self, file: &str) -> (Vec<String>, Option<[String; 2]>) {
        self.boxes += 1;
        let name = name(self.boxes);
        let pose = format!("{} {} 3", self.boxes % 5, self.boxes % 3);
        let words = ["spawn", file, "--name", &name, "--pose", &pose];
        let token = Some(["spawn".to_owned(), format!("\"{name}\"")]);
        (words.map(str::to_owned).to_vec(), token)
    }

    /// Tells whether a box was ever asked for.
    pub(super) fn has_box(&self) -> bool {
        self.boxes > 0
    }

    /// Returns the arguments that put a box where nothing else ever is.
    pub(super) fn set_pose(&mut self, choice: u64) -> (Vec<String>, Option<[String; 2]>) {
        let name = name(1 + choice % self.boxes.max(1));
        let x = format!("{}.{:03}5", choice % 4, self.count % 1000);
        let words = ["set-pose", &name, &x, "1", "4"]
            .map(str::to_owned)
            .to_vec();
        (words, Some([format!("\"{name}\""), x]))
    }

    /// Returns the arguments that remove a box.
    pub(super) fn remove(&mut self, choice: u64) -> (Vec<String>, Option<[String; 2]>) {
        let name = name(1 + choice % self.boxes.max(1));
        let words = ["remove", &name].map(str::to_owned).to_vec();
        (words, Some(["remove".to_owned(), format!("\"{name}\"")]))
    }

    /// Sends a command and does not wait for its answer.
    pub(super) fn send(
        &mut self,
        scratch: &Scratch,
        mut command: Command,
        words: &[String],
        token: Option<[String; 2]>,
    ) {
        self.count += 1;
        command.args(["ctl", "r"]).args(words);
        command.args(["--timeout", "20"]);
        let process = scratch.start(&format!("ctl{}", self.count), &mut command);
        self.asked.push(Asked { process, token });
    }

    /// Waits for the answers to all that was sent; returns what was done, or which answer is none.
    pub(super) fn answers(&mut self, history: &mut Vec<String>) -> Result<Vec<Done>, String> {
        let mut done = Vec::new();
        for mut asked in std::mem::take(&mut self.asked) {
            let code = asked.process.wait();
            let said = asked.process.stdout() + &asked.process.stderr();
            history.push(format!("ctl: {code}: {}", said.trim()));
            match (code, asked.token) {
                (0, Some(token)) => done.push(Done { token }),
                // Refused, or the run ended or hung meanwhile.
                (0 | 1 | 6, _) => {}
                (code, _) => {
                    return Err(format!("ctl ended with {code}: {}", asked.process.stderr()));
                }
            }
        }
        Ok(done)
    }
}

impl Done {
    /// Tells whether a record of commands holds it.
    pub(super) fn is_in(&self, record: &str) -> bool {
        let holds = |line: &str| self.token.iter().all(|part| line.contains(part));
        record.lines().any(holds)
    }
}

fn name(number: u64) -> String {
    format!("chaos_{number}")
}
