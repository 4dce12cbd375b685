//! Back to the start: every cell is dropped and built as the worlds have it.

use protocol::SimTime;
use protocol::client_to_primary::ResetKind;
use protocol::primary_to_secondary::Step;

use crate::partition::Partition;
use crate::placement::first_placement;
use crate::primary::Primary;
use crate::primary::barrier::rounds::Purpose;
use crate::primary::commands::batch::AppliedCommand;
use crate::primary::context::Context;
use crate::primary::placement::host_map::HostMap;

impl Primary {
    /// Has everyone build the cells of the start; what was spawned is gone, what was removed back.
    /// Iterations go on: they number what is done, and never go back.
    pub(crate) fn begin_reset(
        &mut self,
        what: ResetKind,
        applied: AppliedCommand,
        cx: &mut Context<'_>,
    ) {
        self.drop_migrations("all models were reset before the cell could move", cx);
        self.forget_systems();
        self.topology.clone_from(&self.topology_at_start);
        self.registry.clone_from(&self.registry_at_start);
        self.attachments.clear();
        self.by_name = self.topology.performers_by_name();
        self.latest.begin_reset(&self.topology, self.iteration);
        let rules = crate::partition::Rules {
            step_size_s: self.settings.step_size.as_secs_f64(),
            ..self.settings.rules
        };
        self.partition = Partition::new(&self.topology, rules);
        self.host_map = HostMap::new(&self.topology);
        self.elapsed = SimTime(0);
        if what == ResetKind::All {
            self.sim_time = SimTime(0);
        }
        self.is_fresh = true;
        let affinities = first_placement(&self.topology, &self.hosts_for_lost_cells());
        for change in &affinities {
            self.host_map.place(change.cell, change.secondary.as_ref());
        }
        let step = Step {
            anew: true,
            affinities,
            ..Step::default()
        };
        self.publish(Purpose::Build, step, Vec::new(), vec![applied], cx);
    }
}
