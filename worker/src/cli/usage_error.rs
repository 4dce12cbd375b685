//! [`UsageError`]: a command line that asks for nothing that there is.

use protocol::PeerName;
use run::SpecError;

/// Reason why a command line is refused; says what to do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UsageError {
    #[error(
        "a primary needs --network-secondaries=N with N of at least 1; for one process alone leave \
         --network-role out"
    )]
    NoSecondaries,
    #[error("--network-secondaries needs --network-role=primary")]
    SecondariesOfNobody,
    #[error("--through names a relay in place of the primary: leave --connect and --partition out")]
    ConnectsThrough,
    #[error("--through is for secondaries and relays; {who} has none")]
    IsBehindRelay { who: &'static str },
    #[error("--authorized needs --key: a relay proves its own key to the secondaries")]
    RelayWithoutKey,
    #[error("--bind and --through both say where secondaries find a relay: leave one of them out")]
    BindsThrough,
    #[error(
        "--authorized is for a relay that is reached by --bind tcp://ADDRESS:PORT; the mode of its \
         folder alone decides who reaches it otherwise"
    )]
    AuthorizedOfFolder,
    #[error("--name must begin with a letter or a digit, which {name} does not")]
    NameBegins { name: PeerName },
    #[error("--connect is for secondaries; {who} takes --bind")]
    Connects { who: &'static str },
    #[error("--name is for secondaries; {who} has none")]
    IsNamed { who: &'static str },
    #[error("{who} needs a world: name an SDF file")]
    NoWorld { who: &'static str },
    #[error("--resume takes the worlds from the journal: name no SDF file")]
    ResumedWithWorlds,
    #[error("--resume takes the commands from the journal: leave --commands out")]
    ResumedWithCommands,
    #[error("--journal on is for `phalanx run`: name a folder")]
    JournalOfRunFolder,
    #[error("a run that is resumed goes on with its own journal: leave --journal out")]
    ResumedWithJournal,
    #[error("--server-key is for secondaries; a primary has its own in --key")]
    ServerKeyOfPrimary,
    #[error("--key needs --authorized: else nobody may connect")]
    KeyForNobody,
    #[error("--authorized needs --key: `phalanx keygen` makes one")]
    AuthorizedWithoutKey,
    #[error("--authorized is for a primary")]
    AuthorizedBySecondary,
    #[error("--key needs --server-key: the public key of the primary")]
    KeyWithoutServerKey,
    #[error("--server-key needs --key: the key of this process")]
    ServerKeyWithoutKey,
    #[error(transparent)]
    Spec(#[from] SpecError),
    #[error("{0}")]
    Path(serde_json::Error),
}
