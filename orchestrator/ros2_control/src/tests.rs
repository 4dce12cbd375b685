//! Services against a run of models that does what commands say, and refuses as a primary does.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use protocol::digest::Digest;
use protocol::primary_to_client::Reply;
use protocol::report::{
    EventCounts, Percentiles, PerformerReport, RefusedCounts, RunState, Snapshot, Split, Stats,
    StepHistogram,
};
use protocol::{Command, FailureCode, Iteration, LinkPose};
use ros2::types::action_msgs::{CancelGoalRequest, CancelGoalResponse};
use ros2::types::builtin_interfaces::Time;
use ros2::types::phalanx_msgs::LeaveBarrierResponse;
use ros2::types::simulation_interfaces::{
    Bounds, CallResult, DeleteEntityRequest, DeleteEntityResponse, EntityFilters,
    GetAvailableWorldsRequest, GetAvailableWorldsResponse, GetEntitiesRequest, GetEntitiesResponse,
    GetEntitiesStatesRequest, GetEntitiesStatesResponse, GetEntityBoundsRequest,
    GetEntityBoundsResponse, GetEntityInfoRequest, GetEntityInfoResponse, GetEntityStateRequest,
    GetEntityStateResponse, GetNamedPoseBoundsRequest, GetNamedPoseBoundsResponse,
    GetNamedPosesRequest, GetNamedPosesResponse, ResetSimulationRequest, ResetSimulationResponse,
    Resource, SetSimulationStateRequest, SetSimulationStateResponse, SimulateStepsGetResultRequest,
    SimulateStepsGetResultResponse, SimulateStepsSendGoalRequest, SimulateStepsSendGoalResponse,
    SimulationState, SpawnEntitiesRequest, SpawnEntitiesResponse, SpawnEntity,
    StepSimulationRequest, StepSimulationResponse,
};
use ros2::types::ue_msgs::{AttachRequest, AttachResponse, DetachRequest, DetachResponse};
use ros2::types::unique_identifier_msgs::UUID;
use ros2::{RosMessage, from_cdr, to_cdr};
use scene::{Collision, Frame, Geometry, Level, Link, Model, Scene, World};

use super::*;

/// A run of models by name.
#[derive(Debug)]
struct Fake {
    models: RefCell<Vec<String>>,
    is_paused: RefCell<bool>,
    iteration: RefCell<u64>,
    attached: RefCell<bool>,
    published: RefCell<Vec<Publication>>,
    /// Iterations after which somebody else lets time run.
    plays_at: RefCell<Option<u64>>,
    scene: RefCell<Scene>,
    links: RefCell<BTreeMap<u32, LinkPose>>,
}

impl Outside for Fake {
    async fn ask(&self, command: Command) -> Result<Reply, Unanswered> {
        Ok(self.reply(command))
    }

    fn now(&self) -> Time {
        Time { sec: 7, nanosec: 0 }
    }

    fn read(&self, path: &str) -> std::io::Result<ModelText> {
        Err(std::io::Error::other(format!("there is no {path}")))
    }

    async fn spawnables(&self, _: Vec<String>) -> Result<Vec<SpawnableModel>, SourceError> {
        Ok(Vec::new())
    }

    async fn scene(&self) -> Result<Rc<Scene>, Unanswered> {
        Ok(Rc::new(self.scene.borrow().clone()))
    }

    async fn link_poses(
        &self,
        _: &Scene,
        _: &Snapshot,
    ) -> Result<BTreeMap<u32, LinkPose>, Unanswered> {
        Ok(self.links.borrow().clone())
    }

    fn note(&self, _: &str) {}

    fn publish(&self, publication: Publication) {
        self.published.borrow_mut().push(publication);
    }
}

impl Fake {
    fn reply(&self, command: Command) -> Reply {
        let mut models = self.models.borrow_mut();
        match command {
            Command::Snapshot => {
                return Reply::Snapshot(Box::new(Snapshot {
                    stats: self.stats(),
                    peers: Vec::new(),
                    levels: Vec::new(),
                    performers: models.iter().map(|name| performer(name)).collect(),
                }));
            }
            Command::Play => *self.is_paused.borrow_mut() = false,
            Command::Pause => *self.is_paused.borrow_mut() = true,
            Command::Step { count } => {
                if !*self.is_paused.borrow() {
                    return failed(FailureCode::WrongState, "the run is not paused");
                }
                *self.iteration.borrow_mut() += count;
                if *self.plays_at.borrow() == Some(*self.iteration.borrow()) {
                    *self.is_paused.borrow_mut() = false;
                }
            }
            Command::Reset { .. } => *self.iteration.borrow_mut() = 0,
            Command::Spawn(request) => {
                let name = request.name.unwrap_or_else(|| "model".to_owned());
                if name.starts_with("__") {
                    return failed(FailureCode::NameInvalid, "it is none");
                }
                if request.sdf.contains("nameless") {
                    return failed(FailureCode::Invalid, "a link needs the attribute `name`");
                }
                if models.contains(&name) {
                    return failed(FailureCode::NameTaken, "the name is taken");
                }
                models.push(name.clone());
                return done(Some(name));
            }
            Command::Remove { model } => {
                let before = models.len();
                models.retain(|name| *name != model);
                if models.len() == before {
                    return failed(FailureCode::NotFound, "there is none");
                }
            }
            Command::Attach { .. } => {
                if self.attached.replace(true) {
                    return failed(FailureCode::Already, "\"a\" holds \"b\" already");
                }
            }
            Command::Detach { .. } => {
                if !self.attached.replace(false) {
                    return failed(FailureCode::WrongState, "\"a\" does not hold \"b\"");
                }
            }
            other => panic!("{other:?}"),
        }
        done(None)
    }

    fn stats(&self) -> Stats {
        let is_paused = *self.is_paused.borrow();
        Stats {
            world: "yard".to_owned(),
            state: if is_paused {
                RunState::Paused
            } else {
                RunState::Running
            },
            iteration: *self.iteration.borrow(),
            sim_time_s: *self.iteration.borrow() as f64 * 0.001,
            paused: is_paused,
            real_time_factor: 0.0,
            real_time_factor_asked: 0.0,
            steps_per_s: 0.0,
            step_us: Percentiles::default(),
            recent_step_us: Percentiles::default(),
            split: Split::default(),
            steps: StepHistogram::default(),
            physics_us: Percentiles::default(),
            overhead_us: Percentiles::default(),
            digest: Digest::default(),
            refused: RefusedCounts::default(),
            secondaries_missing: 0,
            events: EventCounts::default(),
            insecure: false,
            elapsed_s: None,
        }
    }
}

fn performer(name: &str) -> PerformerReport {
    PerformerReport {
        name: name.to_owned(),
        owner: None,
        level: "default".to_owned(),
        levels: Vec::new(),
        position: [0.0; 3],
        orientation_xyzw: [0.0, 0.0, 0.0, 1.0],
        linear_velocity: [0.0; 3],
        angular_velocity: [0.0; 3],
        hand_offs: 0,
        group: None,
    }
}

fn done(name: Option<String>) -> Reply {
    Reply::Done {
        iteration: Iteration(0),
        name,
        warnings: Vec::new(),
    }
}

fn failed(code: FailureCode, reason: &str) -> Reply {
    let reason = reason.to_owned();
    Reply::Failed { code, reason }
}

fn control(models: &[&str]) -> Control<Fake> {
    Control::new(Fake {
        models: RefCell::new(models.iter().map(|name| (*name).to_owned()).collect()),
        is_paused: RefCell::new(true),
        iteration: RefCell::default(),
        attached: RefCell::default(),
        published: RefCell::default(),
        plays_at: RefCell::default(),
        scene: RefCell::default(),
        links: RefCell::default(),
    })
}

/// Runs what waits for nothing to its end.
fn now<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

/// Calls a service by its bytes.
fn call<Q: RosMessage, R: RosMessage>(control: &Control<Fake>, request: &Q) -> R {
    let service = Q::TYPE.name.strip_suffix("_Request").unwrap();
    let request = to_cdr(request);
    let response = now(answer(control, service, &request)).expect("it waits for nothing");
    from_cdr(&response.unwrap()).unwrap()
}

fn set_state(control: &Control<Fake>, state: u8) -> u8 {
    let state = SimulationState { state };
    let request = SetSimulationStateRequest { state };
    call::<_, SetSimulationStateResponse>(control, &request)
        .result
        .result
}

fn step(control: &Control<Fake>, steps: u64) -> u8 {
    let request = StepSimulationRequest { steps };
    call::<_, StepSimulationResponse>(control, &request)
        .result
        .result
}

#[test]
fn every_service_of_every_table_answers() {
    let control = control(&["box"]);
    let all = [SERVICES, UE_SERVICES, ACTION_SERVICES, BARRIER_SERVICES];
    for service in all.concat() {
        let kind = format!("{}_Request", service.type_name);
        assert!(ros2::types::find(&kind).is_some(), "{kind}");
        // These bytes are no CDR, whatever the type.
        let wrong = now(answer(&control, service.type_name, &[9])).unwrap();
        assert!(
            matches!(&wrong, Err(AnswerError::Request { response, .. }) if response.len() > 4),
            "{kind}: {wrong:?}"
        );
    }
    assert_eq!(SERVICES.len(), 22);
}

#[test]
fn a_request_that_cannot_be_read_is_answered_with_the_reason() {
    let control = control(&["box"]);
    let unread = |service: &str| {
        let answered = now(answer(&control, service, &[0, 1, 0, 0, 7])).unwrap();
        let Err(AnswerError::Request { response, .. }) = answered else {
            panic!("{answered:?}");
        };
        response
    };
    let response = unread("simulation_interfaces/srv/DeleteEntity");
    let response: DeleteEntityResponse = from_cdr(&response).unwrap();
    assert_eq!(response.result.result, CallResult::RESULT_OPERATION_FAILED);
    let reason = response.result.error_message;
    assert!(
        reason.starts_with("the request cannot be read: "),
        "{reason}"
    );
    let response = unread("phalanx_msgs/srv/LeaveBarrier");
    let response: LeaveBarrierResponse = from_cdr(&response).unwrap();
    assert!(!response.success && response.status_message == reason);
    let response = unread("action_msgs/srv/CancelGoal");
    let response: CancelGoalResponse = from_cdr(&response).unwrap();
    assert_eq!(response.return_code, CancelGoalResponse::ERROR_REJECTED);
    assert_eq!(*control.outside.models.borrow(), ["box"]);
}

#[test]
fn states_follow_the_interface() {
    let control = control(&[]);
    assert_eq!(set_state(&control, SimulationState::STATE_STOPPED), 101);
    assert_eq!(set_state(&control, SimulationState::STATE_PAUSED), 103);
    assert_eq!(
        set_state(&control, SimulationState::STATE_LOADING_WORLD),
        103
    );
    assert_eq!(set_state(&control, SimulationState::STATE_PLAYING), 1);
    assert_eq!(step(&control, 1), CallResult::RESULT_OPERATION_FAILED);
    assert_eq!(set_state(&control, SimulationState::STATE_STOPPED), 1);
    assert_eq!(step(&control, 3), 1);
    assert_eq!(step(&control, 0), CallResult::RESULT_OPERATION_FAILED);
    assert_eq!(set_state(&control, SimulationState::STATE_PAUSED), 101);
}

#[test]
fn entities_that_come_are_told_one_by_one() {
    let control = control(&["taken"]);
    let entity = |name: &str, text: &str| SpawnEntity {
        name: name.to_owned(),
        entity_resource: Resource {
            uri: String::new(),
            resource_string: text.to_owned(),
        },
        initial_pose: {
            let mut stamped = ros2::types::geometry_msgs::PoseStamped::default();
            stamped.pose.orientation.w = 1.0;
            stamped
        },
        ..Default::default()
    };
    let spaced = |name: &str, namespace: &str| SpawnEntity {
        entity_namespace: namespace.to_owned(),
        ..entity(name, "<sdf/>")
    };
    let mut tilted = entity("c", "<sdf/>");
    tilted.initial_pose.pose.orientation.w = 0.5;
    let spawn_requests = vec![
        entity("a", "<sdf/>"),
        entity("taken", "<sdf/>"),
        entity("b", ""),
        entity("b", "<mujoco/>"),
        tilted,
        entity("__d", "<sdf/>"),
        // An error about names is none of the name.
        entity("d", "<sdf>nameless</sdf>"),
        spaced("e", "/fleet/e"),
        spaced("f", "1 2"),
    ];
    let request = SpawnEntitiesRequest { spawn_requests };
    let response: SpawnEntitiesResponse = call(&control, &request);
    let codes: Vec<u8> = response
        .results
        .iter()
        .map(|one| one.result.result)
        .collect();
    assert_eq!(
        (response.result.result, codes),
        (150, vec![1, 101, 104, 103, 109, 102, 106, 1, 105])
    );
    let delete = DeleteEntityRequest {
        entity: "a".to_owned(),
    };
    let mut codes = [0, 0];
    for code in &mut codes {
        *code = call::<_, DeleteEntityResponse>(&control, &delete)
            .result
            .result;
    }
    assert_eq!(codes, [1, CallResult::RESULT_NOT_FOUND]);
}

#[test]
fn filters_that_cannot_be_are_refused() {
    let control = control(&["box", "ball"]);
    let list = |filters| {
        let request = GetEntitiesRequest { filters };
        let response: GetEntitiesResponse = call(&control, &request);
        (response.result.result, response.entities)
    };
    let mut filters = EntityFilters {
        filter: "l+$".to_owned(),
        ..Default::default()
    };
    assert_eq!(list(filters.clone()), (1, vec!["ball".to_owned()]));
    for r#type in [
        Bounds::TYPE_BOX,
        Bounds::TYPE_SPHERE,
        Bounds::TYPE_CONVEX_HULL,
    ] {
        filters.bounds.r#type = r#type;
        assert_eq!(list(filters.clone()).0, CallResult::RESULT_OPERATION_FAILED);
    }
    filters.bounds.r#type = 4;
    assert_eq!(list(filters.clone()), (0, vec![]));
    filters.bounds.r#type = Bounds::TYPE_EMPTY;
    filters.filter = "(".to_owned();
    assert_eq!(list(filters).0, CallResult::RESULT_OPERATION_FAILED);
}

#[test]
fn what_is_attached_stays_so_until_it_is_detached() {
    let control = control(&["a", "b"]);
    let request = AttachRequest {
        name1: "a".to_owned(),
        name2: "b".to_owned(),
    };
    for _ in 0..3 {
        assert!(call::<_, AttachResponse>(&control, &request).success);
    }
    assert!(*control.outside.attached.borrow());
    let request = DetachRequest {
        name1: request.name1,
        name2: request.name2,
    };
    for _ in 0..2 {
        assert!(call::<_, DetachResponse>(&control, &request).success);
        assert!(!*control.outside.attached.borrow());
    }
}

fn send_goal(control: &Control<Fake>, number: u8, steps: u64) -> bool {
    let goal_id = UUID { uuid: [number; 16] };
    let request = SimulateStepsSendGoalRequest { goal_id, steps };
    call::<_, SimulateStepsSendGoalResponse>(control, &request).accepted
}

fn result_of(control: &Control<Fake>, number: u8) -> (i8, u8) {
    let goal_id = UUID { uuid: [number; 16] };
    let request = SimulateStepsGetResultRequest { goal_id };
    let response: SimulateStepsGetResultResponse = call(control, &request);
    (response.status, response.result.result)
}

fn cancel(control: &Control<Fake>, number: u8) -> (i8, usize) {
    let mut request = CancelGoalRequest::default();
    request.goal_info.goal_id.uuid = [number; 16];
    let response: CancelGoalResponse = call(control, &request);
    (response.return_code, response.goals_canceling.len())
}

#[test]
fn a_goal_is_done_step_by_step() {
    let control = control(&[]);
    assert!(send_goal(&control, 1, 3));
    assert!(!send_goal(&control, 2, 3));
    assert_eq!(now(execute(&control)), Some(()));
    assert_eq!(result_of(&control, 1), (4, 1));
    assert_eq!(result_of(&control, 2), (0, CallResult::RESULT_NOT_FOUND));
    let published = control.outside.published.borrow();
    let feedback = published.iter();
    let feedback = feedback.filter(|one| matches!(one, Publication::Feedback(_)));
    assert_eq!(feedback.count(), 3);
    assert_eq!(*control.outside.iteration.borrow(), 3);
}

#[test]
fn a_goal_is_cancelled_or_aborted() {
    let control = control(&[]);
    assert!(send_goal(&control, 1, 3));
    assert_eq!(cancel(&control, 0), (CancelGoalResponse::ERROR_NONE, 1));
    assert_eq!(now(execute(&control)), Some(()));
    assert_eq!(
        result_of(&control, 1),
        (5, CallResult::RESULT_OPERATION_FAILED)
    );
    assert_eq!(*control.outside.iteration.borrow(), 0);
    let (unknown, terminated) = (cancel(&control, 9).0, cancel(&control, 1).0);
    assert_eq!(unknown, CancelGoalResponse::ERROR_UNKNOWN_GOAL_ID);
    assert_eq!(terminated, CancelGoalResponse::ERROR_GOAL_TERMINATED);
    *control.outside.plays_at.borrow_mut() = Some(2);
    assert!(send_goal(&control, 2, 5));
    assert_eq!(now(execute(&control)), Some(()));
    assert_eq!(
        result_of(&control, 2),
        (6, CallResult::RESULT_OPERATION_FAILED)
    );
    assert_eq!(*control.outside.iteration.borrow(), 2);
}

const AT_ORIGIN: LinkPose = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];

fn at(x: f64, z: f64) -> LinkPose {
    [x, 0.0, z, 0.0, 0.0, 0.0, 1.0]
}

fn link(id: u32, pose: LinkPose, geometry: Geometry) -> Link {
    Link {
        id,
        name: format!("l{id}"),
        pose,
        visuals: Vec::new(),
        collisions: vec![Collision {
            name: "c".to_owned(),
            pose: AT_ORIGIN,
            extent: match geometry {
                Geometry::Box { size } => Some([size.map(|it| -it / 2.0), size.map(|it| it / 2.0)]),
                _ => None,
            },
            geometry,
        }],
        sensors: Vec::new(),
    }
}

/// A run of an arm, whose hand has moved, and of a ball, in a world with frames and a level.
fn yard() -> Control<Fake> {
    let control = control(&["arm", "ball"]);
    let model = |id, name: &str, links| Model {
        id,
        name: name.to_owned(),
        performer: true,
        is_static: false,
        spawned: false,
        pose: AT_ORIGIN,
        canonical_link: 0,
        links,
        motion: None,
    };
    let cube = Geometry::Box { size: [2.0; 3] };
    let foot = link(0, at(0.0, 2.0), cube.clone());
    let hand = link(1, at(0.0, 4.0), cube);
    let ball = link(2, AT_ORIGIN, Geometry::Sphere { radius: 0.5 });
    let cube = Geometry::Box { size: [2.0; 3] };
    let wall = link(3, at(-20.0, 1.0), cube);
    let plane = Geometry::Plane {
        normal: [0.0, 0.0, 1.0],
        size: [1.0; 2],
    };
    let ground = link(4, at(0.0, -5.0), plane);
    let frame = |name: &str, link| Frame {
        name: name.to_owned(),
        pose: at(0.0, 4.0),
        link,
    };
    let world = World {
        world: "yard".to_owned(),
        gravity: [0.0; 3],
        ambient: [0.0; 3],
        background: [0.0; 3],
        sky: None,
        fog: None,
        grid: false,
        shadows: false,
        lights: Vec::new(),
        models: vec![
            model(0, "arm", vec![foot, hand]),
            model(1, "ball", vec![ball]),
            Model {
                performer: false,
                is_static: true,
                pose: at(-20.0, 0.0),
                ..model(2, "wall", vec![wall])
            },
            Model {
                performer: false,
                is_static: true,
                ..model(3, "ground", vec![ground])
            },
        ],
        levels: vec![Level {
            name: "west".to_owned(),
            pose: at(3.0, 0.0),
            size: [2.0, 4.0, 6.0],
            buffer: 1.0,
            default: false,
        }],
        frames: vec![frame("gate", None), frame("grip", Some(1))],
    };
    control.outside.scene.borrow_mut().worlds = vec![world];
    // The whole arm is 10 m along x, its hand 2 m further; the ball is 30 m from there.
    let links = [(0, at(10.0, 2.0)), (1, at(12.0, 4.0)), (2, at(40.0, 0.0))];
    control.outside.links.borrow_mut().extend(links);
    control
}

fn points(bounds: &Bounds) -> Vec<[f64; 3]> {
    let points = bounds.points.iter();
    points.map(|point| [point.x, point.y, point.z]).collect()
}

#[test]
fn bounds_are_those_of_joints_as_they_are() {
    let control = yard();
    let bounds_of = |name: &str| {
        let entity = name.to_owned();
        let response: GetEntityBoundsResponse = call(&control, &GetEntityBoundsRequest { entity });
        (response.result.result, points(&response.bounds))
    };
    // The origin stands below the foot.
    let arm = vec![[3.0, 1.0, 5.0], [-1.0, -1.0, 0.0]];
    assert_eq!(bounds_of("arm"), (1, arm));
    assert_eq!(bounds_of("ball"), (1, vec![[0.5; 3], [-0.5; 3]]));
    let wall = vec![[1.0, 1.0, 2.0], [-1.0, -1.0, 0.0]];
    assert_eq!(bounds_of("wall"), (1, wall));
    assert_eq!(bounds_of("ground"), (1, Vec::new()));
    assert_eq!(bounds_of("no").0, CallResult::RESULT_NOT_FOUND);
}

#[test]
fn entities_are_found_by_the_area_that_they_overlap() {
    let control = yard();
    let list = |r#type, points: &[[f64; 3]]| {
        let points = points.iter();
        let points = points.map(|[x, y, z]| ros2::types::geometry_msgs::Vector3 {
            x: *x,
            y: *y,
            z: *z,
        });
        let mut filters = EntityFilters::default();
        filters.bounds.r#type = r#type;
        filters.bounds.points = points.collect();
        let response: GetEntitiesResponse = call(&control, &GetEntitiesRequest { filters });
        assert_eq!(response.result.result, 1, "{response:?}");
        response.entities
    };
    let sphere = |x, radius| list(Bounds::TYPE_SPHERE, &[[x, 0.0, 0.0], [radius, 0.0, 0.0]]);
    assert_eq!(sphere(40.0, 0.1), ["ball"]);
    assert_eq!(sphere(12.0, 2.9), ["arm"]);
    // Below the hand and beside the foot, within the box around both.
    assert_eq!(sphere(12.5, 1.0), [""; 0]);
    let all = [[0.0, -9.0, -9.0], [50.0, 9.0, 9.0]];
    assert_eq!(list(Bounds::TYPE_BOX, &all), ["arm", "ball", "ground"]);
    let triangle = [[39.0, -1.0, 0.0], [41.0, -1.0, 0.0], [40.0, 1.0, 0.0]];
    assert_eq!(list(Bounds::TYPE_CONVEX_HULL, &triangle), ["ball"]);
    assert_eq!(sphere(-20.0, 0.1), ["wall"]);
    // All below the ground is in it.
    let deep = [[-90.0, 0.0, -5.5], [-80.0, 9.0, -4.5]];
    assert_eq!(list(Bounds::TYPE_BOX, &deep), ["ground"]);
}

#[test]
fn static_models_are_entities_that_stand_where_the_scene_has_them() {
    let control = yard();
    let filters = EntityFilters::default();
    let all: GetEntitiesStatesResponse = call(&control, &GetEntitiesStatesRequest { filters });
    assert_eq!(all.entities, ["arm", "ball", "ground", "wall"]);
    assert_eq!(all.states[3].pose.position.x, -20.0);
    let entity = "wall".to_owned();
    let told: GetEntityStateResponse = call(&control, &GetEntityStateRequest { entity });
    assert_eq!((told.result.result, &told.state), (1, &all.states[3]));
    let entity = "wall".to_owned();
    let told: GetEntityInfoResponse = call(&control, &GetEntityInfoRequest { entity });
    assert_eq!(told.result.result, 1);
}

#[test]
fn a_process_that_brought_nothing_removes_all_that_came() {
    let control = yard();
    for model in &mut control.outside.scene.borrow_mut().worlds[0].models {
        model.spawned = matches!(&*model.name, "ball" | "wall");
    }
    control.outside.models.borrow_mut().push("wall".to_owned());
    let scope = ResetSimulationRequest::SCOPE_SPAWNED;
    let told: ResetSimulationResponse = call(&control, &ResetSimulationRequest { scope });
    assert_eq!(told.result.result, 1);
    assert_eq!(*control.outside.models.borrow(), ["arm"]);
}

#[test]
fn frames_and_levels_are_named_poses() {
    let control = yard();
    let mut request = GetNamedPosesRequest::default();
    let list = |request: &GetNamedPosesRequest| -> Vec<(String, f64)> {
        let response: GetNamedPosesResponse = call(&control, request);
        let poses = response.poses.into_iter();
        poses
            .map(|pose| (pose.name, pose.pose.position.x))
            .collect()
    };
    let expected = [("gate", 0.0), ("grip", 12.0), ("level::west", 3.0)];
    assert_eq!(
        list(&request),
        expected.map(|(name, x)| (name.to_owned(), x))
    );
    request.tags.tags = vec!["moving".to_owned()];
    assert_eq!(list(&request), [("grip".to_owned(), 12.0)]);
    let bounds_of = |name: &str| {
        let name = name.to_owned();
        let response: GetNamedPoseBoundsResponse =
            call(&control, &GetNamedPoseBoundsRequest { name });
        (response.result.result, points(&response.bounds))
    };
    assert_eq!(bounds_of("gate"), (1, Vec::new()));
    let level = vec![[1.0, 2.0, 3.0], [-1.0, -2.0, -3.0]];
    assert_eq!(bounds_of("level::west"), (1, level));
    assert_eq!(bounds_of("no").0, CallResult::RESULT_NOT_FOUND);
}

#[test]
fn the_world_of_the_run_is_the_one_that_there_is() {
    let control = yard();
    let mut request = GetAvailableWorldsRequest::default();
    let list = |request: &GetAvailableWorldsRequest| {
        let response: GetAvailableWorldsResponse = call(&control, request);
        (response.result.result, response.worlds.len())
    };
    assert_eq!(list(&request), (1, 1));
    request.filter.tags = vec!["indoor".to_owned()];
    assert_eq!(list(&request), (1, 0));
    request.additional_sources = vec!["/worlds".to_owned()];
    assert_eq!(list(&request).0, CallResult::RESULT_OPERATION_FAILED);
}
