//! What a step waits for, as a file writes it.

use super::file::{
    CauseWord, ConditionFile, CountFile, FaultFile, FindingFile, LagFile, RoleWord,
    SecondsBehindFile, SemiSyncFile, SemiSyncWord, StageWord, StaleWord, VerdictWord,
};
use super::read::FileReader;
use crate::model::acceptance::AcceptVerdict;
use crate::model::finding::Role;
use crate::model::lag::{CauseKind, Method};
use crate::model::lesson::condition::{StageKind, Staleness};
use crate::model::lesson::{Condition, LagRange, Presence, SecondsBehind, SemiSyncNow};
use crate::model::time::Span;

impl FileReader {
    pub(super) fn condition(&mut self, form: ConditionFile) -> Option<Condition> {
        Some(match form {
            ConditionFile::Finding(form) => self.finding(form)?,
            ConditionFile::Lag(form) => self.lag(form)?,
            ConditionFile::LagUnknown(form) => Condition::LagUnknown {
                on: self.server(&form.on)?,
            },
            ConditionFile::Cause(form) => Condition::Cause {
                on: self.server(&form.on)?,
                kind: form.kind.into(),
            },
            ConditionFile::Stage(form) => Condition::Stage {
                on: self.server(&form.on)?,
                stage: form.stage.into(),
                above: Span::from_millis(form.at_least_ms.into()),
            },
            ConditionFile::SecondsBehind(form) => self.seconds_behind(form)?,
            ConditionFile::SemiSync(form) => self.semi_sync(form)?,
            ConditionFile::Errant(form) => Condition::Errant {
                on: self.server(&form.on)?,
            },
            ConditionFile::Role(form) => Condition::Role {
                on: self.server(&form.on)?,
                is: form.is.into(),
            },
            ConditionFile::EventDisabled(form) => Condition::EventDisabled {
                on: self.server(&form.on)?,
            },
            ConditionFile::Fault(form) => self.fault_made(form)?,
            ConditionFile::LongReads(form) => Condition::LongReads {
                on: self.server(&form.on)?,
                at_least: form.at_least,
            },
            ConditionFile::Traffic(form) => Condition::Traffic {
                on: self.server(&form.on)?,
                at_least: form.per_second,
            },
            ConditionFile::ProbeOver => Condition::ProbeOver,
            ConditionFile::PlainStale(form) => Condition::PlainStale {
                kind: form.kind.into(),
                at_least: form.times,
            },
            ConditionFile::PlainFresh(CountFile { times: at_least }) => {
                Condition::PlainFresh { at_least }
            }
            ConditionFile::WaitedFresh(CountFile { times: at_least }) => {
                Condition::WaitedFresh { at_least }
            }
            ConditionFile::TimedOutToSource(CountFile { times: at_least }) => {
                Condition::TimedOutToSource { at_least }
            }
            ConditionFile::ReadFromSource(CountFile { times: at_least }) => {
                Condition::ReadFromSource { at_least }
            }
            ConditionFile::Accepted(form) => Condition::Accepted {
                verdict: form.verdict.map(AcceptVerdict::from),
            },
            ConditionFile::Compared => Condition::Compared,
            ConditionFile::Shown(spot) => Condition::Shown(self.spot(&spot)?),
            ConditionFile::All(parts) => Condition::All(self.parts(parts)),
            ConditionFile::Any(parts) => Condition::Any(self.parts(parts)),
        })
    }

    fn finding(&mut self, form: FindingFile) -> Option<Condition> {
        let on = match &form.on {
            Some(name) => Some(self.server(name)?),
            None => None,
        };
        Some(Condition::Finding {
            code: form.code,
            on,
            is: presence(form.gone),
        })
    }

    fn semi_sync(&mut self, form: SemiSyncFile) -> Option<Condition> {
        if !self.has_semi_sync {
            self.wrong("waits for semi-sync in a lab without it");
        }
        Some(Condition::SemiSync {
            on: self.server(&form.on)?,
            is: form.is.into(),
        })
    }

    fn fault_made(&mut self, form: FaultFile) -> Option<Condition> {
        let kind = self.fault(&form.kind)?;
        if !self.made.contains(kind.code()) {
            self.wrong(format!("waits for `{}`, which no step made", form.kind));
        }
        Some(Condition::Fault {
            kind,
            is: presence(form.gone),
        })
    }

    fn parts(&mut self, parts: Vec<ConditionFile>) -> Vec<Condition> {
        if parts.len() < 2 {
            self.wrong("`all` and `any` join at least two conditions");
        }
        parts
            .into_iter()
            .filter_map(|p| self.condition(p))
            .collect()
    }

    fn lag(&mut self, form: LagFile) -> Option<Condition> {
        let on = self.server(&form.on)?;
        let method = match &form.method {
            None => None,
            Some(code) => match Method::ALL.into_iter().find(|m| m.code() == code) {
                Some(method) => Some(method),
                None => {
                    self.wrong(format!("there is no method `{code}`"));
                    return None;
                }
            },
        };
        let span = |ms: Option<u32>| ms.map(|ms| Span::from_millis(ms.into()));
        let range = LagRange {
            at_least: span(form.at_least_ms),
            at_most: span(form.at_most_ms),
        };
        match (range.at_least, range.at_most) {
            (None, None) => self.wrong("a lag needs `at_least_ms` or `at_most_ms`"),
            (Some(least), Some(most)) if least > most => {
                self.wrong("no lag is at least that much and at most that little");
            }
            _ => {}
        }
        Some(Condition::Lag { on, method, range })
    }

    fn seconds_behind(&mut self, form: SecondsBehindFile) -> Option<Condition> {
        let on = self.server(&form.on)?;
        let is = match (form.null, form.at_least, form.at_most) {
            (true, None, None) => SecondsBehind::Null,
            (false, Some(least), None) => SecondsBehind::AtLeast(least),
            (false, None, Some(most)) => SecondsBehind::AtMost(most),
            _ => {
                self.wrong("Seconds_Behind_Source is one of `null`, `at_least`, `at_most`");
                return None;
            }
        };
        Some(Condition::SecondsBehind { on, is })
    }
}

fn presence(gone: bool) -> Presence {
    match gone {
        true => Presence::Gone,
        false => Presence::There,
    }
}

impl From<CauseWord> for CauseKind {
    fn from(word: CauseWord) -> Self {
        match word {
            CauseWord::ReceiverStopped => CauseKind::ReceiverStopped,
            CauseWord::ReceiverConnecting => CauseKind::ReceiverConnecting,
            CauseWord::ApplierStopped => CauseKind::ApplierStopped,
            CauseWord::ApplierBroken => CauseKind::ApplierBroken,
            CauseWord::BigTransaction => CauseKind::BigTransaction,
            CauseWord::TooFewWorkers => CauseKind::TooFewWorkers,
            CauseWord::BlockedByLock => CauseKind::BlockedByLock,
            CauseWord::SlowReaders => CauseKind::SlowReaders,
            CauseWord::SlowNetwork => CauseKind::SlowNetwork,
            CauseWord::PlannedDelay => CauseKind::PlannedDelay,
            CauseWord::HeartbeatWriterDown => CauseKind::HeartbeatWriterDown,
            CauseWord::ClockOrZone => CauseKind::ClockOrZone,
        }
    }
}

impl From<StageWord> for StageKind {
    fn from(word: StageWord) -> Self {
        match word {
            StageWord::Transport => StageKind::Transport,
            StageWord::Queue => StageKind::Queue,
            StageWord::Apply => StageKind::Apply,
        }
    }
}

impl From<SemiSyncWord> for SemiSyncNow {
    fn from(word: SemiSyncWord) -> Self {
        match word {
            SemiSyncWord::Active => SemiSyncNow::Active,
            SemiSyncWord::Degraded => SemiSyncNow::Degraded,
        }
    }
}

impl From<RoleWord> for Role {
    fn from(word: RoleWord) -> Self {
        match word {
            RoleWord::Source => Role::Source,
            RoleWord::Replica => Role::Replica,
        }
    }
}

impl From<StaleWord> for Staleness {
    fn from(word: StaleWord) -> Self {
        match word {
            StaleWord::Any => Staleness::Any,
            StaleWord::Missing => Staleness::Missing,
            StaleWord::Old => Staleness::Old,
        }
    }
}

impl From<VerdictWord> for AcceptVerdict {
    fn from(word: VerdictWord) -> Self {
        match word {
            VerdictWord::Passed => AcceptVerdict::Passed,
            VerdictWord::Failed => AcceptVerdict::Failed,
            VerdictWord::Incomplete => AcceptVerdict::Incomplete,
        }
    }
}
