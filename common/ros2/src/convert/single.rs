//! Single values, lists of them, times and headers.

use messages::basic::{
    Boolean, Clock, Double, DoubleV, Empty, Float, Header, Int32, Int32V, Int64, StringMsg,
    StringMsgV, Time, UInt32, UInt64,
};
use messages::motion::FloatV;

use super::converts;
use super::header::{gazebo_header, gazebo_time, header, time};
use crate::types::{builtin_interfaces, ros_gz_interfaces, rosgraph_msgs, std_msgs};

/// Defines conversions of messages that have a value and a header, which ROS leaves out; what else
/// ROS has is in brackets.
macro_rules! values {
    ($($gazebo:ident, $ros:ty $([$($more:tt)*])?;)*) => {
        converts! {$(
            $gazebo, $ros: |message| Self { data: message.data, $($($more)*)? },
                |back| $gazebo { data: back.data, ..$gazebo::default() };
        )*}
    };
}

values! {
    Boolean, std_msgs::Bool;
    Double, std_msgs::Float64;
    DoubleV, std_msgs::Float64MultiArray [..Self::default()];
    Float, std_msgs::Float32;
    FloatV, ros_gz_interfaces::Float32Array;
    FloatV, std_msgs::Float32MultiArray [..Self::default()];
    Int32, std_msgs::Int32;
    Int32V, std_msgs::Int32MultiArray [..Self::default()];
    Int64, std_msgs::Int64;
    StringMsg, std_msgs::String;
    UInt32, std_msgs::UInt32;
    UInt64, std_msgs::UInt64;
}

converts! {
    Empty, std_msgs::Empty: |_| Self {}, |_| Empty::default();
    Header, std_msgs::Header: |message| header(&message), |back| gazebo_header(back);
    Time, builtin_interfaces::Time: |message| time(&message), |back| gazebo_time(&back);
    Clock, rosgraph_msgs::Clock: |message| Self { clock: time(&message.sim) },
        |back| Clock { sim: gazebo_time(&back.clock), ..Clock::default() };
    StringMsgV, ros_gz_interfaces::StringVec:
        |message| Self { header: header(&message.header), data: message.data },
        |back| StringMsgV { header: gazebo_header(back.header), data: back.data };
}
