//! Draws the marks on the map: performers, the names of levels and performers, and the cursor.

use std::collections::BTreeSet;

use protocol::report::PerformerReport;
use ratatui::Frame;
use ratatui::style::Style;

use super::{LevelLook, heading};
use crate::app::model::Model;
use crate::app::places::ScreenRect;
use crate::app::projection::Projection;
use crate::app::recent;
use crate::panels::Panel;
use crate::ui::text;
use crate::ui::theme::Theme;

/// More names than this hide what they name.
const NAMES_MAX: usize = 60;
/// The longest name on the map, in columns.
const NAME_WIDTH: u16 = 16;
/// The longest text about a level, in columns.
const LEVEL_WIDTH: u16 = 34;

/// Tells whether a performer is the one that the user looks at.
pub(super) fn is_marked(model: &Model, name: &str) -> bool {
    let is_followed = model.map.follow.as_deref() == Some(name);
    is_followed
        || (has_selection(model) && model.tables[Panel::Performers].selected() == Some(name))
}

/// Tells whether the map shows what is selected.
pub(super) fn has_selection(model: &Model) -> bool {
    matches!(model.screen.focus, Panel::Map | Panel::Performers)
}

/// Draws marks and names.
pub(super) fn draw(
    model: &Model,
    frame: &mut Frame,
    projection: &Projection,
    looks: &[LevelLook<'_>],
) {
    let handed_over = model.trends.recent.handed_over();
    let mut writer = Writer {
        model,
        theme: Theme::of(model),
        frame,
        free: Free::new(projection.area()),
        is_lit: recent::is_lit(model.now),
        named: 0,
    };
    if let Some([x, y]) = model.map.cursor
        && let Some(cell) = projection.cell(x, y)
    {
        writer.free.take(cell, 1);
    }
    let marks = marks(model, projection, &handed_over);
    writer.draw_marks(&marks);
    let (first, rest) = marks.split_at(marks.partition_point(|mark| mark.rank < Rank::Other));
    writer.name_performers(first);
    writer.name_levels(projection, looks);
    writer.name_performers(rest);
    writer.draw_cursor(projection);
}

/// Priority of a performer's name, the highest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Selected,
    Followed,
    HandedOver,
    Other,
}

/// A performer on the map.
struct Mark<'a> {
    rank: Rank,
    performer: &'a PerformerReport,
    cell: (u16, u16),
    owner: Option<usize>,
    is_fresh: bool,
}

fn marks<'a>(
    model: &'a Model,
    projection: &Projection,
    handed_over: &BTreeSet<&str>,
) -> Vec<Mark<'a>> {
    let selected = model.tables[Panel::Performers]
        .selected()
        .filter(|_| has_selection(model));
    let seen = model.heard.performers.iter().filter_map(|performer| {
        let cell = projection.cell(performer.position[0], performer.position[1])?;
        let name = performer.name.as_str();
        let is_fresh = handed_over.contains(name);
        let rank = if selected == Some(name) {
            Rank::Selected
        } else if model.map.follow.as_deref() == Some(name) {
            Rank::Followed
        } else if is_fresh {
            Rank::HandedOver
        } else {
            Rank::Other
        };
        let owner = performer.owner.as_ref();
        Some(Mark {
            rank,
            performer,
            cell,
            owner: owner.and_then(|owner| model.owner_index(owner)),
            is_fresh,
        })
    });
    let mut marks: Vec<Mark<'a>> = seen.collect();
    marks.sort_by_key(|mark| mark.rank);
    marks
}

struct Writer<'a, 'frame, 'buffer> {
    model: &'a Model,
    theme: Theme,
    frame: &'frame mut Frame<'buffer>,
    free: Free,
    is_lit: bool,
    named: usize,
}

impl Writer<'_, '_, '_> {
    /// Letters first, and of several in a cell the first; then what belongs beside them.
    fn draw_marks(&mut self, marks: &[Mark<'_>]) {
        let mut letters = [0; 4];
        for mark in marks {
            self.free.count(mark.cell);
            if !self.free.take(mark.cell, 1) {
                continue;
            }
            let (letter, style) = self.letter(mark);
            self.write(mark.cell, letter.encode_utf8(&mut letters), style);
        }
        for mark in marks {
            let ((x, y), style) = (mark.cell, self.letter(mark).1);
            if mark.is_fresh
                && let Some(left) = x.checked_sub(1)
                && self.free.take((left, y), 1)
            {
                let style = self.theme.fresh(self.is_lit);
                self.write((left, y), self.theme.glyphs().fresh, style);
            }
            let count = self.free.counted(mark.cell);
            let arrow = heading::arrow(self.theme, mark.performer);
            let beside = match count {
                0 | 1 => arrow.map(str::to_owned),
                2..=9 => Some(count.to_string()),
                _ => Some("+".to_owned()),
            };
            if let Some(beside) = beside
                && self.free.take((x + 1, y), 1)
            {
                self.write((x + 1, y), &beside, style);
            }
        }
    }

    fn letter(&self, mark: &Mark<'_>) -> (char, Style) {
        let mut style = self.theme.owner(mark.owner);
        if mark.is_fresh {
            style = style.patch(self.theme.fresh(self.is_lit));
        }
        if mark.rank <= Rank::Followed {
            style = style.patch(self.theme.selected());
        }
        (self.theme.owner_mark(mark.owner), style)
    }

    /// Names performers, as far as there is room that no other name takes: to the right of the
    /// mark, or to its left; those that matter above or below it, too.
    fn name_performers(&mut self, marks: &[Mark<'_>]) {
        for mark in marks {
            if self.named >= NAMES_MAX {
                return;
            }
            let (x, y) = mark.cell;
            let is_eager = mark.rank <= Rank::Followed;
            let beside = [x.checked_add(1), x.checked_add(2), x.checked_sub(1)];
            let mut beside = beside.into_iter().flatten();
            if !is_eager && !beside.any(|x| self.free.is_free((x, y))) {
                continue;
            }
            let name = text::fit(self.theme, &mark.performer.name, NAME_WIDTH);
            let (width, style) = (text::columns(&name) as u16, self.name_style(mark));
            let apart = format!(" {name}");
            let left = x.checked_sub(width + 1).map(|left| (left, y));
            let around = [y.checked_sub(1), y.checked_add(1)].map(|row| Some((x, row?)));
            let mut beside = left
                .into_iter()
                .chain(around.into_iter().flatten().filter(|_| is_eager));
            let is_named = self.put((x + 2, y), &apart, style)
                || self.put((x + 1, y), &apart, style)
                || beside.any(|place| self.put(place, &name, style));
            self.named += usize::from(is_named);
        }
    }

    fn name_style(&self, mark: &Mark<'_>) -> Style {
        if mark.rank == Rank::Other {
            self.theme.text()
        } else {
            self.theme.value()
        }
    }

    /// Names levels with the letters of their owners and what happened to them a moment ago.
    fn name_levels(&mut self, projection: &Projection, looks: &[LevelLook<'_>]) {
        for (level, look) in self.model.heard.layout.levels.iter().zip(looks) {
            if self.named >= NAMES_MAX {
                return;
            }
            let flat = |corner: [f64; 3]| [corner[0], corner[1]];
            let Some((x, y)) = projection.corner(flat(level.min), flat(level.max)) else {
                continue;
            };
            let name = text::fit(self.theme, &level.name, NAME_WIDTH);
            let long = format!("{name} {}", self.level_mark(look));
            let mut texts = vec![(long.clone(), look.style), (name, look.style)];
            if look.is_fresh
                && let Some([change, _]) =
                    recent::level_texts(&self.model.trends.recent, &level.name)
            {
                let glyph = self.theme.glyphs().fresh;
                let change = text::fit(self.theme, &change, LEVEL_WIDTH);
                let style = look.style.patch(self.theme.fresh(self.is_lit));
                texts.insert(0, (format!("{glyph} {long} {change}"), style));
            }
            let is_named = texts.iter().any(|(text, style)| {
                (y..y.saturating_add(2)).any(|row| self.put((x, row), text, *style))
            });
            self.named += usize::from(is_named);
        }
    }

    /// The letter of a level's owner, or a glyph for what its cell does without performers.
    fn level_mark(&self, look: &LevelLook<'_>) -> String {
        let glyphs = self.theme.glyphs();
        match look.report {
            None => "?".to_owned(),
            Some(level) if level.suspended => glyphs.paused.to_owned(),
            Some(level) if !level.active => glyphs.idle.to_owned(),
            Some(_) => format!("({})", self.theme.owner_mark(look.owner)),
        }
    }

    fn draw_cursor(&mut self, projection: &Projection) {
        let Some(cell) = self
            .model
            .map
            .cursor
            .and_then(|[x, y]| projection.cell(x, y))
        else {
            return;
        };
        let style = self.theme.selected();
        if self.free.counted(cell) == 0 {
            self.write(cell, self.theme.glyphs().cross, style);
        } else if let Some(under) = self.frame.buffer_mut().cell_mut(cell) {
            under.set_style(style);
        }
    }

    /// Writes a name where it and the cell after it are free.
    fn put(&mut self, (x, y): (u16, u16), name: &str, style: Style) -> bool {
        let end = x.saturating_add(text::columns(name) as u16);
        let width = end.saturating_add(1).min(self.free.right().max(end)) - x;
        let is_free = self.free.take((x, y), width);
        if is_free {
            self.write((x, y), name, style);
        }
        is_free
    }

    fn write(&mut self, (x, y): (u16, u16), text: &str, style: Style) {
        self.frame.buffer_mut().set_string(x, y, text, style);
    }
}

/// Cells of the map: which ones no name takes yet, and how many performers are in each.
struct Free {
    area: ScreenRect,
    taken: Vec<bool>,
    counts: Vec<u16>,
}

impl Free {
    fn new(area: ScreenRect) -> Self {
        let cells = usize::from(area.width) * usize::from(area.height);
        Self {
            area,
            taken: vec![false; cells],
            counts: vec![0; cells],
        }
    }

    fn right(&self) -> u16 {
        self.area.x.saturating_add(self.area.width)
    }

    fn is_free(&self, (x, y): (u16, u16)) -> bool {
        self.area.contains(x, y) && !self.taken[self.index((x, y))]
    }

    /// Takes a run of cells when all of them are free.
    fn take(&mut self, (x, y): (u16, u16), width: u16) -> bool {
        let is_inside =
            self.area.contains(x, y) && u32::from(x) + u32::from(width) <= u32::from(self.right());
        if !is_inside {
            return false;
        }
        let start = self.index((x, y));
        let cells = &mut self.taken[start..start + usize::from(width)];
        let is_free = !cells.contains(&true);
        if is_free {
            cells.fill(true);
        }
        is_free
    }

    /// Counts a performer in a cell of the map.
    fn count(&mut self, cell: (u16, u16)) {
        let index = self.index(cell);
        self.counts[index] = self.counts[index].saturating_add(1);
    }

    /// Returns how many performers are in a cell of the map.
    fn counted(&self, cell: (u16, u16)) -> u16 {
        self.counts[self.index(cell)]
    }

    fn index(&self, (x, y): (u16, u16)) -> usize {
        usize::from(y - self.area.y) * usize::from(self.area.width) + usize::from(x - self.area.x)
    }
}
