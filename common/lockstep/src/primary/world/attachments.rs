//! Attachments: links of two performers that commands hold together.

use protocol::{Action, LinkId, PerformerId, StampedAction};

use crate::primary::world::WorldState;
use crate::primary::world::resolve::{CommandError, ResolvedCommand};

impl WorldState {
    /// Tells whether two performers are in one cell.
    pub(crate) fn are_together(&self, ends: [PerformerId; 2]) -> bool {
        let [one, other] = ends.map(|end| self.partition.cell(end));
        one == other
    }

    /// Returns the performers at the ends of an attachment, with their links.
    fn ends(&self, parent: &str, child: &str) -> Result<[(PerformerId, LinkId); 2], CommandError> {
        let ends = [self.registry.link(parent)?, self.registry.link(child)?];
        if ends[0].model == ends[1].model {
            let (parent, child) = (parent.to_owned(), child.to_owned());
            return Err(CommandError::OneModel { parent, child });
        }
        if ends[0].model.world != ends[1].model.world {
            let (parent, child) = (parent.to_owned(), child.to_owned());
            return Err(CommandError::OtherWorld { parent, child });
        }
        Ok(ends.map(|link| {
            let performer = self.topology.performer_of(link.model);
            (performer.expect("a model that moves is a performer"), link)
        }))
    }

    /// Has one link of a model that moves hold another.
    pub(crate) fn resolve_attach(
        &mut self,
        parent: &str,
        child: &str,
    ) -> Result<ResolvedCommand, CommandError> {
        let [(one, parent_link), (other, child_link)] = self.ends(parent, child)?;
        let link_ends = (parent_link, child_link);
        for (holder, held, pair) in [
            (parent, child, link_ends),
            (child, parent, (child_link, parent_link)),
        ] {
            if self.attachments.contains(&pair) {
                let (holder, held) = (holder.to_owned(), held.to_owned());
                return Err(CommandError::HeldAlready { holder, held });
            }
        }
        self.attachments.insert(link_ends);
        self.set_joined([one, other], true);
        Ok(ResolvedCommand {
            joined: Some([one, other]),
            ..ResolvedCommand::of(Action::Attach {
                parent: parent_link,
                child: child_link,
            })
        })
    }

    /// Has a link hold another no longer.
    pub(crate) fn resolve_detach(
        &mut self,
        parent: &str,
        child: &str,
    ) -> Result<ResolvedCommand, CommandError> {
        let [(one, parent_link), (other, child_link)] = self.ends(parent, child)?;
        if !self.attachments.remove(&(parent_link, child_link)) {
            let (parent, child) = (parent.to_owned(), child.to_owned());
            return Err(CommandError::NotHeld { parent, child });
        }
        self.partition.hold(&[one, other]);
        self.let_go([one, other]);
        Ok(ResolvedCommand::of(Action::Detach {
            parent: parent_link,
            child: child_link,
        }))
    }

    /// Notes that two performers are held together from now on, or are not any longer; joints of
    /// their world hold on.
    fn set_joined(&mut self, ends: [PerformerId; 2], joined: bool) {
        let [one, other] = ends.map(|end| end.0 as usize);
        let at_start = self.start.topology.performers.get(one);
        if !joined && at_start.is_some_and(|one| one.joined_to.contains(&PerformerId(other as u32)))
        {
            return;
        }
        self.topology.set_joined(ends, joined);
        for end in ends {
            self.partition.note_joined(&self.topology, end);
        }
    }

    /// Notes that two performers are no longer held together, unless another attachment does.
    fn let_go(&mut self, ends: [PerformerId; 2]) {
        let models = ends.map(|end| {
            let performer = self.topology.performer(end);
            (performer.world, performer.model)
        });
        let place = |link: &LinkId| (link.model.world as usize, link.model.model as usize);
        let are_held = self.attachments.iter().any(|(parent, child)| {
            let held = [place(parent), place(child)];
            models.iter().all(|model| held.contains(model))
        });
        if !are_held {
            self.set_joined(ends, false);
        }
    }

    /// Forgets the attachment of two performers that an action of this number would have made.
    pub(crate) fn forget_attachment(
        &mut self,
        actions: &[StampedAction],
        number: u64,
        ends: [PerformerId; 2],
    ) {
        for stamped in actions.iter().filter(|stamped| stamped.number == number) {
            if let Action::Attach { parent, child } = &stamped.action {
                self.attachments.remove(&(*parent, *child));
            }
        }
        self.let_go(ends);
    }
}
