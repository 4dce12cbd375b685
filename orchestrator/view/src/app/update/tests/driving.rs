//! A robot that the keys steer.

use messages::motion::Twist;

use super::*;

fn driving(name: &str) -> Model {
    let mut model = in_state(RunState::Running);
    press(&mut model, Key::Char('5'));
    while model.tables[Panel::Performers].selected() != Some(name) {
        press(&mut model, Key::Down);
    }
    press(&mut model, Key::Char('D'));
    model
}

/// Returns what is said: speed ahead, turn to the left, and whether something stops the robot.
fn said(effect: Option<Effect>) -> (f64, f64, bool) {
    let Some(Effect::Drive(twisting)) = effect else {
        panic!("{effect:?}")
    };
    let Command::Publish { body, .. } = &twisting.command else {
        panic!("{twisting:?}")
    };
    let twist: Twist = messages::decode(body).unwrap();
    (twist.linear.x, twist.angular.z, twisting.halt.is_some())
}

#[test]
fn arrows_and_letters_steer_and_space_stops() {
    let mut model = driving("rover_1");
    assert!(matches!(model.mode, Mode::Drive(_)));
    assert_eq!(said(press(&mut model, Key::Up)), (0.1, 0.0, true));
    assert_eq!(said(press(&mut model, Key::Char('a'))), (0.1, 0.2, true));
    assert_eq!(press(&mut model, Key::Char('+')), None);
    assert_eq!(said(press(&mut model, Key::Char('w'))), (0.3, 0.2, true));
    assert_eq!(said(press(&mut model, Key::Right)), (0.3, -0.2, true));
    assert_eq!(said(press(&mut model, Key::Char(' '))), (0.0, 0.0, false));
    assert_eq!(said(press(&mut model, Key::Char('s'))), (-0.2, 0.0, true));
}

#[test]
fn leaving_stops_the_robot() {
    for key in [Key::Esc, Key::Char('q'), Key::Ctrl('c')] {
        let mut model = driving("rover_1");
        press(&mut model, Key::Up);
        assert_eq!(said(press(&mut model, key)), (0.0, 0.0, false));
        assert_eq!(model.mode, Mode::Browse);
    }
}

#[test]
fn driving_a_model_without_a_drive_names_those_with_one() {
    let mut model = in_state(RunState::Running);
    press(&mut model, Key::Char('5'));
    let effect = press(&mut model, Key::Char('D'));
    assert_eq!(effect, Some(Effect::Send(Command::Topics)));
    assert_eq!(model.mode, Mode::Browse);
    let notice = model.prompt.notice.unwrap().text;
    assert!(notice.contains("ball cannot be driven"), "{notice}");
    assert!(notice.contains("rover_1"), "{notice}");
}

#[test]
fn the_command_line_drives_by_name() {
    let mut model = in_state(RunState::Running);
    press(&mut model, Key::Char(':'));
    type_text(&mut model, "drive rover_2");
    press(&mut model, Key::Enter);
    assert!(matches!(&model.mode, Mode::Drive(drive) if drive.model == "rover_2"));
}

#[test]
fn a_lost_link_or_a_robot_that_is_gone_ends_the_drive() {
    let mut model = driving("rover_1");
    press(&mut model, Key::Up);
    feed(&mut model, Feed::Disconnected);
    assert_eq!(model.mode, Mode::Browse);
    assert!(model.prompt.notice.unwrap().text.contains("told to stop"));
    let mut model = driving("rover_1");
    status(&mut model, PrimaryToObservers::Poses(Vec::new()));
    assert_eq!(model.mode, Mode::Browse);
    assert!(
        model
            .prompt
            .notice
            .unwrap()
            .text
            .contains("rover_1 is gone")
    );
}

#[test]
fn twists_that_are_heard_are_not_announced_and_others_are() {
    let reply = |result: Result<Iteration, CommandError>| Feed::Reply {
        command: Command::Publish {
            topic: "/t".to_owned(),
            kind: "gz.msgs.Twist".to_owned(),
            body: Vec::new(),
        },
        result,
    };
    let mut model = driving("rover_1");
    model.prompt.notice = None;
    feed(&mut model, reply(Ok(Iteration(7))));
    assert_eq!(model.prompt.notice, None);
    feed(&mut model, reply(Err(CommandError::NoLink)));
    assert!(model.prompt.notice.as_ref().unwrap().is_error);
    press(&mut model, Key::Esc);
    press(&mut model, Key::Char(':'));
    type_text(&mut model, "pub /t gz.msgs.Twist x");
    press(&mut model, Key::Backspace);
    let Some(Effect::Send(command)) = press(&mut model, Key::Enter) else {
        panic!("{:?}", model.mode)
    };
    let result = Ok(Iteration(7));
    feed(&mut model, Feed::Reply { command, result });
    assert!(
        model
            .prompt
            .notice
            .unwrap()
            .text
            .contains("done at iteration 7")
    );
}
