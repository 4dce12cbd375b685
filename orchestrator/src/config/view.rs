//! `[view]`: how a run is shown, and what the terminal adds to that.

/// The most frames per second that may be asked for.
pub const REFRESH_HZ_MAX: u32 = 60;

/// Settings of a run's view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewConfig {
    /// Colours in use.
    pub theme: ThemeName,
    /// Largest rate at which the screen is drawn \[1/s\].
    pub refresh_hz: u32,
    /// True if the view uses the mouse.
    pub has_mouse: bool,
    /// Choice of glyphs beyond ASCII.
    pub unicode: UnicodeChoice,
    /// True if nothing of the run may be changed from the view.
    pub is_read_only: bool,
}

/// Choice of colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ThemeName {
    /// The colours that the terminal has: none under `NO_COLOR`, else 256 or 16.
    #[default]
    Auto,
    /// The terminal's own six plain colours.
    #[value(name = "16")]
    Sixteen,
    /// Colours that are legible on dark and on light.
    #[value(name = "256")]
    Many,
    /// None: bold, underlined and reversed text alone.
    Mono,
}

/// Choice of glyphs beyond ASCII.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
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

impl ThemeName {
    const ALL: [Self; 4] = [Self::Auto, Self::Sixteen, Self::Many, Self::Mono];
    /// Names of the themes.
    pub(super) const WORDS: [&str; 4] = ["auto", "16", "256", "mono"];

    /// Returns what it is called.
    pub fn word(self) -> &'static str {
        Self::WORDS[self as usize]
    }

    /// Finds what is called so.
    pub fn find(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|theme| theme.word() == word)
    }

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
    const ALL: [Self; 3] = [Self::Auto, Self::On, Self::Off];
    /// Names of the choices.
    pub(super) const WORDS: [&str; 3] = ["auto", "on", "off"];

    /// Returns what it is called.
    pub fn word(self) -> &'static str {
        Self::WORDS[self as usize]
    }

    /// Finds what is called so.
    pub fn find(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|choice| choice.word() == word)
    }

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
    use clap::ValueEnum;

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

    #[test]
    fn files_and_flags_call_things_the_same() {
        for theme in ThemeName::value_variants() {
            let flag = theme.to_possible_value().unwrap();
            assert_eq!(flag.get_name(), theme.word());
            assert_eq!(ThemeName::find(theme.word()), Some(*theme));
        }
        for choice in UnicodeChoice::value_variants() {
            let flag = choice.to_possible_value().unwrap();
            assert_eq!(flag.get_name(), choice.word());
            assert_eq!(UnicodeChoice::find(choice.word()), Some(*choice));
        }
    }
}
