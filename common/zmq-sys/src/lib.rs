//! The C interface of libzmq 4.3.5 as crate `zmq` 0.10 uses it, declared after its `zmq.h`.
//!
//! It stands in for the published crate of this name, whose libzmq has no CURVE; `build.rs` says
//! how this one is compiled. Foreign functions are unsafe by nature, so this crate and
//! `zmq-options` do not forbid unsafe code; [`wait()`] is here because it needs some.

#![expect(non_camel_case_types, reason = "the names are those of zmq.h")]

mod constants;
pub mod errno;
mod wait;

use std::ffi::{c_char, c_int, c_long, c_short, c_uchar, c_void};
pub use std::os::fd::RawFd;

pub use constants::*;
pub use wait::{Watch, wait};

/// One frame of a message; libzmq alone knows what is inside.
#[repr(C)]
#[cfg_attr(target_pointer_width = "64", repr(align(8)))]
#[cfg_attr(target_pointer_width = "32", repr(align(4)))]
pub struct zmq_msg_t {
    _opaque: [c_uchar; 64],
}

impl Default for zmq_msg_t {
    fn default() -> Self {
        Self { _opaque: [0; 64] }
    }
}

/// A socket or file descriptor to poll.
#[repr(C)]
pub struct zmq_pollitem_t {
    /// The socket; null when a file descriptor is meant.
    pub socket: *mut c_void,
    /// The file descriptor, if there is no socket.
    pub fd: RawFd,
    /// The events asked for.
    pub events: c_short,
    /// The events that are there.
    pub revents: c_short,
}

/// Releases the memory of a message that was made by [`zmq_msg_init_data`].
pub type zmq_free_fn = unsafe extern "C" fn(data: *mut c_void, hint: *mut c_void);

/// The functions, each documented by the manual page of its name.
mod functions {
    #![expect(missing_docs, reason = "each function has a manual page of its name")]

    use super::{c_char, c_int, c_long, c_void, zmq_free_fn, zmq_msg_t, zmq_pollitem_t};

    unsafe extern "C" {
        pub fn zmq_errno() -> c_int;
        pub fn zmq_strerror(number: c_int) -> *const c_char;
        pub fn zmq_version(major: *mut c_int, minor: *mut c_int, patch: *mut c_int);
        pub fn zmq_has(capability: *const c_char) -> c_int;

        pub fn zmq_ctx_new() -> *mut c_void;
        pub fn zmq_ctx_term(context: *mut c_void) -> c_int;
        pub fn zmq_ctx_set(context: *mut c_void, option: c_int, value: c_int) -> c_int;
        pub fn zmq_ctx_get(context: *mut c_void, option: c_int) -> c_int;

        pub fn zmq_msg_init(message: *mut zmq_msg_t) -> c_int;
        pub fn zmq_msg_init_size(message: *mut zmq_msg_t, size: usize) -> c_int;
        pub fn zmq_msg_init_data(
            message: *mut zmq_msg_t,
            data: *mut c_void,
            size: usize,
            free: Option<zmq_free_fn>,
            hint: *mut c_void,
        ) -> c_int;
        pub fn zmq_msg_send(message: *mut zmq_msg_t, socket: *mut c_void, flags: c_int) -> c_int;
        pub fn zmq_msg_recv(message: *mut zmq_msg_t, socket: *mut c_void, flags: c_int) -> c_int;
        pub fn zmq_msg_close(message: *mut zmq_msg_t) -> c_int;
        pub fn zmq_msg_data(message: *mut zmq_msg_t) -> *mut c_void;
        pub fn zmq_msg_size(message: *const zmq_msg_t) -> usize;
        pub fn zmq_msg_more(message: *const zmq_msg_t) -> c_int;
        pub fn zmq_msg_gets(message: *const zmq_msg_t, property: *const c_char) -> *const c_char;

        pub fn zmq_socket(context: *mut c_void, kind: c_int) -> *mut c_void;
        pub fn zmq_close(socket: *mut c_void) -> c_int;
        pub fn zmq_setsockopt(
            socket: *mut c_void,
            option: c_int,
            value: *const c_void,
            size: usize,
        ) -> c_int;
        pub fn zmq_getsockopt(
            socket: *mut c_void,
            option: c_int,
            value: *mut c_void,
            size: *mut usize,
        ) -> c_int;
        pub fn zmq_bind(socket: *mut c_void, endpoint: *const c_char) -> c_int;
        pub fn zmq_connect(socket: *mut c_void, endpoint: *const c_char) -> c_int;
        pub fn zmq_unbind(socket: *mut c_void, endpoint: *const c_char) -> c_int;
        pub fn zmq_disconnect(socket: *mut c_void, endpoint: *const c_char) -> c_int;
        pub fn zmq_recv(
            socket: *mut c_void,
            buffer: *mut c_void,
            size: usize,
            flags: c_int,
        ) -> c_int;
        pub fn zmq_socket_monitor(
            socket: *mut c_void,
            endpoint: *const c_char,
            events: c_int,
        ) -> c_int;
        pub fn zmq_poll(items: *mut zmq_pollitem_t, count: c_int, timeout_ms: c_long) -> c_int;
        pub fn zmq_proxy(
            frontend: *mut c_void,
            backend: *mut c_void,
            capture: *mut c_void,
        ) -> c_int;
        pub fn zmq_proxy_steerable(
            frontend: *mut c_void,
            backend: *mut c_void,
            capture: *mut c_void,
            control: *mut c_void,
        ) -> c_int;

        pub fn zmq_z85_encode(text: *mut c_char, data: *const u8, size: usize) -> *mut c_char;
        pub fn zmq_z85_decode(data: *mut u8, text: *const c_char) -> *mut u8;
        pub fn zmq_curve_keypair(public_key: *mut c_char, secret_key: *mut c_char) -> c_int;
    }
}

pub use functions::*;
