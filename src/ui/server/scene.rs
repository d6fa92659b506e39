//! What the panels of one server are made from, and the few questions they all ask.

use crate::model::dialect::Dialect;
use crate::model::phrase::{Arg, Phrase, phrase};
use crate::model::sample::{Answer, Named, Sample};
use crate::model::time::Moment;
use crate::store::judged::ServerJudged;
use crate::store::watched::Watched;
use crate::ui::Frame;
use crate::ui::panels::{FactRow, Panel, from_where, told};

use super::sql::{self, Asked};

/// One server with the sample that is shown, and the one before it.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    pub frame: &'a Frame<'a>,
    pub server: &'a Watched,
    pub sample: &'a Sample,
    pub previous: Option<&'a Sample>,
    pub judged: Option<&'a ServerJudged>,
}

impl<'a> Scene<'a> {
    pub fn of(frame: &'a Frame<'a>, server: &'a Watched) -> Option<Self> {
        let judged = frame
            .topology
            .and_then(|topology| frame.store.judged(topology))
            .and_then(|judged| judged.servers.get(&server.watch()));
        Some(Scene {
            frame,
            server,
            sample: server.last_known.as_deref()?,
            previous: server.previous.as_deref(),
            judged,
        })
    }

    pub fn t(&self, key: &'static str) -> &'a str {
        self.frame.words.text(key)
    }

    pub fn say(&self, phrase: &Phrase) -> String {
        self.frame.words.say(phrase)
    }

    /// A sentence with one value in it.
    pub fn with(&self, key: &'static str, name: &'static str, value: impl Into<Arg>) -> String {
        self.say(&phrase(key).with(name, value))
    }

    /// In whose words this server is spoken of.
    pub fn dialect(&self) -> Dialect {
        Dialect::of_product(&self.sample.product)
    }

    /// What this server calls what MySQL 8.4 calls so.
    pub fn own_name(&self, modern: &'static str) -> &'static str {
        self.dialect().name(modern)
    }

    /// The same of a semi-sync name: which plugin is loaded decides, not the version (R23).
    pub fn semi_sync_name(&self, modern: &'static str, old: &'static str) -> &'static str {
        let told = self.sample.status.value();
        let is_old = told.is_some_and(|told| told.text("rpl_semi_sync_master_status").is_some());
        if is_old { old } else { modern }
    }

    pub fn sql(&self, asked: Asked) -> Option<String> {
        sql::of(asked, &self.sample.product)
    }

    pub fn panel(&self, id: &str, title: &'static str, asked: Asked) -> Panel {
        Panel::new(id, self.t(title)).sql(self.sql(asked))
    }

    /// A value with its source and age on hover.
    pub fn fact<T>(
        &self,
        name: &'static str,
        value: Option<T>,
        word: impl FnOnce(T) -> String,
        source: &str,
    ) -> FactRow {
        self.fact_at(self.t(name), value, word, source, self.sample.answered_at)
    }

    pub fn fact_at<T>(
        &self,
        name: &str,
        value: Option<T>,
        word: impl FnOnce(T) -> String,
        source: &str,
        at: Moment,
    ) -> FactRow {
        let (value, tone) = told(self.frame, value, word);
        FactRow::new(name, value)
            .tone(tone)
            .source(from_where(self.frame, source, at))
    }

    /// How much a counter grew per second between the last two polls; `None` when it was reset or not told twice.
    pub fn rate(&self, names: &[&str]) -> Option<f64> {
        let (now, at) = counters(&self.sample.status)?;
        let (before, earlier) = counters(&self.previous?.status)?;
        rate(now.number(names)?, before.number(names)?, at, earlier)
    }
}

fn counters(answer: &Answer<Named>) -> Option<(&Named, Moment)> {
    match answer {
        Answer::Known { value, at } => Some((value, *at)),
        _ => None,
    }
}

fn rate(now: u64, before: u64, at: Moment, earlier: Moment) -> Option<f64> {
    let passed = at.since(earlier).secs_f64();
    let grown = now.checked_sub(before)?;
    (passed > 0.0).then(|| grown as f64 / passed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_was_reset_has_no_rate() {
        let at = Moment::from_unix_micros(3_000_000);
        let earlier = Moment::from_unix_micros(1_000_000);
        assert_eq!(rate(30, 10, at, earlier), Some(10.0));
        assert_eq!(rate(5, 10, at, earlier), None);
        assert_eq!(rate(30, 10, at, at), None);
    }
}
