//! [`Calls`]: calls of services by their Gazebo names. Each becomes commands, which are done one
//! after the other and answered once.

use std::collections::{BTreeMap, VecDeque};

use protocol::primary_to_client::{PrimaryToClient, Reply};
use protocol::secondary_to_primary::SystemRequest;
use protocol::{Command, FailureCode, RequestId, RoutingId};

use serde::{Deserialize, Serialize};

use crate::primary::commands::WAITERS_MAX;
use crate::primary::commands::queue::CommandQueue;
use crate::primary::commands::waiters::{Until, Waiters};
use crate::primary::context::{Context, Failure};
use crate::primary::io::PrimaryOutput;
use crate::primary::spawn_text::ReadText;
use crate::primary::world::WorldState;
use crate::services;
use protocol::error_chain::chain;

/// Address at which the commands of calls are answered: no peer can have it.
const ADDRESS: &[u8] = b"\0call";
/// Address at which the calls of systems are answered, which nobody reads: no peer can have it.
const SYSTEMS: &[u8] = b"\0systems";

/// The calls that are under way, by the request of the command that is being done.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    under_way: BTreeMap<u64, Call>,
    next: u64,
    /// Commands that systems call for about when time passes, each call's in its order.
    of_systems: Vec<VecDeque<Command>>,
}

/// A call whose commands are not all done yet.
#[derive(Debug)]
pub(crate) struct Call {
    from: RoutingId,
    request: RequestId,
    rest: VecDeque<Command>,
    /// Texts of those that bring models, as far as they were read.
    texts: VecDeque<ReadText>,
}

/// Saved calls of systems.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedCalls {
    next: u64,
    under_way: Vec<(u64, VecDeque<Command>)>,
    waiting: Vec<VecDeque<Command>>,
    /// Those under way that wait for time to come so far.
    waiters: Vec<(RequestId, Until)>,
}

impl Call {
    fn of_system(rest: VecDeque<Command>) -> Self {
        Self {
            from: RoutingId(SYSTEMS.to_vec()),
            request: RequestId(0),
            rest,
            texts: VecDeque::new(),
        }
    }

    /// Returns it with texts of its commands that were read.
    pub(crate) fn with_texts(mut self, texts: Vec<ReadText>) -> Self {
        self.texts = texts.into();
        self
    }
}

impl Calls {
    /// Saves the calls of systems, and for what their commands wait.
    pub(crate) fn save(&self, waiters: &Waiters) -> SavedCalls {
        SavedCalls {
            next: self.next,
            under_way: self.of_systems_under_way(),
            waiting: self.of_systems.clone(),
            waiters: waiters.save(|to, request| self.awaits(to, request)),
        }
    }

    /// Goes on with saved calls of systems.
    pub(crate) fn restore(saved: SavedCalls) -> (Self, Waiters) {
        let under_way = saved.under_way.into_iter();
        let calls = Self {
            next: saved.next,
            of_systems: saved.waiting,
            under_way: under_way
                .map(|(number, rest)| (number, Call::of_system(rest)))
                .collect(),
        };
        (calls, Waiters::restore(&Self::address(), saved.waiters))
    }

    /// Takes a call of a client, which has commands to be done.
    pub(crate) fn on_call(
        &self,
        (from, request): (RoutingId, RequestId),
        [service, kind]: [&str; 2],
        body: &[u8],
        world: &WorldState,
        cx: &mut Context<'_>,
    ) -> Option<Call> {
        if self.under_way.len() >= WAITERS_MAX {
            let reason = "too many calls are under way";
            cx.fail(from, request, (FailureCode::TooMuch, reason));
            return None;
        }
        match services::translate(service, kind, body, &world.topology().worlds) {
            Ok(commands) => Some(Call {
                from,
                request,
                rest: commands.into(),
                texts: VecDeque::new(),
            }),
            Err(error) => {
                cx.fail(from, request, error);
                None
            }
        }
    }

    /// Replaces the calls among the requests of systems by what they mean; commands about when
    /// time passes are kept for [`Self::take_of_systems`].
    pub(crate) fn resolve(
        &mut self,
        mut requests: Vec<SystemRequest>,
        queue: &mut CommandQueue,
        world: &WorldState,
        cx: &mut Context<'_>,
    ) -> Vec<SystemRequest> {
        // Not in the order of acks.
        requests.sort_by_key(|request| request.publisher);
        let mut resolved = Vec::with_capacity(requests.len());
        for request in requests {
            let Command::CallService {
                service,
                kind,
                body,
            } = &request.command
            else {
                resolved.push(request);
                continue;
            };
            let publisher = request.publisher;
            match services::translate(service, kind, body, &world.topology().worlds) {
                Ok(commands) => {
                    let (about_time, others): (Vec<_>, Vec<_>) =
                        commands.into_iter().partition(is_about_time);
                    let others = others.into_iter();
                    resolved.extend(others.map(|command| SystemRequest { publisher, command }));
                    let waiting = self.of_systems.len() + self.under_way.len();
                    if !about_time.is_empty() && waiting < WAITERS_MAX {
                        self.of_systems.push(about_time.into());
                    }
                }
                Err(error) => {
                    let reason = chain(&error);
                    queue.tell_of_system(publisher, &request.command, &reason, world, cx);
                }
            }
        }
        resolved
    }

    /// Takes the calls that systems made in the round that is done.
    pub(crate) fn take_of_systems(&mut self) -> Vec<Call> {
        let waiting = std::mem::take(&mut self.of_systems).into_iter();
        waiting.map(Call::of_system).collect()
    }

    /// Begins the next command of a call, and returns it with its request, and with its text if
    /// that was read; answers the call when all are done.
    pub(crate) fn begin_next(
        &mut self,
        mut call: Call,
        cx: &mut Context<'_>,
    ) -> Option<(RequestId, Command, Option<ReadText>)> {
        let Some(command) = call.rest.pop_front() else {
            cx.done(call.from, call.request);
            return None;
        };
        let text = match command {
            Command::Spawn(_) => call.texts.pop_front(),
            _ => None,
        };
        let number = self.next;
        self.next += 1;
        self.under_way.insert(number, call);
        Some((RequestId(number), command, text))
    }

    /// Tells whether no call waits for its commands.
    pub(crate) fn is_empty(&self) -> bool {
        self.under_way.is_empty()
    }

    /// Takes the answers to commands of calls out of what goes out.
    pub(crate) fn take_answers(cx: &mut Context<'_>) -> Vec<PrimaryToClient> {
        cx.extract(|output| is_reply_to(output, SYSTEMS));
        let answers = cx
            .extract(|output| is_reply_to(output, ADDRESS))
            .into_iter();
        let messages = answers.filter_map(|answer| match answer {
            PrimaryOutput::Reply { message, .. } => Some(message),
            _ => None,
        });
        messages.collect()
    }

    /// Takes the answer to a command of a call; returns the call if more of its commands are to be
    /// done, and answers it otherwise.
    pub(crate) fn on_answer(
        &mut self,
        answer: PrimaryToClient,
        cx: &mut Context<'_>,
    ) -> Option<Call> {
        let PrimaryToClient { request, reply } = answer;
        let call = self.under_way.remove(&request.0)?;
        match reply {
            Reply::Failed { code, reason } => {
                cx.fail(call.from, call.request, Failure::new(code, reason));
            }
            reply if call.rest.is_empty() => cx.reply(call.from, call.request, reply),
            _ => return Some(call),
        }
        None
    }

    /// Returns what is left to do of the calls of systems, by the request of the command that is
    /// being done.
    fn of_systems_under_way(&self) -> Vec<(u64, VecDeque<Command>)> {
        let of_systems = self.under_way.iter();
        of_systems
            .filter(|(_, call)| call.from.0 == SYSTEMS)
            .map(|(number, call)| (*number, call.rest.clone()))
            .collect()
    }

    /// Tells whether a command of a call of a system is answered at this address.
    fn awaits(&self, to: &RoutingId, request: RequestId) -> bool {
        let call = self.under_way.get(&request.0);
        to.0 == ADDRESS && call.is_some_and(|call| call.from.0 == SYSTEMS)
    }

    /// Returns the address at which commands of calls are answered.
    pub(crate) fn address() -> RoutingId {
        RoutingId(ADDRESS.to_vec())
    }
}

fn is_reply_to(output: &PrimaryOutput, address: &[u8]) -> bool {
    match output {
        PrimaryOutput::Reply { to, .. } => to.0 == address,
        _ => false,
    }
}

/// Tells whether a command says when time passes, and changes no model.
fn is_about_time(command: &Command) -> bool {
    matches!(
        command,
        Command::Play
            | Command::Pause
            | Command::Step { .. }
            | Command::RunTo { .. }
            | Command::SetRealTimeFactor { .. }
            | Command::Stop
    )
}
