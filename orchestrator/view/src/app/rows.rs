//! [`TableRows`]: which rows of a table are shown, in which order, and which one is selected.
//!
//! The rows are derived from the data at most once per frame, in [`TableRows::settle`]; keys act
//! on the rows that the user sees.

use std::cmp::Ordering;
use std::ops::{Index, IndexMut};

use protocol::report::{LevelReport, PerformerReport};

use super::filter::Filter;
use super::model::Model;
use crate::panels::{Content, Panel};

/// The shown rows of each panel; those of panels that are no tables stay empty.
#[derive(Clone, Debug, Default)]
pub struct Tables([TableRows; Panel::ALL.len()]);

impl Tables {
    /// Notes that the data of all tables changed.
    pub fn mark_stale(&mut self) {
        self.0.iter_mut().for_each(TableRows::mark_stale);
    }
}

impl Index<Panel> for Tables {
    type Output = TableRows;

    fn index(&self, panel: Panel) -> &TableRows {
        &self.0[panel as usize]
    }
}

impl IndexMut<Panel> for Tables {
    fn index_mut(&mut self, panel: Panel) -> &mut TableRows {
        &mut self.0[panel as usize]
    }
}

/// The shown rows of a table, as indices into its data.
#[derive(Clone, Debug, Default)]
pub struct TableRows {
    /// Filter that shown rows pass.
    pub filter: Filter,
    /// The place of the order among [`Row::ORDERS`].
    order: usize,
    is_descending: bool,
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

    /// Sorts by the next order, the first after the last.
    pub fn sort_next<R: Row>(&mut self, _: &[R]) {
        self.order = (self.order + 1) % R::ORDERS.len();
        self.is_stale = true;
    }

    /// Turns the order around.
    pub fn sort_reverse(&mut self) {
        self.is_descending = !self.is_descending;
        self.is_stale = true;
    }

    /// Returns the heading of the column that orders, and whether the greatest comes first.
    pub fn sorted<R: Row>(&self, _: &[R]) -> (&'static str, bool) {
        (R::ORDERS[self.order].title, self.is_descending)
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

    /// Selects a shown row by its place; what is not there is not selected.
    pub fn select_row<R: Row>(&mut self, index: usize, data: &[R]) {
        if index < self.rows.len() {
            self.cursor = index;
            self.move_by(0, data);
        }
    }

    /// Selects by name; a filter that hides it is cleared. Tells whether there is such a row.
    pub fn select<R: Row>(&mut self, name: &str, data: &[R]) -> bool {
        let Some(index) = data.iter().position(|row| row.name() == name) else {
            return false;
        };
        if !self.filter.is_empty() && !data[index].passes(&self.filter) {
            self.filter = Filter::default();
        }
        self.selected = Some(name.to_owned());
        self.is_stale = true;
        self.settle(data);
        true
    }

    /// Returns the first row of a window that keeps the selected one in its middle where it can.
    pub fn first_row(&self, height: usize) -> usize {
        let last = self.rows.len().saturating_sub(height);
        self.cursor.saturating_sub(height / 2).min(last)
    }

    /// Brings the rows up to date with the data; the selection stays with its name.
    pub fn settle<R: Row>(&mut self, data: &[R]) {
        if !std::mem::take(&mut self.is_stale) {
            return;
        }
        self.rows.clear();
        let passing = |index: &usize| self.filter.is_empty() || data[*index].passes(&self.filter);
        self.rows.extend((0..data.len()).filter(passing));
        let (compare, is_descending) = (R::ORDERS[self.order].compare, self.is_descending);
        self.rows.sort_by(|a, b| {
            let order = compare(&data[*a], &data[*b]);
            if is_descending {
                order.reverse()
            } else {
                order
            }
        });
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

/// An order by which rows can be sorted.
pub struct OrderBy<R> {
    /// The heading of its column.
    pub title: &'static str,
    /// Compares two rows; equal ones keep the order in which they are reported.
    pub compare: fn(&R, &R) -> Ordering,
}

/// A row of a table.
pub trait Row: Sized + 'static {
    /// Orders by which rows can be sorted, the default first.
    const ORDERS: &'static [OrderBy<Self>];

    /// Returns the name by which the row stays selected.
    fn name(&self) -> &str;
    /// Tells whether the row passes a filter.
    fn passes(&self, filter: &Filter) -> bool;
}

/// The figures of a table, whatever their type.
pub trait TableData {
    /// Brings rows up to date with the data.
    fn settle(&self, rows: &mut TableRows);
    /// Moves the selection down (positive) or up.
    fn move_by(&self, rows: &mut TableRows, by: isize);
    /// Selects a shown row by its place.
    fn select_row(&self, rows: &mut TableRows, index: usize);
    /// Sorts by the next order.
    fn sort_next(&self, rows: &mut TableRows);
}

impl<R: Row> TableData for Vec<R> {
    fn settle(&self, rows: &mut TableRows) {
        rows.settle(self);
    }

    fn move_by(&self, rows: &mut TableRows, by: isize) {
        rows.move_by(by, self);
    }

    fn select_row(&self, rows: &mut TableRows, index: usize) {
        rows.select_row(index, self);
    }

    fn sort_next(&self, rows: &mut TableRows) {
        rows.sort_next(self);
    }
}

impl Model {
    /// Changes the shown rows of a panel with its data; does nothing in one that is no table.
    pub(crate) fn change_rows(
        &mut self,
        panel: Panel,
        change: impl FnOnce(&dyn TableData, &mut TableRows),
    ) {
        if let Content::Table { data, .. } = panel.row().content {
            let mut rows = std::mem::take(&mut self.tables[panel]);
            change(data(self), &mut rows);
            self.tables[panel] = rows;
        }
    }
}

/// Makes an order of rows by a column.
pub(crate) const fn by<R>(title: &'static str, compare: fn(&R, &R) -> Ordering) -> OrderBy<R> {
    OrderBy { title, compare }
}

/// Returns the time that a level's cell takes per step: physics, systems and sensors \[us\].
pub fn cell_us(level: &LevelReport) -> f64 {
    level.physics_us + level.systems_us + level.sensors_us
}

/// Returns what a level's cell does, in one word.
pub fn state_of(level: &LevelReport) -> &'static str {
    match (level.suspended, level.active) {
        (true, _) => "suspended",
        (false, true) => "active",
        (false, false) => "inactive",
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

    fn settled(rows: &mut TableRows, data: &[PerformerReport]) {
        rows.mark_stale();
        rows.settle(data);
    }

    #[test]
    fn the_selection_stays_with_its_name_when_the_order_changes() {
        let data = fixture::performers();
        let mut rows = TableRows::default();
        settled(&mut rows, &data);
        rows.move_by(1, &data);
        assert_eq!(rows.selected(), Some("box"));
        while rows.sorted(&data).0 != "speed m/s" {
            rows.sort_next(&data);
        }
        rows.sort_reverse();
        settled(&mut rows, &data);
        assert_eq!(names(&rows, &data), ["rover_1", "rover_2", "ball", "box"]);
        assert_eq!((rows.selected(), rows.cursor()), (Some("box"), 3));
    }

    #[test]
    fn a_filter_hides_rows_and_selects_a_shown_one() {
        let data = fixture::performers();
        let mut rows = TableRows::default();
        rows.set_filter(Filter::new("s2"));
        settled(&mut rows, &data);
        assert_eq!(names(&rows, &data), ["rover_1", "rover_2"]);
        assert_eq!(rows.selected(), Some("rover_1"));
        rows.set_filter(Filter::new("nothing"));
        settled(&mut rows, &data);
        assert_eq!((rows.rows().len(), rows.selected()), (0, None));
        rows.move_by(5, &data);
        assert_eq!(rows.cursor(), 0);
    }

    #[test]
    fn selecting_by_name_clears_a_filter_that_hides_the_row() {
        let data = fixture::performers();
        let mut rows = TableRows::default();
        rows.set_filter(Filter::new("s2"));
        settled(&mut rows, &data);
        assert!(rows.select("rover_2", &data));
        assert_eq!((rows.cursor(), rows.rows().len()), (1, 2));
        assert!(rows.select("box", &data));
        assert_eq!((rows.selected(), rows.rows().len()), (Some("box"), 4));
        assert!(!rows.select("nothing", &data));
        rows.select_row(3, &data);
        rows.select_row(4, &data);
        assert_eq!(rows.selected(), Some("rover_2"));
    }

    #[test]
    fn the_window_keeps_the_cursor_in_sight() {
        let check = |cursor, count, height, expected| {
            let rows = TableRows {
                cursor,
                rows: (0..count).collect(),
                ..TableRows::default()
            };
            assert_eq!(rows.first_row(height), expected, "{cursor}");
        };
        check(0, 100, 10, 0);
        check(50, 100, 10, 45);
        check(99, 100, 10, 90);
        check(3, 4, 10, 0);
    }
}
