//! Compiles libzmq from `zeromq-src` with CURVE by the libsodium of `libsodium-sys-stable`.
//!
//! `zeromq-src` describes the platform to libzmq by few macros and an empty `platform.hpp`. What
//! it leaves out stands in a `platform.hpp` of ours, in a folder that is searched first.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// Silences the compiler about code that is not ours; cargo would repeat it at every build.
const NO_WARNINGS: &str = "\
#pragma GCC diagnostic ignored \"-Wimplicit-fallthrough\"
#pragma GCC diagnostic ignored \"-Wmissing-field-initializers\"
#pragma GCC diagnostic ignored \"-Wunused-parameter\"
";

/// Features of Linux since kernel 2.6.28 and glibc 2.10. `HAVE_FORK` is left out: it costs a system
/// call on every wake-up, and nobody forks after a context exists.
const LINUX_PLATFORM: &str = "\
/* A clock that never goes back, for heartbeats and time-outs. */
#define HAVE_CLOCK_GETTIME
/* Wake-ups by one descriptor instead of two. */
#define ZMQ_HAVE_EVENTFD
#define ZMQ_HAVE_EVENTFD_CLOEXEC
/* Descriptors that processes started by this one do not inherit. */
#define ZMQ_HAVE_SOCK_CLOEXEC
#define ZMQ_IOTHREAD_POLLER_USE_EPOLL_CLOEXEC
#define HAVE_ACCEPT4
#define ZMQ_HAVE_SO_PEERCRED
#define ZMQ_HAVE_SO_KEEPALIVE
#define ZMQ_HAVE_TCP_KEEPCNT
#define ZMQ_HAVE_TCP_KEEPIDLE
#define ZMQ_HAVE_TCP_KEEPINTVL
#define ZMQ_HAVE_IFADDRS
#define HAVE_IF_NAMETOINDEX
#define ZMQ_HAVE_PTHREAD_SETNAME_2
#define HAVE_POSIX_MEMALIGN 1
#define ZMQ_CACHELINE_SIZE 64
";

/// The decoder that libzmq gets in place of its own.
const DECODER: &str = "src/bounded_decoder.hpp";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={DECODER}");
    let out = path("OUT_DIR");
    let (Some(include), Some(library)) = (
        env::var_os("DEP_SODIUM_INCLUDE"),
        env::var_os("DEP_SODIUM_LIB"),
    ) else {
        panic!(
            "libsodium-sys-stable did not compile its own libsodium: unset SODIUM_LIB_DIR and \
             SODIUM_USE_PKG_CONFIG"
        );
    };
    let linux = env::var("CARGO_CFG_TARGET_OS").is_ok_and(|name| name == "linux");
    let platform = if linux { LINUX_PLATFORM } else { "" };
    let headers = write_headers(&out.join("headers"), platform, Path::new(&include));
    zeromq_src::Build::new()
        .with_libsodium(Some(zeromq_src::LibLocation::new(
            PathBuf::from(library),
            headers,
        )))
        .build();
}

fn path(variable: &str) -> PathBuf {
    env::var_os(variable)
        .map(PathBuf::from)
        .expect("cargo sets the variable for build scripts")
}

/// Writes our `platform.hpp`, and a `sodium.h` that leads to libsodium's. The latter brings our
/// decoder: the one file of libzmq that makes decoders reads it, and the one that has libzmq's own
/// does not.
fn write_headers(folder: &Path, platform: &str, sodium_include: &Path) -> PathBuf {
    let sodium = sodium_include.join("sodium.h");
    let write = |name: &str, text: &str| {
        fs::write(folder.join(name), text).expect("the build folder can be written to");
    };
    fs::create_dir_all(folder).expect("the build folder can be written to");
    write("platform.hpp", &format!("{NO_WARNINGS}{platform}"));
    let decoder = path("CARGO_MANIFEST_DIR").join(DECODER);
    let includes = [&sodium, &decoder].map(|file| format!("#include \"{}\"\n", file.display()));
    write("sodium.h", &includes.concat());
    folder.to_path_buf()
}
