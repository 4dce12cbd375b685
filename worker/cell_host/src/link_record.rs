//! [`messages`]: poses of links as seen from their models, said for the recording of a run.
//!
//! They depend on nothing but the step and the cells, and so come out the same wherever a cell is
//! hosted, and when a step is done again.

use physics::{Cell, ModelRef};
use protocol::link_offsets::{self, LinkOffsets};
use protocol::primary_to_secondary::Step;
use protocol::{Publisher, SimTime, TopicMessage};
use sdf::world::{JointKind, JointParent, Model};

use super::hosted_cell::HostedCell;
use super::scene::{Scene, model_id};

/// Place of the publisher among a model's systems and sensors: behind all of them.
const PART: u32 = u32::MAX;

/// Returns what a step says for a recording with so many frames per second of simulated time: links
/// of the performers that are awake if a frame is due, and of all after what may have moved them.
pub(super) fn messages<'a>(
    cells: impl Iterator<Item = &'a HostedCell>,
    scene: &Scene,
    step: &Step,
    rate_hz: f64,
) -> Vec<TopicMessage> {
    let has_moved_any = step.reset || !step.actions.is_empty();
    if !has_moved_any && !is_due(step, rate_hz) {
        return Vec::new();
    }
    let mut messages = Vec::new();
    for cell in cells {
        let physics = cell.physics();
        for (performer, index) in physics.performer_models() {
            let model = &physics.world().models[index];
            if model.links.len() < 2 || !(has_moved_any || physics.is_awake(performer)) {
                continue;
            }
            let links = offsets(physics, ModelRef::moving(performer, index), model);
            if links.is_empty() {
                continue;
            }
            let plan = scene.plan.performer(performer);
            let offsets = LinkOffsets {
                performer: plan.name.clone(),
                links,
            };
            messages.push(TopicMessage {
                topic: link_offsets::TOPIC.to_owned(),
                kind: link_offsets::KIND.to_owned(),
                publisher: Publisher::Model {
                    model: model_id(plan.world, plan.model),
                    part: PART,
                },
                iteration: step.iteration,
                sim_time: step.sim_time,
                body: offsets.encode(),
            });
        }
    }
    messages
}

/// Tells whether a frame is due after a step: the recorder makes its own by the same rule.
fn is_due(step: &Step, rate_hz: f64) -> bool {
    let before = SimTime(step.sim_time.0.saturating_sub(step.step_size_ns));
    !step.paused && link_offsets::next_frame(before, rate_hz) <= step.sim_time
}

/// Returns the links of a performer that may move against its model, with their poses there.
fn offsets(
    physics: &Cell,
    performer: ModelRef,
    model: &Model,
) -> Vec<(String, protocol::LinkPose)> {
    let to_model = physics.model_pose(performer).inverse();
    let moving = moving_links(model).into_iter().enumerate();
    let moving = moving.filter(|(_, moves)| *moves);
    let offset = |(link, _): (usize, bool)| {
        let pose = to_model.then(&physics.link_pose(performer, link));
        let [x, y, z] = pose.position;
        let [qx, qy, qz, qw] = pose.orientation_xyzw;
        (model.links[link].name.clone(), [x, y, z, qx, qy, qz, qw])
    };
    moving.map(offset).collect()
}

/// Tells of each link whether it may move against its model's origin: those may not that fixed
/// joints connect with the link that the origin is attached to, nor those of a static model.
fn moving_links(model: &Model) -> Vec<bool> {
    let mut moves = vec![!model.is_static && !model.moves_by_command_alone(); model.links.len()];
    let Some(canonical) = moves.get_mut(model.canonical_link) else {
        return moves;
    };
    *canonical = false;
    let fixed = model.joints.iter().filter_map(|joint| match joint.parent {
        JointParent::Link(parent) if matches!(joint.kind, JointKind::Fixed) => {
            Some((parent, joint.child))
        }
        JointParent::Link(_) | JointParent::World => None,
    });
    let fixed: Vec<(usize, usize)> = fixed.collect();
    // A chain of joints in the worst order takes as many rounds as it has joints.
    while let Some((parent, child)) = fixed.iter().find(|(a, b)| moves[*a] != moves[*b]) {
        (moves[*parent], moves[*child]) = (false, false);
    }
    moves
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_fixed_joints_hold_do_not_move_against_their_model() {
        let link = |name: &str| format!("<link name='{name}'/>");
        let joint = |kind: &str, parent: &str, child: &str| {
            format!(
                "<joint name='to_{child}' type='{kind}'><parent>{parent}</parent>\
                 <child>{child}</child><axis><xyz>0 0 1</xyz></axis></joint>"
            )
        };
        let text = format!(
            "<sdf version='1.11'><world name='w'><model name='m'>{}{}</model></world></sdf>",
            ["base", "lid", "tip", "wheel", "cap"].map(link).concat(),
            joint("fixed", "lid", "tip")
                + &joint("fixed", "base", "lid")
                + &joint("revolute", "base", "wheel")
                + &joint("fixed", "wheel", "cap"),
        );
        let read = sdf::read_worlds(&text, "w.sdf", &sdf::NoFiles).unwrap();
        let moving = moving_links(&read.worlds[0].models[0]);
        assert_eq!(moving, [false, false, false, true, true]);
    }

    #[test]
    fn frames_are_due_when_time_passes_a_multiple_of_the_period() {
        let step = |ms: u64, paused| Step {
            sim_time: SimTime(ms * 1_000_000),
            step_size_ns: if paused { 0 } else { 4_000_000 },
            paused,
            ..Step::default()
        };
        let due = (1..=25).filter(|count| is_due(&step(4 * count, false), 30.0));
        // 33.3, 66.7 and 100 ms.
        assert_eq!(
            due.map(|count| 4 * count).collect::<Vec<u64>>(),
            [36, 68, 100]
        );
        assert!(is_due(&step(4, false), 0.0) && !is_due(&step(4, true), 0.0));
    }
}
