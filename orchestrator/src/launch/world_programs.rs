//! Programs that a world file names, within its plugin `gz::sim`:
//!
//! `<program name="joy"><command>./joy</command><arg>-v</arg><env name="DEVICE">js0</env>
//! <working_directory>work</working_directory><critical>true</critical></program>`

use std::collections::BTreeMap;
use std::path::Path;

use run::{Program, ProgramNameError, check_program_name};
use sdf::{Content, ContentNode, World};

/// The names of the plugin, present and past.
const PLUGIN_NAMES: [&str; 2] = ["gz::sim", "ignition::gazebo"];

/// A program of a world that cannot be started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("<program name={program:?}> of world {world}: {problem}")]
pub struct WorldProgramError {
    /// Its name.
    pub program: String,
    /// The world.
    pub world: String,
    /// Part of it that is wrong.
    pub problem: ProgramProblem,
}

/// Something wrong with a program of a world.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgramProblem {
    /// It has no name, or one that no program may have.
    #[error("name {0}")]
    Name(ProgramNameError),
    /// There is nothing to start.
    #[error("it has no <command>")]
    NoCommand,
    /// A variable of its environment has no name, or none that a variable may have.
    #[error("an <env> has no name")]
    UnnamedVariable,
    /// It is neither critical nor not.
    #[error("<critical> is no truth value: {found}")]
    Critical {
        /// Text in the place of a truth value.
        found: String,
    },
}

/// Returns the programs of a world; paths are relative to the folder of its file.
///
/// # Errors
/// Fails if something is wrong with one of them.
pub fn of_world(world: &World, folder: &Path) -> Result<Vec<Program>, WorldProgramError> {
    let plugins = world.plugins.iter();
    plugins
        .filter(|plugin| PLUGIN_NAMES.contains(&plugin.name.as_str()))
        .flat_map(|plugin| elements(&plugin.content, "program"))
        .map(|program| read(program, world, folder))
        .collect()
}

fn read(program: &Content, world: &World, folder: &Path) -> Result<Program, WorldProgramError> {
    let name = attribute(program, "name").unwrap_or_default();
    let wrong = |problem| WorldProgramError {
        program: name.to_owned(),
        world: world.name.clone(),
        problem,
    };
    check_program_name(name).map_err(|error| wrong(ProgramProblem::Name(error)))?;
    let command = value(program, "command").filter(|command| !command.is_empty());
    let command = command.ok_or_else(|| wrong(ProgramProblem::NoCommand))?;
    let mut environment = BTreeMap::new();
    for variable in elements(program, "env") {
        let key = attribute(variable, "name").unwrap_or_default();
        if key.is_empty() || key.contains('=') {
            return Err(wrong(ProgramProblem::UnnamedVariable));
        }
        environment.insert(key.to_owned(), text(variable).to_owned());
    }
    let is_critical = match value(program, "critical") {
        None | Some("false" | "0") => false,
        Some("true" | "1") => true,
        Some(other) => {
            let found = other.to_owned();
            return Err(wrong(ProgramProblem::Critical { found }));
        }
    };
    Ok(Program {
        name: name.to_owned(),
        command: Program::resolve_command(command, folder),
        arguments: elements(program, "arg")
            .map(|argument| text(argument).to_owned())
            .collect(),
        environment,
        folder: value(program, "working_directory").map(|path| folder.join(path)),
        world: Some(world.name.clone()),
        joins: None,
        is_critical,
    })
}

fn elements<'a>(content: &'a Content, name: &'a str) -> impl Iterator<Item = &'a Content> {
    content.nodes.iter().filter_map(move |node| match node {
        ContentNode::Element(element) if element.name == name => Some(element),
        ContentNode::Element(_) | ContentNode::Text(_) => None,
    })
}

fn attribute<'a>(content: &'a Content, name: &str) -> Option<&'a str> {
    let mut attributes = content.attributes.iter();
    let found = attributes.find(|(known, _)| known == name);
    found.map(|(_, value)| value.as_str())
}

fn value<'a>(content: &'a Content, name: &'a str) -> Option<&'a str> {
    elements(content, name).next().map(text)
}

fn text(content: &Content) -> &str {
    let mut texts = content.nodes.iter().filter_map(|node| match node {
        ContentNode::Text(text) => Some(text.trim()),
        ContentNode::Element(_) => None,
    });
    texts.next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn programs(content: &str) -> Result<Vec<Program>, WorldProgramError> {
        let text = format!(
            "<sdf version='1.9'><world name='w'><plugin name='gz::sim' filename='dummy'>\
             {content}</plugin></world></sdf>"
        );
        let read = sdf::read_worlds(&text, "w.sdf", &sdf::NoFiles).unwrap();
        of_world(&read.worlds[0], Path::new("/worlds"))
    }

    #[test]
    fn a_world_names_its_programs() {
        let content = "<program name='joy'><command>./joy</command><arg>-v</arg><arg>2</arg>\
                       <env name='DEVICE'>js0</env><critical>true</critical></program>\
                       <program name='echo'><command>echo</command></program>";
        let programs = programs(content).unwrap();
        let joy = Program {
            name: "joy".to_owned(),
            command: "/worlds/joy".into(),
            arguments: vec!["-v".to_owned(), "2".to_owned()],
            environment: BTreeMap::from([("DEVICE".to_owned(), "js0".to_owned())]),
            folder: None,
            world: Some("w".to_owned()),
            joins: None,
            is_critical: true,
        };
        assert_eq!(programs[0], joy);
        assert_eq!(programs[1].command, Path::new("echo"));
    }

    #[test]
    fn what_is_wrong_is_told() {
        let check = |content: &str, part: &str| {
            let error = programs(content).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        };
        check("<program name='joy'/>", "it has no <command>");
        check("<program><command>x</command></program>", "name must be");
        let critical = "<program name='a'><command>x</command><critical>x</critical></program>";
        check(critical, "no truth value");
        let unnamed = "<program name='a'><command>x</command><env>1</env></program>";
        check(unnamed, "an <env> has no name");
    }
}
