//! Which servers a lesson is taught on. Where they do not only say but do something else, or cannot have what a step
//! makes, the lesson's file has a step of its own.

use crate::model::dialect::Dialect;
use crate::model::lab::Ground;
use crate::model::server::Version;

/// The servers a lesson is taught on, as far as that changes what it says and does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Servers {
    pub dialect: Dialect,
    pub are: Made,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Made {
    #[default]
    Simulated,
    /// Started here: they share this machine's clock and disk.
    Real,
}

impl Servers {
    /// Every kind there is.
    pub fn all() -> impl Iterator<Item = Servers> {
        let of = |dialect| [Made::Simulated, Made::Real].map(|are| Servers { dialect, are });
        Dialect::ALL.into_iter().flat_map(of)
    }

    /// Those of a lab; `told` is what a real one says of its version, once it does.
    pub fn of(ground: Ground, told: Option<Version>) -> Servers {
        Servers {
            dialect: Dialect::of(ground, told),
            are: match ground {
                Ground::Simulated(_) => Made::Simulated,
                Ground::Real(_) => Made::Real,
            },
        }
    }
}

/// Simulated ones.
impl From<Dialect> for Servers {
    fn from(dialect: Dialect) -> Self {
        Servers {
            dialect,
            ..Servers::default()
        }
    }
}
