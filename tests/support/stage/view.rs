//! What a person sees of the stage.

use std::sync::Arc;

use replicascope::model::finding::Finding;
use replicascope::model::lag::{LagView, Method, Reading};
use replicascope::model::sample::Sample;
use replicascope::store::Store;
use replicascope::store::judged::{ChannelJudged, Judged, ServerJudged};
use replicascope::store::watched::Watched;

/// What a person sees at one instant.
pub struct View<'a> {
    pub store: &'a Store,
    pub judged: &'a Judged,
}

impl<'a> View<'a> {
    pub fn watched(&self, name: &str) -> &'a Watched {
        let found = self.store.servers().find(|s| s.registration.name == name);
        found.unwrap_or_else(|| panic!("nobody is called {name}"))
    }

    pub fn server(&self, name: &str) -> &'a ServerJudged {
        let watch = self.watched(name).watch();
        self.judged.servers.get(&watch).expect("judged")
    }

    /// The newest answer.
    pub fn sample(&self, name: &str) -> Option<&'a Arc<Sample>> {
        self.watched(name).latest.as_ref()
    }

    pub fn channel(&self, server: &str, channel: &str) -> Option<&'a ChannelJudged> {
        self.server(server).channels.get(channel)
    }

    /// The default channel of the server called "replica".
    pub fn replica(&self) -> Option<&'a ChannelJudged> {
        self.channel("replica", "")
    }

    pub fn lag(&self) -> Option<&'a LagView> {
        Some(&self.replica()?.lag)
    }

    pub fn method(&self, method: Method) -> Option<&'a Reading> {
        self.lag()?.method(method)
    }

    /// Why the headline of the replica has no value, as a key of the catalogue.
    pub fn why(&self) -> Option<&'static str> {
        Some(self.lag()?.headline.why()?.key)
    }

    pub fn finding(&self, code: &str) -> Option<&'a Finding> {
        self.judged.findings.iter().find(|f| f.code == code)
    }

    pub fn codes(&self) -> Vec<&'static str> {
        self.judged.findings.iter().map(|f| f.code).collect()
    }

    /// Everything, for a test that failed.
    pub fn tell(&self) -> String {
        let mut told = String::new();
        for server in self.store.servers() {
            let name = &server.registration.name;
            let judged = self.server(name);
            told += &format!(
                "{name}: {:?} {:?} routable {} {:?}\n  link {:?}\n  lamps {:?}\n  own lag {:?}\n",
                judged.role,
                judged.health,
                judged.routable,
                judged.freshness,
                server.link,
                judged.lamps,
                judged.own_lag.headline
            );
            for (channel, of_channel) in &judged.channels {
                told += &format!(
                    "  channel '{channel}': {:?} routable {} counts {} source {:?}\n    headline {:?}\n",
                    of_channel.health,
                    of_channel.routable,
                    of_channel.counts,
                    of_channel.source,
                    of_channel.lag.headline
                );
                for (method, reading) in &of_channel.lag.methods {
                    told += &format!("    {method:?} {reading:?}\n");
                }
            }
        }
        for finding in &self.judged.findings {
            told += &format!(
                "finding {:?} {:?} {:?}\n",
                finding.code, finding.subject, finding.text
            );
        }
        told
    }
}
