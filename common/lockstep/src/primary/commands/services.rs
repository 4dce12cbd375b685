//! Calls of services by their Gazebo names: each becomes commands, which are done one after the
//! other and answered once.

use std::collections::{BTreeMap, VecDeque};

use protocol::primary_to_client::{PrimaryToClient, Reply};
use protocol::secondary_to_primary::SystemRequest;
use protocol::{Command, RequestId, RoutingId};

use crate::primary::commands::requests::WAITERS_MAX;
use crate::primary::context::Context;
use crate::primary::{Primary, PrimaryOutput};
use crate::services;

/// Where the commands of calls are answered to: no peer can have this address.
const ADDRESS: &[u8] = b"\0call";
/// Where the calls of systems are answered to, which nobody reads: no peer can have it either.
const SYSTEMS: &[u8] = b"\0systems";

/// The calls that are under way, by the request of the command that is being done.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    under_way: BTreeMap<u64, Call>,
    pub(crate) next: u64,
    /// What systems call for that is about when time passes, each in its order.
    pub(crate) of_systems: Vec<VecDeque<Command>>,
}

/// A call whose commands are not all done yet.
#[derive(Debug)]
struct Call {
    from: RoutingId,
    request: RequestId,
    rest: VecDeque<Command>,
}

impl Calls {
    /// Returns what is left to do of the calls of systems, by the request of the command that is
    /// being done.
    pub(crate) fn of_systems_under_way(&self) -> Vec<(u64, VecDeque<Command>)> {
        let of_systems = self.under_way.iter();
        of_systems
            .filter(|(_, call)| call.from.0 == SYSTEMS)
            .map(|(number, call)| (*number, call.rest.clone()))
            .collect()
    }

    /// Takes up a call of a system again.
    pub(crate) fn take_up(&mut self, number: u64, rest: VecDeque<Command>) {
        let call = Call {
            from: RoutingId(SYSTEMS.to_vec()),
            request: RequestId(0),
            rest,
        };
        self.under_way.insert(number, call);
    }

    /// Returns whether this is where a command of a call of a system is answered to.
    pub(crate) fn awaits(&self, to: &RoutingId, request: RequestId) -> bool {
        let call = self.under_way.get(&request.0);
        to.0 == ADDRESS && call.is_some_and(|call| call.from.0 == SYSTEMS)
    }

    /// Returns where commands of calls are answered to.
    pub(crate) fn address() -> RoutingId {
        RoutingId(ADDRESS.to_vec())
    }
}

impl Primary {
    pub(crate) fn on_call(
        &mut self,
        from: RoutingId,
        request: RequestId,
        [service, kind]: [&str; 2],
        body: &[u8],
        cx: &mut Context<'_>,
    ) {
        if self.commands.calls.under_way.len() >= WAITERS_MAX {
            return cx.fail(from, request, "too many calls are under way");
        }
        match services::translate(service, kind, body, &self.world.topology.worlds) {
            Ok(commands) => {
                let rest = commands.into();
                self.go_on_with(
                    Call {
                        from,
                        request,
                        rest,
                    },
                    cx,
                );
            }
            Err(error) => cx.fail(
                from,
                request,
                &crate::primary::commands::resolve::chain(&error),
            ),
        }
    }

    /// Replaces the calls among the requests of systems by what they mean; what is about when time
    /// passes is kept for [`Self::begin_calls_of_systems`].
    pub(crate) fn resolve_calls(
        &mut self,
        mut requests: Vec<SystemRequest>,
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
            match services::translate(service, kind, body, &self.world.topology.worlds) {
                Ok(commands) => {
                    let (about_time, others): (Vec<_>, Vec<_>) =
                        commands.into_iter().partition(is_about_time);
                    let others = others.into_iter();
                    resolved.extend(others.map(|command| SystemRequest { publisher, command }));
                    let waiting =
                        self.commands.calls.of_systems.len() + self.commands.calls.under_way.len();
                    if !about_time.is_empty() && waiting < WAITERS_MAX {
                        self.commands.calls.of_systems.push(about_time.into());
                    }
                }
                Err(error) => {
                    let reason = crate::primary::commands::resolve::chain(&error);
                    self.tell_of_system(publisher, &request.command, &reason, cx);
                }
            }
        }
        resolved
    }

    /// Begins what systems called for in the round that is done.
    pub(crate) fn begin_calls_of_systems(&mut self, cx: &mut Context<'_>) {
        let waiting = std::mem::take(&mut self.commands.calls.of_systems);
        if self.resume.replay.is_some() {
            // What came of them is known.
            return;
        }
        for rest in waiting {
            let call = Call {
                from: RoutingId(SYSTEMS.to_vec()),
                request: RequestId(0),
                rest,
            };
            self.go_on_with(call, cx);
        }
    }

    /// Begins the next command of a call, or answers it when all are done.
    fn go_on_with(&mut self, mut call: Call, cx: &mut Context<'_>) {
        let Some(command) = call.rest.pop_front() else {
            return cx.done(call.from, call.request);
        };
        let number = self.commands.calls.next;
        self.commands.calls.next += 1;
        self.commands.calls.under_way.insert(number, call);
        let address = RoutingId(ADDRESS.to_vec());
        self.on_command(address, RequestId(number), command, cx);
    }

    /// Takes the answers to commands of calls out of what goes out, and goes on with those calls.
    pub(crate) fn continue_calls(&mut self, cx: &mut Context<'_>) {
        if self.commands.calls.under_way.is_empty() {
            return;
        }
        loop {
            cx.extract(|output| is_reply_to(output, SYSTEMS));
            let is_ours = |output: &mut PrimaryOutput| is_reply_to(output, ADDRESS);
            let answers: Vec<PrimaryOutput> = cx.extract(is_ours);
            if answers.is_empty() {
                return;
            }
            for answer in answers {
                let PrimaryOutput::Reply { message, .. } = answer else {
                    continue;
                };
                let PrimaryToClient { request, reply } = message;
                let Some(call) = self.commands.calls.under_way.remove(&request.0) else {
                    continue;
                };
                match reply {
                    Reply::Failed { reason } => cx.fail(call.from, call.request, &reason),
                    reply if call.rest.is_empty() => {
                        cx.reply(call.from, call.request, reply);
                    }
                    _ => self.go_on_with(call, cx),
                }
            }
        }
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
