//! One file against the specification: every attribute and value that libsdformat would refuse is
//! an error, every name that it does not know a warning.

use super::specification::{ElementRule, Specification, ValueRule};
use super::value_kind::{ValueKind, check_pose, number_of};
use crate::convert;
use crate::report::Report;
use crate::tree::Element;

/// Attributes that name a frame, by the elements that have them.
const FRAME_REFERENCES: [(&str, &str); 5] = [
    ("frame", "attached_to"),
    ("pose", "relative_to"),
    ("model", "placement_frame"),
    ("model", "canonical_link"),
    ("custom_rpy", "parent_frame"),
];

/// Reports what is wrong with an upgraded file, and takes the space around its attributes away.
pub(crate) fn check(root: &mut Element, report: &mut Report) {
    let specification = Specification::get();
    if let Some(pose) = root.child("model").and_then(|model| model.child("pose"))
        && let Some(frame) = pose.filled_attribute("relative_to")
    {
        let message = format!(
            "the pose of a top-level model is relative to the world; remove relative_to={frame:?}"
        );
        report.error("ATTRIBUTE_INVALID", pose, message);
    }
    let mut checker = Checker {
        specification,
        report,
    };
    checker.element(specification.root(), root);
    if convert::has_scopes(root) {
        refuse_scoped_names(root, report);
    }
}

/// Reports what is wrong with an upgraded model, light or actor that was changed.
pub(crate) fn check_entity(entity: &mut Element, report: &mut Report) {
    let specification = Specification::get();
    if let Some(rule) = specification.child(specification.root(), &entity.name) {
        let mut checker = Checker {
            specification,
            report,
        };
        checker.element(rule, entity);
    }
}

/// Reports names that hold `::`, which separates scopes since 1.8.
pub(super) fn refuse_scoped_names(element: &Element, report: &mut Report) {
    if let Some(name) = element.attribute("name").filter(|name| name.contains("::")) {
        let message = format!("the name {name:?} holds \"::\", which separates names; rename it");
        report.error("RESERVED_NAME", element, message);
    }
    for child in element.children().filter(|child| !child.is_foreign()) {
        refuse_scoped_names(child, report);
    }
}

/// True for the second and later states of models and so on in a world of before 1.12: as in
/// libsdformat only the first is renamed, and its author did nothing wrong.
fn keeps_its_older_name(parent: &str, child: &str) -> bool {
    match parent {
        "state" => matches!(child, "model" | "light" | "joint"),
        "model_state" => matches!(child, "model" | "link" | "joint"),
        _ => false,
    }
}

struct Checker<'r> {
    specification: &'static Specification,
    report: &'r mut Report,
}

impl Checker<'_> {
    fn element(&mut self, rule: &ElementRule, element: &mut Element) {
        if rule.is_deprecated {
            let name = rule.name;
            self.report
                .warn_once("ELEMENT_DEPRECATED", name, element, || {
                    format!("<{name}> is deprecated")
                });
        }
        self.attributes(rule, element);
        if let Some(value) = &rule.value {
            self.text(value, element);
        }
        if rule.holds_anything {
            return;
        }
        let parent = rule.name;
        for child in element.children_mut() {
            match self.specification.child(rule, &child.name) {
                Some(rule) => self.element(rule, child),
                None if child.is_foreign() || child.name == "include" => {}
                None if keeps_its_older_name(parent, &child.name) => {}
                None => self.unknown_element(parent, child),
            }
        }
        if rule.name == "joint" {
            self.parts_of_joint(rule, element);
        }
    }

    fn unknown_element(&mut self, parent: &str, child: &Element) {
        let both = format!("{parent}/{}", child.name);
        self.report.warn_once("UNKNOWN_ELEMENT", &both, child, || {
            format!(
                "<{}> is no element of <{parent}> and is ignored",
                child.name
            )
        });
    }

    fn attributes(&mut self, rule: &ElementRule, element: &mut Element) {
        for index in 0..element.attributes.len() {
            let (name, text) = &element.attributes[index];
            if name.contains(':') {
                continue;
            }
            let Some((name, value)) = rule.attributes.iter().find(|(known, _)| known == name)
            else {
                self.unknown_attribute(rule.name, name, element);
                continue;
            };
            if let Some(message) = attribute_complaint(rule.name, name, value, text) {
                self.report.error("ATTRIBUTE_INVALID", element, message);
            }
            if text.trim().len() < text.len() {
                let trimmed = text.trim().into();
                element.attributes[index].1 = trimmed;
            }
        }
        for (name, value) in &rule.attributes {
            if value.is_required && element.attribute(name).is_none() {
                let message = format!("<{}> needs a {name} attribute", rule.name);
                self.report.error("ATTRIBUTE_MISSING", element, message);
            }
        }
    }

    fn unknown_attribute(&mut self, parent: &str, name: &str, element: &Element) {
        let both = format!("{parent}/@{name}");
        self.report
            .warn_once("ATTRIBUTE_INCORRECT_TYPE", &both, element, || {
                format!("{name} is no attribute of <{parent}> and is ignored")
            });
    }

    fn text(&mut self, rule: &ValueRule, element: &Element) {
        let text = element.text();
        if text.is_empty() && rule.is_required {
            let hint = match rule.default {
                "" | "__default__" => String::new(),
                default => format!("; left out, it is {default}"),
            };
            let message = format!("<{}> must not be empty{hint}", element.name);
            self.report.error("ELEMENT_INVALID", element, message);
        } else if rule.kind == ValueKind::Pose {
            if let Err(error) = check_pose(element, &text) {
                let message = error.to_string();
                self.report.error("ELEMENT_INVALID", element, message);
            }
        } else if !text.is_empty() {
            if !rule.kind.accepts(&text) {
                let message = rule.kind.complaint(&element.name, &text);
                self.report.error("ELEMENT_INVALID", element, message);
            } else if let Some(message) = range_complaint(rule, element, &text) {
                self.report.error("ELEMENT_INVALID", element, message);
            }
        }
    }

    /// A joint is the only element of which libsdformat insists on parts, unless it is a ball.
    fn parts_of_joint(&mut self, rule: &ElementRule, element: &Element) {
        if element.attribute("type") == Some("ball") {
            return;
        }
        for part in self.specification.children(rule) {
            let is_required = part.value.is_some_and(|value| value.is_required);
            if is_required && element.child(part.name).is_none() {
                let message = format!("<joint> needs a <{}>", part.name);
                self.report.error("ELEMENT_MISSING", element, message);
            }
        }
    }
}

fn attribute_complaint(element: &str, name: &str, rule: &ValueRule, text: &str) -> Option<String> {
    let text = text.trim();
    if text == "__root__" && FRAME_REFERENCES.contains(&(element, name)) {
        return Some(format!(
            "{name} of <{element}> is {text:?}, which is reserved; name another frame"
        ));
    }
    if text.is_empty() {
        let is_refused = rule.is_required;
        return is_refused
            .then(|| format!("the attribute {name} of <{element}> must not be empty"));
    }
    (!rule.kind.accepts(text)).then(|| rule.kind.attribute_complaint(element, name, text))
}

fn range_complaint(rule: &ValueRule, element: &Element, text: &str) -> Option<String> {
    let value = number_of(rule.kind, text)?;
    let [low, high] = rule.range;
    if value < low {
        return Some(format!(
            "<{}> must be at least {low}, and is {value}",
            element.name
        ));
    }
    (value > high).then(|| format!("<{}> must be at most {high}, and is {value}", element.name))
}

#[cfg(test)]
mod tests;
