//! Copies the sources of the published rustdds to the build folder and applies [`EDITS`].

use published::Edit;

/// Everything that differs from the published crate.
///
/// Its threads go on when a wait is interrupted. The system interrupts them when a process goes on
/// that was stopped, as by Ctrl-Z, a debugger or a machine that sleeps, and a participant would be
/// dead from then on, without a word.
///
/// Each message says when it was published, later than the one before it. Fast DDS sorts by that
/// what several publishers said. Where nothing says so, a reader of two of them misses messages
/// that were lost on the way and sent again, and a node misses topics.
///
/// Participants that come are answered twice, the second time after a second: one on Fast DDS is
/// deaf for some milliseconds after it has announced itself, and the next announcement is due in
/// 10 s.
///
/// Macros are named by their place: a root that is included exports none.
const EDITS: &[Edit] = &[
    Edit {
        file: "rtps/dp_event_loop.rs",
        from: concat!(
            "        Ok(_) => {}\n",
            "        Err(e) => {\n",
            "          error!(\"dp_event_loop poll failed: {e:?}\");\n",
        ),
        to: concat!(
            "        Ok(_) => {}\n",
            "        Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}\n",
            "        Err(e) => {\n",
            "          error!(\"dp_event_loop poll failed: {e:?}\");\n",
        ),
    },
    Edit {
        file: "discovery/discovery.rs",
        from: concat!(
            "        Ok(_) => (),\n",
            "        Err(e) => {\n",
            "          error!(\"Failed in waiting of poll in discovery. {e:?}\");\n",
        ),
        to: concat!(
            "        Ok(_) => (),\n",
            "        Err(e) if e.kind() == std::io::ErrorKind::Interrupted => (),\n",
            "        Err(e) => {\n",
            "          error!(\"Failed in waiting of poll in discovery. {e:?}\");\n",
        ),
    },
    Edit {
        file: "discovery/discovery.rs",
        from:
            "        // One-shot quick SPDP response on the shared timer (does not reschedule).\n",
        to: concat!(
            "        self.discovery_timer.borrow_mut().set_timeout(\n",
            "          StdDuration::from_secs(1),\n",
            "          DiscoveryTimerEvent::SendParticipantInfo { reschedule: false },\n",
            "        );\n",
        ),
    },
    Edit {
        file: "dds/with_key/datawriter.rs",
        from: "  pub fn source_timestamp(&self) -> Option<Timestamp> {\n",
        to: concat!(
            "  pub(crate) fn stamped_after(mut self, last: Option<Timestamp>) -> Self {\n",
            "    self.source_timestamp.get_or_insert_with(|| {\n",
            "      let next = last.map_or(0, |last| last.to_ticks().saturating_add(1));\n",
            "      Timestamp::from_ticks(Timestamp::now().to_ticks().max(next))\n",
            "    });\n",
            "    self\n",
            "  }\n",
            "\n",
            "  pub fn source_timestamp(&self) -> Option<Timestamp> {\n",
        ),
    },
    Edit {
        file: "rtps/writer_send_buffer.rs",
        from: "    let seq = inner.last_seq.plus_1();\n",
        to: concat!(
            "    let last = inner.changes.values().next_back();\n",
            "    let last = last.and_then(|change| change.write_options.source_timestamp());\n",
            "    let write_options = write_options.stamped_after(last);\n",
            "    let seq = inner.last_seq.plus_1();\n",
        ),
    },
    unexported(concat!(
        "#[macro_export]\n",
        "macro_rules! create_error_dropped {\n"
    )),
    unexported(concat!(
        "#[macro_export]\n",
        "macro_rules! create_error_poisoned {\n"
    )),
    unexported(concat!(
        "#[macro_export]\n",
        "macro_rules! create_error_internal {\n"
    )),
    unexported(concat!(
        "#[macro_export]\n",
        "macro_rules! create_error_out_of_resources {\n"
    )),
    Edit {
        file: "dds/result.rs",
        from: "impl<T> From<PoisonError<T>> for CreateError {\n",
        to: concat!(
            "pub(crate) use create_error_dropped;\n",
            "pub(crate) use create_error_internal;\n",
            "pub(crate) use create_error_out_of_resources;\n",
            "pub(crate) use create_error_poisoned;\n",
            "\n",
            "impl<T> From<PoisonError<T>> for CreateError {\n",
        ),
    },
];

/// Leaves the export of a macro of errors out.
const fn unexported(from: &'static str) -> Edit {
    let (_, to) = from.split_at("#[macro_export]\n".len());
    Edit {
        file: "dds/result.rs",
        from,
        to,
    }
}

fn main() {
    let folder = published::copy("rustdds", EDITS);
    published::strip_root(&folder, "mod polling;");
}
