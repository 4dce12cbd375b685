//! Back to the start: every cell is dropped and built as the worlds have it.

use protocol::SimTime;
use protocol::client_to_primary::ResetKind;
use protocol::primary_to_secondary::Step;

use crate::partition::Partition;
use crate::placement::first_placement;
use crate::primary::Primary;
use crate::primary::commands::batch::AppliedCommand;
use crate::primary::context::Context;
use crate::primary::placement::host_map::HostMap;
use crate::primary::purpose::Purpose;

impl Primary {
    /// Has everyone build the cells of the start; what was spawned is gone, what was removed back.
    /// Iterations go on: they number what is done, and never go back.
    pub(crate) fn begin_reset(
        &mut self,
        what: ResetKind,
        applied: AppliedCommand,
        cx: &mut Context<'_>,
    ) {
        self.placement
            .drop_migrations("all models were reset before the cell could move", cx);
        self.commands.forget_systems();
        self.world.topology.clone_from(&self.start.topology);
        self.world.registry.clone_from(&self.start.registry);
        self.world.attachments.clear();
        self.world.by_name = self.world.topology.performers_by_name();
        self.world
            .latest
            .begin_reset(&self.world.topology, self.clock.iteration);
        let rules = crate::partition::Rules {
            step_size_s: self.settings.step_size.as_secs_f64(),
            ..self.settings.rules
        };
        self.world.partition = Partition::new(&self.world.topology, rules);
        self.placement.host_map = HostMap::new(&self.world.topology);
        self.clock.elapsed = SimTime(0);
        if what == ResetKind::All {
            self.clock.sim_time = SimTime(0);
        }
        self.world.is_fresh = true;
        let affinities = first_placement(&self.world.topology, &self.peers.hosts_for_lost_cells());
        for change in &affinities {
            self.placement
                .host_map
                .place(change.cell, change.secondary.as_ref());
        }
        let step = Step {
            anew: true,
            affinities,
            ..Step::default()
        };
        self.publish(Purpose::Build, step, Vec::new(), vec![applied], cx);
    }
}
