//! [`table`]: all attacks, by families.

use std::time::Duration;

use super::messages;
use super::texts;
use super::victim::Way;

/// Socket of a primary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetSocket {
    /// Socket on which secondaries speak.
    Control,
    /// Socket on which steps are published.
    Step,
    /// Socket on which figures are published.
    Status,
    /// Socket at which arrives what was said in a step.
    Data,
    /// Socket on which clients speak.
    Clients,
    /// Socket on which the primary beats.
    Beats,
}

impl TargetSocket {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Control,
        Self::Step,
        Self::Status,
        Self::Data,
        Self::Clients,
        Self::Beats,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Control => "control",
            Self::Step => "step",
            Self::Status => "status",
            Self::Data => "data",
            Self::Clients => "clients",
            Self::Beats => "beats",
        }
    }

    /// Returns the key that opens it to the least of roles.
    fn role(self) -> Role {
        match self {
            Self::Status | Self::Clients => Role::Observer,
            Self::Control | Self::Step | Self::Data | Self::Beats => Role::Secondary,
        }
    }
}

/// Key that an attacker has, where keys are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// One that may only look.
    Observer,
    /// One that may take part.
    Secondary,
    /// One that may command.
    Controller,
    /// None.
    NoKey,
    /// One that nobody has authorized.
    UnknownKey,
    /// An authorized one, used on a primary that is taken for another.
    WrongPrimary,
    /// One that was taken away.
    Revoked,
    /// One that has ended.
    Expired,
}

/// Deed of an attacker, done again and again.
#[derive(Clone, Debug, PartialEq)]
pub enum Deed {
    /// Sends what is no message: of random bytes, of many frames, empty, full of words.
    Garbage(TargetSocket, Garbage),
    /// Sends this as a message.
    Payload(TargetSocket, Vec<u8>),
    /// Sends messages of very many frames, which nobody sees until they end.
    Frames(TargetSocket),
    /// Sends a request cut at each byte, then with each bit flipped.
    MutatedRequest(&'static str),
    /// The same with a message of a secondary.
    MutatedAnswer(&'static str),
    /// Speaks in the name of secondaries, with numbers at the ends of their ranges.
    Forged(&'static str),
    /// Sends commands, and reads the answers.
    Command(Vec<protocol::Command>),
    /// Asks as fast as it can, from so many connections.
    Flood(protocol::Command, usize),
    /// Asks and never reads an answer.
    Unread(protocol::Command),
    /// Subscribes in some way on a socket that publishes.
    Subscriptions(TargetSocket, Subscriptions),
    /// Opens connections and holds them, as far as that.
    Held(TargetSocket, Progress),
    /// Connects and goes, again and again.
    Storm(TargetSocket),
    /// Speaks on a bare stream.
    Bare(TargetSocket, Speech),
    /// Connects under these addresses, twice each.
    Addresses(TargetSocket, Vec<Vec<u8>>),
    /// Joins the run and then does something else than it should.
    Pretend(Pretence),
    /// Sends data that nobody asked for.
    Data(Data),
    /// Listens and does not read.
    SlowReader(TargetSocket),
}

/// Kind of what is no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Garbage {
    /// Random bytes in a random number of frames.
    Random,
    /// A hundred frames.
    Frames,
    /// Frames of no length.
    Empty,
    /// A text that errors repeat.
    Words,
}

/// Way to subscribe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subscriptions {
    /// To ever more topics.
    Many,
    /// To topics of a thousand bytes.
    Long,
    /// To topics of ten thousand bytes.
    VeryLong,
    /// To the same topic.
    Same,
    /// To ever more topics, and breaks off.
    BrokenOff,
    /// Ends what others have.
    EndsOfOthers,
    /// With first bytes that mean nothing.
    OtherBytes,
    /// To all topics of the simulated world, on and off.
    OnAndOff,
    /// To what shows the presence of secondaries.
    Presence,
}

/// Progress of a connection that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Nothing is said.
    Silent,
    /// Half of a greeting.
    Half,
    /// The whole greeting.
    Greeted,
}

/// Speech on a bare stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speech {
    /// The greeting, cut at each byte.
    CutGreeting,
    /// Bytes after the greeting, cut at each of them.
    CutReady,
    /// A greeting of this version.
    Version(u8, u8),
    /// A greeting with this mechanism.
    Mechanism(&'static [u8]),
    /// Commands that nobody knows.
    UnknownCommands,
    /// Commands without a name, and with a name longer than they are.
    BrokenCommands,
    /// Pings whose contexts are long and whose times are extreme.
    Pings,
    /// Frames that announce far more than follows.
    LongLengths,
    /// Messages that never end.
    EndlessMessage,
    /// All reserved flags.
    Flags,
    /// READY twice.
    TwiceReady,
    /// READY with properties that end behind it.
    BrokenProperties,
    /// READY with thousands of properties.
    ManyProperties,
    /// READY with an address of this length.
    Address(usize),
    /// READY of another kind of socket.
    OtherKind,
    /// READY with the property by which a key is told apart.
    UserId,
    /// Another protocol.
    Other(&'static [u8]),
    /// Random bytes behind the greeting.
    Noise,
}

/// Way to be a secondary that is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pretence {
    /// Joins as a primary.
    IsPrimary,
    /// Joins under the name of another.
    TakesName,
    /// Joins with another build.
    OtherBuild,
    /// Joins from a machine with a name of ten megabytes.
    LongHost,
    /// Joins under ever new names.
    ManyNames,
    /// Joins without a subscription.
    Unsubscribed,
    /// Says that it read another world.
    OtherWorld,
    /// Goes at once.
    Leaves,
    /// Says that bits differ.
    Diverges,
    /// Answers steps that nobody asked it for.
    Acknowledges,
    /// Says that its job failed.
    Fails,
    /// Says that its job is done, and only beats.
    OnlyBeats,
}

/// Kind of data that nobody asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// In the name of a secondary.
    Forged,
    /// In the name of a secondary, from no address.
    NoAddress,
    /// Without messages.
    Empty,
    /// Of a megabyte each.
    Large,
    /// Of steps at the ends of their range.
    Extreme,
    /// In the place of another.
    InsteadOf,
    /// Traces that nobody asked for.
    Traces,
    /// On topics that nobody knows.
    Topics,
}

/// Speeches on bare streams, with their names and what they are.
const SPEECHES: [(&str, Speech, &str); 26] = [
    (
        "cut-greeting",
        Speech::CutGreeting,
        "the greeting, cut at each byte",
    ),
    (
        "cut-ready",
        Speech::CutReady,
        "the handshake, cut at each byte",
    ),
    ("version-1", Speech::Version(1, 0), "a greeting of ZMTP 1.0"),
    ("version-2", Speech::Version(2, 0), "a greeting of ZMTP 2.0"),
    (
        "version-255",
        Speech::Version(255, 255),
        "a greeting of ZMTP 255.255",
    ),
    ("plain", Speech::Mechanism(b"PLAIN"), "the mechanism PLAIN"),
    (
        "gssapi",
        Speech::Mechanism(b"GSSAPI"),
        "the mechanism GSSAPI",
    ),
    (
        "mechanism",
        Speech::Mechanism(&[0xff; 20]),
        "a mechanism of noise",
    ),
    (
        "commands",
        Speech::UnknownCommands,
        "commands that nobody knows",
    ),
    (
        "broken-commands",
        Speech::BrokenCommands,
        "commands that end too early",
    ),
    ("pings", Speech::Pings, "pings with long contexts"),
    (
        "lengths",
        Speech::LongLengths,
        "frames that announce more than follows",
    ),
    (
        "endless",
        Speech::EndlessMessage,
        "a message that never ends",
    ),
    ("flags", Speech::Flags, "frames with all flags"),
    ("twice-ready", Speech::TwiceReady, "the handshake twice"),
    (
        "properties",
        Speech::BrokenProperties,
        "properties that end too early",
    ),
    (
        "many-properties",
        Speech::ManyProperties,
        "thousands of properties",
    ),
    (
        "address-255",
        Speech::Address(255),
        "an address of 255 bytes",
    ),
    (
        "address-256",
        Speech::Address(256),
        "an address of 256 bytes",
    ),
    (
        "address-60000",
        Speech::Address(60_000),
        "an address of 60,000 bytes",
    ),
    (
        "other-kind",
        Speech::OtherKind,
        "a socket that publishes where one answers",
    ),
    (
        "user-id",
        Speech::UserId,
        "the property that tells keys apart",
    ),
    ("noise", Speech::Noise, "noise behind the greeting"),
    (
        "http",
        Speech::Other(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
        "a request of the web",
    ),
    (
        "tls",
        Speech::Other(&[0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]),
        "a TLS handshake",
    ),
    (
        "ssh",
        Speech::Other(b"SSH-2.0-OpenSSH_9.6\r\n"),
        "a greeting of ssh",
    ),
];

/// An attack.
#[derive(Clone, Debug)]
pub struct Attack {
    /// Its name.
    pub name: String,
    /// The family that it belongs to.
    pub family: &'static str,
    /// Description of it, for people.
    pub what: String,
    /// The ways by which it makes sense.
    pub ways: &'static [Way],
    /// The key that it is done with.
    pub role: Role,
    /// Action of the attacker.
    pub deed: Deed,
}

impl Attack {
    /// Returns how long it must last for its pace to mean something, if others last so long: who
    /// claims to be ready and is not costs a second, and nobody may join for a while after that.
    pub fn lasts(&self, others: Duration) -> Duration {
        match self.deed {
            Deed::Pretend(Pretence::Diverges | Pretence::Acknowledges | Pretence::OnlyBeats) => {
                others.max(Duration::from_secs(25))
            }
            _ => others,
        }
    }
}

/// Returns all attacks.
pub fn table() -> Vec<Attack> {
    let mut table = Table::default();
    table.add_malformed();
    table.add_mutated();
    table.add_commands();
    table.add_floods();
    table.add_subscriptions();
    table.add_connections();
    table.add_protocol();
    table.add_addresses();
    table.add_data();
    table.add_keys();
    table.add_joins();
    table.attacks
}

/// Families in the making.
#[derive(Default)]
struct Table {
    attacks: Vec<Attack>,
}

impl Table {
    fn add(&mut self, family: &'static str, name: &str, what: &str, role: Role, deed: Deed) {
        self.attacks.push(Attack {
            name: format!("{family}-{name}"),
            family,
            what: what.to_owned(),
            ways: &Way::ALL,
            role,
            deed,
        });
    }

    fn add_malformed(&mut self) {
        let kinds = [
            ("random", Garbage::Random, "random frames"),
            ("frames", Garbage::Frames, "a hundred frames at once"),
            ("empty", Garbage::Empty, "frames of no length"),
            ("words", Garbage::Words, "a text that errors repeat"),
        ];
        for target in TargetSocket::ALL {
            for (name, garbage, what) in kinds {
                let is_read = matches!(
                    target,
                    TargetSocket::Control | TargetSocket::Data | TargetSocket::Clients
                );
                if is_read || garbage == Garbage::Random {
                    let name = format!("{name}-{}", target.name());
                    let deed = Deed::Garbage(target, garbage);
                    self.add("garbage", &name, what, target.role(), deed);
                }
            }
        }
        for target in [
            TargetSocket::Control,
            TargetSocket::Data,
            TargetSocket::Clients,
        ] {
            for depth in [100, 60_000] {
                let name = format!("{depth}-{}", target.name());
                let what = format!("values {depth} deep in each other");
                let deed = Deed::Payload(target, messages::nested(depth));
                self.add("nesting", &name, &what, target.role(), deed);
            }
            for (kind, bytes) in messages::LENGTHS {
                let name = format!("{kind}-{}", target.name());
                let what = format!("a value ({kind}) that is longer than what follows");
                let deed = Deed::Payload(target, bytes.to_vec());
                self.add("lengths", &name, &what, target.role(), deed);
            }
            let deed = Deed::Payload(target, vec![0xff; 8 << 20]);
            let what = "messages of eight megabytes";
            self.add("huge", target.name(), what, target.role(), deed);
        }
        let what = "messages of a hundred frames of a megabyte, by a key that may only look";
        let deed = Deed::Frames(TargetSocket::Clients);
        self.add("huge", "frames-clients", what, Role::Observer, deed);
        // Whoever needs no key is the owner, who may send such a message.
        for attack in self.attacks.iter_mut().rev().take(1) {
            attack.ways = &[Way::Keys];
        }
    }

    fn add_mutated(&mut self) {
        for (name, _) in messages::harmless() {
            let what = "a request, cut at each byte and with each bit flipped";
            let deed = Deed::MutatedRequest(name);
            self.add("mutated-request", name, what, Role::Controller, deed);
        }
        for (name, _) in messages::of_secondaries() {
            let what = "a message of a secondary, cut at each byte and with each bit flipped";
            let deed = Deed::MutatedAnswer(name);
            self.add("mutated-answer", name, what, Role::Secondary, deed);
            let what = "messages in the names of the secondaries, with extreme numbers";
            let deed = Deed::Forged(name);
            self.add("forged-answer", name, what, Role::Secondary, deed);
        }
    }

    fn add_commands(&mut self) {
        for (name, command) in messages::extreme() {
            let what = "a command with a number that none may have";
            let deed = Deed::Command(vec![command]);
            self.add("extreme", name, what, Role::Controller, deed);
        }
        for (name, what, text) in texts::texts() {
            let deed = Deed::Command(vec![messages::spawn(&text)]);
            let what = format!("a spawned text that {what}");
            self.add("spawn", name, &what, Role::Controller, deed);
        }
        for (name, command) in messages::harmful() {
            let deed = Deed::Command(vec![command]);
            let what = "a command by who may only look";
            self.add("observer", name, what, Role::Observer, deed);
        }
        let all = messages::harmful().into_iter().map(|(_, command)| command);
        let deed = Deed::Command(all.collect());
        let what = "all commands by who may only take part";
        self.add("observer", "as-secondary", what, Role::Secondary, deed);
        for attack in &mut self.attacks {
            if attack.family == "observer" {
                attack.ways = &[Way::Keys];
            }
        }
    }

    fn add_floods(&mut self) {
        use protocol::Command;
        let asked = [
            ("ping", Command::Ping),
            ("snapshot", Command::Snapshot),
            ("history", Command::History),
            ("layout", Command::Layout),
            (
                "scene",
                Command::Scene {
                    asset: None,
                    offset: 0,
                },
            ),
            ("topics", Command::Topics),
        ];
        for (name, command) in asked {
            let what = "requests as fast as they go";
            let deed = Deed::Flood(command.clone(), 1);
            self.add("flood", name, what, Role::Observer, deed);
            if command != Command::Ping {
                let what = "requests whose answers nobody reads";
                let deed = Deed::Unread(command);
                self.add("unread", name, what, Role::Observer, deed);
            }
        }
        let what = "requests from twenty connections";
        let deed = Deed::Flood(Command::Ping, 20);
        self.add("flood", "by-20", what, Role::Observer, deed);
        let remove = Command::Remove {
            model: "nobody".to_owned(),
        };
        let what = "commands that are refused, as fast as they go";
        let deed = Deed::Flood(remove, 1);
        self.add("flood", "refused", what, Role::Controller, deed);
        for target in [
            TargetSocket::Status,
            TargetSocket::Step,
            TargetSocket::Beats,
        ] {
            let what = "listens and does not read";
            let deed = Deed::SlowReader(target);
            self.add("slow-reader", target.name(), what, target.role(), deed);
        }
    }

    fn add_subscriptions(&mut self) {
        let kinds = [
            ("many", Subscriptions::Many, "to ever more topics"),
            ("long", Subscriptions::Long, "to topics of 1,000 bytes"),
            (
                "very-long",
                Subscriptions::VeryLong,
                "to topics of 10,000 bytes",
            ),
            ("same", Subscriptions::Same, "to the same topic"),
            (
                "broken-off",
                Subscriptions::BrokenOff,
                "breaks off in the middle",
            ),
            (
                "ends-of-others",
                Subscriptions::EndsOfOthers,
                "ends what others have",
            ),
            (
                "other-bytes",
                Subscriptions::OtherBytes,
                "with first bytes that mean nothing",
            ),
            (
                "on-and-off",
                Subscriptions::OnAndOff,
                "to everything, on and off",
            ),
            (
                "presence",
                Subscriptions::Presence,
                "to what shows who is there",
            ),
        ];
        for (name, kind, what) in kinds {
            for target in [
                TargetSocket::Status,
                TargetSocket::Step,
                TargetSocket::Beats,
            ] {
                let is_everywhere = matches!(kind, Subscriptions::Many | Subscriptions::BrokenOff);
                let is_of_step = kind == Subscriptions::Presence;
                let is_here = match target {
                    TargetSocket::Step => is_everywhere || is_of_step,
                    TargetSocket::Beats => is_everywhere,
                    _ => !is_of_step,
                };
                if is_here {
                    let name = format!("{name}-{}", target.name());
                    let what = format!("subscriptions {what}");
                    let deed = Deed::Subscriptions(target, kind);
                    self.add("subscriptions", &name, &what, target.role(), deed);
                }
            }
        }
    }

    fn add_connections(&mut self) {
        for target in TargetSocket::ALL {
            let name = format!("silent-{}", target.name());
            let what = "connections on which nothing is said";
            let deed = Deed::Held(target, Progress::Silent);
            self.add("connections", &name, what, Role::NoKey, deed);
        }
        let what = "connections with half of a greeting";
        let deed = Deed::Held(TargetSocket::Clients, Progress::Half);
        self.add("connections", "half-greeted", what, Role::NoKey, deed);
        let what = "connections that end with the greeting";
        let deed = Deed::Held(TargetSocket::Status, Progress::Greeted);
        self.add("connections", "greeted", what, Role::NoKey, deed);
        for target in [
            TargetSocket::Clients,
            TargetSocket::Control,
            TargetSocket::Status,
            TargetSocket::Data,
        ] {
            let what = "connects and goes, again and again";
            let deed = Deed::Storm(target);
            self.add("reconnect", target.name(), what, target.role(), deed);
        }
    }

    fn add_protocol(&mut self) {
        for (name, speech, what) in SPEECHES {
            let what = format!("a bare stream with {what}");
            let deed = Deed::Bare(TargetSocket::Clients, speech);
            self.add("protocol", name, &what, Role::NoKey, deed);
        }
        for target in [
            TargetSocket::Control,
            TargetSocket::Status,
            TargetSocket::Data,
        ] {
            let name = format!("cut-ready-{}", target.name());
            let what = "a bare stream with the handshake, cut at each byte";
            let deed = Deed::Bare(target, Speech::CutReady);
            self.add("protocol", &name, what, Role::NoKey, deed);
        }
    }

    fn add_addresses(&mut self) {
        let kinds: [(&str, Vec<Vec<u8>>); 7] = [
            ("same", vec![b"x".to_vec()]),
            ("longest", vec![vec![b'a'; 255]]),
            ("of-secondaries", vec![b"s1".to_vec(), b"s2".to_vec()]),
            ("of-calls", vec![b"\x01call".to_vec(), b"\x01x".to_vec()]),
            ("of-heartbeats", vec![b"s1~heartbeat".to_vec()]),
            ("escapes", vec![b"\x1b]0;owned\x07".to_vec()]),
            (
                "standalone",
                vec![b"standalone".to_vec(), b"client".to_vec()],
            ),
        ];
        for (name, addresses) in kinds {
            for target in [TargetSocket::Clients, TargetSocket::Control] {
                let name = format!("{name}-{}", target.name());
                let what = "two connections of one address, of which the first speaks on";
                let deed = Deed::Addresses(target, addresses.clone());
                self.add("addresses", &name, what, target.role(), deed);
            }
        }
    }

    fn add_data(&mut self) {
        let kinds = [
            ("forged", Data::Forged, "in the name of a secondary"),
            (
                "no-address",
                Data::NoAddress,
                "in the name of a secondary, from no address",
            ),
            ("empty", Data::Empty, "without messages"),
            ("large", Data::Large, "of a megabyte each"),
            (
                "extreme",
                Data::Extreme,
                "of steps at the ends of their range",
            ),
            ("instead-of", Data::InsteadOf, "in the place of another"),
            ("traces", Data::Traces, "that is a trace nobody asked for"),
            ("topics", Data::Topics, "on topics that nobody knows"),
        ];
        for (name, kind, what) in kinds {
            let what = format!("data {what}");
            self.add("data", name, &what, Role::Secondary, Deed::Data(kind));
        }
    }

    fn add_keys(&mut self) {
        let from = self.attacks.len();
        let kinds = [
            ("none", Role::NoKey),
            ("unknown", Role::UnknownKey),
            ("wrong-primary", Role::WrongPrimary),
            ("revoked", Role::Revoked),
            ("expired", Role::Expired),
        ];
        for (name, role) in kinds {
            for target in [
                TargetSocket::Clients,
                TargetSocket::Control,
                TargetSocket::Status,
            ] {
                let name = format!("{name}-{}", target.name());
                let what = "connects with a key that is not authorized, or with none";
                let deed = Deed::Garbage(target, Garbage::Random);
                self.add("keys", &name, what, role, deed);
            }
        }
        for target in [
            TargetSocket::Control,
            TargetSocket::Step,
            TargetSocket::Data,
            TargetSocket::Beats,
        ] {
            for (name, role) in [
                ("observer", Role::Observer),
                ("controller", Role::Controller),
            ] {
                let name = format!("{name}-at-{}", target.name());
                let what = "connects where its role may not";
                let deed = Deed::Garbage(target, Garbage::Random);
                self.add("keys", &name, what, role, deed);
            }
        }
        for attack in &mut self.attacks[from..] {
            attack.ways = &[Way::Keys];
        }
    }

    fn add_joins(&mut self) {
        let kinds = [
            ("primary", Pretence::IsPrimary, "joins as a primary"),
            (
                "name",
                Pretence::TakesName,
                "joins under the name of another",
            ),
            ("build", Pretence::OtherBuild, "joins with another build"),
            (
                "host",
                Pretence::LongHost,
                "joins from a machine with a long name",
            ),
            ("names", Pretence::ManyNames, "joins under ever new names"),
            (
                "unsubscribed",
                Pretence::Unsubscribed,
                "joins and hears no step",
            ),
            (
                "world",
                Pretence::OtherWorld,
                "joins and reads another world",
            ),
            ("leaves", Pretence::Leaves, "joins and goes"),
            (
                "diverges",
                Pretence::Diverges,
                "joins and says that bits differ",
            ),
            ("fails", Pretence::Fails, "joins and fails to catch up"),
            (
                "acknowledges",
                Pretence::Acknowledges,
                "joins and answers for the cells of others",
            ),
            (
                "beats",
                Pretence::OnlyBeats,
                "joins, claims to be ready, and only beats",
            ),
        ];
        for (name, kind, what) in kinds {
            self.add("joins", name, what, Role::Secondary, Deed::Pretend(kind));
        }
    }
}
