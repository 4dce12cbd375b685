//! A client that moves cells by hand at random, while time runs and while it stands still.

use protocol::primary_to_client::{PrimaryToClient, Reply};
use protocol::{CellId, Command, PeerName, RequestId};

use super::random::Random;

/// The first number of its requests; those of tests are below.
const FIRST_REQUEST: u64 = 1_000_000;

/// Moves cells at random.
#[derive(Debug)]
pub struct RandomMoves {
    random: Random,
    /// Number of iterations between two moves, on average.
    mean: u64,
    next: u64,
    requests: u64,
    stage: Stage,
    /// Number of moves that were made.
    pub made: u64,
    /// Number of moves that were refused, since the cell was closed or already on its way.
    pub refused: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Until the next iteration that it acts at.
    Waiting,
    /// Until time is paused.
    Pausing,
    /// Until the cell has moved.
    Moving { is_paused: bool },
    /// Until time runs again.
    Resuming,
}

impl RandomMoves {
    /// Makes a client that moves a cell every `mean` iterations on average.
    pub fn new(mean: u64, seed: u64) -> Self {
        let mut random = Random::new(seed ^ 0x5eed);
        Self {
            next: 1 + random.below(2 * mean),
            random,
            mean,
            requests: FIRST_REQUEST,
            stage: Stage::Waiting,
            made: 0,
            refused: 0,
        }
    }

    /// Returns what it asks for once an iteration is done.
    pub fn on_done(
        &mut self,
        iteration: u64,
        cells: &[(CellId, String)],
        peers: &[PeerName],
    ) -> Option<(RequestId, Command)> {
        if self.stage != Stage::Waiting || iteration < self.next || cells.is_empty() {
            return None;
        }
        self.next = iteration + 1 + self.random.below(2 * self.mean);
        if self.random.below(4) == 0 {
            self.stage = Stage::Pausing;
            return Some(self.ask(Command::Pause));
        }
        self.stage = Stage::Moving { is_paused: false };
        Some(self.ask_to_move(cells, peers))
    }

    /// Takes a reply, and returns what it asks for next.
    ///
    /// # Panics
    /// Panics if a move fails for another reason than that the cell is closed or on its way
    /// already.
    pub fn on_reply(
        &mut self,
        message: &PrimaryToClient,
        run_ends: bool,
        cells: &[(CellId, String)],
        peers: &[PeerName],
    ) -> Option<(RequestId, Command)> {
        if message.request != RequestId(self.requests) {
            return None;
        }
        match (&message.reply, self.stage) {
            (Reply::Done { .. }, _) | (_, Stage::Waiting) => {}
            (Reply::Failed { .. }, _) if run_ends => {}
            (Reply::Failed { reason, .. }, Stage::Moving { .. }) => {
                let is_closed = reason.contains("cell now") || reason.contains("given up");
                let is_balanced = reason.contains("moved already");
                assert!(
                    is_closed || is_balanced,
                    "a move fails only for these: {reason}"
                );
            }
            (reply, stage) => panic!("{stage:?} ends with {reply:?}"),
        }
        match self.stage {
            Stage::Waiting => None,
            Stage::Pausing => {
                self.stage = Stage::Moving { is_paused: true };
                Some(self.ask_to_move(cells, peers))
            }
            Stage::Moving { is_paused } => {
                let is_made = matches!(message.reply, Reply::Done { .. });
                self.made += u64::from(is_made);
                self.refused += u64::from(!is_made);
                self.stage = Stage::Waiting;
                is_paused.then(|| {
                    self.stage = Stage::Resuming;
                    self.ask(Command::Play)
                })
            }
            Stage::Resuming => {
                self.stage = Stage::Waiting;
                None
            }
        }
    }

    fn ask_to_move(
        &mut self,
        cells: &[(CellId, String)],
        peers: &[PeerName],
    ) -> (RequestId, Command) {
        let cell = self.random.below(cells.len() as u64) as usize;
        let peer = self.random.below(peers.len() as u64) as usize;
        self.ask(Command::MoveCell {
            level: cells[cell].1.clone(),
            peer: peers[peer].clone(),
        })
    }

    fn ask(&mut self, command: Command) -> (RequestId, Command) {
        self.requests += 1;
        (RequestId(self.requests), command)
    }
}
