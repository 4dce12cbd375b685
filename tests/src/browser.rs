//! [`Browser`]: a headless Chromium that shows pages and reaches nothing but this machine.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::node::Node;
use crate::processes::{Scratch, TIMEOUT};
use crate::repository;

/// Names of Chromium, after the variable `CHROMIUM`.
const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// Variable that makes a missing browser an error.
const REQUIRED: &str = "PHALANX_REQUIRE_BROWSER";

/// A browser with one page.
pub struct Browser {
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

/// Distance of a picture from a kept one.
#[derive(Clone, Copy, Debug)]
pub struct Difference {
    /// The part of its areas that differ, 0 to 1.
    pub share: f64,
    /// The mean difference of a colour, 0 to 255.
    pub mean: f64,
}

impl Browser {
    /// Starts a browser; where there is none, says so and returns nothing.
    ///
    /// # Panics
    /// Panics if there is none and `PHALANX_REQUIRE_BROWSER` is set, or it does not start.
    pub fn start(scratch: &Scratch) -> Option<Self> {
        match Self::find(scratch) {
            Ok(browser) => Some(browser),
            Err(reason) => {
                assert!(std::env::var_os(REQUIRED).is_none(), "no browser: {reason}");
                eprintln!("skipped, for there is no browser: {reason}");
                None
            }
        }
    }

    fn find(scratch: &Scratch) -> Result<Self, String> {
        let chromium = chromium().ok_or("no Chromium in PATH; CHROMIUM may name one")?;
        let tools = repository::root().join("orchestrator/web/page/test");
        let node = Node::prepare("web-page-node", &tools, scratch)?;
        let mut command = node.command(&tools.join("driver.mjs"));
        command.env("CHROMIUM", chromium);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("node: {error}"))?;
        let orders = child.stdin.take().ok_or("no way to tell it anything")?;
        let answers = child.stdout.take().ok_or("no way to hear it")?;
        Ok(Self {
            child,
            orders,
            answers: BufReader::new(answers),
        })
    }

    /// Gives an order and returns its answer.
    ///
    /// # Panics
    /// Panics if the order fails.
    pub fn order(&mut self, order: &Value) -> Value {
        self.try_order(order)
            .unwrap_or_else(|error| panic!("{order}: {error}"))
    }

    fn try_order(&mut self, order: &Value) -> Result<Value, String> {
        let told = writeln!(self.orders, "{order}").and_then(|()| self.orders.flush());
        told.map_err(|error| error.to_string())?;
        let mut line = String::new();
        let read = self.answers.read_line(&mut line);
        read.map_err(|error| error.to_string())?;
        let answer: Value = serde_json::from_str(&line).map_err(|error| error.to_string())?;
        match answer["error"].as_str() {
            Some(error) => Err(error.to_owned()),
            None => Ok(answer["value"].clone()),
        }
    }

    /// Opens an address in a window of so many pixels.
    ///
    /// # Panics
    /// Panics if it cannot be opened.
    pub fn open(&mut self, address: &str, size: (u32, u32)) {
        let (width, height) = size;
        self.order(&json!({ "op": "open", "address": address, "width": width, "height": height }));
    }

    /// Returns the value of an expression in the page.
    ///
    /// # Panics
    /// Panics if it has none.
    pub fn value(&mut self, expression: &str) -> Value {
        self.order(&json!({ "op": "value", "expression": expression }))
    }

    /// Waits until an expression in the page is true.
    ///
    /// # Panics
    /// Panics if it does not become true in time.
    pub fn wait(&mut self, expression: &str) {
        let timeout = TIMEOUT.as_millis();
        let order = json!({ "op": "wait", "expression": expression, "timeout_ms": timeout });
        self.order(&order);
    }

    /// Waits until nothing moves in the picture.
    ///
    /// # Panics
    /// Panics if something still does after a while.
    pub fn wait_until_settled(&mut self) {
        self.wait("document.documentElement.dataset.settled === 'true'");
    }

    /// Clicks the element of a selector.
    ///
    /// # Panics
    /// Panics if there is none.
    pub fn click(&mut self, selector: &str) {
        self.order(&json!({ "op": "click", "selector": selector }));
    }

    /// Presses a key and releases it.
    ///
    /// # Panics
    /// Panics if there is no such key.
    pub fn press(&mut self, key: &str) {
        self.order(&json!({ "op": "press", "key": key }));
    }

    /// Writes a picture of an element.
    ///
    /// # Panics
    /// Panics if it cannot be drawn or written.
    pub fn picture(&mut self, selector: &str, path: &Path) {
        self.order(&json!({ "op": "picture", "selector": selector, "path": path }));
    }

    /// Compares two pictures by the mean colours of their areas of 8 by 8 pixels.
    ///
    /// # Panics
    /// Panics if one cannot be read, or they differ in size.
    pub fn compare(&mut self, found: &Path, kept: &Path) -> Difference {
        let difference = self.order(&json!({ "op": "compare", "found": found, "kept": kept }));
        let number = |name: &str| difference[name].as_f64().expect("a number");
        Difference {
            share: number("share"),
            mean: number("mean"),
        }
    }

    /// Returns errors and warnings of the page, and addresses of other machines that it asked for,
    /// since it was last asked.
    ///
    /// # Panics
    /// Panics if the browser is gone.
    pub fn problems(&mut self) -> Vec<String> {
        let problems = self.order(&json!({ "op": "problems" }));
        serde_json::from_value(problems).expect("a list of texts")
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.try_order(&json!({ "op": "close" }));
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the program of a Chromium, if there is one.
fn chromium() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("CHROMIUM") {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH")?;
    let mut folders = std::env::split_paths(&path);
    folders.find_map(|folder| {
        let mut places = NAMES.iter().map(|name| folder.join(name));
        places.find(|place| place.is_file())
    })
}
