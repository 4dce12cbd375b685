//! Error numbers: those of the system, and those that libzmq adds.
//!
//! `zmq.h` defines a number of its own for each error that a system lacks; those stand here with
//! the ending `_ALT`, since crate `zmq` understands both.

#![expect(
    missing_docs,
    reason = "the names, and their meanings, are those of errno.h and zmq.h"
)]

pub use libc::{
    EACCES, EADDRINUSE, EADDRNOTAVAIL, EAGAIN, EBUSY, ECONNREFUSED, EFAULT, EHOSTUNREACH,
    EINPROGRESS, EINTR, EINVAL, EMFILE, EMSGSIZE, ENAMETOOLONG, ENETDOWN, ENOBUFS, ENODEV, ENOENT,
    ENOMEM, ENOTCONN, ENOTSOCK, ENOTSUP, EPROTO, EPROTONOSUPPORT,
};

/// First of libzmq's own numbers.
const ZMQ_HAUSNUMERO: i32 = 156_384_712;

pub const ENOTSUP_ALT: i32 = ZMQ_HAUSNUMERO + 1;
pub const EPROTONOSUPPORT_ALT: i32 = ZMQ_HAUSNUMERO + 2;
pub const ENOBUFS_ALT: i32 = ZMQ_HAUSNUMERO + 3;
pub const ENETDOWN_ALT: i32 = ZMQ_HAUSNUMERO + 4;
pub const EADDRINUSE_ALT: i32 = ZMQ_HAUSNUMERO + 5;
pub const EADDRNOTAVAIL_ALT: i32 = ZMQ_HAUSNUMERO + 6;
pub const ECONNREFUSED_ALT: i32 = ZMQ_HAUSNUMERO + 7;
pub const EINPROGRESS_ALT: i32 = ZMQ_HAUSNUMERO + 8;
pub const ENOTSOCK_ALT: i32 = ZMQ_HAUSNUMERO + 9;
pub const EMSGSIZE_ALT: i32 = ZMQ_HAUSNUMERO + 10;

pub const EFSM: i32 = ZMQ_HAUSNUMERO + 51;
pub const ENOCOMPATPROTO: i32 = ZMQ_HAUSNUMERO + 52;
pub const ETERM: i32 = ZMQ_HAUSNUMERO + 53;
pub const EMTHREAD: i32 = ZMQ_HAUSNUMERO + 54;
