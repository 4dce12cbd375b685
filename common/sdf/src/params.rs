//! `<experimental:params>` of an `<include>`: changes to parts of the model that it brings in.
//!
//! The choice of the part, the effects of the four actions and the errors are as in libsdformat's
//! `ParamPassing.cc`. A change that is wrong is an error and is not made.

mod actions;
mod described;
mod find;
#[cfg(test)]
mod tests;

use actions::{modify, remove, replace};
use find::Wanted;

use crate::report::Report;
use crate::schema::{self, specification::ElementRule};
use crate::tree::{Element, Node};

/// Change to an element.
#[derive(Clone, Copy)]
enum Action {
    Add,
    Modify,
    Remove,
    Replace,
}

/// Changes an included entity as the children of `changes` say.
pub(crate) fn apply(entity: &mut Element, changes: &Element, report: &mut Report) {
    for change in changes.children() {
        // The problem is reported in the place of the change.
        if let Err((code, message)) = apply_one(entity, change, report) {
            report.error(code, change, message);
        }
    }
    schema::check_entity(entity, report);
}

type Refusal = (&'static str, String);

fn apply_one(entity: &mut Element, change: &Element, report: &mut Report) -> Result<(), Refusal> {
    let Some(id) = change.attribute("element_id") else {
        let message = format!(
            "<{}> needs an element_id that says what is changed",
            change.name
        );
        return Err(("ATTRIBUTE_MISSING", message));
    };
    if id.ends_with("::") {
        let message = format!("the element_id {id:?} ends without a name");
        return Err(("ATTRIBUTE_INVALID", message));
    }
    let action = change.attribute("action").map(action_named).transpose()?;
    let not_found = || {
        let message = format!(
            "the included model has no <{}> {id:?} to change",
            change.name
        );
        ("ELEMENT_MISSING", message)
    };
    match action {
        Some(Action::Add) => add(entity, change, id),
        Some(Action::Remove) => {
            let path =
                find::path(entity, id, Wanted::Element(&change.name)).ok_or_else(not_found)?;
            if change.children().next().is_none() {
                find::take(entity, &path);
            } else {
                remove(find::at(entity, &path), change, report);
            }
            Ok(())
        }
        Some(Action::Modify | Action::Replace) | None => {
            let path =
                find::path(entity, id, Wanted::Element(&change.name)).ok_or_else(not_found)?;
            let rule = described::rule_at(entity, &path);
            let target = find::at(entity, &path);
            match action {
                Some(Action::Modify) => modify(target, rule, change, report),
                Some(_) => {
                    check_described(change)?;
                    replace(target, change)?;
                }
                None => change_children(target, rule, change, report),
            }
            Ok(())
        }
    }
}

fn action_named(name: &str) -> Result<Action, Refusal> {
    match name {
        "add" => Ok(Action::Add),
        "modify" => Ok(Action::Modify),
        "remove" => Ok(Action::Remove),
        "replace" => Ok(Action::Replace),
        _ => {
            let message = format!("action is add, modify, remove or replace, and not {name:?}");
            Err(("ATTRIBUTE_INVALID", message))
        }
    }
}

fn add(entity: &mut Element, change: &Element, id: &str) -> Result<(), Refusal> {
    let Some(name) = change.attribute("name") else {
        let message = format!("the <{}> to be added needs a name", change.name);
        return Err(("ATTRIBUTE_MISSING", message));
    };
    if name.is_empty() {
        let message = format!("the name of the <{}> to be added is empty", change.name);
        return Err(("ATTRIBUTE_INVALID", message));
    }
    let whole = if id.is_empty() {
        name.to_owned()
    } else {
        format!("{id}::{name}")
    };
    let known = find::path(entity, &whole, Wanted::Element(&change.name));
    if change.name != "plugin" && known.is_some() {
        let message = format!(
            "the included model has a <{}> {whole:?} already",
            change.name
        );
        return Err(("DUPLICATE_NAME", message));
    }
    let parent = if id.is_empty() {
        entity
    } else {
        let path = find::path(entity, id, Wanted::Parent).ok_or_else(|| {
            let message = format!("the included model has nothing named {id:?} to add to");
            ("ELEMENT_MISSING", message)
        })?;
        find::at(entity, &path)
    };
    check_described(change)?;
    parent
        .nodes
        .push(Node::Element(actions::new_element(change)));
    Ok(())
}

/// Does to each child of a found element what the child of the change says.
fn change_children(
    target: &mut Element,
    rule: Option<&'static ElementRule>,
    change: &Element,
    report: &mut Report,
) {
    if let Err((code, message)) = check_described(change) {
        report.error(code, change, message);
        return;
    }
    for child in change.children() {
        if let Err((code, message)) = change_child(target, rule, child, report) {
            report.error(code, child, message);
        }
    }
}

fn change_child(
    target: &mut Element,
    rule: Option<&'static ElementRule>,
    child: &Element,
    report: &mut Report,
) -> Result<(), Refusal> {
    let Some(action) = child.attribute("action") else {
        let message = format!("<{}> needs an action", child.name);
        return Err(("ATTRIBUTE_MISSING", message));
    };
    let action = action_named(action)?;
    let child_rule = described::child_rule(rule, &child.name);
    if matches!(action, Action::Add | Action::Replace) && child_rule.is_none() {
        let message = format!("<{}> is no element of <{}>", child.name, target.name);
        return Err(("ELEMENT_INVALID", message));
    }
    if matches!(action, Action::Add) {
        target
            .nodes
            .push(Node::Element(actions::new_element(child)));
        return Ok(());
    }
    let is_modified = matches!(action, Action::Modify);
    let Some(index) = find::child(target, child, is_modified) else {
        let message = format!("<{}> has no such <{}> to change", target.name, child.name);
        return Err(("ELEMENT_MISSING", message));
    };
    match action {
        Action::Remove if child.children().next().is_none() => {
            find::take(target, &[index]);
        }
        Action::Remove => remove(find::at(target, &[index]), child, report),
        Action::Modify => {
            modify(find::at(target, &[index]), child_rule, child, report);
        }
        Action::Add | Action::Replace => replace(find::at(target, &[index]), child)?,
    }
    Ok(())
}

fn check_described(change: &Element) -> Result<(), Refusal> {
    if described::is_described(&change.name) {
        return Ok(());
    }
    let message = format!(
        "<{}> is no element of SDF that can be changed by itself",
        change.name
    );
    Err(("ELEMENT_INVALID", message))
}
