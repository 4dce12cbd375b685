//! A host that ssh reaches without a password: an `sshd` of this test alone on a loopback port,
//! with keys of its own, whose sessions may see another file system than this program does.
//!
//! It needs `sshd`, `ssh` and `ssh-keygen` (packages openssh-server and openssh-client); where one
//! is missing, a test says so and has nothing to do.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::processes::{children_of, free_ports, try_signal, wait_for, write_program};
use crate::required;

/// The folder that `sshd` of root wants to be there.
const SEPARATION_FOLDER: &str = "/run/sshd";

/// A host of ssh; gone with all its sessions when dropped.
#[derive(Debug)]
pub struct SshHost {
    folder: PathBuf,
    name: String,
    address: String,
    port: u16,
    server: Child,
}

impl SshHost {
    /// Makes a host in a folder of its own; `None`, with the reason on stderr, where that is not
    /// possible. Paths of `hidden` are empty for whoever is on the host, which only root can have.
    ///
    /// # Panics
    /// Panics if a file cannot be written, or the server does not answer.
    pub fn make(parent: &Path, name: &str, hidden: Option<&Path>) -> Option<Self> {
        Self::make_at(parent, name, hidden, ("127.0.0.1", Command::new))
    }

    /// Makes a host that has an address of its own and whose server is started by a command that is
    /// made of a program, such as one that enters the host's network.
    ///
    /// # Panics
    /// Panics if a file cannot be written, or the server does not answer.
    pub fn make_at(
        parent: &Path,
        name: &str,
        hidden: Option<&Path>,
        (address, command): (&str, impl Fn(PathBuf) -> Command),
    ) -> Option<Self> {
        let Some(server) = server_program() else {
            required::skip(
                required::SSHD,
                "no sshd: install the package openssh-server",
            );
            return None;
        };
        let folder = parent.join(name);
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        for key in ["host", "user"] {
            let path = folder.join(key);
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(&path)
                .status();
            if !made.is_ok_and(|status| status.success()) {
                required::skip(
                    required::SSHD,
                    "no ssh-keygen: install the package openssh-client",
                );
                return None;
            }
        }
        if is_root() {
            std::fs::create_dir_all(SEPARATION_FOLDER).expect("root makes folders");
        }
        let port = free_ports();
        write(
            &folder.join("sshd.conf"),
            &server_settings(&folder, (address, port), hidden),
        );
        let log = folder.join("sshd.log");
        let server = command(server)
            .args(["-D", "-e", "-f"])
            .arg(folder.join("sshd.conf"))
            .stdin(Stdio::null())
            .stderr(std::fs::File::create(&log).expect("a file can be made"))
            .spawn()
            .expect("sshd starts");
        let host = Self {
            folder,
            name: name.to_owned(),
            address: address.to_owned(),
            port,
            server,
        };
        wait_for("the ssh server", || {
            let told = std::fs::read_to_string(&log).unwrap_or_default();
            told.contains("Server listening on")
        });
        Some(host)
    }

    /// Returns the lines of an ssh configuration that reach it.
    pub fn client_settings(&self) -> String {
        let (name, port, folder) = (&self.name, self.port, self.folder.display());
        let address = &self.address;
        format!(
            "Host {name}\n  HostName {address}\n  Port {port}\n  IdentityFile {folder}/user\n  \
             StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n  LogLevel ERROR\n"
        )
    }

    /// Returns the folder of caches that programs on it have.
    pub fn cache(&self) -> PathBuf {
        self.folder.join("cache")
    }

    /// Cuts all connections to it without a word, as a host that loses power would; it can be
    /// reached again at once.
    pub fn cut_connections(&self) {
        for session in self.sessions() {
            try_signal(session, "KILL");
        }
    }

    /// Returns the process ids of the servers of its sessions.
    fn sessions(&self) -> Vec<u32> {
        children_of(self.server.id())
    }
}

impl Drop for SshHost {
    fn drop(&mut self) {
        self.cut_connections();
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// Writes an ssh configuration that reaches some hosts, and returns the command that uses it.
///
/// # Panics
/// Panics if the file cannot be written.
pub fn ssh_command(folder: &Path, hosts: &[&SshHost]) -> String {
    let path = folder.join("ssh.conf");
    let texts: Vec<String> = hosts.iter().map(|host| host.client_settings()).collect();
    write(&path, &texts.concat());
    format!("ssh -F {}", path.display())
}

fn server_settings(folder: &Path, (address, port): (&str, u16), hidden: Option<&Path>) -> String {
    let folder_text = folder.display();
    let mut text = format!(
        "Port {port}\nListenAddress {address}\nHostKey {folder_text}/host\n\
         AuthorizedKeysFile {folder_text}/user.pub\nStrictModes no\nPidFile none\n\
         PasswordAuthentication no\nMaxStartups 100\nSetEnv XDG_CACHE_HOME={folder_text}/cache\n"
    );
    if let Some(hidden) = hidden {
        let script = folder.join("session");
        let lines = format!(
            "#!/bin/sh\nexec unshare -m sh -c \
             'mount -t tmpfs none \"$0\" && exec sh -c \"$SSH_ORIGINAL_COMMAND\"' '{}'\n",
            hidden.display()
        );
        write_program(&script, &lines);
        let _ = writeln!(text, "ForceCommand {}", script.display());
    }
    text
}

fn server_program() -> Option<PathBuf> {
    // It insists on being started by its whole path.
    let mut places = ["/usr/sbin/sshd", "/usr/bin/sshd", "/sbin/sshd"]
        .map(PathBuf::from)
        .into_iter();
    places.find(|place| place.is_file())
}

fn write(path: &Path, text: &str) {
    std::fs::write(path, text).expect("a file can be written");
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}
