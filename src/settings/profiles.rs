//! The profiles on disk: `profiles.toml` in the config folder, and single files for export, import and `--topology`.
//!
//! A topology this version cannot read is told with its line, kept as it was found, and written back with the others. A
//! file that is no TOML at all is moved aside when the program starts; while it runs and somebody edits the file by hand,
//! it is left alone and told.

use super::file::{self, Content, SettingsFile};
use super::format::{FileEntry, FileRoot, FileTopology, HEADER};
use super::notice::{Damage, Notice, SaveError, io_reason, line_at, shown};
use super::paths;
use crate::model::phrase::phrase;
use crate::model::profile::{ServerId, TopologyId, TopologyProfile, WritePermission, slug};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use toml::Table;
use toml::de::{DeTable, DeValue, ValueDeserializer};

/// What was read, and what the person must hear about it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loaded {
    pub profiles: Vec<TopologyProfile>,
    pub notices: Vec<Notice>,
}

/// `profiles.toml`, as we last saw it.
#[derive(Debug)]
pub struct ProfileStore {
    file: SettingsFile,
    kept: Kept,
}

/// What is in the file beside the profiles, to be written back.
#[derive(Clone, Debug, Default)]
struct Kept {
    root: Table,
    unreadable: Vec<toml::Value>,
    /// Topologies as found, for the unknown keys in them.
    found: BTreeMap<TopologyId, FileTopology>,
}

/// Reads the profiles of a config folder; a damaged file is moved aside first. Never fails: what cannot be read is told.
pub fn load(config_dir: &Path) -> (ProfileStore, Loaded) {
    let (mut file, content) = SettingsFile::open(paths::profiles_file(config_dir));
    let (kept, loaded) = match understand(file.path(), content) {
        Ok(understood) => understood,
        Err(Unusable::Damaged(damage)) => (Kept::default(), only(file.put_damaged_aside(&damage))),
        Err(Unusable::Told(notice)) => (Kept::default(), only(notice)),
    };
    (ProfileStore { file, kept }, loaded)
}

impl ProfileStore {
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Whether the file was changed by somebody else since it was loaded, saved or reloaded. Cheap enough for every second.
    pub fn changed_on_disk(&self) -> bool {
        self.file.changed_on_disk()
    }

    /// Reads again what somebody changed. If it cannot be used, the notice says why and everything stays as it was.
    pub fn reload(&mut self) -> Result<Loaded, Notice> {
        let path = self.file.path().to_owned();
        let (kept, loaded) = self.file.reopen(|content| match content {
            // No reason to forget what the window shows; saving writes it again.
            Content::Absent => Err(Notice::warning(
                phrase("settings.file.gone").with("path", shown(&path)),
            )),
            content => understand(&path, content).map_err(|unusable| match unusable {
                Unusable::Damaged(damage) => damaged_notice(&path, damage),
                Unusable::Told(notice) => notice,
            }),
        })?;
        self.kept = kept;
        Ok(loaded)
    }

    /// Replaces the file in one step, unless somebody else changed it or it must not be touched.
    pub fn save(&mut self, profiles: &[TopologyProfile]) -> Result<(), SaveError> {
        let text = self.print_faithfully(profiles)?;
        self.file.write(&text)
    }

    /// After a conflict, when the person wants theirs: the other's file is kept beside it, under the name returned by the
    /// notice.
    pub fn save_over_changes(
        &mut self,
        profiles: &[TopologyProfile],
    ) -> Result<Option<Notice>, SaveError> {
        let text = self.print_faithfully(profiles)?;
        let aside = self.file.move_changes_aside()?;
        self.file.write(&text)?;
        Ok(aside
            .map(|path| Notice::hint(phrase("settings.file.replaced").with("aside", shown(&path)))))
    }

    /// The text of the file, once it is proved that reading it gives the same profiles.
    fn print_faithfully(&self, profiles: &[TopologyProfile]) -> Result<String, SaveError> {
        let unfaithful = || SaveError::NotFaithful {
            path: self.file.path().to_owned(),
        };
        let text = print(profiles, &self.kept).ok_or_else(unfaithful)?;
        match parse(&text) {
            Ok((_, loaded)) if loaded.profiles == profiles => Ok(text),
            _ => Err(unfaithful()),
        }
    }
}

/// Reads a file of the person's choice: for import and `--topology FILE`. It is never changed.
pub fn read_file(path: &Path) -> Result<Loaded, Notice> {
    match file::read(path) {
        Content::Absent => {
            let reason = io_reason(&std::io::ErrorKind::NotFound.into());
            let text = phrase("settings.file.unreadable").with("reason", reason);
            Err(Notice::warning(text.with("path", shown(path))))
        }
        content => match understand(path, content) {
            Ok((_, loaded)) => Ok(loaded),
            Err(Unusable::Damaged(damage)) => Err(damaged_notice(path, damage)),
            Err(Unusable::Told(notice)) => Err(notice),
        },
    }
}

/// Writes profiles into a file of the person's choice; the format is that of `profiles.toml`. What was there before is
/// replaced: whoever chose the file was asked.
pub fn export(path: &Path, profiles: &[TopologyProfile]) -> Result<(), SaveError> {
    let mut store = ProfileStore {
        file: SettingsFile::open(path.to_owned()).0,
        kept: Kept::default(),
    };
    store.save(profiles)
}

/// Adds imported profiles; one whose id is taken gets a fresh one, so that it neither replaces nor meets its passwords.
pub fn add_imported(profiles: &mut Vec<TopologyProfile>, imported: Vec<TopologyProfile>) {
    for mut profile in imported {
        if profiles.iter().any(|p| p.id == profile.id) {
            profile.id = fresh_topology_id(&profile.name);
        }
        // Whoever wrote the file may allow it on their servers; here the person decides anew.
        profile.writes = WritePermission::Forbidden;
        profiles.push(profile);
    }
}

/// An id nothing was ever filed under: a password kept for a deleted topology of the same name must not reach the
/// servers of a new one.
pub fn fresh_topology_id(name: &str) -> TopologyId {
    TopologyId(fresh_id(name))
}

/// See [`fresh_topology_id`].
pub fn fresh_server_id(name: &str) -> ServerId {
    ServerId(fresh_id(name))
}

fn fresh_id(name: &str) -> String {
    let suffix: String = std::iter::repeat_with(fastrand::alphanumeric)
        .take(8)
        .collect();
    let name: String = slug(name).chars().take(40).collect();
    match name.is_empty() {
        true => suffix.to_lowercase(),
        false => format!("{name}-{}", suffix.to_lowercase()),
    }
}

enum Unusable {
    Damaged(Damage),
    Told(Notice),
}

fn understand(path: &Path, content: Content) -> Result<(Kept, Loaded), Unusable> {
    if let Content::Damaged(damage) = content {
        return Err(Unusable::Damaged(damage));
    }
    if let Some(notice) = file::notice(path, &content) {
        return Err(Unusable::Told(notice));
    }
    match content {
        Content::Text(text) => parse(&text).map_err(Unusable::Damaged),
        _ => Ok(Default::default()),
    }
}

fn only(notice: Notice) -> Loaded {
    Loaded {
        profiles: Vec::new(),
        notices: vec![notice],
    }
}

fn damaged_notice(path: &Path, damage: Damage) -> Notice {
    let content = Content::Damaged(damage);
    file::notice(path, &content).unwrap_or_else(|| Notice::warning(phrase("settings.file.damaged")))
}

/// Total: any text gives profiles, notices or damage.
fn parse(text: &str) -> Result<(Kept, Loaded), Damage> {
    let root = DeTable::parse(text).map_err(|error| Damage::toml(text, &error))?;
    let mut kept = Kept::default();
    let mut loaded = Loaded::default();
    let mut ids = BTreeSet::new();
    for (key, value) in root.into_inner() {
        match key.get_ref().as_ref() {
            "version" => {}
            "topology" => {
                let line = line_at(text, value.span().start);
                let DeValue::Array(topologies) = value.into_inner() else {
                    return Err(Damage::new(
                        Some(line),
                        phrase("settings.damage.not_a_list"),
                    ));
                };
                for topology in topologies {
                    read_topology(text, topology, &mut ids, &mut kept, &mut loaded)?;
                }
            }
            name => {
                let name = name.to_owned();
                kept.root.insert(name, as_found(text, value)?);
            }
        }
    }
    Ok((kept, loaded))
}

type Spanned<T> = toml::Spanned<T>;

fn read_topology(
    text: &str,
    value: Spanned<DeValue<'_>>,
    ids: &mut BTreeSet<String>,
    kept: &mut Kept,
    loaded: &mut Loaded,
) -> Result<(), Damage> {
    let ids_before = ids.clone();
    match topology_of(text, &value, ids) {
        Ok((profile, mut found)) => {
            if found.drop_passwords() {
                loaded.notices.push(Notice::warning(
                    phrase("settings.topology.password").with("topology", profile.name.clone()),
                ));
            }
            kept.found.insert(profile.id.clone(), found);
            loaded.profiles.push(profile);
        }
        Err(damage) => {
            *ids = ids_before;
            loaded.notices.push(Notice::warning(
                phrase("settings.topology.unreadable").with("reason", damage.phrase()),
            ));
            kept.unreadable.push(as_found(text, value)?);
        }
    }
    Ok(())
}

fn topology_of(
    text: &str,
    value: &Spanned<DeValue<'_>>,
    ids: &mut BTreeSet<String>,
) -> Result<(TopologyProfile, FileTopology), Damage> {
    let mut found = FileTopology::deserialize(ValueDeserializer::from(value.clone()))
        .map_err(|error| Damage::toml(text, &error))?;
    let profile = found.make_profile(ids).map_err(|misfit| {
        let server = misfit
            .server
            .and_then(|index| value.get_ref().get("server")?.get_ref().get(index));
        let span = server.unwrap_or(value).span();
        Damage::new(Some(line_at(text, span.start)), misfit.reason)
    })?;
    Ok((profile, found))
}

fn as_found(text: &str, value: Spanned<DeValue<'_>>) -> Result<toml::Value, Damage> {
    toml::Value::deserialize(ValueDeserializer::from(value))
        .map_err(|error| Damage::toml(text, &error))
}

/// None if something in it has no spelling in TOML (a path that is not UTF-8).
fn print(profiles: &[TopologyProfile], kept: &Kept) -> Option<String> {
    let readable = profiles.iter().map(|profile| {
        let mut topology = FileTopology::of(profile);
        if let Some(found) = kept.found.get(&profile.id) {
            topology.keep_unknown_of(found);
        }
        FileEntry::Readable(Box::new(topology))
    });
    let as_found = kept.unreadable.iter().cloned().map(FileEntry::AsFound);
    let root = FileRoot {
        version: file::VERSION,
        topology: readable.chain(as_found).collect(),
        unknown: kept.root.clone(),
    };
    let toml = toml::to_string_pretty(&root).ok()?;
    Some(format!("{HEADER}{toml}"))
}

#[cfg(test)]
mod tests;
