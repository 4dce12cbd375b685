//! Times, headers and frames.

use messages::basic::{Header, HeaderData, Time};

use crate::types::{builtin_interfaces as ros, std_msgs};

/// Nanoseconds in a second.
const SECOND_NS: i64 = 1_000_000_000;

/// Returns the frame of a name of Gazebo.
pub(crate) fn frame(name: &str) -> String {
    name.replace("::", "/")
}

/// Returns the first value of a key in a header, or nothing.
pub(crate) fn value<'a>(header: &'a Header, key: &str) -> Option<&'a str> {
    let mut data = header.data.iter();
    let found = data.find(|data| data.key == key)?;
    found.value.first().map(String::as_str)
}

/// Returns a moment; what ROS cannot express is its nearest one.
pub(crate) fn time(time: &Time) -> ros::Time {
    let (sec, nanosec) = parts(time);
    ros::Time { sec, nanosec }
}

/// Returns a span of time; what ROS cannot express is its nearest one.
pub(crate) fn duration(time: &Time) -> ros::Duration {
    let (sec, nanosec) = parts(time);
    ros::Duration { sec, nanosec }
}

/// Returns a moment as Gazebo has it.
pub(crate) fn gazebo_time(time: &ros::Time) -> Time {
    whole(time.sec, time.nanosec)
}

/// Returns a span of time as Gazebo has it.
pub(crate) fn gazebo_duration(time: &ros::Duration) -> Time {
    whole(time.sec, time.nanosec)
}

/// Returns a header.
pub(crate) fn header(header: &Header) -> std_msgs::Header {
    std_msgs::Header {
        stamp: time(&header.stamp),
        frame_id: value(header, "frame_id").map(frame).unwrap_or_default(),
    }
}

/// Returns a header as Gazebo has it.
pub(crate) fn gazebo_header(header: std_msgs::Header) -> Header {
    let mut made = Header {
        stamp: gazebo_time(&header.stamp),
        data: Vec::new(),
    };
    add(&mut made, "frame_id", header.frame_id);
    made
}

/// Adds a key with a value that is not empty.
pub(crate) fn add(header: &mut Header, key: &str, value: String) {
    if !value.is_empty() {
        header.data.push(HeaderData {
            key: key.to_owned(),
            value: vec![value],
        });
    }
}

fn parts(time: &Time) -> (i32, u32) {
    let nsec = i64::from(time.nsec);
    let sec = time.sec.saturating_add(nsec.div_euclid(SECOND_NS));
    let nanosec = nsec.rem_euclid(SECOND_NS) as u32;
    match i32::try_from(sec) {
        Ok(sec) => (sec, nanosec),
        Err(_) if sec < 0 => (i32::MIN, 0),
        Err(_) => (i32::MAX, SECOND_NS as u32 - 1),
    }
}

fn whole(sec: i32, nanosec: u32) -> Time {
    let nanosec = i64::from(nanosec);
    Time {
        sec: i64::from(sec) + nanosec / SECOND_NS,
        nsec: (nanosec % SECOND_NS) as i32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_beyond_those_of_ros_are_its_nearest() {
        let check = |sec: i64, nsec: i32, expected: (i32, u32)| {
            let ros = time(&Time { sec, nsec });
            assert_eq!((ros.sec, ros.nanosec), expected, "{sec} s, {nsec} ns");
        };
        check(1, 5, (1, 5));
        check(1, -1, (0, 999_999_999));
        check(-1, 0, (-1, 0));
        check(1, i32::MAX, (3, 147_483_647));
        check(i64::MAX, i32::MAX, (i32::MAX, 999_999_999));
        check(i64::MIN, -1, (i32::MIN, 0));
    }

    #[test]
    fn nanoseconds_beyond_a_second_are_seconds_in_gazebo() {
        let ros = ros::Time {
            sec: i32::MAX,
            nanosec: u32::MAX,
        };
        let time = gazebo_time(&ros);
        assert_eq!((time.sec, time.nsec), (2_147_483_651, 294_967_295));
    }
}
