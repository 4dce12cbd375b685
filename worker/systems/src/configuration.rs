//! [`Configuration`]: what a system is made from, and its parameters.

use std::cell::RefCell;

use sdf::{Content, Joint, Model, Plugin, World, valid_topic};

/// Description of a system of a model or a world.
#[derive(Clone, Copy)]
pub struct Configuration<'a> {
    /// The world.
    pub world: &'a World,
    /// True if several worlds run together: then topics without a world in their name begin with
    /// `/world/NAME`.
    pub has_siblings: bool,
    /// The model; for a system of a world there is none.
    pub model: Option<&'a Model>,
    /// The scope within the model that names are in: empty, or `nested::` for a nested model.
    pub scope: &'a str,
    /// The plugin with its parameters.
    pub plugin: &'a Plugin,
    /// Faults with which it works all the same; see [`Configuration::found`].
    pub notes: &'a RefCell<Vec<String>>,
}

/// Reason why a system cannot be made; the world runs without it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigureError(pub String);

impl<'a> Configuration<'a> {
    /// Returns the text of a parameter unless it is missing or blank.
    pub fn text(&self, name: &str) -> Option<String> {
        text_of(&self.plugin.content, name)
    }

    /// Returns the text of a parameter that must be there.
    ///
    /// # Errors
    /// Fails if it is missing or blank.
    pub fn required(&self, name: &str) -> Result<String, ConfigureError> {
        let is_missing = || ConfigureError(format!("it needs a <{name}>"));
        self.text(name).ok_or_else(is_missing)
    }

    /// Returns the texts of all parameters of a name, in file order.
    pub fn texts(&self, name: &str) -> Vec<String> {
        let children = self.plugin.content.children();
        let named = children.filter(|child| child.name == name);
        named.map(|child| child.text().trim().to_owned()).collect()
    }

    /// Returns all parameters of a name as elements, in file order.
    pub fn elements(&self, name: &'a str) -> impl Iterator<Item = &'a Content> {
        let children = self.plugin.content.children();
        children.filter(move |child| child.name == name)
    }

    /// Returns a number, or the default when the parameter is missing.
    ///
    /// # Errors
    /// Fails if it is there and no finite number.
    pub fn number(&self, name: &str, default: f64) -> Result<f64, ConfigureError> {
        Ok(self.optional_number(name)?.unwrap_or(default))
    }

    /// Returns a number, if the parameter is there.
    ///
    /// # Errors
    /// Fails if it is there and no finite number.
    pub fn optional_number(&self, name: &str) -> Result<Option<f64>, ConfigureError> {
        number_of(&self.plugin.content, name)
    }

    /// Returns three numbers, or the default when the parameter is missing.
    ///
    /// # Errors
    /// Fails if it is there and not three finite numbers.
    pub fn vector(&self, name: &str, default: [f64; 3]) -> Result<[f64; 3], ConfigureError> {
        Ok(vector_of(&self.plugin.content, name)?.unwrap_or(default))
    }

    /// Returns a truth value, or the default when the parameter is missing.
    ///
    /// # Errors
    /// Fails if it is there and no truth value.
    pub fn flag(&self, name: &str, default: bool) -> Result<bool, ConfigureError> {
        match self.text(name).as_deref() {
            None => Ok(default),
            Some("true" | "True" | "TRUE" | "1") => Ok(true),
            Some("false" | "False" | "FALSE" | "0") => Ok(false),
            Some(text) => Err(ConfigureError(format!(
                "<{name}> is neither true nor false: {text:?}"
            ))),
        }
    }

    /// Returns the model.
    ///
    /// # Errors
    /// Fails if the plugin is not in a model.
    pub fn model(&self) -> Result<&'a Model, ConfigureError> {
        let is_missing = || ConfigureError("it belongs into a <model>".to_owned());
        self.model.ok_or_else(is_missing)
    }

    /// Returns the index of a joint of the model by its name, also within nested models.
    ///
    /// # Errors
    /// Fails if the model has no such joint.
    pub fn joint(&self, name: &str) -> Result<usize, ConfigureError> {
        let joints = &self.model()?.joints;
        let scoped = format!("{}{name}", self.scope);
        let by_name = |wanted: &str| joints.iter().position(|joint: &Joint| joint.name == wanted);
        by_name(&scoped)
            .or_else(|| by_name(name))
            .ok_or_else(|| ConfigureError(format!("the model has no joint {name:?}")))
    }

    /// Returns the index of a link of the model by its name, also within nested models.
    ///
    /// # Errors
    /// Fails if the model has no such link.
    pub fn link(&self, name: &str) -> Result<usize, ConfigureError> {
        let links = &self.model()?.links;
        let scoped = format!("{}{name}", self.scope);
        let by_name = |wanted: &str| links.iter().position(|link| link.name == wanted);
        by_name(&scoped)
            .or_else(|| by_name(name))
            .ok_or_else(|| ConfigureError(format!("the model has no link {name:?}")))
    }

    /// Returns what is found of a list of names, each looked for once and in order; the others are
    /// noted and left out, as in Gazebo.
    ///
    /// # Errors
    /// Fails with the error of the first name if there are names and none is found.
    pub fn found<T>(
        &self,
        names: &[String],
        mut find: impl FnMut(&str) -> Result<T, ConfigureError>,
    ) -> Result<Vec<T>, ConfigureError> {
        let mut found = Vec::new();
        let mut missing = Vec::new();
        for name in names {
            match find(name) {
                Ok(one) => found.push(one),
                Err(error) => missing.push(error),
            }
        }
        if found.is_empty()
            && let Some(first) = missing.first()
        {
            return Err(first.clone());
        }
        let notes = missing
            .iter()
            .map(|error| format!("{error}; it works without"));
        self.notes.borrow_mut().extend(notes);
        Ok(found)
    }

    /// Returns the name of the model that it is in as Gazebo has it in topics: nested models with
    /// the names of those around them, separated by `/`... such as `outer/model/inner`.
    pub fn model_path(&self) -> String {
        let model = self.model.map_or("", |model| model.name.as_str());
        let scope = self.scope.trim_end_matches("::");
        match scope {
            "" => model.to_owned(),
            scope => format!("{model}/model/{}", scope.replace("::", "/model/")),
        }
    }

    /// Returns what the names of this world's models begin with in commands: nothing, or the name
    /// of the world where there are several.
    pub fn command_prefix(&self) -> String {
        if self.has_siblings {
            format!("{}::", self.world.name)
        } else {
            String::new()
        }
    }

    /// Returns the full name of a topic as Gazebo makes it: blanks become `_`, `@`, `~`, `:=` and
    /// `//` are left out, and it begins with `/`; with several worlds that run together, also with
    /// the world's name unless it has it.
    ///
    /// In the namespace of a model are the topics that have its name, and those without a `/` at
    /// their start, as in ROS: `scan` and `/model/robot/scan` are `/robot_7/scan`.
    pub fn topic(&self, name: &str) -> String {
        full_topic(self.world, self.has_siblings, self.model, name)
    }
}

/// Returns the full name of a topic of a model or a world; see [`Configuration::topic`].
pub fn full_topic(world: &World, has_siblings: bool, model: Option<&Model>, name: &str) -> String {
    if let Some(topic) = model.and_then(|model| model.topic_in_namespace(&world.name, name)) {
        return topic;
    }
    let name = valid_topic(name);
    if has_siblings && !name.starts_with("/world/") {
        format!("/world/{}{name}", world.name)
    } else {
        name
    }
}

/// Returns the text of a child unless it is missing or blank.
pub fn text_of(content: &Content, name: &str) -> Option<String> {
    let text = content.child(name)?.text();
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Returns the number in a child, if it is there.
///
/// # Errors
/// Fails if it is there and no finite number.
pub fn number_of(content: &Content, name: &str) -> Result<Option<f64>, ConfigureError> {
    let Some(text) = text_of(content, name) else {
        return Ok(None);
    };
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(Some(number)),
        _ => Err(ConfigureError(format!("<{name}> is no number: {text:?}"))),
    }
}

/// Returns the three numbers in a child, if it is there.
///
/// # Errors
/// Fails if it is there and not three finite numbers.
pub fn vector_of(content: &Content, name: &str) -> Result<Option<[f64; 3]>, ConfigureError> {
    let Some(text) = text_of(content, name) else {
        return Ok(None);
    };
    let numbers: Result<Vec<f64>, _> = text.split_whitespace().map(str::parse).collect();
    let vector = numbers
        .ok()
        .and_then(|numbers| <[f64; 3]>::try_from(numbers).ok());
    match vector {
        Some(vector) if vector.iter().all(|one| one.is_finite()) => Ok(Some(vector)),
        _ => Err(ConfigureError(format!("<{name}> is no vector: {text:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_are_made_valid_as_in_gazebo() {
        let text = "<sdf version='1.11'><world name='w'/></sdf>";
        let read = sdf::read_worlds(text, "w.sdf", &sdf::NoFiles).unwrap();
        let world = &read.worlds[0];
        for (written, full) in [
            ("scan", "/scan"),
            ("/a b/scan/", "/a_b/scan"),
            ("~/scan", "/scan"),
            ("a/~/scan", "/a/scan"),
            ("robot@1//scan:=x", "/robot1scanx"),
            ("///", "/"),
        ] {
            assert_eq!(full_topic(world, false, None, written), full, "{written}");
        }
        assert_eq!(full_topic(world, true, None, "~/scan"), "/world/w/scan");
    }

    #[test]
    fn topics_of_a_model_in_a_namespace_are_not_in_its_world() {
        let text = "<sdf version='1.11'><world name='w'><model name='r'><static>true</static>\
                    <link name='l'/></model></world></sdf>";
        let read = sdf::read_worlds(text, "w.sdf", &sdf::NoFiles).unwrap();
        let world = &read.worlds[0];
        let mut model = world.models[0].clone();
        model.namespace = Some(sdf::TopicNamespace::new("fleet/r7").unwrap());
        for (written, full) in [("scan", "/fleet/r7/scan"), ("/wind", "/world/w/wind")] {
            assert_eq!(full_topic(world, true, Some(&model), written), full);
        }
    }
}
