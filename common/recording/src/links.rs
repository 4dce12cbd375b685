//! [`KnownLinks`]: poses of links as they were written last, so that each is written as it changes
//! and all of them once per chunk.

use std::collections::BTreeMap;

use protocol::link_offsets::LinkOffsets;
use protocol::report::Layout;
use protocol::{LinkPose, SimTime};

use crate::content::{LinkPlaced, LinkTransforms, Rotation, Vector};

/// Steps in which poses are written \[m\], also for the parts of quaternions: finer than anyone
/// sees, and short as text.
const GRAIN: f64 = 1e-6;

/// Poses of links of performers, by their names.
#[derive(Debug, Default)]
pub(crate) struct KnownLinks {
    performers: BTreeMap<String, BTreeMap<String, Known>>,
    /// Simulated time of what was said last.
    latest: SimTime,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Known {
    pose: LinkPose,
    since: SimTime,
}

impl KnownLinks {
    /// Takes what was said after a step, and returns what of it is news.
    pub(crate) fn take(
        &mut self,
        said: impl Iterator<Item = LinkOffsets>,
        time: SimTime,
    ) -> LinkTransforms {
        self.latest = time;
        let mut news = LinkTransforms::default();
        for LinkOffsets { performer, links } in said {
            let known = self.performers.entry(performer.clone()).or_default();
            for (link, pose) in links {
                let pose = pose.map(rounded);
                if known.get(&link).is_none_or(|before| before.pose != pose) {
                    let now = Known { pose, since: time };
                    news.transforms.push(placed(&performer, &link, now));
                    known.insert(link, now);
                }
            }
        }
        news
    }

    /// Returns all of them.
    pub(crate) fn all(&self) -> LinkTransforms {
        let links = self.performers.iter().flat_map(|(performer, links)| {
            let links = links.iter();
            links.map(|(link, known)| placed(performer, link, *known))
        });
        LinkTransforms {
            transforms: links.collect(),
        }
    }

    /// Returns the simulated time of what was said last.
    pub(crate) fn latest(&self) -> SimTime {
        self.latest
    }

    /// Forgets those of performers that are gone.
    pub(crate) fn keep_those_of(&mut self, layout: &Layout) {
        let mut names: Vec<&str> = layout.performers.iter().map(|one| &*one.name).collect();
        names.sort_unstable();
        self.performers
            .retain(|name, _| names.binary_search(&name.as_str()).is_ok());
    }
}

fn placed(performer: &str, link: &str, known: Known) -> LinkPlaced {
    let [x, y, z, qx, qy, qz, qw] = known.pose;
    LinkPlaced {
        timestamp: known.since.into(),
        parent_frame_id: performer.to_owned(),
        child_frame_id: format!("{performer}::{link}"),
        translation: Vector { x, y, z },
        rotation: Rotation {
            x: qx,
            y: qy,
            z: qz,
            w: qw,
        },
    }
}

/// Returns the nearest multiple of [`GRAIN`]; what is not finite stays so.
fn rounded(number: f64) -> f64 {
    // Zero has one sign, so that it is not written twice.
    (number / GRAIN).round() / GRAIN.recip() + 0.0
}

#[cfg(test)]
mod tests {
    use protocol::report::ModelOutline;

    use super::*;

    fn said(angle: f64) -> impl Iterator<Item = LinkOffsets> {
        let turned = [
            0.1,
            0.2,
            0.0,
            0.0,
            (angle / 2.0).sin(),
            0.0,
            (angle / 2.0).cos(),
        ];
        std::iter::once(LinkOffsets {
            performer: "rover".to_owned(),
            links: vec![
                ("wheel".to_owned(), turned),
                ("mast".to_owned(), [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]),
            ],
        })
    }

    #[test]
    fn links_are_written_as_they_change_and_all_when_asked_for() {
        let mut known = KnownLinks::default();
        let names = |news: LinkTransforms| {
            let links = news.transforms.into_iter();
            links.map(|one| one.child_frame_id).collect::<Vec<_>>()
        };
        assert_eq!(
            names(known.take(said(0.0), SimTime(1))),
            ["rover::wheel", "rover::mast"]
        );
        assert_eq!(names(known.take(said(1e-9), SimTime(2))), [""; 0]);
        assert_eq!(names(known.take(said(0.1), SimTime(3))), ["rover::wheel"]);
        let all = known.all().transforms;
        assert_eq!(all.len(), 2);
        assert_eq!(all[1].timestamp, SimTime(3).into());
        assert_eq!(all[1].pose()[4], 0.049_979);
    }

    #[test]
    fn links_of_models_that_are_gone_are_forgotten() {
        let mut known = KnownLinks::default();
        known.take(said(0.0), SimTime(1));
        let outline = ModelOutline {
            name: "rover".to_owned(),
            min: [0.0; 3],
            max: [1.0; 3],
        };
        let mut layout = Layout {
            performers: vec![outline],
            ..Layout::default()
        };
        known.keep_those_of(&layout);
        assert_eq!(known.all().transforms.len(), 2);
        layout.performers.clear();
        known.keep_those_of(&layout);
        assert_eq!(known.all(), LinkTransforms::default());
    }
}
