//! From a topology to a probe of it: how its servers stand, which of them takes the writes, and what would be sent.

use std::sync::Arc;

use crate::link::probing::{ProbeDial, ProbePurpose};
use crate::model::phrase::{Phrase, phrase};
use crate::model::probe::{ListedStatement, ProbePlan, ServerState, choose_source};
use crate::model::profile::{ExpectedRole, ServerProfile, TopologyProfile};
use crate::model::server::Product;
use crate::model::trouble::Trouble;
use crate::mysql::probing;

/// How each server stands, asked side by side: one that is dead costs its time limit once.
pub fn states(dials: &[Arc<dyn ProbeDial>], plan: &ProbePlan) -> Vec<Result<ServerState, Trouble>> {
    let ask = |dial: &Arc<dyn ProbeDial>| dial.dial_probe(ProbePurpose::Read, plan)?.state();
    std::thread::scope(|scope| {
        let threads: Vec<_> = dials
            .iter()
            .map(|dial| scope.spawn(move || ask(dial)))
            .collect();
        let joined = threads.into_iter().map(|thread| {
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        joined.collect()
    })
}

/// The server the person says it is, or the one that shows to be.
pub fn source(
    profile: &TopologyProfile,
    states: &[Result<ServerState, Trouble>],
) -> Result<usize, Phrase> {
    let named = |server: &ServerProfile| server.role == ExpectedRole::Source;
    let mut places = (0..profile.servers.len()).filter(|place| named(&profile.servers[*place]));
    if let (Some(only), None) = (places.next(), places.next()) {
        return Ok(only);
    }
    let known: Vec<Option<ServerState>> = states.iter().map(|s| s.as_ref().ok().cloned()).collect();
    choose_source(&known).ok_or_else(|| {
        match states.iter().find_map(|state| state.as_ref().err()) {
            Some(trouble) => {
                phrase("probe.cli.no_source_because").with("why", trouble.what.clone())
            }
            None => phrase("probe.cli.no_source"),
        }
    })
}

/// What would be sent to servers of a product.
pub type Listed = fn(&ProbePlan, &Product) -> Vec<ListedStatement>;

/// What a probe by this plan would send, for each flavour among these; for both when none is known.
pub fn listed(
    plan: &ProbePlan,
    known: impl Iterator<Item = Product>,
) -> Vec<(&'static str, Vec<ListedStatement>)> {
    listed_by(probing::listed, plan, known)
}

/// The same for what a probe is not alone in doing.
pub fn listed_by(
    listed: Listed,
    plan: &ProbePlan,
    known: impl Iterator<Item = Product>,
) -> Vec<(&'static str, Vec<ListedStatement>)> {
    let mut products: Vec<Product> = Vec::new();
    for product in known {
        if !products.iter().any(|p| p.flavour == product.flavour) {
            products.push(product);
        }
    }
    if products.is_empty() {
        products = ["8.0.0", "10.11.0-MariaDB"]
            .map(|v| Product::from_text(v, ""))
            .into();
    }
    let list = products
        .iter()
        .map(|product| (product.flavour.name(), listed(plan, product)));
    list.collect()
}

/// The least an account needs to probe by this plan.
pub fn grant(plan: &ProbePlan, profile: &TopologyProfile) -> String {
    let account = profile
        .servers
        .iter()
        .find_map(|server| profile.account_for(server));
    let user = account.map_or("replicascope", |(account, _)| account.user.as_str());
    probing::account_sql(&plan.schema, user)
}
