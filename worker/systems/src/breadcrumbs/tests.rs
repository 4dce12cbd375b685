//! Tests the requests of breadcrumbs to the run, and their times.

use messages::Empty;
use messages::basic::Int32;
use protocol::Command;
use protocol::client_to_primary::SpawnRequest;

use crate::test_rig::SystemTestRig;

const DEPLOY: &str = "/model/robot/breadcrumbs/crumb/deploy";

fn robot(parameters: &str, others: &str) -> SystemTestRig {
    SystemTestRig::new(&format!(
        "<model name='robot'><pose>1 2 0 0 0 1.5707963267948966</pose>\
         <link name='base'><gravity>false</gravity></link>\
         <plugin name='gz::sim::systems::Breadcrumbs' filename='gz-sim-breadcrumbs-system'>\
         {parameters}<breadcrumb><sdf version='1.6'><model name='crumb'>\
         <pose>-1 0 0.5 0 0 0</pose><link name='body'><collision name='c &amp; d'><geometry>\
         <box><size>0.3 0.3 0.3</size></box></geometry></collision></link></model></sdf>\
         </breadcrumb></plugin></model>{others}"
    ))
}

fn deploy(rig: &mut SystemTestRig) {
    rig.publish(DEPLOY, &Empty::default());
    rig.run(0.001);
}

fn spawns(rig: &SystemTestRig) -> Vec<&SpawnRequest> {
    let requests = rig.requests.iter();
    let spawns = requests.filter_map(|command| match command {
        Command::Spawn(request) => Some(request.as_ref()),
        _ => None,
    });
    spawns.collect()
}

fn names(rig: &SystemTestRig) -> Vec<&str> {
    let names = spawns(rig).into_iter().map(|one| one.name.as_deref());
    names.map(Option::unwrap_or_default).collect()
}

#[test]
fn copies_are_put_behind_the_model_until_there_are_enough() {
    let mut rig = robot("<max_deployments>2</max_deployments>", "");
    deploy(&mut rig);
    rig.renew_systems();
    deploy(&mut rig);
    deploy(&mut rig);
    assert_eq!(names(&rig), ["crumb_0", "crumb_1"]);
    let pose = spawns(&rig)[0].pose.unwrap();
    let expected = [1.0, 1.0, 0.5];
    assert!((0..3).all(|axis| (pose[axis] - expected[axis]).abs() < 1e-12));
    let remaining = rig.published::<Int32>(&format!("{DEPLOY}/remaining"));
    let remaining: Vec<i32> = remaining.iter().map(|message| message.data).collect();
    assert_eq!(remaining, [1, 0, 0]);
}

#[test]
fn a_deployed_breadcrumb_is_a_readable_world() {
    let mut rig = robot("", "");
    deploy(&mut rig);
    let text = &spawns(&rig)[0].sdf;
    let read = sdf::read_worlds(text, "crumb.sdf", &sdf::NoFiles).unwrap();
    let model = &read.worlds[0].models[0];
    assert_eq!(model.name, "crumb");
    assert_eq!(model.links[0].collisions[0].name, "c & d");
    assert!(!model.is_static);
}

#[test]
fn a_name_that_is_taken_is_avoided_only_if_it_may_be() {
    let other = "<model name='crumb_0'><static>true</static><link name='l'/></model>";
    let mut rig = robot("", other);
    deploy(&mut rig);
    assert!(names(&rig).is_empty());
    let mut rig = robot("<allow_renaming>true</allow_renaming>", other);
    deploy(&mut rig);
    assert_eq!(names(&rig), ["crumb_0_1"]);
}

#[test]
fn none_are_left_when_there_may_be_none() {
    let mut rig = robot("<max_deployments>0</max_deployments>", "");
    deploy(&mut rig);
    assert!(rig.requests.is_empty());
}

/// A rehearsal brings in no copies: a model of the copy's name stands in for it.
#[test]
fn copies_become_performers_and_stay_where_they_are_after_their_time() {
    let parameters = "<allow_renaming>true</allow_renaming>\
                      <performer_volume><geometry><box><size>4 4 2</size></box></geometry>\
                      </performer_volume><disable_physics_time>0.1</disable_physics_time>";
    let mut rig = robot(parameters, "");
    deploy(&mut rig);
    rig.appear("crumb_0");
    rig.run(0.05);
    rig.renew_systems();
    let performer = Command::SetPerformer {
        model: "crumb_0".to_owned(),
        size: Some([4.0, 4.0, 2.0]),
    };
    assert_eq!(rig.requests[1..], [performer]);
    rig.run(0.06);
    assert_eq!(names(&rig), ["crumb_0", "crumb_0__static__"]);
    let stopped = spawns(&rig)[1];
    assert_eq!(stopped.relative_to.as_deref(), Some("crumb_0"));
    let read = sdf::read_worlds(&stopped.sdf, "crumb.sdf", &sdf::NoFiles).unwrap();
    assert!(read.worlds[0].models[0].is_static);
    rig.run(2.0);
    let removed = Command::Remove {
        model: "crumb_0".to_owned(),
    };
    assert_eq!(rig.requests[3..], [removed]);
}
