//! `[view]`: how a run is shown, and what the terminal adds to that.

use run::{Audience, Kind, Setting, Word, word};
use serde::{Deserialize, Serialize};

/// The section of these settings.
pub const SECTION: &str = "view";

/// The most frames per second that may be asked for.
pub const REFRESH_HZ_MAX: u32 = 60;

/// Settings of a run's view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ViewConfig {
    /// Colours in use.
    #[serde(with = "word")]
    pub theme: ThemeName,
    /// Largest rate at which the screen is drawn \[1/s\].
    pub refresh_hz: u32,
    /// True if the view uses the mouse.
    #[serde(rename = "mouse")]
    pub has_mouse: bool,
    /// Choice of glyphs beyond ASCII.
    #[serde(with = "word")]
    pub unicode: UnicodeChoice,
    /// True if nothing of the run may be changed from the view.
    #[serde(rename = "read_only")]
    pub is_read_only: bool,
}

/// The section of the view as files have it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ViewSections {
    /// The settings of the view.
    pub view: ViewConfig,
}

/// Table of these settings.
#[rustfmt::skip]
pub const VIEW_SETTINGS: &[Setting] = &[
    Setting::personal(SECTION, "theme", Kind::Word(&["auto", "16", "256", "mono"]))
        .flag("theme", "THEME", "Colours; auto respects NO_COLOR")
        .only(Audience::Launcher),
    Setting::personal(SECTION, "refresh_hz", Kind::Whole(1, REFRESH_HZ_MAX as u64))
        .flag("refresh", "HZ", "Frames per second, at most")
        .only(Audience::Launcher),
    Setting::personal(SECTION, "mouse", Kind::Switch)
        .flag("mouse", "on|off", "Whether the mouse is heard")
        .only(Audience::Launcher),
    Setting::personal(SECTION, "unicode", Kind::Word(&["auto", "on", "off"]))
        .flag("unicode", "auto|on|off",
            "Whether more than ASCII is drawn; auto is what the locale says")
        .only(Audience::Launcher),
    Setting::personal(SECTION, "read_only", Kind::Flag)
        .flag("read-only", "BOOL", "Refuse everything in the view that would change the run")
        .only(Audience::Launcher),
];

/// Choice of colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ThemeName {
    /// The colours that the terminal has: none under `NO_COLOR`, else 256 or 16.
    #[default]
    Auto,
    /// The terminal's own six plain colours.
    Sixteen,
    /// Colours that are legible on dark and on light.
    Many,
    /// None: bold, underlined and reversed text alone.
    Mono,
}

/// Choice of glyphs beyond ASCII.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnicodeChoice {
    /// As the locale and the terminal say.
    #[default]
    Auto,
    /// Yes.
    On,
    /// No.
    Off,
}

/// Number of colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colors {
    /// None.
    Mono,
    /// The terminal's own.
    Sixteen,
    /// The fixed ones, too.
    Many,
}

impl Default for ViewConfig {
    fn default() -> Self {
        Self {
            theme: ThemeName::Auto,
            refresh_hz: 10,
            has_mouse: true,
            unicode: UnicodeChoice::Auto,
            is_read_only: false,
        }
    }
}

impl Word for ThemeName {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("auto", Self::Auto),
        ("16", Self::Sixteen),
        ("256", Self::Many),
        ("mono", Self::Mono),
    ];
}

impl Word for UnicodeChoice {
    const WORDS: &'static [(&'static str, Self)] =
        &[("auto", Self::Auto), ("on", Self::On), ("off", Self::Off)];
}

impl ThemeName {
    /// Returns the colours to use in an environment of these variables. What a user asks for wins
    /// over `NO_COLOR`, as <https://no-color.org> wants it.
    pub fn colors(self, variable: impl Fn(&str) -> Option<String>) -> Colors {
        match self {
            Self::Mono => Colors::Mono,
            Self::Sixteen => Colors::Sixteen,
            Self::Many => Colors::Many,
            Self::Auto => colors_of_terminal(variable),
        }
    }
}

impl UnicodeChoice {
    /// Tells whether more than ASCII is shown in an environment of these variables.
    pub fn has_unicode(self, variable: impl Fn(&str) -> Option<String>) -> bool {
        match self {
            Self::On => true,
            Self::Off => false,
            Self::Auto => has_unicode(variable),
        }
    }
}

/// Terminals that have 256 colours and do not say so in their name.
const MANY: [&str; 8] = [
    "alacritty",
    "contour",
    "foot",
    "ghostty",
    "kitty",
    "rio",
    "wezterm",
    "iterm",
];

fn colors_of_terminal(variable: impl Fn(&str) -> Option<String>) -> Colors {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    if set("NO_COLOR").is_some() {
        return Colors::Mono;
    }
    let term = set("TERM").unwrap_or_default().to_lowercase();
    if term.starts_with("vt") || term.ends_with("-mono") || term.ends_with("-m") {
        return Colors::Mono;
    }
    let is_named = term.contains("256color")
        || term.contains("direct")
        || MANY.iter().any(|name| term.contains(name));
    // `screen` and the console of Linux pass COLORTERM on and cannot do what it says.
    let is_limited = term == "linux" || term == "screen";
    if is_named || (!is_limited && set("COLORTERM").is_some()) {
        Colors::Many
    } else {
        Colors::Sixteen
    }
}

/// Tells from the environment whether the terminal shows more than ASCII.
fn has_unicode(variable: impl Fn(&str) -> Option<String>) -> bool {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    // The console of Linux knows UTF-8, but its fonts have no Braille.
    if set("TERM").is_some_and(|term| matches!(term.as_str(), "linux" | "dumb" | "vt100")) {
        return false;
    }
    let locale = set("LC_ALL")
        .or_else(|| set("LC_CTYPE"))
        .or_else(|| set("LANG"));
    let locale = locale.unwrap_or_default().to_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(variables: &[(&str, &str)]) -> impl Fn(&str) -> Option<String> {
        |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        }
    }

    fn check_unicode(variables: &[(&str, &str)], expected: bool) {
        assert_eq!(has_unicode(find(variables)), expected, "{variables:?}");
        assert!(UnicodeChoice::On.has_unicode(find(variables)));
        assert!(!UnicodeChoice::Off.has_unicode(find(variables)));
    }

    fn check_colors(variables: &[(&str, &str)], expected: Colors) {
        let colors = ThemeName::Auto.colors(find(variables));
        assert_eq!(colors, expected, "{variables:?}");
        assert_eq!(ThemeName::Many.colors(find(variables)), Colors::Many);
        assert_eq!(ThemeName::Mono.colors(find(variables)), Colors::Mono);
    }

    #[test]
    fn the_locale_says_whether_there_is_more_than_ascii() {
        check_unicode(&[], false);
        check_unicode(&[("LANG", "C")], false);
        check_unicode(&[("LANG", "C.UTF-8")], true);
        check_unicode(&[("LANG", "de_DE.utf8"), ("TERM", "xterm")], true);
        check_unicode(&[("LC_ALL", "POSIX"), ("LANG", "C.UTF-8")], false);
        check_unicode(&[("LC_ALL", ""), ("LANG", "C.UTF-8")], true);
        check_unicode(&[("LANG", "C.UTF-8"), ("TERM", "linux")], false);
    }

    #[test]
    fn the_terminal_says_how_many_colours_there_are() {
        check_colors(&[("TERM", "xterm")], Colors::Sixteen);
        check_colors(&[("TERM", "xterm-256color")], Colors::Many);
        check_colors(&[("TERM", "tmux-256color")], Colors::Many);
        check_colors(&[("TERM", "xterm-kitty")], Colors::Many);
        check_colors(
            &[("TERM", "xterm"), ("COLORTERM", "truecolor")],
            Colors::Many,
        );
        check_colors(
            &[("TERM", "screen"), ("COLORTERM", "truecolor")],
            Colors::Sixteen,
        );
        check_colors(&[("TERM", "linux")], Colors::Sixteen);
        check_colors(&[("TERM", "vt220")], Colors::Mono);
        check_colors(
            &[("TERM", "xterm-256color"), ("NO_COLOR", "1")],
            Colors::Mono,
        );
        check_colors(
            &[("TERM", "xterm-256color"), ("NO_COLOR", "")],
            Colors::Many,
        );
    }
}
