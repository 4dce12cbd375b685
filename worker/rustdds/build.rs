//! Copies the sources of the published rustdds to the build folder and applies [`EDITS`].

use published::Edit;

/// Everything that differs from the published crate.
///
/// Its threads go on when a wait is interrupted. The system interrupts them when a process goes on
/// that was stopped, as by Ctrl-Z, a debugger or a machine that sleeps, and a participant would be
/// dead from then on, without a word. Macros are named by their place: a root that is included
/// exports none.
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
