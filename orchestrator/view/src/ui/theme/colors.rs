//! The colours of each theme, by what they mean.
//!
//! Text must be legible on dark and on light. Of the terminal's own 16 colours only the six plain
//! ones are used, which terminals darken where their background is light; yellow, which often stays
//! pale even so, never without an attribute. The fixed colours of the 256 are all half-way: a test
//! measures their contrast to black and to white, and owners' distance from each other.

use ratatui::style::{Color, Modifier, Style};

/// Meaning of a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The name of a figure.
    Label,
    /// Something that does not matter now.
    Muted,
    /// As it should be.
    Healthy,
    /// Not as it should be.
    Warning,
    /// Wrong.
    Error,
    /// The name of a key.
    Key,
    /// The panel that has the keys.
    Focus,
}

/// The colours of a theme.
#[derive(Debug)]
pub(super) struct Palette {
    styles: fn(Meaning) -> (Option<Color>, Modifier),
    owners: &'static [Color],
    parts: &'static [Color],
}

/// No colours at all.
pub(super) const MONO: Palette = Palette {
    styles: |meaning| (None, attribute(meaning)),
    owners: &[],
    parts: &[],
};

/// The terminal's own.
pub(super) const SIXTEEN: Palette = Palette {
    styles: |meaning| match meaning {
        Meaning::Label | Meaning::Muted => (None, Modifier::DIM),
        Meaning::Healthy => (Some(Color::Green), Modifier::empty()),
        // Bold would turn it into the bright yellow that cannot be read on white.
        Meaning::Warning => (Some(Color::Yellow), Modifier::UNDERLINED),
        Meaning::Error => (Some(Color::Red), Modifier::BOLD),
        Meaning::Key => (None, Modifier::BOLD),
        Meaning::Focus => (Some(Color::Cyan), Modifier::empty()),
    },
    owners: &[
        Color::Cyan,
        Color::Magenta,
        Color::Green,
        Color::Yellow,
        Color::Blue,
        Color::Red,
    ],
    parts: &[
        Color::Green,
        Color::Cyan,
        Color::Blue,
        Color::Red,
        Color::Yellow,
        Color::Magenta,
    ],
};

/// The fixed ones of most terminals.
pub(super) const MANY: Palette = Palette {
    styles: |meaning| match meaning {
        Meaning::Label => (Some(Color::Indexed(244)), Modifier::empty()),
        Meaning::Muted => (Some(Color::Indexed(243)), Modifier::empty()),
        Meaning::Healthy => (Some(Color::Indexed(28)), Modifier::empty()),
        Meaning::Warning => (Some(Color::Indexed(130)), Modifier::BOLD),
        Meaning::Error => (Some(Color::Indexed(160)), Modifier::BOLD),
        Meaning::Key => (Some(Color::Indexed(31)), Modifier::BOLD),
        Meaning::Focus => (Some(Color::Indexed(31)), Modifier::empty()),
    },
    owners: &[
        Color::Indexed(32),
        Color::Indexed(166),
        Color::Indexed(28),
        Color::Indexed(163),
        Color::Indexed(94),
        Color::Indexed(99),
        Color::Indexed(30),
        Color::Indexed(161),
    ],
    parts: &[
        Color::Indexed(28),
        Color::Indexed(32),
        Color::Indexed(99),
        Color::Indexed(30),
        Color::Indexed(166),
        Color::Indexed(163),
    ],
};

impl Palette {
    /// Returns how something of this meaning looks.
    pub(super) fn style(&self, meaning: Meaning) -> Style {
        let (color, modifier) = (self.styles)(meaning);
        let style = Style::new().add_modifier(modifier);
        color.map_or(style, |color| style.fg(color))
    }

    /// Returns how something of the secondary at this place looks. Colours come again underlined;
    /// letters tell owners apart beyond that, and without colours.
    pub(super) fn owner(&self, index: usize) -> Style {
        let Some(place) = index.checked_rem(self.owners.len()) else {
            return Style::new().add_modifier(Modifier::BOLD);
        };
        let style = Style::new().fg(self.owners[place]);
        if (index / self.owners.len()).is_multiple_of(2) {
            style
        } else {
            style.add_modifier(Modifier::UNDERLINED)
        }
    }

    /// Returns how one of the parts that time goes to looks; glyphs tell them apart besides.
    pub(super) fn part(&self, index: usize) -> Style {
        let place = index.checked_rem(self.parts.len());
        place.map_or_else(Style::new, |place| Style::new().fg(self.parts[place]))
    }
}

/// Returns what tells a meaning without a colour.
const fn attribute(meaning: Meaning) -> Modifier {
    match meaning {
        Meaning::Label | Meaning::Muted => Modifier::DIM,
        Meaning::Healthy | Meaning::Focus => Modifier::empty(),
        Meaning::Warning | Meaning::Error | Meaning::Key => Modifier::BOLD,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEANINGS: [Meaning; 7] = [
        Meaning::Label,
        Meaning::Muted,
        Meaning::Healthy,
        Meaning::Warning,
        Meaning::Error,
        Meaning::Key,
        Meaning::Focus,
    ];

    /// Least contrast that WCAG 2 requires of large text and of parts of an interface.
    const CONTRAST_MIN: f64 = 3.0;

    /// Red, green and blue of a fixed colour, each 0 to 255.
    fn fixed(color: Color) -> [f64; 3] {
        let Color::Indexed(index) = color else {
            panic!("{color:?} is the terminal's own")
        };
        let level = |step: u8| {
            if step == 0 {
                0.0
            } else {
                55.0 + 40.0 * f64::from(step)
            }
        };
        match index {
            16..=231 => [(index - 16) / 36, (index - 16) / 6 % 6, (index - 16) % 6].map(level),
            232.. => [8.0 + 10.0 * f64::from(index - 232); 3],
            _ => panic!("{index} is the terminal's own"),
        }
    }

    /// Relative luminance, as WCAG 2 defines it.
    fn luminance(rgb: [f64; 3]) -> f64 {
        let linear = |value: f64| {
            let value = value / 255.0;
            if value <= 0.04045 {
                value / 12.92
            } else {
                ((value + 0.055) / 1.055).powf(2.4)
            }
        };
        let [red, green, blue] = rgb.map(linear);
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    #[test]
    fn fixed_colours_are_legible_on_black_and_on_white() {
        let meanings = MEANINGS
            .iter()
            .filter_map(|meaning| MANY.style(*meaning).fg);
        for color in meanings.chain(MANY.owners.iter().chain(MANY.parts).copied()) {
            let luminance = luminance(fixed(color));
            let (on_black, on_white) = ((luminance + 0.05) / 0.05, 1.05 / (luminance + 0.05));
            assert!(
                on_black >= CONTRAST_MIN && on_white >= CONTRAST_MIN,
                "{color:?}: {on_black:.1} on black, {on_white:.1} on white"
            );
        }
    }

    #[test]
    fn owners_have_colours_far_from_each_other() {
        for (index, color) in MANY.owners.iter().enumerate() {
            for other in &MANY.owners[index + 1..] {
                let (one, two) = (fixed(*color), fixed(*other));
                let squares = one.iter().zip(two).map(|(one, two)| (one - two).powi(2));
                let distance = squares.sum::<f64>().sqrt();
                assert!(distance >= 75.0, "{color:?} {other:?}: {distance:.0}");
            }
        }
    }

    #[test]
    fn of_the_terminals_own_colours_only_the_plain_ones_are_used() {
        let plain = [
            Color::Red,
            Color::Green,
            Color::Yellow,
            Color::Blue,
            Color::Magenta,
            Color::Cyan,
        ];
        let meanings = MEANINGS
            .iter()
            .filter_map(|meaning| SIXTEEN.style(*meaning).fg);
        for color in meanings.chain(SIXTEEN.owners.iter().copied()) {
            assert!(plain.contains(&color), "{color:?}");
        }
    }

    #[test]
    fn owners_look_different_until_colours_and_underlines_are_used_up() {
        for palette in [&SIXTEEN, &MANY] {
            let count = 2 * palette.owners.len();
            let styles: Vec<Style> = (0..count).map(|index| palette.owner(index)).collect();
            for (index, style) in styles.iter().enumerate() {
                assert!(!styles[index + 1..].contains(style), "{index}");
            }
        }
        assert_eq!(MONO.owner(5).fg, None);
    }

    #[test]
    fn without_colours_what_matters_is_bold_and_what_does_not_is_dim() {
        for meaning in MEANINGS {
            assert_eq!(MONO.style(meaning).fg, None);
        }
        let has = |meaning, modifier| MONO.style(meaning).add_modifier.contains(modifier);
        assert!(has(Meaning::Warning, Modifier::BOLD) && has(Meaning::Error, Modifier::BOLD));
        assert!(has(Meaning::Muted, Modifier::DIM));
    }
}
