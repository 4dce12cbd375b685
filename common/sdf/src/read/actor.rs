//! `<actor>`: skin, animations, script, and what others touch of it.
//!
//! As in libsdformat nothing in a script is an error that its types allow; waypoints at times that
//! are none are left out.

use super::{part, plugin, shape, surface, visual};
use crate::frames::{Frame, Scope};
use crate::report::Report;
use crate::tree::Element;
use crate::value;
use crate::world::{Actor, Animation, Collision, Content, Geometry, Script, Skin, Visual};
use crate::world::{Trajectory, Waypoint};

/// Reads the actors of a world.
pub(super) fn read_all(
    world: &Element,
    owner: &Frame<'_>,
    scope: &Scope<'_>,
    report: &mut Report,
) -> Vec<Actor> {
    let mut actors = Vec::new();
    for (name, actor) in part::named(world, "actor") {
        let skin = actor.child("skin").map(|skin| Skin {
            uri: part::text(skin, "filename").unwrap_or_default(),
            scale: part::number(skin, "scale", 1.0, report),
        });
        actors.push(Actor {
            name: name.to_owned(),
            pose: part::pose(actor, owner, scope, report),
            skin,
            animations: animations(actor, report),
            script: actor
                .child("script")
                .map_or_else(Script::default, |script| read_script(script, report)),
            collisions: collisions(actor, report),
            visuals: visuals(actor, report),
            plugins: plugin::read_all(actor),
            content: Content::from(actor),
            file: actor.file.to_string(),
        });
    }
    actors
}

fn animations(actor: &Element, report: &mut Report) -> Vec<Animation> {
    let mut animations = Vec::new();
    for (name, animation) in part::named(actor, "animation") {
        animations.push(Animation {
            name: name.to_owned(),
            uri: part::text(animation, "filename").unwrap_or_default(),
            scale: part::number(animation, "scale", 1.0, report),
            interpolate_x: part::flag(animation, "interpolate_x"),
        });
    }
    animations
}

fn read_script(script: &Element, report: &mut Report) -> Script {
    let default = Script::default();
    let flag = |name: &str, default: bool| {
        let text = part::text(script, name);
        text.and_then(|text| value::parse_truth(&text))
            .unwrap_or(default)
    };
    let mut trajectories = Vec::new();
    for trajectory in script.children_named("trajectory") {
        let number = |name: &str| {
            let text = trajectory.filled_attribute(name)?;
            text.trim().parse::<f64>().ok()
        };
        let waypoints = waypoints(trajectory, report);
        if waypoints.is_empty() {
            continue;
        }
        trajectories.push(Trajectory {
            id: number("id").unwrap_or(0.0) as i32,
            animation: trajectory
                .filled_attribute("type")
                .unwrap_or_default()
                .to_owned(),
            tension: number("tension").unwrap_or(0.0).clamp(0.0, 1.0),
            waypoints,
        });
    }
    trajectories.sort_by_key(|trajectory: &Trajectory| trajectory.id);
    Script {
        is_loop: flag("loop", default.is_loop),
        delay_s: part::number(script, "delay_start", default.delay_s, report).max(0.0),
        starts_by_itself: flag("auto_start", default.starts_by_itself),
        trajectories,
    }
}

fn waypoints(trajectory: &Element, report: &mut Report) -> Vec<Waypoint> {
    let mut waypoints = Vec::new();
    for waypoint in trajectory.children_named("waypoint") {
        let time_s = part::number(waypoint, "time", 0.0, report);
        let (pose, _) = value::pose(waypoint, report);
        if time_s >= 0.0 {
            waypoints.push(Waypoint { time_s, pose });
        }
    }
    // Of two at one time the first holds.
    waypoints.sort_by(|one, other| one.time_s.total_cmp(&other.time_s));
    waypoints.dedup_by(|later, first| later.time_s == first.time_s);
    waypoints
}

/// Returns the collisions of all links. Meshes among them touch nothing: their files are not read.
fn collisions(actor: &Element, report: &mut Report) -> Vec<Collision> {
    let mut collisions = Vec::new();
    for (link_name, link) in part::named(actor, "link") {
        let (at, _) = value::pose(link, report);
        for (name, collision) in part::named(link, "collision") {
            let (pose, _) = value::pose(collision, report);
            let geometry = collision.child("geometry");
            let geometry = geometry.map_or(Geometry::Empty, |shape| shape::read(shape, report));
            collisions.push(Collision {
                surface: surface::read(collision, report),
                laser_retro: part::number(collision, "laser_retro", 0.0, report),
                ..Collision::new(&format!("{link_name}::{name}"), at.then(&pose), geometry)
            });
        }
    }
    collisions
}

/// Returns the visuals of all links, in the frame of the actor.
fn visuals(actor: &Element, report: &mut Report) -> Vec<Visual> {
    let mut visuals = Vec::new();
    for (link_name, link) in part::named(actor, "link") {
        let (at, _) = value::pose(link, report);
        for (name, element) in part::named(link, "visual") {
            let (pose, _) = value::pose(element, report);
            let name = format!("{link_name}::{name}");
            visuals.push(visual::read(element, &name, at.then(&pose), report));
        }
    }
    visuals
}

#[cfg(test)]
mod tests {
    use crate::world::{Geometry, Script, World};
    use crate::{NoFiles, read_worlds};

    fn world(actor: &str) -> World {
        let text = format!(
            "<sdf version='1.11'><world name='w'><actor name='a'>{actor}</actor></world></sdf>"
        );
        let read = read_worlds(&text, "w.sdf", &NoFiles).unwrap();
        read.worlds.into_iter().next().unwrap()
    }

    fn script(script: &str) -> Script {
        world(&format!("<script>{script}</script>")).actors[0]
            .script
            .clone()
    }

    #[test]
    fn an_actor_without_a_script_stays() {
        let world = world("<pose>1 2 3 0 0 0</pose>");
        assert_eq!(world.actors[0].pose.position, [1.0, 2.0, 3.0]);
        assert_eq!(world.actors[0].script, Script::default());
        assert_eq!(world.actors[0].skin, None);
    }

    #[test]
    fn a_script_is_read_with_its_defaults() {
        let read = script(
            "<trajectory id='1' type='walk' tension='0.6'><waypoint><time>2</time>\
             <pose>5 4 1 0 0 0</pose></waypoint><waypoint><time>0</time><pose>3 4 1 0 0 0</pose>\
             </waypoint></trajectory><trajectory id='0' type='run'><waypoint><time>0</time>\
             <pose>0 0 0 0 0 0</pose></waypoint></trajectory>",
        );
        assert!(read.is_loop && read.starts_by_itself && read.delay_s == 0.0);
        let ids: Vec<i32> = read.trajectories.iter().map(|one| one.id).collect();
        assert_eq!(ids, [0, 1]);
        let walk = &read.trajectories[1];
        assert_eq!((walk.animation.as_str(), walk.tension), ("walk", 0.6));
        let times: Vec<f64> = walk.waypoints.iter().map(|one| one.time_s).collect();
        assert_eq!(times, [0.0, 2.0]);
        let read =
            script("<loop>0</loop><auto_start>false</auto_start><delay_start>2.5</delay_start>");
        assert!(!read.is_loop && !read.starts_by_itself && read.delay_s == 2.5);
    }

    #[test]
    fn waypoints_come_once_and_at_times_that_are_some() {
        let read = script(
            "<trajectory id='0' type='t' tension='7'><waypoint><time>1</time><pose>1 0 0 0 0 0\
             </pose></waypoint><waypoint><time>1</time><pose>2 0 0 0 0 0</pose></waypoint>\
             <waypoint><time>-1</time><pose>3 0 0 0 0 0</pose></waypoint></trajectory>\
             <trajectory id='1' type='none'/>",
        );
        let [only] = read.trajectories.as_slice() else {
            panic!("{read:?}");
        };
        assert_eq!(only.tension, 1.0);
        assert_eq!(only.waypoints.len(), 1);
        assert_eq!(only.waypoints[0].pose.position[0], 1.0);
    }

    #[test]
    fn visuals_of_links_are_in_the_frame_of_the_actor() {
        let world = world(
            "<link name='l'><pose>0 0 1 0 0 0</pose><visual name='v'><pose>1 0 0 0 0 0</pose>\
             <geometry><mesh><uri>hat.dae</uri></mesh></geometry></visual></link>\
             <plugin filename='gz-sim-label-system' name='gz::sim::systems::Label'/>",
        );
        let actor = &world.actors[0];
        let [visual] = actor.visuals.as_slice() else {
            panic!("{:?}", actor.visuals);
        };
        assert_eq!(
            (visual.name.as_str(), visual.file.as_str()),
            ("l::v", "w.sdf")
        );
        assert_eq!(visual.pose.position, [1.0, 0.0, 1.0]);
        assert_eq!((actor.plugins.len(), actor.file.as_str()), (1, "w.sdf"));
    }

    #[test]
    fn collisions_of_links_are_in_the_frame_of_the_actor() {
        let world = world(
            "<skin><filename>walk.dae</filename></skin><link name='l'><pose>0 0 1 0 0 0</pose>\
             <collision name='c'><pose>1 0 0 0 0 0</pose><geometry><sphere><radius>0.5</radius>\
             </sphere></geometry></collision></link>",
        );
        let actor = &world.actors[0];
        assert_eq!(actor.skin.as_ref().unwrap().uri, "walk.dae");
        let [collision] = actor.collisions.as_slice() else {
            panic!("{:?}", actor.collisions);
        };
        assert_eq!(collision.name, "l::c");
        assert_eq!(collision.pose.position, [1.0, 0.0, 1.0]);
        assert_eq!(collision.geometry, Geometry::Sphere { radius: 0.5 });
    }
}
