//! The vocabulary of the model in words: what a role, a severity or a health is called.

use super::Catalogue;
use crate::model::finding::{Health, Role, Severity};
use crate::model::profile::Environment;

impl Catalogue {
    pub fn role(&self, role: Role) -> &str {
        self.text(match role {
            Role::Source => "role.source",
            Role::Replica => "role.replica",
            Role::Intermediate => "role.intermediate",
            Role::Standalone => "role.standalone",
            Role::Unknown => "role.unknown",
        })
    }

    pub fn environment(&self, environment: Environment) -> &str {
        self.text(match environment {
            Environment::Production => "environment.production",
            Environment::Staging => "environment.staging",
            Environment::Development => "environment.development",
            Environment::Lab => "environment.lab",
        })
    }

    pub fn severity(&self, severity: Severity) -> &str {
        self.text(match severity {
            Severity::Info => "severity.info",
            Severity::Warning => "severity.warning",
            Severity::Critical => "severity.critical",
        })
    }

    pub fn health(&self, health: Health) -> &str {
        self.text(match health {
            Health::Ok => "health.ok",
            Health::Delayed => "health.delayed",
            Health::Broken => "health.broken",
            Health::Stopped => "health.stopped",
            Health::Unknown => "health.unknown",
        })
    }
}
