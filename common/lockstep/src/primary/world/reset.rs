//! Back to the start: every cell is dropped and built as the worlds have it.

use protocol::SimTime;
use protocol::client_to_primary::ResetKind;
use protocol::primary_to_secondary::Step;

use crate::membership::Membership;
use crate::placement::first_placement;
use crate::primary::Primary;
use crate::primary::barrier::rounds::Purpose;
use crate::primary::commands::batch::Granted;
use crate::primary::context::Context;
use crate::primary::placement::host_map::Distribution;

impl Primary {
    /// Has everyone build the cells of the start; what was spawned is gone, what was removed back.
    /// Iterations go on: they number what is done, and never go back.
    pub(crate) fn begin_anew(&mut self, what: ResetKind, granted: Granted, cx: &mut Context<'_>) {
        self.drop_moves("all models were reset before the cell could move", cx);
        self.forget_systems();
        self.plan.clone_from(&self.plan_at_start);
        self.register.clone_from(&self.register_at_start);
        self.attachments.clear();
        self.by_name = self.plan.performers_by_name();
        self.known.begin_anew(&self.plan, self.iteration);
        let rules = crate::membership::Rules {
            step_size_s: self.settings.step_size.as_secs_f64(),
            ..self.settings.rules
        };
        self.membership = Membership::new(&self.plan, rules);
        self.distribution = Distribution::new(&self.plan);
        self.elapsed = SimTime(0);
        if what == ResetKind::All {
            self.sim_time = SimTime(0);
        }
        self.is_fresh = true;
        let affinities = first_placement(&self.plan, &self.hosts_for_lost_cells());
        for change in &affinities {
            self.distribution
                .place(change.cell, change.secondary.as_ref());
        }
        let step = Step {
            anew: true,
            affinities,
            ..Step::default()
        };
        self.publish(Purpose::Build, step, Vec::new(), vec![granted], cx);
    }
}
