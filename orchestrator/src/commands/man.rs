//! `phalanx man`: the manual, made from the command line.

use std::path::Path;

use anyhow::Context;
use clap::Command;
use clap_mangen::Man;

use super::{CommandResult, output};
use crate::cli;

/// Writes the page of `phalanx` to stdout, or a page for every command to a folder.
pub(super) fn man(folder: Option<&Path>) -> CommandResult {
    let pages = pages()?;
    let Some(folder) = folder else {
        let page = pages.into_iter().next().map(|(_, page)| page);
        return output::print(&page.unwrap_or_default());
    };
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let count = pages.len();
    for (name, page) in pages {
        let path = folder.join(format!("{name}.1"));
        std::fs::write(&path, page).with_context(|| format!("cannot write {}", path.display()))?;
    }
    output::note(&format!("wrote {count} pages to {}", folder.display()));
    Ok(protocol::ExitCode::Success)
}

/// Returns all pages by name, that of `phalanx` first.
fn pages() -> anyhow::Result<Vec<(String, String)>> {
    let mut command = cli::command();
    command.build();
    let mut pages = Vec::new();
    render(&command, "phalanx", &mut pages)?;
    Ok(pages)
}

fn render(command: &Command, name: &str, pages: &mut Vec<(String, String)>) -> anyhow::Result<()> {
    let mut page = Vec::new();
    let shown = command.clone().name(name.to_owned());
    Man::new(shown)
        .title(name.to_uppercase())
        .manual("Phalanx")
        .render(&mut page)
        .context("cannot write to memory")?;
    pages.push((name.to_owned(), String::from_utf8_lossy(&page).into_owned()));
    let visible = command.get_subcommands().filter(|one| !one.is_hide_set());
    for one in visible.filter(|one| one.get_name() != "help") {
        render(one, &format!("{name}-{}", one.get_name()), pages)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_with_its_options_and_variables() {
        let pages = pages().unwrap();
        let page = |name: &str| {
            let found = pages.iter().find(|(known, _)| known == name);
            let (_, text) = found.unwrap_or_else(|| panic!("no page {name}"));
            text.replace('\\', "")
        };
        assert_eq!(pages[0].0, "phalanx");
        for command in cli::command()
            .get_subcommands()
            .filter(|one| !one.is_hide_set())
        {
            let text = page(&format!("phalanx-{}", command.get_name()));
            for argument in command.get_arguments() {
                if let (Some(long), false) = (argument.get_long(), argument.is_hide_set()) {
                    assert!(text.contains(&format!("--{long}")), "{long}: {text}");
                }
            }
        }
        assert!(page("phalanx-run").contains("PHALANX_SECONDARIES"));
        assert!(page("phalanx-topic-echo").contains("PHALANX_TOPIC_ECHO_COUNT"));
        assert!(page("phalanx").contains("Exit codes"));
    }
}
