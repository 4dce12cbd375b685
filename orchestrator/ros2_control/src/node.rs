//! The node: a client of a run that answers services of ROS 2, until the run ends.
//!
//! All answers are made on one thread, each as a task of its own, so that a service that waits for
//! the run keeps none of the others.

mod model_files;
mod scene_reader;

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use client::{Connection, News, Reach};
use protocol::primary_to_client::Reply;
use protocol::primary_to_observers::Announce;
use protocol::report::Snapshot;
use protocol::{Command, FailureCode, LinkPose, PrimaryToObservers, RequestId};
use ros2::types::builtin_interfaces::Time;
use ros2_node::{
    Call, Caller, EndpointError, JoinError, OnArrival, Participant, Publication as Publisher,
    PublishError, Quality, ServeError, Server, Topic,
};
use scene::Scene;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::{LocalSet, spawn_blocking, spawn_local};
use tokio::time::{Instant, interval, sleep, sleep_until};

use model_files::ModelFiles;
use scene_reader::SceneReader;

use crate::control::{Control, ModelText, Outside, SourceError, SpawnableModel, Unanswered};
use crate::goals::{ACTION, Publication, execute};
use crate::services::{
    ACTION_SERVICES, AnswerError, BARRIER_SERVICES, SERVICES, ServiceName, UE_SERVICES, answer,
};

pub use ros2_node::{DOMAIN_MAX, Domain, ServiceMapping};

/// Time for which replies go out after the run was told to end.
const FAREWELL: Duration = Duration::from_millis(500);
/// Time between two looks at whether the graph of ROS 2 is to be told something.
const ANNOUNCE_INTERVAL: Duration = Duration::from_secs(1);
/// Longest time until the reader of a client that called is known, and how often it is looked for.
const READER_PATIENCE: Duration = Duration::from_secs(2);
const READER_INTERVAL: Duration = Duration::from_millis(10);
/// Longest time for which figures are asked for again that the run refuses, and how often.
const FIGURES_PATIENCE: Duration = Duration::from_secs(5);
const FIGURES_INTERVAL: Duration = Duration::from_millis(50);
/// Service with whose reply a goal begins.
const SEND_GOAL: &str = "send_goal";

/// Settings of the node.
#[derive(Clone, Debug)]
pub struct NodeSettings {
    /// The domain that it joins.
    pub domain: Domain,
    /// Namespace of the node and of the services of `simulation_interfaces`: `/phalanx`.
    pub namespace: String,
    /// Name of the node in it.
    pub name: String,
    /// Namespace of the services of `ue_msgs`; empty is the root.
    pub ue_namespace: String,
    /// Way in which services are mapped to topics.
    pub mapping: ServiceMapping,
    /// A folder of models that can be spawned, beside those of the environment.
    pub spawnables: Option<PathBuf>,
}

/// Reason why the node ended.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// The domain cannot be joined.
    #[error(transparent)]
    Join(#[from] JoinError),
    /// A service cannot be had.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// A topic of the action cannot be had.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// The run cannot be reached.
    #[error("the run cannot be reached: {0}")]
    Run(String),
}

/// A command under way to the run.
struct Ask {
    command: Command,
    answer: oneshot::Sender<Reply>,
}

/// The run, the clock and the topics, as services see them.
struct NodeContext {
    asks: mpsc::UnboundedSender<Ask>,
    feedback: Publisher,
    status: Publisher,
    scenes: SceneReader,
    models: ModelFiles,
    note: Box<dyn Fn(&str)>,
}

struct Arrivals(Arc<Notify>);

impl OnArrival for Arrivals {
    fn on_arrival(&self) {
        self.0.notify_one();
    }
}

/// A service, and its names.
struct Served {
    server: Server,
    service: ServiceName,
}

impl NodeContext {
    async fn ask_once(&self, command: Command) -> Result<Reply, Unanswered> {
        let (answer, reply) = oneshot::channel();
        // Who does not listen any more has dropped the answer's other end, too.
        let _ = self.asks.send(Ask { command, answer });
        let lost = |_| Unanswered("the run is not reached, or has ended".to_owned());
        reply.await.map_err(lost)
    }
}

impl Outside for NodeContext {
    /// Asks again for figures when they were asked for too often: all clients of ROS 2 are one to
    /// the run.
    async fn ask(&self, command: Command) -> Result<Reply, Unanswered> {
        let until = Instant::now() + FIGURES_PATIENCE;
        loop {
            let reply = self.ask_once(command.clone()).await?;
            let is_refused = matches!(
                reply,
                Reply::Failed {
                    code: FailureCode::TooMuch,
                    ..
                }
            );
            if !is_refused || command != Command::Snapshot || Instant::now() >= until {
                return Ok(reply);
            }
            sleep(FIGURES_INTERVAL).await;
        }
    }

    fn now(&self) -> Time {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.unwrap_or_default();
        Time {
            sec: i32::try_from(now.as_secs()).unwrap_or(i32::MAX),
            nanosec: now.subsec_nanos(),
        }
    }

    fn read(&self, uri: &str) -> io::Result<ModelText> {
        self.models.read(uri)
    }

    async fn spawnables(&self, sources: Vec<String>) -> Result<Vec<SpawnableModel>, SourceError> {
        // Many files are read, and other services are not to wait for that.
        let models = self.models.clone();
        let listed = spawn_blocking(move || models.list(&sources));
        listed.await.unwrap_or_else(|error| {
            Err(SourceError {
                source_name: "the folders of models".to_owned(),
                reason: error.to_string(),
            })
        })
    }

    async fn scene(&self) -> Result<Rc<Scene>, Unanswered> {
        self.scenes.scene().await
    }

    async fn link_poses(
        &self,
        scene: &Scene,
        entities: &Snapshot,
    ) -> Result<BTreeMap<u32, LinkPose>, Unanswered> {
        self.scenes.link_poses(scene, entities).await
    }

    fn note(&self, text: &str) {
        (self.note)(text);
    }

    fn publish(&self, publication: Publication) {
        let published = match publication {
            Publication::Feedback(cdr) => self.feedback.publish(cdr),
            Publication::Status(cdr) => self.status.publish(cdr),
        };
        if let Err(error) = published {
            self.note(&format!(
                "the progress of {ACTION} is not published: {error}"
            ));
        }
    }
}

/// Answers services until the run ends, or `ended` does; `note` is told what goes wrong.
///
/// # Errors
/// Fails if the node cannot be made, or the run cannot be reached any more.
pub async fn serve(
    reach: &Reach,
    settings: &NodeSettings,
    report: Box<dyn Fn(&str)>,
    ended: impl Future<Output = ()>,
) -> Result<(), NodeError> {
    let arrivals = Arc::new(Notify::new());
    let name = format!("{}/{}", settings.namespace, settings.name);
    let told = Arc::new(Arrivals(Arc::clone(&arrivals)));
    let mut participant = Participant::join(&settings.domain, &name, told)?;
    let served = services(&mut participant, settings)?;
    let (feedback, status) = topics(&mut participant, settings)?;
    let (asks, to_ask) = mpsc::unbounded_channel();
    let control = Control::new(NodeContext {
        asks,
        feedback,
        status,
        scenes: SceneReader::new(reach),
        models: ModelFiles::new(settings.spawnables.clone()),
        note: report,
    });
    let run = |error: &dyn std::fmt::Display| NodeError::Run(error.to_string());
    let connection = Connection::follow(reach).map_err(|error| run(&error))?;
    let node = Node {
        participant,
        served,
        control: Rc::new(control),
        connection,
        to_ask,
        waiting: BTreeMap::new(),
        ends_at: None,
    };
    LocalSet::new().run_until(node.run(&arrivals, ended)).await
}

fn services(
    participant: &mut Participant,
    settings: &NodeSettings,
) -> Result<Vec<Rc<Served>>, ServeError> {
    let own = &settings.namespace;
    let action = format!("{own}/{ACTION}/_action");
    let tables = [
        (own, SERVICES),
        (own, BARRIER_SERVICES),
        (&action, ACTION_SERVICES),
        (&settings.ue_namespace, UE_SERVICES),
    ];
    let mut served = Vec::new();
    for (namespace, table) in tables {
        for service in table {
            let name = format!("{namespace}/{}", service.name);
            let endpoint = participant.serve(&name, service.type_name, settings.mapping)?;
            served.push(Rc::new(Served {
                server: endpoint,
                service: *service,
            }));
        }
    }
    Ok(served)
}

fn topics(
    participant: &mut Participant,
    settings: &NodeSettings,
) -> Result<(Publisher, Publisher), EndpointError> {
    let name = |topic: &str| format!("{}/{ACTION}/_action/{topic}", settings.namespace);
    let feedback = participant.advertise(&Topic {
        name: &name("feedback"),
        type_name: "simulation_interfaces/action/SimulateSteps_FeedbackMessage",
        quality: Quality {
            is_reliable: true,
            is_kept: false,
            depth: 1000,
        },
    })?;
    let status = participant.advertise(&Topic {
        name: &name("status"),
        type_name: "action_msgs/msg/GoalStatusArray",
        quality: Quality {
            is_reliable: true,
            is_kept: true,
            depth: 1,
        },
    })?;
    Ok((feedback, status))
}

/// The node and its connection to the run.
struct Node {
    participant: Participant,
    served: Vec<Rc<Served>>,
    control: Rc<Control<NodeContext>>,
    connection: Connection,
    to_ask: mpsc::UnboundedReceiver<Ask>,
    waiting: BTreeMap<RequestId, oneshot::Sender<Reply>>,
    /// Time when the node ends, once the run is told to.
    ends_at: Option<Instant>,
}

impl Node {
    async fn run(
        mut self,
        arrivals: &Notify,
        ended: impl Future<Output = ()>,
    ) -> Result<(), NodeError> {
        let mut ended = std::pin::pin!(ended);
        let mut announce = interval(ANNOUNCE_INTERVAL);
        self.take_calls();
        loop {
            let farewell = self.ends_at;
            tokio::select! {
                () = arrivals.notified() => self.take_calls(),
                Some(ask) = self.to_ask.recv() => {
                    let request = self.connection.request(ask.command);
                    self.waiting.insert(request, ask.answer);
                }
                news = self.connection.news() => match news {
                    Some(news) => self.on_news(news)?,
                    None => return Ok(()),
                },
                _ = announce.tick() => {
                    self.control.outside.scenes.hear().await;
                    self.announce()?;
                }
                () = &mut ended => return Ok(()),
                () = until(farewell), if farewell.is_some() => return Ok(()),
            }
        }
    }

    fn on_news(&mut self, news: News) -> Result<(), NodeError> {
        match news {
            News::Reply { request, reply } => {
                if let Some(answer) = self.waiting.remove(&request) {
                    // Nobody waits for it any more when the node ends.
                    let _ = answer.send(reply);
                }
            }
            News::Disconnected => self.waiting.clear(),
            News::StartedAnew => {
                self.waiting.clear();
                self.control.start_anew();
            }
            News::Status(status) => {
                if let PrimaryToObservers::Announce(Announce::Stopping(_)) = *status {
                    self.ends_at.get_or_insert(Instant::now() + FAREWELL);
                }
            }
            News::Failed(text) => return Err(NodeError::Run(text)),
            News::Unreadable(text) => self.control.outside.note(&text),
            News::Connected | News::Message(_) => {}
        }
        Ok(())
    }

    fn take_calls(&self) {
        for served in &self.served {
            served.server.listen();
            while let Some(call) = served.server.take() {
                spawn_local(respond(Rc::clone(&self.control), Rc::clone(served), call));
            }
        }
    }

    fn announce(&mut self) -> Result<(), NodeError> {
        match self.participant.announce() {
            Ok(()) | Err(PublishError::Full) => Ok(()),
            Err(error) => Err(NodeError::Run(error.to_string())),
        }
    }
}

/// Answers a request, and begins the goal that it brought.
async fn respond(control: Rc<Control<NodeContext>>, served: Rc<Served>, call: Call) {
    let Served { server, service } = &*served;
    let answered = answer(&*control, service.type_name, &call.cdr).await;
    let is_read = answered.is_ok();
    let response = match answered {
        Ok(response) => response,
        Err(error) => {
            control.outside.note(&error.to_string());
            let AnswerError::Request { response, .. } = error else {
                return;
            };
            response
        }
    };
    wait_for_reader(server, &call.caller).await;
    if let Err(error) = server.reply(call.caller, response) {
        let text = format!("a reply of {} is not sent: {error}", service.name);
        control.outside.note(&text);
    }
    if service.name == SEND_GOAL && is_read {
        execute(&*control).await;
    }
}

/// Waits until a client's reader of replies is known; without one the reply leaves all the same.
async fn wait_for_reader(server: &Server, caller: &Caller) {
    let end = Instant::now() + READER_PATIENCE;
    while !server.is_heard_by(caller) && Instant::now() < end {
        sleep(READER_INTERVAL).await;
    }
}

async fn until(time: Option<Instant>) {
    if let Some(time) = time {
        sleep_until(time).await;
    }
}
