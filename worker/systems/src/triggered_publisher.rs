//! `TriggeredPublisher`: says something, or calls services, when a message arrives that matches.
//!
//! It is a system of a model or of a world; [`matcher`] has the rules of what matches. Source:
//! gz-sim, `triggered_publisher/TriggeredPublisher.hh`. Services are those of the run; their
//! replies go nowhere.

mod matcher;
#[cfg(test)]
mod tests;

use messages::Kind;
use messages::text_format;
use protocol::{Command, TopicMessage};
use sdf::Content;
use serde::{Deserialize, Serialize};

use self::matcher::Matcher;
use super::{
    Configuration, ConfigureError, Configured, Context, StepTime, System, TopicSpec, WorldContext,
    WorldSystem,
};

/// The most that may wait for their time; later ones are lost.
const WAITING_MAX: usize = 10_000;

/// Number of times that it may be triggered in one iteration, so that publishers that trigger each
/// other cannot flood the run.
const TRIGGERS_MAX: u32 = 1_000;

struct TriggeredPublisher {
    input: &'static Kind,
    matchers: Vec<Matcher>,
    outputs: Vec<Output>,
    services: Vec<Service>,
    delay_ns: u64,
    state: State,
}

struct Output {
    topic: String,
    kind: &'static str,
    body: Vec<u8>,
}

struct Service {
    name: String,
    kind: String,
    body: Vec<u8>,
}

#[derive(Default, Serialize, Deserialize)]
struct State {
    /// Time when something is to be said, in elapsed time \[ns\], ascending.
    due: Vec<u64>,
    /// Number of times that it was triggered since time last passed.
    fresh: u32,
    /// The iteration that triggers are counted in.
    iteration: u64,
    triggers: u32,
}

/// Common interface of systems of models and of worlds.
trait Voice {
    fn time(&self) -> StepTime;
    fn say(&mut self, output: &Output);
    fn ask(&mut self, command: Command);
}

/// Makes the system of a model.
pub(super) fn configure(
    configuration: &Configuration<'_>,
) -> Result<Configured<dyn System>, ConfigureError> {
    let (publisher, subscriptions, publications) = read(configuration)?;
    Ok(Configured {
        system: Box::new(publisher),
        subscriptions,
        publications,
    })
}

/// Makes the system of a world.
pub(super) fn configure_for_world(
    configuration: &Configuration<'_>,
) -> Result<Configured<dyn WorldSystem>, ConfigureError> {
    let (publisher, subscriptions, publications) = read(configuration)?;
    Ok(Configured {
        system: Box::new(publisher),
        subscriptions,
        publications,
    })
}

fn read(
    configuration: &Configuration<'_>,
) -> Result<(TriggeredPublisher, Vec<TopicSpec>, Vec<TopicSpec>), ConfigureError> {
    let missing = || ConfigureError("<input> is missing".to_owned());
    let input = configuration.elements("input").next().ok_or_else(missing)?;
    let (topic, kind) = topic_of(input, configuration)?;
    let outputs: Result<Vec<Output>, ConfigureError> = configuration
        .elements("output")
        .map(|element| output(element, configuration))
        .collect();
    let services: Result<Vec<Service>, ConfigureError> =
        configuration.elements("service").map(service).collect();
    let (outputs, services) = (outputs?, services?);
    if outputs.is_empty() && services.is_empty() {
        let what = "it has neither an <output> nor a <service>";
        return Err(ConfigureError(what.to_owned()));
    }
    let subscriptions = vec![TopicSpec {
        topic,
        kind: kind.name,
    }];
    let publications = outputs.iter().map(|output| TopicSpec {
        topic: output.topic.clone(),
        kind: output.kind,
    });
    let publications = publications.collect();
    let publisher = TriggeredPublisher {
        input: kind,
        matchers: matchers(input, kind)?,
        outputs,
        services,
        delay_ns: (configuration.number("delay_ms", 0.0)?.max(0.0) * 1e6) as u64,
        state: State::default(),
    };
    Ok((publisher, subscriptions, publications))
}

fn matchers(input: &Content, kind: &'static Kind) -> Result<Vec<Matcher>, ConfigureError> {
    let elements: Vec<&Content> = input
        .children()
        .filter(|child| child.name == "match")
        .collect();
    let filled = elements
        .iter()
        .filter(|element| !element.text().trim().is_empty());
    let matchers: Result<Vec<Matcher>, ConfigureError> =
        filled.map(|element| Matcher::read(element, kind)).collect();
    let matchers = matchers?;
    if matchers.is_empty() && !elements.is_empty() {
        return Err(ConfigureError("every <match> is empty".to_owned()));
    }
    Ok(matchers)
}

fn topic_of(
    element: &Content,
    configuration: &Configuration<'_>,
) -> Result<(String, &'static Kind), ConfigureError> {
    let topic = filled(element, "topic")?;
    let kind = known_kind(element, filled(element, "type")?)?;
    Ok((configuration.topic(topic), kind))
}

fn output(element: &Content, configuration: &Configuration<'_>) -> Result<Output, ConfigureError> {
    let (topic, kind) = topic_of(element, configuration)?;
    Ok(Output {
        topic,
        kind: kind.name,
        body: encode(element, kind, &element.text())?,
    })
}

fn service(element: &Content) -> Result<Service, ConfigureError> {
    let name = filled(element, "name")?;
    let kind = known_kind(element, filled(element, "reqType")?)?;
    let request = element.attribute("reqMsg").unwrap_or_default();
    Ok(Service {
        name: format!("/{}", name.trim().trim_matches('/')),
        kind: kind.name.to_owned(),
        body: encode(element, kind, request)?,
    })
}

fn encode(element: &Content, kind: &Kind, text: &str) -> Result<Vec<u8>, ConfigureError> {
    let wrong = |error| ConfigureError(format!("<{}>: {error}", element.name));
    text_format::encode(kind, text).map_err(wrong)
}

fn known_kind(element: &Content, name: &str) -> Result<&'static Kind, ConfigureError> {
    let unknown = || {
        let element = &element.name;
        ConfigureError(format!("<{element}>: messages {name:?} are not known"))
    };
    messages::find(name.trim()).ok_or_else(unknown)
}

fn filled<'a>(element: &'a Content, attribute: &str) -> Result<&'a str, ConfigureError> {
    let value = element.attribute(attribute);
    let value = value.filter(|value| !value.trim().is_empty());
    let element = &element.name;
    value.ok_or_else(|| ConfigureError(format!("<{element}> has no {attribute}")))
}

impl System for TriggeredPublisher {
    fn on_message(&mut self, _: usize, message: &TopicMessage, context: &mut Context<'_>) {
        self.hear(message, context);
    }

    fn before_step(&mut self, context: &mut Context<'_>) {
        self.say_due(context);
    }

    fn save(&self) -> Vec<u8> {
        super::save(&self.state)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        self.restore(bytes)
    }
}

impl WorldSystem for TriggeredPublisher {
    fn on_message(&mut self, _: usize, message: &TopicMessage, context: &mut WorldContext<'_>) {
        self.hear(message, context);
    }

    fn before_step(&mut self, context: &mut WorldContext<'_>) {
        self.say_due(context);
    }

    fn save(&self) -> Vec<u8> {
        super::save(&self.state)
    }

    fn load(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        self.restore(bytes)
    }
}

impl TriggeredPublisher {
    fn hear(&mut self, message: &TopicMessage, voice: &mut dyn Voice) {
        if !self.matchers.is_empty() {
            let Ok(json) = self.input.to_json(&message.body) else {
                return;
            };
            if !self.matchers.iter().all(|matcher| matcher.accepts(&json)) {
                return;
            }
        }
        let time = voice.time();
        if self.state.iteration != time.iteration.0 {
            self.state.iteration = time.iteration.0;
            self.state.triggers = 0;
        }
        self.state.triggers += 1;
        if self.state.triggers > TRIGGERS_MAX || self.waiting() >= WAITING_MAX {
            tracing::warn!(
                topic = message.topic,
                "a triggered publisher is triggered too often; the rest is lost"
            );
        } else if self.delay_ns == 0 {
            self.speak(voice);
        } else {
            self.state.fresh += 1;
        }
    }

    fn restore(&mut self, bytes: &[u8]) -> Result<(), postcard::Error> {
        super::load(&mut self.state, bytes)?;
        if self.waiting() > WAITING_MAX {
            self.state = State::default();
            return Err(postcard::Error::DeserializeBadEncoding);
        }
        Ok(())
    }

    fn waiting(&self) -> usize {
        self.state.due.len() + self.state.fresh as usize
    }

    fn say_due(&mut self, voice: &mut dyn Voice) {
        let time = voice.time();
        let now = time.elapsed.0;
        // A delay begins with the step in which the message is heard, or with the next one that
        // lets time pass.
        let step_ns = (time.step_size_s * 1e9).round() as u64;
        let due = now.saturating_sub(step_ns).saturating_add(self.delay_ns);
        for _ in 0..std::mem::take(&mut self.state.fresh) {
            self.state.due.push(due);
        }
        let count = self.state.due.partition_point(|due| *due <= now);
        self.state.due.drain(..count);
        for _ in 0..count {
            self.speak(voice);
        }
    }

    fn speak(&self, voice: &mut dyn Voice) {
        for output in &self.outputs {
            voice.say(output);
        }
        for service in &self.services {
            voice.ask(Command::CallService {
                service: service.name.clone(),
                kind: service.kind.clone(),
                body: service.body.clone(),
            });
        }
    }
}

impl Voice for Context<'_> {
    fn time(&self) -> StepTime {
        self.time
    }

    fn say(&mut self, output: &Output) {
        self.publish_encoded(&output.topic, output.kind, &output.body);
    }

    fn ask(&mut self, command: Command) {
        self.request(command);
    }
}

impl Voice for WorldContext<'_> {
    fn time(&self) -> StepTime {
        self.time
    }

    fn say(&mut self, output: &Output) {
        self.publish_encoded(&output.topic, output.kind, &output.body);
    }

    fn ask(&mut self, command: Command) {
        self.request(command);
    }
}
