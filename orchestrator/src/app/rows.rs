//! [`TableRows`]: which rows of a table are shown, in which order, and which one is selected.
//!
//! The rows are derived from the data at most once per frame, in [`TableRows::settle`]; keys act
//! on the rows that the user sees.

use std::cmp::Ordering;

use protocol::report::{LevelReport, PeerReport, PerformerReport};

use super::filter::Filter;

/// The shown rows of a table, as indices into its data.
#[derive(Clone, Debug, Default)]
pub struct TableRows {
    /// Which rows are shown.
    pub filter: Filter,
    rows: Vec<usize>,
    cursor: usize,
    selected: Option<String>,
    is_stale: bool,
}

impl TableRows {
    /// Returns the indices of the shown rows in their order.
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// Returns the place of the selected row among the shown ones.
    pub fn cursor(&self) -> usize {
        self.cursor
    }

    /// Returns the name of what is selected.
    pub fn selected(&self) -> Option<&str> {
        self.selected.as_deref()
    }

    /// Notes that the data changed.
    pub fn mark_stale(&mut self) {
        self.is_stale = true;
    }

    /// Shows only rows that pass.
    pub fn set_filter(&mut self, filter: Filter) {
        self.filter = filter;
        self.is_stale = true;
    }

    /// Moves the selection down (positive) or up.
    pub fn move_by<R: Row>(&mut self, by: isize, data: &[R]) {
        let last = self.rows.len().saturating_sub(1);
        self.cursor = self.cursor.saturating_add_signed(by).min(last);
        let row = self
            .rows
            .get(self.cursor)
            .and_then(|index| data.get(*index));
        self.selected = row.map(|row| row.name().to_owned());
    }

    /// Brings the rows up to date with the data; the selection stays with its name.
    pub fn settle<R: Row>(&mut self, data: &[R], order: Option<impl Fn(&R, &R) -> Ordering>) {
        if !std::mem::take(&mut self.is_stale) {
            return;
        }
        self.rows.clear();
        let passing = |index: &usize| self.filter.is_empty() || data[*index].passes(&self.filter);
        self.rows.extend((0..data.len()).filter(passing));
        if let Some(order) = order {
            self.rows.sort_by(|a, b| order(&data[*a], &data[*b]));
        }
        let is_selected = |index: &usize| Some(data[*index].name()) == self.selected.as_deref();
        if self.rows.get(self.cursor).is_some_and(is_selected) {
            return;
        }
        let found = self.rows.iter().position(is_selected);
        self.cursor = found
            .unwrap_or(self.cursor)
            .min(self.rows.len().saturating_sub(1));
        self.selected = self
            .rows
            .get(self.cursor)
            .map(|index| data[*index].name().to_owned());
    }
}

/// A row of a table.
pub trait Row {
    /// Returns the name by which the row stays selected.
    fn name(&self) -> &str;
    /// Tells whether the row passes a filter.
    fn passes(&self, filter: &Filter) -> bool;
}

impl Row for PeerReport {
    fn name(&self) -> &str {
        self.name.as_str()
    }

    fn passes(&self, filter: &Filter) -> bool {
        let state = format!("{:?}", self.state);
        let role = self.role.to_string();
        let levels = self.levels.iter().map(String::as_str);
        filter.passes(
            [self.name.as_str(), &self.host, &state, &role]
                .into_iter()
                .chain(levels),
        )
    }
}

impl Row for LevelReport {
    fn name(&self) -> &str {
        &self.name
    }

    fn passes(&self, filter: &Filter) -> bool {
        let owner = self.owner.as_ref().map_or("", |owner| owner.as_str());
        let state = state_of(self);
        let inside = self.performers.iter().chain(&self.ghosts);
        filter.passes(
            [self.name.as_str(), &self.world, owner, state]
                .into_iter()
                .chain(inside.map(String::as_str)),
        )
    }
}

/// Returns what a level's cell does, in one word.
pub fn state_of(level: &LevelReport) -> &'static str {
    match (level.suspended, level.active) {
        (true, _) => "suspended",
        (false, true) => "active",
        (false, false) => "stand-by",
    }
}

impl Row for PerformerReport {
    fn name(&self) -> &str {
        &self.name
    }

    fn passes(&self, filter: &Filter) -> bool {
        let owner = self.owner.as_ref().map_or("", |owner| owner.as_str());
        filter.passes([self.name.as_str(), owner, &self.level])
    }
}

/// What performers are sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortBy {
    /// Name.
    #[default]
    Name,
    /// Secondary that owns it.
    Owner,
    /// Level that it is in.
    Level,
    /// x, y or z of its position.
    Position(usize),
    /// Speed.
    Speed,
    /// How often it has changed cell.
    HandOffs,
}

/// The order of performers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerformerOrder {
    /// By what.
    pub by: SortBy,
    /// Whether the greatest comes first.
    pub is_descending: bool,
}

impl SortBy {
    /// Returns the next column, the first after the last.
    #[must_use]
    pub fn next(self) -> Self {
        match self {
            Self::Name => Self::Owner,
            Self::Owner => Self::Level,
            Self::Level => Self::Position(0),
            Self::Position(axis) if axis < 2 => Self::Position(axis + 1),
            Self::Position(_) => Self::Speed,
            Self::Speed => Self::HandOffs,
            Self::HandOffs => Self::Name,
        }
    }
}

impl PerformerOrder {
    /// Compares two performers; equal ones keep the order of their names.
    pub fn compare(self, a: &PerformerReport, b: &PerformerReport) -> Ordering {
        let order = match self.by {
            SortBy::Name => a.name.cmp(&b.name),
            SortBy::Owner => a.owner.cmp(&b.owner),
            SortBy::Level => a.level.cmp(&b.level),
            SortBy::Position(axis) => a.position[axis].total_cmp(&b.position[axis]),
            SortBy::Speed => speed(a).total_cmp(&speed(b)),
            SortBy::HandOffs => a.hand_offs.cmp(&b.hand_offs),
        };
        if self.is_descending {
            order.reverse()
        } else {
            order
        }
    }
}

/// Returns how fast a performer moves \[m/s\].
pub fn speed(performer: &PerformerReport) -> f64 {
    performer
        .linear_velocity
        .iter()
        .map(|part| part * part)
        .sum::<f64>()
        .sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::fixture;

    fn names(rows: &TableRows, data: &[PerformerReport]) -> Vec<String> {
        rows.rows()
            .iter()
            .map(|index| data[*index].name.clone())
            .collect()
    }

    fn settled(rows: &mut TableRows, data: &[PerformerReport], order: PerformerOrder) {
        rows.mark_stale();
        rows.settle(data, Some(|a: &_, b: &_| order.compare(a, b)));
    }

    #[test]
    fn the_selection_stays_with_its_name_when_the_order_changes() {
        let data = fixture::performers();
        let mut rows = TableRows::default();
        settled(&mut rows, &data, PerformerOrder::default());
        rows.move_by(1, &data);
        assert_eq!(rows.selected(), Some("box"));
        let order = PerformerOrder {
            by: SortBy::Speed,
            is_descending: true,
        };
        settled(&mut rows, &data, order);
        assert_eq!(names(&rows, &data), ["rover_1", "rover_2", "ball", "box"]);
        assert_eq!((rows.selected(), rows.cursor()), (Some("box"), 3));
    }

    #[test]
    fn a_filter_hides_rows_and_selects_a_shown_one() {
        let data = fixture::performers();
        let mut rows = TableRows::default();
        rows.set_filter(Filter::new("s2"));
        settled(&mut rows, &data, PerformerOrder::default());
        assert_eq!(names(&rows, &data), ["rover_1", "rover_2"]);
        assert_eq!(rows.selected(), Some("rover_1"));
        rows.set_filter(Filter::new("nothing"));
        settled(&mut rows, &data, PerformerOrder::default());
        assert_eq!((rows.rows().len(), rows.selected()), (0, None));
        rows.move_by(5, &data);
        assert_eq!(rows.cursor(), 0);
    }
}
