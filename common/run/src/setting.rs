//! [`Setting`]: one row of the table of all settings, which is what files, flags, variables and
//! documents are made from.
//!
//! A setting is a field of a section of [`crate::RunSpec`], under the name that files have for it,
//! and a row beside that section: what it takes, who may give it, and its flag with the text of
//! help.

use crate::kind::Kind;

/// A setting of files and command lines.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The section that it stands in.
    pub section: &'static str,
    /// Its name there.
    pub key: &'static str,
    /// Values that it takes.
    pub kind: Kind,
    /// Its flag; `None` for what only files have.
    pub flag: Option<Flag>,
    /// True if a user's own file may have it: it must not change what a simulation computes.
    pub is_personal: bool,
    /// Command lines that have its flag.
    pub audience: Audience,
}

/// A setting as an option of a command line.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// Its name, without dashes.
    pub long: &'static str,
    /// Its value as help shows it.
    pub value_name: &'static str,
    /// Effect of it, for people.
    pub help: &'static str,
    /// Text for a value that is not given and has no default; may be empty.
    pub unset: &'static str,
    /// Another name that it has, without dashes.
    pub alias: Option<&'static str>,
    /// The variable, where it is not made of the name.
    variable: Option<&'static str>,
}

/// Command lines that have a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// `phalanx` and `worker`.
    Both,
    /// `phalanx` alone: it is about the launch.
    Launcher,
    /// `worker` alone: the launcher says it in the specification.
    Worker,
}

impl Setting {
    /// A setting that only run files may have.
    pub const fn of_run(section: &'static str, key: &'static str, kind: Kind) -> Self {
        Self {
            section,
            key,
            kind,
            flag: None,
            is_personal: false,
            audience: Audience::Both,
        }
    }

    /// A setting that users may have in their own file, too.
    pub const fn personal(section: &'static str, key: &'static str, kind: Kind) -> Self {
        Self {
            is_personal: true,
            ..Self::of_run(section, key, kind)
        }
    }

    /// Adds its flag.
    #[must_use]
    pub const fn flag(
        self,
        long: &'static str,
        value_name: &'static str,
        help: &'static str,
    ) -> Self {
        let flag = Flag {
            long,
            value_name,
            help,
            unset: "",
            alias: None,
            variable: None,
        };
        Self {
            flag: Some(flag),
            ..self
        }
    }

    /// Adds what holds where it has no default and nobody gives it.
    #[must_use]
    pub const fn unset(self, unset: &'static str) -> Self {
        match self.flag {
            Some(flag) => Self {
                flag: Some(Flag { unset, ..flag }),
                ..self
            },
            None => self,
        }
    }

    /// Gives its flag another name beside its own.
    #[must_use]
    pub const fn also(self, alias: &'static str) -> Self {
        match self.flag {
            Some(flag) => Self {
                flag: Some(Flag {
                    alias: Some(alias),
                    ..flag
                }),
                ..self
            },
            None => self,
        }
    }

    /// Gives its variable a name that is not made of the flag's.
    #[must_use]
    pub const fn variable_named(self, variable: &'static str) -> Self {
        match self.flag {
            Some(flag) => Self {
                flag: Some(Flag {
                    variable: Some(variable),
                    ..flag
                }),
                ..self
            },
            None => self,
        }
    }

    /// Leaves its flag to one command line.
    #[must_use]
    pub const fn only(self, audience: Audience) -> Self {
        Self { audience, ..self }
    }

    /// Returns its place as users say it, such as `run.seed`.
    pub fn path(&self) -> String {
        format!("{}.{}", self.section, self.key)
    }

    /// Returns the variable of the environment that gives it to `phalanx`.
    pub fn variable(&self) -> Option<String> {
        let flag = self.flag.filter(|_| self.audience != Audience::Worker)?;
        Some(match flag.variable {
            Some(name) => name.to_owned(),
            None => format!("PHALANX_{}", flag.long.replace('-', "_").to_uppercase()),
        })
    }
}
