//! [`LinkListener`]: where the links of performers are, as their secondaries tell.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use protocol::link_frame::{self, LinkFrame};
use protocol::report::Snapshot;
use protocol::{LinkPose, PerformerId};
use scene::{Model, World};
use sdf::Pose;
use tokio::time::{Instant, timeout_at};
use transport::zeromq::ConnectError;

use super::{Connection, News, Reach};

/// Time that secondaries are given to tell of all links.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Hears where links are.
pub struct LinkListener {
    connection: Connection,
    names: BTreeMap<PerformerId, String>,
    /// Poses of the links of performers, by their names.
    links: BTreeMap<String, Vec<LinkPose>>,
}

impl LinkListener {
    /// Begins to listen.
    ///
    /// # Errors
    /// Fails if the link cannot be set up.
    pub fn open(reach: &Reach) -> Result<Self, ConnectError> {
        Ok(Self {
            connection: Connection::listen(reach, &[link_frame::TOPIC])?,
            names: BTreeMap::new(),
            links: BTreeMap::new(),
        })
    }

    /// Returns where the links of the performers of a snapshot are, world frame, by their numbers.
    /// Links of a performer of which nothing is heard in time are where they were at the start, as
    /// seen from its origin.
    pub async fn poses(&mut self, world: &World, snapshot: &Snapshot) -> BTreeMap<u32, LinkPose> {
        let deadline = Instant::now() + TIMEOUT;
        let names = || {
            snapshot
                .performers
                .iter()
                .map(|performer| performer.name.as_str())
        };
        let several = several_links(world);
        while !names().all(|name| !several.contains(name) || self.links.contains_key(name)) {
            match timeout_at(deadline, self.connection.news()).await {
                Ok(Some(news)) => self.note(news),
                Ok(None) | Err(_) => break,
            }
        }
        self.hear().await;
        let mut poses = BTreeMap::new();
        for performer in &snapshot.performers {
            let mut models = world.models.iter();
            let Some(model) = models.find(|model| model.name == performer.name) else {
                continue;
            };
            let origin = Pose {
                position: performer.position,
                orientation_xyzw: performer.orientation_xyzw,
            };
            let heard = self.links.get(&performer.name);
            let heard = heard.filter(|heard| heard.len() == model.links.len());
            match heard {
                Some(heard) if several.contains(model.name.as_str()) => {
                    let links = model.links.iter().zip(heard);
                    poses.extend(links.map(|(link, pose)| (link.id, *pose)));
                }
                _ => poses.extend(rigid(model, &origin)),
            }
        }
        poses
    }

    /// Takes in all that has come: what is not taken in time is lost.
    pub async fn hear(&mut self) {
        while let Ok(Some(news)) = timeout_at(Instant::now(), self.connection.news()).await {
            self.note(news);
        }
    }

    fn note(&mut self, news: News) {
        match news {
            News::Message(message) if message.kind == link_frame::KIND => {
                let Some(frame) = LinkFrame::decode(&message.body) else {
                    return;
                };
                self.names.extend(frame.names);
                for model in frame.models {
                    if let Some(name) = self.names.get(&model.performer) {
                        self.links.insert(name.clone(), model.poses().collect());
                    }
                }
            }
            News::StartedAnew | News::Disconnected => {
                self.names.clear();
                self.links.clear();
            }
            _ => {}
        }
    }
}

/// Returns the names of the models that have several links: the only link of any other is where
/// its origin is.
fn several_links(world: &World) -> BTreeSet<&str> {
    let models = world.models.iter().filter(|model| model.links.len() > 1);
    models.map(|model| model.name.as_str()).collect()
}

/// Returns where the links of a model are if none has moved against its origin.
fn rigid(model: &Model, origin: &Pose) -> Vec<(u32, LinkPose)> {
    let way = origin.then(&pose(&model.pose).inverse());
    let links = model.links.iter().map(|link| {
        let own = way.then(&pose(&link.pose));
        (link.id, numbers(&own))
    });
    links.collect()
}

/// Returns a pose of seven numbers as one of two parts.
pub fn pose([x, y, z, qx, qy, qz, qw]: &LinkPose) -> Pose {
    Pose {
        position: [*x, *y, *z],
        orientation_xyzw: [*qx, *qy, *qz, *qw],
    }
}

/// Returns the seven numbers of a pose.
pub fn numbers(pose: &Pose) -> LinkPose {
    let ([x, y, z], [qx, qy, qz, qw]) = (pose.position, pose.orientation_xyzw);
    [x, y, z, qx, qy, qz, qw]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_a_rigid_model_go_with_its_origin() {
        let still = [0.0, 0.0, 0.0, 1.0];
        let link = |id, x| scene::Link {
            id,
            name: format!("{id}"),
            pose: [x, 0.0, 1.0, still[0], still[1], still[2], still[3]],
            visuals: Vec::new(),
            collisions: Vec::new(),
            sensors: Vec::new(),
        };
        let model = Model {
            id: 0,
            name: "m".to_owned(),
            performer: true,
            is_static: false,
            spawned: false,
            pose: [1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
            canonical_link: 0,
            links: vec![link(4, 1.0), link(5, 3.0)],
            motion: None,
        };
        let turn = std::f64::consts::FRAC_1_SQRT_2;
        let origin = Pose {
            position: [0.0; 3],
            orientation_xyzw: [0.0, 0.0, turn, turn],
        };
        let found = rigid(&model, &origin);
        assert_eq!((found[0].0, found[1].0), (4, 5));
        let [x, y, z, ..] = found[1].1;
        assert!(
            x.abs() < 1e-12 && (y - 2.0).abs() < 1e-12 && z == 0.0,
            "{found:?}"
        );
    }
}
