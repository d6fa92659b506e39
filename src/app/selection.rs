//! From what the command line names to a topology profile: a saved one, one in a file, or one made of addresses.

use std::path::Path;

use super::cli::{Given, Selection};
use crate::model::phrase::{Phrase, phrase};
use crate::model::profile::{
    Account, Address, HeartbeatTable, SecretSource, ServerId, ServerProfile, StampZone,
    TlsSettings, TopologyId, TopologyProfile,
};
use crate::settings::{paths, profiles};

/// The profile, and the servers' names as they were given.
pub fn profile_of(selection: &Selection) -> Result<TopologyProfile, Phrase> {
    let mut profile = match &selection.topology {
        Some(name) => saved_or_file(name)?,
        None => of_addresses(&selection.server),
    };
    apply_overrides(&mut profile, selection)?;
    Ok(profile)
}

/// A saved topology by name, or a file. A name wins over a file of the same name.
pub fn saved_or_file(name: &str) -> Result<TopologyProfile, Phrase> {
    let saved = paths::config_dir()
        .map(|dir| profiles::load(&dir).1.profiles)
        .unwrap_or_default();
    if let Some(profile) = saved.iter().find(|p| p.name == name || p.id.0 == name) {
        return Ok(profile.clone());
    }
    let path = Path::new(name);
    if !path.exists() {
        let names: Vec<&str> = saved.iter().map(|p| p.name.as_str()).collect();
        let known = phrase("cli.no_such_topology")
            .with("name", name)
            .with("known", names.join(", "));
        return Err(if names.is_empty() {
            phrase("cli.no_topology_saved").with("name", name)
        } else {
            known
        });
    }
    let loaded = profiles::read_file(path).map_err(|notice| notice.text)?;
    match <[TopologyProfile; 1]>::try_from(loaded.profiles) {
        Ok([only]) => Ok(only),
        Err(several) => Err(phrase("cli.file_needs_one_topology")
            .with("path", name)
            .with("count", several.len() as u64)),
    }
}

fn of_addresses(servers: &[Given]) -> TopologyProfile {
    let mut profile = TopologyProfile::new(TopologyId("command-line".into()), "");
    profile.servers = servers
        .iter()
        .map(|Given { text, target }| {
            let mut server =
                ServerProfile::new(ServerId(target.address.to_string()), target.address.clone());
            server.name = text.clone();
            server.account = target.user.clone().map(|user| Account {
                user,
                secret: SecretSource::Ask,
            });
            server
        })
        .collect();
    profile
}

fn apply_overrides(profile: &mut TopologyProfile, selection: &Selection) -> Result<(), Phrase> {
    if let Some(user) = &selection.user {
        let secret = profile
            .account
            .as_ref()
            .map_or(SecretSource::Ask, |account| account.secret.clone());
        profile.account = Some(Account {
            user: user.clone(),
            secret,
        });
    }
    if profile.account.is_none()
        && profile
            .servers
            .iter()
            .any(|server| server.account.is_none())
    {
        let user = std::env::var("USER")
            .or_else(|_| std::env::var("USERNAME"))
            .unwrap_or_else(|_| "root".into());
        profile.account = Some(Account {
            user,
            secret: SecretSource::Ask,
        });
    }
    if let Some(interval) = selection.interval {
        profile.intervals.poll = interval;
    }
    if let Some(mark) = selection.mark_interval {
        profile.intervals.mark = mark;
    }
    if let Some(table) = &selection.heartbeat {
        profile.heartbeat = Some(heartbeat(table)?);
    }
    for server in &mut profile.servers {
        override_tls(server, selection);
    }
    Ok(())
}

fn override_tls(server: &mut ServerProfile, selection: &Selection) {
    let asked =
        selection.tls.is_some() || selection.tls_ca.is_some() || selection.tls_cert.is_some();
    if !asked || matches!(server.address, Address::Socket { .. }) {
        return;
    }
    let mut tls = server
        .tls
        .clone()
        .unwrap_or_else(|| TlsSettings::default_for(&server.address));
    if let Some(mode) = selection.tls {
        tls.mode = mode.into();
    }
    tls.ca = selection.tls_ca.clone().or(tls.ca);
    tls.client_cert = selection.tls_cert.clone().or(tls.client_cert);
    tls.client_key = selection.tls_key.clone().or(tls.client_key);
    server.tls = Some(tls);
}

/// Known tables by their names; anything else is read as a single row with `ts` in UTC.
fn heartbeat(text: &str) -> Result<HeartbeatTable, Phrase> {
    let (schema, table) = text
        .split_once('.')
        .filter(|(schema, table)| !schema.is_empty() && !table.is_empty() && !table.contains('.'))
        .ok_or_else(|| phrase("cli.heartbeat_wants_schema_table").with("text", text))?;
    let mut known = match (schema, table) {
        ("replicascope", "heartbeat") => HeartbeatTable::own(),
        ("blip", "heartbeat") => HeartbeatTable::blip(),
        (_, "heartbeat") => HeartbeatTable::pt_heartbeat(schema, StampZone::Local),
        _ => HeartbeatTable::repl_heartbeat(schema),
    };
    known.table = table.to_owned();
    Ok(known)
}
