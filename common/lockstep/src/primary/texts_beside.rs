//! Texts of models in clients' commands, read beside the run before the rules get the commands.

use protocol::Command;

use crate::library::Library;
use crate::primary::io::PrimaryInput;
use crate::primary::spawn_text::ReadText;
use crate::services;

impl PrimaryInput {
    /// Tells whether it is a client's command that brings models as texts.
    pub fn brings_texts(&self) -> bool {
        let Self::Client { message, .. } = self else {
            return false;
        };
        match &message.command {
            Command::Spawn(_) => true,
            Command::CallService { service, .. } => services::brings_models(service),
            _ => false,
        }
    }

    /// Reads the texts in it, each with a library of its own; `worlds` are the names of the run's
    /// worlds.
    pub fn read_texts(&mut self, library: &dyn Library, worlds: &[String]) {
        let Self::Client { message, texts, .. } = self else {
            return;
        };
        match &message.command {
            Command::Spawn(request) => {
                *texts = vec![ReadText::beside(request, library.another())];
            }
            Command::CallService {
                service,
                kind,
                body,
            } => {
                // What cannot be translated is refused when it is its turn.
                let commands = services::translate(service, kind, body, worlds);
                let commands = commands.unwrap_or_default().into_iter();
                *texts = commands
                    .filter_map(|command| match command {
                        Command::Spawn(request) => {
                            Some(ReadText::beside(&request, library.another()))
                        }
                        _ => None,
                    })
                    .collect();
            }
            _ => {}
        }
    }

    /// Has it refused, since reading its texts failed in a way that nobody knows.
    pub fn refuse_texts(&mut self, library: &dyn Library) {
        if let Self::Client { texts, .. } = self {
            // A call ends with the first of its commands that fails.
            *texts = vec![ReadText::unknown(library.another())];
        }
    }
}
