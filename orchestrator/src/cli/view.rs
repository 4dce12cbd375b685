//! The flags of commands that open the view.

use clap::Args;
use clap::builder::BoolishValueParser;

use super::parse_switch;
use crate::config::{REFRESH_HZ_MAX, ThemeName, UnicodeChoice, ViewConfig};

/// Options of a view; absent ones come from files.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "View")]
pub struct ViewArguments {
    /// Colours.
    #[arg(help = "Colours; auto respects NO_COLOR [default: auto]")]
    #[arg(long, value_name = "THEME", env = "PHALANX_THEME")]
    pub theme: Option<ThemeName>,
    /// Frames per second, at most [default: 10]
    #[arg(long, value_name = "HZ", env = "PHALANX_REFRESH")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(REFRESH_HZ_MAX)))]
    pub refresh: Option<u32>,
    /// Use the mouse [default: on]
    #[arg(long, value_name = "on|off", env = "PHALANX_MOUSE", value_parser = parse_switch)]
    pub mouse: Option<bool>,
    /// Draw more than ASCII; auto is what the locale says [default: auto]
    #[arg(
        long,
        value_name = "auto|on|off",
        env = "PHALANX_UNICODE",
        hide_possible_values = true
    )]
    pub unicode: Option<UnicodeChoice>,
    /// Refuse everything in the view that would change the run
    #[arg(long, value_name = "BOOL", env = "PHALANX_READ_ONLY")]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[arg(value_parser = BoolishValueParser::new())]
    pub read_only: Option<bool>,
}

impl ViewArguments {
    /// Lets what is given win over settings.
    pub fn apply(&self, view: &mut ViewConfig) {
        view.theme = self.theme.unwrap_or(view.theme);
        view.refresh_hz = self.refresh.unwrap_or(view.refresh_hz);
        view.has_mouse = self.mouse.unwrap_or(view.has_mouse);
        view.unicode = self.unicode.unwrap_or(view.unicode);
        view.is_read_only = self.read_only.unwrap_or(view.is_read_only);
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::{Cli, CliCommand};

    #[test]
    fn flags_of_a_view_win_over_settings_in_both_commands() {
        let flags = "--theme 16 --refresh 30 --mouse off --unicode off --read-only";
        for command in ["run", "attach"] {
            let line = format!("phalanx {command} {flags}");
            let cli = Cli::try_parse_from(line.split_whitespace()).unwrap();
            let given = match cli.command {
                Some(CliCommand::Run(arguments)) => arguments.view,
                Some(CliCommand::Attach(arguments)) => arguments.view,
                other => panic!("{other:?}"),
            };
            let mut view = ViewConfig::default();
            given.apply(&mut view);
            let expected = ViewConfig {
                theme: ThemeName::Sixteen,
                refresh_hz: 30,
                has_mouse: false,
                unicode: UnicodeChoice::Off,
                is_read_only: true,
            };
            assert_eq!(view, expected);
            ViewArguments::default().apply(&mut view);
            assert_eq!(view, expected);
        }
    }
}
