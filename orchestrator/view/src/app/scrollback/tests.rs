//! Tests of bounded texts.

use super::*;

impl Line for (&'static str, String) {
    fn source(&self) -> &str {
        self.0
    }
    fn text(&self) -> &str {
        &self.1
    }
}

type Text = Scrollback<(&'static str, String)>;

fn filled(count: usize) -> Text {
    let mut text = Text::default();
    for number in 0..count {
        text.push((["s1", "s2"][number % 2], format!("line {number}")));
    }
    text
}

fn shown(text: &Text, rows: usize) -> Vec<String> {
    text.window(rows).map(|line| line.1.clone()).collect()
}

fn selected(text: &Text) -> &str {
    &text.line(text.selected().unwrap()).unwrap().1
}

fn settled(text: &mut Text) {
    while text.is_sifting() {
        text.settle();
    }
}

#[test]
fn old_lines_are_dropped_and_the_end_is_followed() {
    let text = filled(LINES_MAX + 5);
    assert_eq!(text.len(), LINES_MAX);
    assert_eq!(shown(&text, 2), ["line 100003", "line 100004"]);
    assert_eq!(selected(&text), "line 100004");
}

#[test]
fn memory_is_bounded_by_bytes_too() {
    let mut text = Text::default();
    for _ in 0..60 {
        text.push(("s1", "x".repeat(1 << 20)));
    }
    assert!(text.total() < 48, "{}", text.total());
    assert_eq!(text.len(), text.total());
}

#[test]
fn a_place_stays_while_lines_come() {
    let mut text = filled(10);
    text.scroll(-4, 2);
    assert_eq!(shown(&text, 2), ["line 5", "line 6"]);
    text.push(("s1", "line 10".to_owned()));
    assert_eq!(shown(&text, 2), ["line 5", "line 6"]);
    assert_eq!(selected(&text), "line 5");
    assert_eq!(text.below(2), 4);
    text.scroll(-100, 2);
    assert_eq!(shown(&text, 2), ["line 0", "line 1"]);
    text.scroll(1, 2);
    assert_eq!((shown(&text, 1).len(), selected(&text)), (1, "line 1"));
    text.scroll(1, 2);
    assert_eq!(shown(&text, 2), ["line 1", "line 2"]);
    text.scroll(100, 2);
    assert!(text.is_following());
}

#[test]
fn the_cursor_moves_within_the_window_before_the_window_moves() {
    let mut text = filled(10);
    text.scroll(-1, 3);
    assert_eq!(shown(&text, 3), ["line 7", "line 8", "line 9"]);
    assert_eq!(selected(&text), "line 8");
    assert!(!text.is_following());
    text.scroll(-2, 3);
    assert_eq!(shown(&text, 3), ["line 6", "line 7", "line 8"]);
    assert_eq!(selected(&text), "line 6");
}

#[test]
fn a_text_that_is_shorter_than_its_window_has_a_cursor() {
    let mut text = filled(3);
    text.scroll(-1, 10);
    assert_eq!(selected(&text), "line 1");
    assert_eq!(shown(&text, 10).len(), 3);
    text.scroll(-9, 10);
    assert_eq!(selected(&text), "line 0");
    let mut empty = Text::default();
    empty.scroll(-1, 10);
    assert_eq!(empty.selected(), None);
}

#[test]
fn filter_and_source_hold_for_old_and_new_lines() {
    let mut text = filled(10);
    text.set_filter(Filter::new("!7"));
    assert_eq!((text.len(), text.total()), (9, 10));
    text.push(("s1", "line 17".to_owned()));
    assert_eq!(text.len(), 9);
    text.next_source();
    assert_eq!(text.source(), Some("s1"));
    assert_eq!(text.len(), 5);
    text.next_source();
    assert_eq!(text.len(), 4);
    text.next_source();
    assert_eq!((text.source(), text.len()), (None, 9));
}

#[test]
fn a_long_text_is_sifted_in_slices_with_the_newest_lines_first() {
    let mut text = filled(LINES_MAX);
    text.set_filter(Filter::new("9$"));
    assert!(text.is_sifting());
    assert_eq!(shown(&text, 2), ["line 99989", "line 99999"]);
    text.push(("s1", "line 100009".to_owned()));
    settled(&mut text);
    assert_eq!(text.len(), LINES_MAX / 10 + 1);
    text.scroll(-1_000_000, 2);
    assert_eq!(shown(&text, 2), ["line 9", "line 19"]);
}

#[test]
fn the_cursor_of_a_line_that_is_filtered_out_is_on_the_one_before() {
    let mut text = filled(100);
    text.scroll(-45, 10);
    assert_eq!(selected(&text), "line 54");
    text.set_filter(Filter::new("0$"));
    assert_eq!(selected(&text), "line 50");
    text.set_filter(Filter::default());
    assert_eq!(selected(&text), "line 54");
}

#[test]
fn a_place_whose_line_was_dropped_is_the_oldest_line() {
    let mut text = filled(LINES_MAX);
    text.scroll(-1_000_000, 2);
    for number in 0..100 {
        text.push(("s1", format!("new {number}")));
    }
    assert_eq!(shown(&text, 2), ["line 100", "line 101"]);
    assert_eq!(selected(&text), "line 100");
}
