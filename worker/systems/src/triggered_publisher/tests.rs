//! Tests triggers and their outputs, as Gazebo's own tests and documents specify them.

use messages::basic::{Float, Int32, Int32V};
use messages::geometry::Vector2d;
use messages::{Boolean, Empty, Header, Message, Pose};
use protocol::Command;

use crate::test_rig::SystemTestRig;

fn plugin(content: &str) -> String {
    format!(
        "<plugin name='gz::sim::systems::TriggeredPublisher' \
         filename='gz-sim-triggered-publisher-system'>{content}</plugin>"
    )
}

/// Returns whether a message triggers a publisher with some `<match>` elements.
fn triggers<M: Message>(matches: &str, message: &M) -> bool {
    let mut rig = SystemTestRig::new(&plugin(&format!(
        "<input type='{}' topic='/in'>{matches}</input>\
         <output type='gz.msgs.Empty' topic='/out'/>",
        M::KIND
    )));
    rig.publish("/in", message);
    rig.run(0.002);
    !rig.published::<Empty>("/out").is_empty()
}

fn whole(data: i32) -> Int32 {
    Int32 {
        data,
        ..Int32::default()
    }
}

fn flag(data: bool) -> Boolean {
    Boolean {
        data,
        ..Boolean::default()
    }
}

fn pose_in(frame: &str) -> Pose {
    Pose {
        header: Header::default()
            .with("frame_id", frame)
            .with("other_key", "other_value"),
        ..Pose::default()
    }
}

#[test]
fn every_message_triggers_all_outputs_with_what_they_say() {
    let mut rig = SystemTestRig::new(&plugin(
        "<input type='ignition.msgs.Empty' topic='in'/>\
         <output type='gz.msgs.Boolean' topic='/no'>data: false</output>\
         <output type='gz.msgs.Boolean' topic='/yes'>\n  data: true\n</output>",
    ));
    for _ in 0..3 {
        rig.publish("/in", &Empty::default());
    }
    rig.run(0.001);
    assert_eq!(rig.published::<Boolean>("/no"), vec![flag(false); 3]);
    assert_eq!(rig.published::<Boolean>("/yes"), vec![flag(true); 3]);
}

#[test]
fn whole_messages_match_in_all_that_they_say() {
    let wanted = "<match>data: true</match>";
    assert!(triggers(wanted, &flag(true)));
    assert!(!triggers(wanted, &flag(false)));
    let stamped = Boolean {
        header: Header::at(7),
        data: true,
    };
    assert!(triggers(wanted, &stamped));
    let early = "<match>header { stamp { nsec: 6 } } data: true</match>";
    assert!(!triggers(early, &stamped));
    let both = "<match>data: 0, data: 1</match>";
    let list = |data: &[i32]| Int32V {
        data: data.to_vec(),
        ..Int32V::default()
    };
    assert!(triggers(both, &list(&[0, 1])));
    assert!(!triggers(both, &list(&[1, 0])));
    assert!(!triggers(both, &list(&[0, 1, 2])));
}

#[test]
fn negative_matches_have_all_to_fail() {
    let neither = "<match logic_type='negative'>data: 1</match>\
                   <match logic_type='negative'>data: 2</match>";
    assert!(triggers(neither, &whole(0)));
    assert!(!triggers(neither, &whole(1)));
    assert!(!triggers(neither, &whole(2)));
}

#[test]
fn fields_match_alone_and_with_a_tolerance() {
    let both = "<match field='x'>1.0</match><match field='y'>2.0</match>";
    let point = |x, y| Vector2d {
        x,
        y,
        ..Vector2d::default()
    };
    assert!(triggers(both, &point(1.0, 2.0)));
    assert!(!triggers(both, &point(1.0, 2.1)));
    let height = "<match field='position.z' tol='0.15'>0.5</match>";
    let at = |z| Pose {
        name: "someone".to_owned(),
        position: [7.0, 8.0, z].into(),
        ..Pose::default()
    };
    assert!(triggers(height, &at(0.6)));
    assert!(!triggers(height, &at(0.7)));
    let float = |data| Float {
        data,
        ..Float::default()
    };
    assert!(triggers("<match tol='0.15'>data: 0.5</match>", &float(0.6)));
    assert!(!triggers(
        "<match tol='0.15'>data: 0.5</match>",
        &float(0.7)
    ));
    assert!(!triggers("<match>data: 0.5</match>", &float(0.6)));
}

#[test]
fn repeated_fields_match_as_sets() {
    let one_and_two = "<match field='data'>1</match><match field='data'>2</match>";
    let list = |data: &[i32]| Int32V {
        data: data.to_vec(),
        ..Int32V::default()
    };
    assert!(triggers(one_and_two, &list(&[3, 2, 1])));
    assert!(!triggers(one_and_two, &list(&[3, 1])));
    let frame = "<match field='header.data'>{ key: 'frame_id' value: 'frame0' }</match>";
    assert!(triggers(frame, &pose_in("frame0")));
    assert!(!triggers(frame, &pose_in("frame1")));
    let header = "<match field='header'>{ data { key: 'frame_id' value: 'frame0' } \
                  data { key: 'other_key' value: 'other_value' } }</match>";
    assert!(triggers(header, &pose_in("frame0")));
    assert!(!triggers(header, &pose_in("frame1")));
}

#[test]
fn a_delay_counts_in_simulated_time_and_travels() {
    let content = "<input type='gz.msgs.Empty' topic='/in'/>\
                   <output type='gz.msgs.Empty' topic='/out'/><delay_ms>100</delay_ms>";
    let of_model = format!(
        "<model name='m'><link name='l'/>{}</model>",
        plugin(content)
    );
    for world in [plugin(content), of_model] {
        let mut rig = SystemTestRig::new(&world);
        rig.run(0.010);
        rig.publish("/in", &Empty::default());
        rig.pause();
        rig.renew_systems();
        rig.run(0.099);
        assert!(rig.published::<Empty>("/out").is_empty());
        rig.renew_systems();
        rig.run(0.001);
        assert_eq!(rig.published::<Empty>("/out").len(), 1);
        rig.run(0.2);
        assert_eq!(rig.published::<Empty>("/out").len(), 1);
    }
}

#[test]
fn without_a_delay_it_also_speaks_while_time_stands_still() {
    let mut rig = SystemTestRig::new(&plugin(
        "<input type='gz.msgs.Empty' topic='/in'/><output type='gz.msgs.Empty' topic='/out'/>",
    ));
    rig.publish("/in", &Empty::default());
    rig.pause();
    assert_eq!(rig.published::<Empty>("/out").len(), 1);
}

#[test]
fn publishers_that_trigger_each_other_are_bounded() {
    let loops = plugin(
        "<input type='gz.msgs.Empty' topic='/a'/>\
         <output type='gz.msgs.Empty' topic='/a'/><output type='gz.msgs.Empty' topic='/a'/>",
    );
    let mut rig = SystemTestRig::new(&loops);
    rig.publish("/a", &Empty::default());
    rig.run(0.020);
    let count = rig.published::<Empty>("/a").len();
    assert!(count <= 20 * 2 * super::TRIGGERS_MAX as usize, "{count}");
}

#[test]
fn services_are_called_by_their_names() {
    let mut rig = SystemTestRig::new(&plugin(
        "<input type='gz.msgs.Empty' topic='/in'/>\
         <service name='/world/w/control' reqType='gz.msgs.WorldControl' \
         repType='gz.msgs.Boolean' timeout='100' reqMsg='pause: true'/>",
    ));
    rig.publish("/in", &Empty::default());
    rig.run(0.001);
    let [
        Command::CallService {
            service,
            kind,
            body,
        },
    ] = rig.requests.as_slice()
    else {
        panic!("one call and not {:?}", rig.requests);
    };
    assert_eq!(
        [service, kind],
        ["/world/w/control", "gz.msgs.WorldControl"]
    );
    let request: messages::command::WorldControl = messages::decode(body).unwrap();
    assert!(request.pause);
}

#[test]
fn impossible_publishers_are_named_with_the_reason() {
    let out = "<output type='gz.msgs.Empty' topic='/out'/>";
    let cases = [
        ("", "<input> is missing"),
        ("<input type='gz.msgs.Empty' topic='/in'/>", "neither"),
        ("<input type='gz.msgs.None' topic='/in'/>", "gz.msgs.None"),
        ("<input type='gz.msgs.Empty' topic=''/>", "no topic"),
        (
            "<input type='gz.msgs.Int32' topic='/in'><match>data: x</match></input>",
            "no whole number",
        ),
        (
            "<input type='gz.msgs.Header' topic='/in'><match field='data.value'>'v'</match>\
             </input>",
            "repeated",
        ),
    ];
    for (content, part) in cases {
        let out = if part == "neither" { "" } else { out };
        let text = format!(
            "<sdf version='1.11'><world name='w'>{}</world></sdf>",
            plugin(&format!("{content}{out}"))
        );
        let read = sdf::read_worlds(&text, "w.sdf", &sdf::NoFiles).unwrap();
        let problems = super::super::survey(&read.worlds).problems;
        assert!(
            problems[0].message.contains(part),
            "{content}: {problems:?}"
        );
    }
}
