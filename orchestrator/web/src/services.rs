//! The table of services: what clients can ask of a run or a recording.

use client::control::{self, ControlOptions, ParseControlError};
use client::recorded::ReplayRequest;
use protocol::Command;
use serde_json::{Value, json};

use crate::protocol::server_to_client::{Service, ServiceSchema};

/// A request of a client, as read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Request {
    /// Send a command to the run.
    Command(Box<Command>),
    /// Change the playback of the recording.
    Replay(ReplayRequest),
    /// Tell what is known of something.
    Show {
        /// Kind of the thing, such as `model`.
        subject: String,
        /// Its name.
        name: String,
    },
}

/// Facts that requests are read with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Circumstances {
    /// True for a recording.
    pub(crate) is_recording: bool,
    /// The last completed iteration.
    pub(crate) iteration: u64,
}

/// A service's row in the table.
struct Row {
    name: &'static str,
    kind: &'static str,
    /// Fields of a request: name and JSON type.
    fields: &'static [(&'static str, &'static str)],
    /// Sources that offer it.
    offered: Offered,
    read: fn(&Value, Circumstances) -> Result<Request, RequestProblem>,
}

/// Sources that have a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Offered {
    Always,
    Live,
    Recorded,
}

/// Fields of an answer: name and JSON type.
const ANSWER: &[(&str, &str)] = &[
    ("ok", "boolean"),
    ("message", "string"),
    ("iteration", "integer"),
];

/// All services; the place in the table, from 1, is the number.
const SERVICES: &[Row] = &[
    Row {
        name: "/phalanx/play",
        kind: "phalanx.Play",
        fields: &[],
        offered: Offered::Always,
        read: |_, now| Ok(now.choose(Command::Play, ReplayRequest::Play)),
    },
    Row {
        name: "/phalanx/pause",
        kind: "phalanx.Pause",
        fields: &[],
        offered: Offered::Always,
        read: |_, now| Ok(now.choose(Command::Pause, ReplayRequest::Pause)),
    },
    Row {
        name: "/phalanx/step",
        kind: "phalanx.Step",
        fields: &[("count", "integer")],
        offered: Offered::Always,
        read: step,
    },
    Row {
        name: "/phalanx/run_to",
        kind: "phalanx.RunTo",
        fields: &[("sim_time_s", "number"), ("iteration", "integer")],
        offered: Offered::Always,
        read: run_to,
    },
    Row {
        name: "/phalanx/pace",
        kind: "phalanx.Pace",
        fields: &[("factor", "number")],
        offered: Offered::Always,
        read: |request, now| {
            let factor = number(request, "factor")?;
            let command = Command::SetRealTimeFactor { factor };
            Ok(now.choose(command, ReplayRequest::Speed(factor)))
        },
    },
    Row {
        name: "/phalanx/show",
        kind: "phalanx.Show",
        fields: &[("subject", "string"), ("name", "string")],
        offered: Offered::Always,
        read: |request, _| {
            Ok(Request::Show {
                subject: text(request, "subject")?.to_owned(),
                name: text(request, "name")?.to_owned(),
            })
        },
    },
    Row {
        name: "/phalanx/command",
        kind: "phalanx.Command",
        fields: &[("text", "string")],
        offered: Offered::Live,
        read: |request, _| command(text(request, "text")?),
    },
    Row {
        name: "/phalanx/seek",
        kind: "phalanx.Seek",
        fields: &[("sim_time_s", "number")],
        offered: Offered::Recorded,
        read: |request, _| {
            let time_s = number(request, "sim_time_s")?;
            Ok(Request::Replay(ReplayRequest::Seek(time_s)))
        },
    },
];

impl Circumstances {
    fn choose(self, command: Command, request: ReplayRequest) -> Request {
        if self.is_recording {
            Request::Replay(request)
        } else {
            Request::Command(Box::new(command))
        }
    }

    fn offers(self, row: &Row) -> bool {
        match row.offered {
            Offered::Always => true,
            Offered::Live => !self.is_recording,
            Offered::Recorded => self.is_recording,
        }
    }
}

/// Returns the services as they are offered.
pub(crate) fn offers(now: Circumstances) -> Vec<Service> {
    let rows = SERVICES.iter().zip(1..).filter(|(row, _)| now.offers(row));
    let offered = rows.map(|(row, id)| {
        let request = schema(format!("{}Request", row.kind), row.fields);
        let response = schema(format!("{}Response", row.kind), ANSWER);
        Service {
            id,
            name: row.name,
            kind: row.kind,
            request_schema: request.schema.clone(),
            response_schema: response.schema.clone(),
            request,
            response,
        }
    });
    offered.collect()
}

/// Reason why a call is refused before it is sent anywhere.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    /// There is no such service.
    #[error("no service has number {0}")]
    NoService(u32),
    /// The request is none of the service.
    #[error("{service}: {problem}")]
    Request {
        service: &'static str,
        problem: RequestProblem,
    },
}

/// Reason why a request is none.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestProblem {
    #[error("requests are JSON, not {0:?}")]
    Encoding(String),
    #[error("the request is no JSON: {0}")]
    Json(serde_json::Error),
    #[error("the request is no JSON object")]
    NoObject,
    #[error("{0} is missing, or is no {1}")]
    Field(&'static str, &'static str),
    #[error("a run cannot step back: count is below 0")]
    Backwards,
    #[error("a recording is played to a sim_time_s")]
    IterationOfRecording,
    #[error("the run is at iteration {0} already")]
    Passed(u64),
    #[error("text is empty")]
    Empty,
    #[error(transparent)]
    Command(#[from] ParseControlError),
    #[error("files cannot be named here")]
    File,
}

/// Reads a call of a service.
///
/// # Errors
/// Fails if there is no such service, or the request is none of it.
pub(crate) fn read(
    service: u32,
    encoding: &str,
    payload: &[u8],
    now: Circumstances,
) -> Result<Request, CallError> {
    let place = (service as usize).checked_sub(1);
    let row = place.and_then(|place| SERVICES.get(place));
    let row = row
        .filter(|row| now.offers(row))
        .ok_or(CallError::NoService(service))?;
    let read = request(encoding, payload).and_then(|request| (row.read)(&request, now));
    read.map_err(|problem| CallError::Request {
        service: row.name,
        problem,
    })
}

/// Reads a request of a service by its name.
///
/// # Errors
/// Fails if the request is none of it.
pub(crate) fn read_named(
    service: &'static str,
    request: &Value,
    now: Circumstances,
) -> Result<Request, CallError> {
    let row = SERVICES.iter().find(|row| row.name == service);
    let row = row.expect("a service of the table is named");
    (row.read)(request, now).map_err(|problem| CallError::Request { service, problem })
}

fn request(encoding: &str, payload: &[u8]) -> Result<Value, RequestProblem> {
    if encoding != "json" {
        return Err(RequestProblem::Encoding(encoding.to_owned()));
    }
    if payload.trim_ascii().is_empty() {
        return Ok(json!({}));
    }
    let request: Value = serde_json::from_slice(payload).map_err(RequestProblem::Json)?;
    request
        .is_object()
        .then_some(request)
        .ok_or(RequestProblem::NoObject)
}

fn schema(name: String, fields: &[(&str, &str)]) -> ServiceSchema {
    let fields = fields
        .iter()
        .map(|(name, kind)| ((*name).to_owned(), json!({ "type": kind })));
    let properties: serde_json::Map<String, Value> = fields.collect();
    ServiceSchema {
        encoding: "json",
        schema_name: name,
        schema_encoding: "jsonschema",
        schema: json!({ "type": "object", "properties": properties }).to_string(),
    }
}

fn step(request: &Value, now: Circumstances) -> Result<Request, RequestProblem> {
    let count = match &request["count"] {
        Value::Null => 1,
        other => other
            .as_i64()
            .ok_or(RequestProblem::Field("count", "whole number"))?,
    };
    if now.is_recording {
        return Ok(Request::Replay(ReplayRequest::Step(count)));
    }
    let count = u64::try_from(count).map_err(|_| RequestProblem::Backwards)?;
    Ok(Request::Command(Box::new(Command::Step { count })))
}

fn run_to(request: &Value, now: Circumstances) -> Result<Request, RequestProblem> {
    let Some(iteration) = request["iteration"].as_u64() else {
        let sim_time_s = number(request, "sim_time_s")?;
        return Ok(now.choose(
            Command::RunTo { sim_time_s },
            ReplayRequest::RunTo(sim_time_s),
        ));
    };
    if now.is_recording {
        return Err(RequestProblem::IterationOfRecording);
    }
    let count = iteration
        .checked_sub(now.iteration)
        .filter(|count| *count > 0);
    let count = count.ok_or(RequestProblem::Passed(now.iteration))?;
    Ok(Request::Command(Box::new(Command::Step { count })))
}

/// Reads a command as `phalanx ctl` takes it, but for those that name files of this machine.
fn command(text: &str) -> Result<Request, RequestProblem> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let Some((verb, rest)) = words.split_first() else {
        return Err(RequestProblem::Empty);
    };
    let asked = control::parse(verb, rest, &ControlOptions::default())?;
    let command = asked.command().map_err(|_| RequestProblem::File)?;
    Ok(Request::Command(Box::new(command)))
}

fn number(request: &Value, name: &'static str) -> Result<f64, RequestProblem> {
    let number = request[name].as_f64();
    number.ok_or(RequestProblem::Field(name, "number"))
}

fn text<'a>(request: &'a Value, name: &'static str) -> Result<&'a str, RequestProblem> {
    let text = request[name].as_str();
    text.ok_or(RequestProblem::Field(name, "text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIVE: Circumstances = Circumstances {
        is_recording: false,
        iteration: 10,
    };

    const RECORDED: Circumstances = Circumstances {
        is_recording: true,
        iteration: 10,
    };

    fn number_of(name: &str) -> u32 {
        SERVICES.iter().position(|row| row.name == name).unwrap() as u32 + 1
    }

    fn call(name: &str, request: &str, now: Circumstances) -> Result<Request, CallError> {
        read(number_of(name), "json", request.as_bytes(), now)
    }

    fn check(name: &str, request: &str, expected: Command) {
        let expected = Request::Command(Box::new(expected));
        assert_eq!(call(name, request, LIVE).unwrap(), expected, "{request}");
    }

    #[test]
    fn schemas_are_offered_in_the_words_of_older_releases_too() {
        for offered in offers(LIVE) {
            let told = serde_json::to_value(&offered).unwrap();
            for part in ["request", "response"] {
                let (new, old) = (&told[part]["schema"], &told[format!("{part}Schema")]);
                assert!(new.as_str().is_some_and(|text| text.contains("properties")));
                assert_eq!(new, old, "{}", offered.name);
            }
        }
    }

    #[test]
    fn requests_become_commands_of_the_run() {
        check("/phalanx/play", "", Command::Play);
        check("/phalanx/step", "{}", Command::Step { count: 1 });
        check(
            "/phalanx/step",
            r#"{"count":5}"#,
            Command::Step { count: 5 },
        );
        check(
            "/phalanx/run_to",
            r#"{"iteration":12}"#,
            Command::Step { count: 2 },
        );
        let to = r#"{"sim_time_s":0.5}"#;
        check("/phalanx/run_to", to, Command::RunTo { sim_time_s: 0.5 });
        check(
            "/phalanx/pace",
            r#"{"factor":2}"#,
            Command::SetRealTimeFactor { factor: 2.0 },
        );
        let remove = Command::Remove {
            model: "box".to_owned(),
        };
        check("/phalanx/command", r#"{"text":"remove box"}"#, remove);
    }

    #[test]
    fn requests_become_changes_of_the_playback() {
        let seek = call("/phalanx/seek", r#"{"sim_time_s":3}"#, RECORDED);
        assert_eq!(seek.unwrap(), Request::Replay(ReplayRequest::Seek(3.0)));
        let back = call("/phalanx/step", r#"{"count":-1}"#, RECORDED);
        assert_eq!(back.unwrap(), Request::Replay(ReplayRequest::Step(-1)));
        assert!(call("/phalanx/seek", "{}", LIVE).is_err());
        assert!(call("/phalanx/command", r#"{"text":"play"}"#, RECORDED).is_err());
    }

    #[test]
    fn what_is_no_request_is_refused_with_a_reason() {
        for (name, request, part) in [
            ("/phalanx/step", r#"{"count":-1}"#, "below 0"),
            ("/phalanx/step", r#"{"count":"many"}"#, "whole number"),
            ("/phalanx/step", "[1]", "no JSON object"),
            ("/phalanx/step", "{", "no JSON"),
            (
                "/phalanx/run_to",
                r#"{"iteration":10}"#,
                "at iteration 10 already",
            ),
            ("/phalanx/pace", "{}", "factor is missing"),
            ("/phalanx/command", r#"{"text":"fly"}"#, "fly"),
            (
                "/phalanx/command",
                r#"{"text":"spawn /etc/passwd"}"#,
                "files",
            ),
        ] {
            let refused = call(name, request, LIVE).unwrap_err().to_string();
            assert!(refused.contains(part), "{refused}");
        }
        assert!(read(0, "json", b"", LIVE).is_err());
        assert!(read(u32::MAX, "json", b"", LIVE).is_err());
        assert!(read(1, "cdr", b"", LIVE).is_err());
    }
}
