//! Models that come into a running world: refusals, and the files that the library keeps.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use protocol::client_to_primary::SpawnRequest;
use protocol::{Iteration, SessionTime};
use sdf::{ResolveError, ResolvedData, ResolvedFile, Resolver, UsedFile};

use super::*;
use crate::PrimaryInput;
use crate::library::Library;
use crate::limits::{SPAWNED_COLLISIONS_MAX, SPAWNED_PARTS_MAX};
use crate::pace::Pace;
use crate::primary::resume::saved_state::tests::{settings, worlds};
use crate::registry::EntityRegistry;
use crate::topology::Topology;

/// Has three files, of which two are neither a model nor a mesh, and notes what it is to keep: one
/// list for each text.
#[derive(Clone, Default)]
struct Files(Arc<Mutex<Vec<Vec<String>>>>);

impl Resolver for Files {
    fn read(&self, uri: &str, _from_file: &str) -> Result<ResolvedFile, ResolveError> {
        let text = match uri {
            "part.sdf" => "<sdf version='1.9'><model name='part'><link name='l'/></model></sdf>",
            "letter.txt" => "Dear robot",
            _ => return Err(ResolveError::NotFound(uri.to_owned())),
        };
        Ok(ResolvedFile {
            text: text.to_owned(),
            file: format!("/{uri}"),
        })
    }

    fn read_data(&self, uri: &str, _from_file: &str) -> Result<ResolvedData, ResolveError> {
        let text = match uri {
            "part.obj" => "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\nf 2 3 4\n",
            "letter.txt" => "Dear robot",
            _ => return Err(ResolveError::NotFound(uri.to_owned())),
        };
        Ok(ResolvedData {
            bytes: text.into(),
            file: format!("/{uri}"),
            identity: format!("/{uri}"),
        })
    }
}

impl Library for Files {
    fn another(&self) -> Arc<dyn Library> {
        Arc::new(self.clone())
    }

    fn keep(&self, files: &BTreeSet<UsedFile>) {
        let names = files.iter().map(|file| file.uri.clone());
        self.0.lock().unwrap().push(names.collect());
    }
}

fn state() -> WorldState {
    let worlds = worlds();
    let (topology, registry) = (Topology::new(&worlds), EntityRegistry::new(&worlds));
    WorldState::new(topology, registry, settings().cells.rules)
}

fn spawn(world: &mut WorldState, sdf: &str) -> Result<ResolvedCommand, String> {
    let request = SpawnRequest {
        sdf: sdf.to_owned(),
        ..SpawnRequest::default()
    };
    spawn_with(world, request, None)
}

fn spawn_with(
    world: &mut WorldState,
    request: SpawnRequest,
    text: Option<ReadText>,
) -> Result<ResolvedCommand, String> {
    let mut outbox = Vec::new();
    let cx = &mut Context::new(SessionTime(0), Iteration(0), &mut outbox);
    let mut settings = settings();
    let scope = &mut Scope {
        world,
        clock: &mut RunClock::new(false, Pace::new(settings.pace.step_size, 1.0)),
        settings: &mut settings,
    };
    let resolved = resolve(&Command::Spawn(Box::new(request)), text, scope, cx);
    resolved.map_err(|error| error.to_string())
}

fn model(name: &str, content: &str) -> String {
    format!("<sdf version='1.9'><model name='{name}'>{content}</model></sdf>")
}

#[test]
fn a_library_keeps_what_a_text_rests_on_and_nothing_that_was_only_looked_at() {
    let files = Files::default();
    let mut world = state();
    world.set_library(Box::new(files.clone()));
    let include = |file: &str| {
        format!("<link name='own'/><include merge='false'><uri>{file}</uri></include>")
    };
    let mesh = |file: &str| {
        format!(
            "<link name='own'><collision name='c'><geometry><mesh><uri>{file}</uri></mesh>\
             </geometry></collision></link>"
        )
    };
    let mut spawn = |name: &str, content: &str| spawn(&mut world, &model(name, content));
    assert!(spawn("one", &include("part.sdf")).is_ok());
    assert!(spawn("two", &include("letter.txt")).is_err());
    assert!(spawn("three", &mesh("part.obj")).is_ok());
    let granted = spawn("four", &mesh("letter.txt")).unwrap();
    assert!(!granted.warnings.is_empty(), "the mesh is none");
    // The name is taken, so that nothing comes of it.
    assert!(spawn("one", &include("part.sdf")).is_err());
    let kept = files.0.lock().unwrap();
    let expected = [&["part.sdf"][..], &[], &["part.obj"], &[], &[]];
    assert_eq!(*kept, expected);
}

#[test]
fn a_text_that_was_read_elsewhere_is_applied_with_the_names_of_then() {
    let files = Files::default();
    let mut world = state();
    world.set_library(Box::new(files.clone()));
    let include = "<link name='own'/><include merge='false'><uri>part.sdf</uri></include>";
    let request = SpawnRequest {
        sdf: model("one", include),
        allow_renaming: true,
        ..SpawnRequest::default()
    };
    let mut input = PrimaryInput::Client {
        from: "c".into(),
        session: protocol::SessionId(1),
        message: protocol::ClientToPrimary {
            request: protocol::RequestId(1),
            command: Command::Spawn(Box::new(request.clone())),
        },
        texts: Vec::new(),
    };
    assert!(input.brings_texts());
    input.read_texts(&*world.library(), &[]);
    assert!(files.0.lock().unwrap().is_empty(), "nothing came of it yet");
    spawn(&mut world, &model("one", "<link name='l'/>")).unwrap();
    let PrimaryInput::Client { mut texts, .. } = input else {
        unreachable!("it is of a client");
    };
    let resolved = spawn_with(&mut world, request, texts.pop()).unwrap();
    assert_eq!(resolved.name.as_deref(), Some("one_1"));
    let kept = files.0.lock().unwrap();
    assert_eq!(*kept, [&[][..], &["part.sdf"]]);
}

#[test]
fn a_model_of_more_parts_than_models_have_is_refused() {
    let mut world = state();
    let links = |count: usize| {
        let links = (0..count).map(|number| format!("<link name='l{number}'/>"));
        links.collect::<String>()
    };
    let collisions = |count: usize, distance: f64| {
        let one = |number| {
            let x = distance * f64::from(number);
            format!(
                "<collision name='c{number}'><pose>{x} 0 0 0 0 0</pose><geometry><sphere>\
                 <radius>1</radius></sphere></geometry></collision>"
            )
        };
        let all: String = (0..count as u32).map(one).collect();
        format!("<link name='l'>{all}</link>")
    };
    let mut spawn = |name: &str, content: &str| spawn(&mut world, &model(name, content));
    assert!(spawn("many", &links(SPAWNED_PARTS_MAX)).is_ok());
    let refused = spawn("more", &links(SPAWNED_PARTS_MAX + 1)).unwrap_err();
    assert!(
        refused.contains("1001 links") && refused.contains("at most 1000"),
        "{refused}"
    );
    assert!(spawn("touching", &collisions(SPAWNED_COLLISIONS_MAX, 1.5)).is_ok());
    let refused = spawn("touched", &collisions(SPAWNED_COLLISIONS_MAX + 1, 1.5)).unwrap_err();
    assert!(refused.contains("2001 collisions"), "{refused}");
    // 200 in one place are 19,900 pairs.
    assert!(spawn("dense", &collisions(200, 0.0)).is_ok());
    let refused = spawn("denser", &collisions(202, 0.0)).unwrap_err();
    assert!(refused.contains("more than 20000 pairs"), "{refused}");
}

#[test]
fn names_that_act_on_a_terminal_are_refused_and_shown_escaped() {
    let mut world = state();
    let mut spawn = |name: &str, content: &str| spawn(&mut world, &model(name, content));
    for c in [
        "\u{1b}", "\u{7f}", "\u{9b}", "\u{202e}", "\u{2066}", "\u{7}",
    ] {
        let name = format!("a{c}b");
        let shape = format!(
            "<link name='l'><collision name='{name}'><geometry><sphere><radius>1</radius></sphere>\
             </geometry></collision></link>"
        );
        let parts = [
            spawn(&name, "<link name='l'/>"),
            spawn("m", &format!("<link name='{name}'/>")),
            spawn("m", &shape),
            spawn("m", &format!("<link name='l'/><frame name='{name}'/>")),
        ];
        for refused in parts.map(Result::unwrap_err) {
            let shown = format!("\"a\\u{:04x}b\"", c.chars().next().unwrap() as u32);
            assert!(refused.contains(&shown), "{refused:?}");
            assert!(!refused.contains(c), "{refused:?}");
        }
    }
    assert!(spawn("größe", "<link name='箱'/>").is_ok());
}

#[test]
fn names_that_no_line_has_room_for_are_refused() {
    let mut world = state();
    let long = "n".repeat(256);
    for text in [
        model(&long, "<link name='l'/>"),
        model("m", &format!("<link name='{long}'/>")),
    ] {
        let reason = spawn(&mut world, &text).unwrap_err();
        assert!(reason.contains("more than 255 bytes"), "{reason}");
        assert!(reason.len() < 400, "{reason}");
    }
    spawn(&mut world, &model(&long[..255], "<link name='l'/>")).unwrap();
}
