//! Calls of services by their Gazebo names: each becomes commands, which are done one after the
//! other and answered once.

use std::collections::{BTreeMap, VecDeque};

use protocol::primary_to_client::{PrimaryToClient, Reply};
use protocol::{Command, RequestId, RoutingId, SessionTime};

use super::requests::WAITERS_MAX;
use super::{Primary, PrimaryOutput};
use crate::services;

/// Where the commands of calls are answered to: no peer can have this address.
const ADDRESS: &[u8] = b"\0call";

/// The calls that are under way, by the request of the command that is being done.
#[derive(Debug, Default)]
pub(super) struct Calls {
    under_way: BTreeMap<u64, Call>,
    next: u64,
}

/// A call whose commands are not all done yet.
#[derive(Debug)]
struct Call {
    from: RoutingId,
    request: RequestId,
    rest: VecDeque<Command>,
}

impl Primary {
    pub(super) fn on_call(
        &mut self,
        from: RoutingId,
        request: RequestId,
        [service, kind]: [&str; 2],
        body: &[u8],
        now: SessionTime,
        out: &mut Vec<PrimaryOutput>,
    ) {
        if self.calls.under_way.len() >= WAITERS_MAX {
            return Self::fail(from, request, "too many calls are under way", out);
        }
        match services::translate(service, kind, body, &self.plan.worlds) {
            Ok(commands) => {
                let rest = commands.into();
                self.go_on_with(
                    Call {
                        from,
                        request,
                        rest,
                    },
                    now,
                    out,
                );
            }
            Err(error) => Self::fail(from, request, &super::grants::chain(&error), out),
        }
    }

    /// Begins the next command of a call, or answers it when all are done.
    fn go_on_with(&mut self, mut call: Call, now: SessionTime, out: &mut Vec<PrimaryOutput>) {
        let Some(command) = call.rest.pop_front() else {
            return self.done(call.from, call.request, out);
        };
        let number = self.calls.next;
        self.calls.next += 1;
        self.calls.under_way.insert(number, call);
        let address = RoutingId(ADDRESS.to_vec());
        self.on_command(address, RequestId(number), command, now, out);
    }

    /// Takes the answers to commands of calls out of what goes out, and goes on with those calls.
    pub(super) fn continue_calls(&mut self, now: SessionTime, out: &mut Vec<PrimaryOutput>) {
        if self.calls.under_way.is_empty() {
            return;
        }
        let is_ours = |output: &mut PrimaryOutput| match output {
            PrimaryOutput::Reply { to, .. } => to.0 == ADDRESS,
            _ => false,
        };
        loop {
            let answers: Vec<PrimaryOutput> = out.extract_if(.., is_ours).collect();
            if answers.is_empty() {
                return;
            }
            for answer in answers {
                let PrimaryOutput::Reply { message, .. } = answer else {
                    continue;
                };
                let PrimaryToClient { request, reply } = message;
                let Some(call) = self.calls.under_way.remove(&request.0) else {
                    continue;
                };
                match reply {
                    Reply::Failed { reason } => Self::fail(call.from, call.request, &reason, out),
                    reply if call.rest.is_empty() => {
                        Self::reply(call.from, call.request, reply, out);
                    }
                    _ => self.go_on_with(call, now, out),
                }
            }
        }
    }
}
