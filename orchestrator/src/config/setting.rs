//! The table of all settings of files: those of a run and those of the view.

use run::{Audience, Setting};
use serde_json::Value;
use view::options::{SECTION, VIEW_SETTINGS, ViewSections};

use super::Config;

/// Returns the settings of files, in the order of `configs/default.toml`.
pub(crate) fn settings() -> impl Iterator<Item = &'static Setting> {
    let of_files = |setting: &&Setting| setting.audience != Audience::Worker;
    run::settings().chain(VIEW_SETTINGS).filter(of_files)
}

/// Finds a setting.
pub(crate) fn find(section: &str, key: &str) -> Option<&'static Setting> {
    settings().find(|setting| (setting.section, setting.key) == (section, key))
}

/// Returns the value of a setting as files write it; `None` is unset.
pub(crate) fn value_of(config: &Config, setting: &Setting) -> Option<toml::Value> {
    let value = if setting.section == SECTION {
        let view = config.view.clone();
        run::value_of(&ViewSections { view }, setting)
    } else {
        run::value_of(&config.spec, setting)
    };
    value.map(|value| as_toml(&value))
}

/// Returns a value of a file as JSON; what JSON does not have is none that a setting takes.
pub(super) fn as_json(value: &toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::from(text.as_str()),
        toml::Value::Integer(number) => Value::from(*number),
        toml::Value::Float(number) => Value::from(*number),
        toml::Value::Boolean(is) => Value::from(*is),
        toml::Value::Array(list) => list.iter().map(as_json).collect(),
        toml::Value::Datetime(_) | toml::Value::Table(_) => Value::Null,
    }
}

/// Returns a value as files write it; numbers beyond those of TOML become texts.
fn as_toml(value: &Value) -> toml::Value {
    match value {
        Value::Null => toml::Value::String(String::new()),
        Value::Bool(is) => toml::Value::Boolean(*is),
        Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(number), ..) => toml::Value::Integer(number),
            (None, Some(number), _) => toml::Value::String(number.to_string()),
            (None, None, number) => toml::Value::Float(number.unwrap_or(f64::NAN)),
        },
        Value::String(text) => toml::Value::String(text.clone()),
        Value::Array(list) => toml::Value::Array(list.iter().map(as_toml).collect()),
        Value::Object(fields) => {
            let fields = fields.iter();
            toml::Value::Table(
                fields
                    .map(|(key, one)| (key.clone(), as_toml(one)))
                    .collect(),
            )
        }
    }
}
