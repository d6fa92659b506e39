//! The same topology elsewhere: a plan as a Docker compose file, and as commands of dbdeployer. Pure functions; nothing is
//! started.
//!
//! - [`compose`] writes ordinary containers of the official images, on loopback ports.
//! - [`dbdeployer`] writes a shell script for servers unpacked from archives.
//! - `steps` are the statements that make such servers replicate; both say them with a client.
//!
//! Passwords are none of the text's business: both read them from the environment.

pub mod compose;
pub mod dbdeployer;

mod steps;

use crate::model::lab::{Generation, Ground, LabPlan, Recipe};
use crate::model::server::{Flavour, Version};

use super::sandbox::release::Release;

pub fn text(plan: &LabPlan, recipe: Recipe) -> String {
    match recipe {
        Recipe::Compose => compose::file(plan),
        Recipe::Dbdeployer => dbdeployer::script(plan),
    }
}

/// The release that stands for a plan: of real servers the one with long support.
fn generation(plan: &LabPlan) -> Generation {
    match plan.ground {
        Ground::Simulated(generation) => generation,
        Ground::Real(Flavour::MariaDb) => Generation::MariaDb118,
        Ground::Real(_) => Generation::MySql84,
    }
}

fn release(generation: Generation) -> Release {
    Release {
        flavour: generation.flavour(),
        version: Version::parse(generation.version()).unwrap_or_default(),
        text: generation.version().to_owned(),
    }
}

/// Accounts of the lab, with the variables that hold their passwords.
const ACCOUNTS: [(&str, &str); 4] = [
    ("admin", "ADMIN_PASSWORD"),
    ("monitor", "MONITOR_PASSWORD"),
    ("app", "APP_PASSWORD"),
    ("repl", "REPL_PASSWORD"),
];

#[cfg(test)]
mod tests;
