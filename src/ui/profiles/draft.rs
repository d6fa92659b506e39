//! A profile while it is being edited: the profile itself, what stands in its fields but is no value yet, and what of
//! it is wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::typed::TypedPassword;
use crate::model::phrase::Phrase;
use crate::model::profile::{
    Account, Address, Field, FieldName, FieldProblem, HeartbeatLayout, HeartbeatTable, SecretKey,
    SecretOwner, SecretSource, ServerId, ServerProfile, StampZone, Target, TopologyId,
    TopologyProfile, check, slug,
};
use crate::model::time::Moment;
use crate::ui::action::Action;

#[derive(Debug)]
pub struct Draft {
    pub profile: TopologyProfile,
    /// As it is saved; None for one that never was.
    original: Option<TopologyProfile>,
    /// Addresses as typed. The profile has the last one that could be read.
    pub addresses: BTreeMap<ServerId, String>,
    pub channels: BTreeMap<ServerId, String>,
    pub passwords: BTreeMap<SecretOwner, TypedPassword>,
    pub preset: HeartbeatPreset,
    /// Servers whose own settings are unfolded.
    pub unfolded: BTreeSet<ServerId>,
}

/// How what is saved relates to what is being edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elsewhere {
    Same,
    /// Somebody else changed what we are changing too.
    Changed,
    Removed,
}

/// The heartbeat tables in use, so that nobody has to know their columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeartbeatPreset {
    None,
    Own,
    ReplHeartbeat,
    PtHeartbeat,
    Blip,
    Other,
}

impl Draft {
    pub fn of(profile: TopologyProfile) -> Self {
        let original = Some(profile.clone());
        Draft::with(profile, original)
    }

    /// A new topology, with an empty place for its first server.
    pub fn fresh(now: Moment) -> Self {
        let mut profile = TopologyProfile::new(TopologyId(fresh_id("", now)), "");
        profile.account = Some(empty_account());
        let mut draft = Draft::with(profile, None);
        draft.add_server(now);
        draft
    }

    /// The same servers under another name. Passwords stay with the first: they are filed under its id.
    pub fn duplicate(of: &TopologyProfile, name: String, now: Moment) -> Self {
        let mut profile = of.clone();
        profile.id = TopologyId(fresh_id(&name, now));
        profile.name = name;
        Draft::with(profile, None)
    }

    fn with(profile: TopologyProfile, original: Option<TopologyProfile>) -> Self {
        let texts = |of: fn(&ServerProfile) -> String| {
            let servers = profile.servers.iter();
            servers.map(|s| (s.id.clone(), of(s))).collect()
        };
        Draft {
            addresses: texts(|s| s.address.to_string()),
            channels: texts(|s| s.expected_channels.join(", ")),
            passwords: BTreeMap::new(),
            preset: HeartbeatPreset::of(profile.heartbeat.as_ref()),
            unfolded: BTreeSet::new(),
            profile,
            original,
        }
    }

    pub fn is_new(&self) -> bool {
        self.original.is_none()
    }

    pub fn is_dirty(&self) -> bool {
        let typed = || self.passwords.values().any(|p| !p.is_empty());
        let misread = || !self.unread_addresses().is_empty();
        self.original.as_ref() != Some(&self.profile) || typed() || (!self.is_new() && misread())
    }

    /// Nothing was put into it yet, so leaving it loses nothing.
    pub fn is_untouched(&self) -> bool {
        let blank = self.profile.name.is_empty() && self.addresses.values().all(String::is_empty);
        match self.is_new() {
            true => blank && self.passwords.values().all(TypedPassword::is_empty),
            false => !self.is_dirty(),
        }
    }

    /// Compares with what is saved now; takes it over where nothing of ours would be lost.
    pub fn meet(&mut self, saved: Option<&TopologyProfile>) -> Elsewhere {
        match (saved, &self.original) {
            (Some(saved), _) if *saved == self.profile => {
                self.original = Some(saved.clone());
                Elsewhere::Same
            }
            (Some(saved), Some(original)) if saved == original => Elsewhere::Same,
            (Some(saved), Some(_)) if !self.is_dirty() => {
                *self = Draft::of(saved.clone());
                Elsewhere::Same
            }
            (Some(_), _) => Elsewhere::Changed,
            (None, Some(_)) => Elsewhere::Removed,
            (None, None) => Elsewhere::Same,
        }
    }

    /// Go on with ours: what is saved is only what to compare with.
    pub fn keep_ours(&mut self, saved: Option<&TopologyProfile>) {
        self.original = saved.cloned();
    }

    pub fn add_server(&mut self, now: Moment) -> ServerId {
        let taken = |id: &str| self.profile.servers.iter().any(|s| s.id.0 == id);
        let base = fresh_id("", now);
        let id = std::iter::once(base.clone())
            .chain((2_u32..).map(|n| format!("{base}-{n}")))
            .find(|id| !taken(id))
            .unwrap_or(base);
        let id = ServerId(id);
        let nowhere = Address::tcp("", crate::model::profile::address::DEFAULT_PORT);
        self.profile
            .servers
            .push(ServerProfile::new(id.clone(), nowhere));
        self.addresses.insert(id.clone(), String::new());
        id
    }

    pub fn remove_server(&mut self, id: &ServerId) {
        self.profile.servers.retain(|s| &s.id != id);
        self.addresses.remove(id);
        self.channels.remove(id);
        self.passwords.remove(&SecretOwner::Server(id.clone()));
        self.unfolded.remove(id);
    }

    /// What was typed as an address becomes the address, if it can be read.
    pub fn read_address(&mut self, id: &ServerId) {
        let text = self.addresses.get(id).map_or("", String::as_str);
        if let (Ok(target), Some(server)) = (
            Target::parse(text),
            self.profile.servers.iter_mut().find(|s| &s.id == id),
        ) {
            server.address = target.address;
        }
    }

    /// Once the field is left: the user of `user@host` becomes the server's own account.
    pub fn settle_address(&mut self, id: &ServerId) {
        let text = self.addresses.get(id).map_or("", String::as_str);
        let Ok(Target {
            user: Some(user),
            address,
        }) = Target::parse(text)
        else {
            return;
        };
        self.addresses.insert(id.clone(), address.to_string());
        if let Some(server) = self.profile.servers.iter_mut().find(|s| &s.id == id) {
            server.account.get_or_insert_with(empty_account).user = user;
            self.unfolded.insert(id.clone());
        }
    }

    pub fn read_channels(&mut self, id: &ServerId) {
        let text = self.channels.get(id).map_or("", String::as_str);
        let names = text
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty());
        let names = names.map(str::to_owned).collect();
        if let Some(server) = self.profile.servers.iter_mut().find(|s| &s.id == id) {
            server.expected_channels = names;
        }
    }

    /// A file chosen with the system's dialog, for one of the path fields.
    pub fn take_path(&mut self, field: &Field, path: PathBuf) {
        let TopologyProfile {
            servers,
            account,
            tls,
            ..
        } = &mut self.profile;
        let (account, tls) = match &field.server {
            None => (account, tls),
            Some(id) => match servers.iter_mut().find(|s| &s.id == id) {
                Some(server) => (&mut server.account, &mut server.tls),
                None => return,
            },
        };
        match (field.name, account, tls) {
            (FieldName::SecretFile, Some(account), _) => account.secret = SecretSource::File(path),
            (FieldName::Ca, _, Some(tls)) => tls.ca = Some(path),
            (FieldName::ClientCert, _, Some(tls)) => tls.client_cert = Some(path),
            (FieldName::ClientKey, _, Some(tls)) => tls.client_key = Some(path),
            (FieldName::ServerPublicKey, _, Some(tls)) => tls.server_public_key = Some(path),
            _ => {}
        }
    }

    /// Everything that stands in the way of saving, in the order of the fields.
    pub fn problems(&self) -> Vec<FieldProblem> {
        let unread = self.unread_addresses();
        let is_unread = |field: &Field| {
            matches!(
                field.name,
                FieldName::Host | FieldName::Port | FieldName::SocketPath
            ) && field
                .server
                .as_ref()
                .is_some_and(|id| unread.contains_key(id))
        };
        let read = check(&self.profile)
            .into_iter()
            .filter(|p| !is_unread(&p.field));
        let mut problems: Vec<FieldProblem> = read.collect();
        problems.extend(unread.iter().map(|(id, problem)| FieldProblem {
            field: Field {
                server: Some((*id).clone()),
                name: FieldName::Host,
            },
            problem: problem.clone(),
        }));
        problems
    }

    fn unread_addresses(&self) -> BTreeMap<&ServerId, Phrase> {
        let read = |(id, text): (_, &String)| Some((id, Target::parse(text).err()?));
        self.addresses.iter().filter_map(read).collect()
    }

    pub fn key(&self, owner: SecretOwner) -> SecretKey {
        SecretKey {
            topology: self.profile.id.clone(),
            owner,
        }
    }

    /// The passwords typed, and the profile.
    pub fn save(&mut self, out: &mut Vec<Action>) {
        for (owner, typed) in std::mem::take(&mut self.passwords) {
            let mut typed = typed;
            if let Some(secret) = typed.take() {
                let in_keychain = self.source(&owner) == Some(&SecretSource::Keychain);
                let key = self.key(owner);
                out.push(Action::KeepPassword {
                    key,
                    secret,
                    in_keychain,
                });
            }
        }
        out.push(Action::SaveProfile(self.profile.clone()));
    }

    /// Tries the draft as it is; typed passwords are lent for this session.
    pub fn test(&self, out: &mut Vec<Action>) {
        for (owner, typed) in &self.passwords {
            if let Some(secret) = typed.copy() {
                out.push(Action::KeepPassword {
                    key: self.key(owner.clone()),
                    secret,
                    in_keychain: false,
                });
            }
        }
        out.push(Action::TestProfile(self.profile.clone()));
    }

    fn source(&self, owner: &SecretOwner) -> Option<&SecretSource> {
        let account = match owner {
            SecretOwner::Topology => self.profile.account.as_ref(),
            SecretOwner::Server(id) => self.profile.server(id)?.account.as_ref(),
        };
        account.map(|account| &account.secret)
    }
}

pub fn empty_account() -> Account {
    Account {
        user: String::new(),
        secret: SecretSource::Keychain,
    }
}

/// An id nothing was ever filed under: a password kept for a deleted topology must not reach the servers of a new one.
pub fn fresh_id(name: &str, now: Moment) -> String {
    let stamp = base36(now.unix_micros().unsigned_abs());
    let name: String = slug(name).chars().take(40).collect();
    match name.is_empty() {
        true => stamp,
        false => format!("{name}-{stamp}"),
    }
}

fn base36(mut number: u64) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit((number % 36) as u32, 36).unwrap_or('0'));
        number /= 36;
        if number == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}

impl HeartbeatPreset {
    pub const ALL: [HeartbeatPreset; 6] = [
        HeartbeatPreset::None,
        HeartbeatPreset::Own,
        HeartbeatPreset::ReplHeartbeat,
        HeartbeatPreset::PtHeartbeat,
        HeartbeatPreset::Blip,
        HeartbeatPreset::Other,
    ];

    pub fn of(table: Option<&HeartbeatTable>) -> Self {
        let Some(table) = table else {
            return HeartbeatPreset::None;
        };
        let plain = HeartbeatTable {
            interval: None,
            ..table.clone()
        };
        let schema = &plain.schema;
        let known = [
            (HeartbeatPreset::Own, HeartbeatTable::own()),
            (HeartbeatPreset::Blip, HeartbeatTable::blip()),
            (
                HeartbeatPreset::ReplHeartbeat,
                HeartbeatTable::repl_heartbeat(schema),
            ),
            (
                HeartbeatPreset::ReplHeartbeat,
                HeartbeatTable {
                    zone: StampZone::Utc,
                    ..HeartbeatTable::repl_heartbeat(schema)
                },
            ),
            (
                HeartbeatPreset::PtHeartbeat,
                HeartbeatTable::pt_heartbeat(schema, plain.zone),
            ),
        ];
        let found = known.into_iter().find(|(_, known)| *known == plain);
        found.map_or(HeartbeatPreset::Other, |(preset, _)| preset)
    }

    /// The table it stands for; `before` lends its schema to those that may be anywhere.
    pub fn table(self, before: Option<&HeartbeatTable>) -> Option<HeartbeatTable> {
        let schema = |usual: &str| before.map_or(usual.to_owned(), |table| table.schema.clone());
        match self {
            HeartbeatPreset::None => None,
            HeartbeatPreset::Own => Some(HeartbeatTable::own()),
            HeartbeatPreset::ReplHeartbeat => Some(HeartbeatTable::repl_heartbeat(&schema("test"))),
            HeartbeatPreset::PtHeartbeat => Some(HeartbeatTable::pt_heartbeat(
                &schema("percona"),
                StampZone::Local,
            )),
            HeartbeatPreset::Blip => Some(HeartbeatTable::blip()),
            HeartbeatPreset::Other => Some(before.cloned().unwrap_or(HeartbeatTable {
                schema: String::new(),
                table: String::new(),
                time_column: "ts".to_owned(),
                layout: HeartbeatLayout::Single,
                zone: StampZone::Utc,
                interval: None,
            })),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Moment = Moment::from_unix_micros(1_700_000_000_000_000);

    fn saved() -> TopologyProfile {
        let mut shop = TopologyProfile::new(TopologyId("shop".into()), "Shop");
        let server = ServerProfile::new(ServerId("a".into()), Address::tcp("db1", 3306));
        shop.servers.push(server);
        shop
    }

    fn keys(draft: &Draft) -> Vec<(Option<&str>, &'static str)> {
        // leaked names would be simpler, but the draft outlives the list
        draft
            .problems()
            .iter()
            .map(|p| (p.field.server.as_ref().map(|_| "server"), p.problem.key))
            .collect()
    }

    #[test]
    fn an_address_that_cannot_be_read_stands_in_the_way_and_the_last_good_one_stays() {
        let mut draft = Draft::of(saved());
        let id = ServerId("a".into());
        draft.addresses.insert(id.clone(), "db1:99999".into());
        draft.read_address(&id);
        assert_eq!(keys(&draft), [(Some("server"), "profile.address.port")]);
        assert!(draft.is_dirty());
        draft.addresses.insert(id.clone(), "[2abc::1]:3307".into());
        draft.read_address(&id);
        assert_eq!(keys(&draft), []);
        assert_eq!(
            draft.profile.servers[0].address,
            Address::tcp("2abc::1", 3307)
        );
    }

    #[test]
    fn the_user_of_an_address_becomes_the_servers_own_account() {
        let mut draft = Draft::of(saved());
        let id = ServerId("a".into());
        draft.addresses.insert(id.clone(), "moni@db2:3307".into());
        draft.read_address(&id);
        draft.settle_address(&id);
        let server = &draft.profile.servers[0];
        assert_eq!(
            server.account.as_ref().map(|a| a.user.as_str()),
            Some("moni")
        );
        assert_eq!(draft.addresses[&id], "db2:3307");
    }

    #[test]
    fn a_new_topology_says_what_is_missing() {
        let draft = Draft::fresh(NOW);
        assert!(draft.is_untouched());
        assert_eq!(
            keys(&draft),
            [
                (None, "profile.name.empty"),
                (None, "profile.user.empty"),
                (Some("server"), "profile.address.no_host"),
            ]
        );
    }

    #[test]
    fn servers_added_at_one_moment_have_ids_of_their_own() {
        let mut draft = Draft::fresh(NOW);
        let second = draft.add_server(NOW);
        let third = draft.add_server(NOW);
        assert!(second != third && draft.profile.servers[0].id != second);
    }

    #[test]
    fn a_change_elsewhere_is_taken_over_unless_something_of_ours_would_be_lost() {
        let mut theirs = saved();
        theirs.name = "Shop EU".into();
        let mut untouched = Draft::of(saved());
        assert_eq!(untouched.meet(Some(&theirs)), Elsewhere::Same);
        assert_eq!(untouched.profile.name, "Shop EU");

        let mut edited = Draft::of(saved());
        edited.profile.name = "Store".into();
        assert_eq!(edited.meet(Some(&saved())), Elsewhere::Same);
        assert_eq!(edited.meet(Some(&theirs)), Elsewhere::Changed);
        assert_eq!(edited.meet(None), Elsewhere::Removed);
        edited.keep_ours(Some(&theirs));
        assert_eq!(edited.meet(Some(&theirs)), Elsewhere::Same);
        assert!(edited.is_dirty() && edited.profile.name == "Store");
    }

    #[test]
    fn a_duplicate_is_filed_under_an_id_of_its_own() {
        let draft = Draft::duplicate(&saved(), "Shop (copy)".into(), NOW);
        assert_ne!(draft.profile.id, saved().id);
        assert!(draft.is_new() && keys(&draft).is_empty());
    }

    #[test]
    fn every_preset_is_recognised_again() {
        for preset in HeartbeatPreset::ALL {
            let table = preset.table(None);
            assert_eq!(HeartbeatPreset::of(table.as_ref()), preset);
        }
    }

    #[test]
    fn saving_hands_the_password_over_and_not_in_the_profile() {
        let mut draft = Draft::of(saved());
        draft.profile.account = Some(Account {
            user: "m".into(),
            secret: SecretSource::Ask,
        });
        draft
            .passwords
            .insert(SecretOwner::Topology, TypedPassword::from_text("pw#1"));
        let mut out = Vec::new();
        draft.save(&mut out);
        assert!(
            matches!(&out[0], Action::KeepPassword { in_keychain: false, secret, .. } if secret.expose() == "pw#1")
        );
        assert!(matches!(&out[1], Action::SaveProfile(_)));
        assert!(!format!("{out:?}{draft:?}").contains("pw#1"));
    }
}
