//! Holds the tables of `docs/configuration.md` to the code; `UPDATE_EXPECT=1` writes them anew.

use std::fmt::Write as _;

use super::Config;
use super::setting::{settings, value_of};
use crate::cli;

const DOCUMENT: &str = include_str!("../../../docs/configuration.md");

/// Replaces what is between the mark of a table and the next end.
fn with_table(document: &str, mark: &str, table: &str) -> String {
    let mark = format!("<!-- {mark}: made by a test, UPDATE_EXPECT=1 writes it anew -->\n");
    let (before, rest) = document
        .split_once(&mark)
        .expect("the document has the mark");
    let end = rest.find("<!-- end -->").expect("the table has an end");
    format!("{before}{mark}{table}{}", &rest[end..])
}

fn settings_table() -> String {
    let mut table =
        "| setting | default | variable | in your own file |\n|---|---|---|---|\n".to_owned();
    for setting in settings() {
        let default = value_of(&Config::default(), setting);
        let default = default.map_or_else(String::new, |value| format!("`{value}`"));
        let variable = setting
            .variable()
            .map_or_else(String::new, |name| format!("`{name}`"));
        let is_personal = if setting.is_personal { "yes" } else { "no" };
        let path = setting.path();
        let _ = writeln!(
            table,
            "| `{path}` | {default} | {variable} | {is_personal} |"
        );
    }
    table
}

fn variables() -> String {
    let mut table = "| variable | option |\n|---|---|\n".to_owned();
    for (name, options) in cli::variables() {
        let options: Vec<String> = options.iter().map(|option| format!("`{option}`")).collect();
        let _ = writeln!(table, "| `{name}` | {} |", options.join(", "));
    }
    table
}

#[test]
fn the_tables_of_settings_and_variables_are_those_of_the_code() {
    let document = with_table(DOCUMENT, "settings", &settings_table());
    let document = with_table(&document, "variables", &variables());
    expect_test::expect_file!["../../../docs/configuration.md"].assert_eq(&document);
}
