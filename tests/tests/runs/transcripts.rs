//! Shows what the rules of primary and secondary say to every input, in words.
//! Each file under `tests/lockstep` is a scenario; its name is the sentence that it proves.

use tests::primary_node::PrimaryNode;
use tests::repository;
use tests::secondary_node::SecondaryNode;
use tests::transcript;

#[test]
fn the_primary_says_what_its_transcripts_say() {
    transcript::run(&repository::root().join("tests/lockstep/primary"), || {
        let mut node = PrimaryNode::default();
        move |command: &str| node.execute(command)
    });
}

#[test]
fn the_secondary_says_what_its_transcripts_say() {
    transcript::run(&repository::root().join("tests/lockstep/secondary"), || {
        let mut node = SecondaryNode::default();
        move |command: &str| node.execute(command)
    });
}
