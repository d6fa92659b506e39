//! The raw status, as the server sends it, with what changed since the last poll: for those who know the columns by
//! heart, and for bug reports.

use super::channels::channel_title;
use super::scene::Scene;
use crate::model::sample::{Named, Sample};
use crate::ui::panels::{Cell, RowColumn, Rows, Tone};

/// One list of names and values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RawGroup {
    pub title: String,
    pub rows: Vec<RawRow>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RawRow {
    pub name: String,
    /// `None` is NULL.
    pub value: Option<String>,
    /// What the last poll said, when it was something else.
    pub before: Option<Option<String>>,
}

/// The channels, then the counters and the settings.
pub fn groups(scene: &Scene<'_>) -> Vec<RawGroup> {
    let channels = scene.sample.channels().iter().map(|channel| {
        let before = scene
            .previous
            .and_then(|old| old.channels().iter().find(|c| c.name == channel.name));
        RawGroup {
            title: channel_title(scene, &channel.name),
            rows: changes(&channel.raw, before.map(|channel| channel.raw.as_slice())),
        }
    });
    let named = |title, of: fn(&Sample) -> Option<&Named>| {
        let now = listed(of(scene.sample)?);
        let before = scene.previous.and_then(of).map(listed);
        Some(RawGroup {
            title: scene.t(title).to_owned(),
            rows: changes(&now, before.as_deref()),
        })
    };
    let status = named("server.raw.status", |sample| sample.status.value());
    let settings = named("server.raw.settings", |sample| {
        sample.settings.value().map(AsRef::as_ref)
    });
    channels
        .chain(status)
        .chain(settings)
        .filter(|group| !group.rows.is_empty())
        .collect()
}

type Listed = Vec<(String, Option<String>)>;

fn listed(named: &Named) -> Listed {
    named
        .0
        .iter()
        .map(|(name, value)| (name.clone(), Some(value.clone())))
        .collect()
}

/// Without a poll before this one, nothing has changed.
fn changes(
    now: &[(String, Option<String>)],
    before: Option<&[(String, Option<String>)]>,
) -> Vec<RawRow> {
    now.iter()
        .enumerate()
        .map(|(n, (name, value))| {
            let same_place = before.and_then(|rows| rows.get(n).filter(|(old, _)| old == name));
            let old = same_place.or_else(|| before?.iter().find(|(old, _)| old == name));
            RawRow {
                name: name.clone(),
                value: value.clone(),
                before: old.map(|(_, old)| old.clone()).filter(|old| old != value),
            }
        })
        .collect()
}

impl RawGroup {
    /// The rows whose name or value contains the filter, whatever its case.
    pub fn shown(&self, filter: &str, only_changed: bool) -> Vec<&RawRow> {
        let filter = filter.trim().to_lowercase();
        let matches = |text: &str| text.to_lowercase().contains(&filter);
        self.rows
            .iter()
            .filter(|row| !only_changed || row.before.is_some())
            .filter(|row| {
                filter.is_empty() || matches(&row.name) || row.value.as_deref().is_some_and(matches)
            })
            .collect()
    }

    /// As the server's own client prints it with \G.
    pub fn text(&self) -> String {
        let lines = self.rows.iter().map(|row| {
            let value = row.value.as_deref().unwrap_or("NULL");
            format!("{}: {value}", row.name)
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    pub fn changed(&self) -> usize {
        self.rows.iter().filter(|row| row.before.is_some()).count()
    }
}

/// The table of the rows on show; a changed row is marked and says what it was.
pub fn table(titles: [&str; 3], rows: &[&RawRow]) -> Rows {
    let [name, value, before] = titles;
    Rows {
        columns: vec![
            RowColumn::words(name, 2.2),
            RowColumn::words(value, 3.2),
            RowColumn::words(before, 2.4),
        ],
        rows: rows.iter().map(|row| cells(row)).collect(),
        more: None,
    }
}

fn cells(row: &RawRow) -> Vec<Cell> {
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "NULL".to_owned());
    let tone = match (&row.value, &row.before) {
        (_, Some(_)) => Tone::Plain,
        (None, None) => Tone::Unknown,
        _ => Tone::Dim,
    };
    let mut name = Cell::new(&row.name).tone(tone);
    if row.before.is_some() {
        name.text = format!("● {}", row.name);
    }
    vec![
        name,
        Cell::code(text(&row.value)).tone(if row.value.is_none() {
            Tone::Dim
        } else {
            Tone::Plain
        }),
        Cell::code(row.before.as_ref().map(text).unwrap_or_default()).tone(Tone::Dim),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(pairs: &[(&str, Option<&str>)]) -> Listed {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.map(str::to_owned)))
            .collect()
    }

    #[test]
    fn only_what_changed_since_the_last_poll_is_marked() {
        let before = rows(&[("Pos", Some("5")), ("Lag", Some("0")), ("Host", Some("a"))]);
        let now = rows(&[("Pos", Some("7")), ("Lag", None), ("Host", Some("a"))]);
        let group = RawGroup {
            title: String::new(),
            rows: changes(&now, Some(&before)),
        };
        let changed: Vec<&str> = group
            .shown("", true)
            .iter()
            .map(|row| row.name.as_str())
            .collect();
        assert_eq!(changed, ["Pos", "Lag"]);
        assert_eq!(group.changed(), 2);
        assert_eq!(group.text(), "Pos: 7\nLag: NULL\nHost: a");
    }

    #[test]
    fn the_first_poll_has_no_changes() {
        assert_eq!(changes(&rows(&[("Pos", Some("7"))]), None)[0].before, None);
    }

    #[test]
    fn the_filter_looks_into_names_and_values() {
        let group = RawGroup {
            title: String::new(),
            rows: changes(
                &rows(&[("Source_Host", Some("db1")), ("Port", Some("3306"))]),
                None,
            ),
        };
        assert_eq!(group.shown("DB1", false).len(), 1);
        assert_eq!(group.shown("port", false).len(), 1);
        assert_eq!(group.shown("nothing", false).len(), 0);
    }
}
