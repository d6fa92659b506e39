//! The comparison of the routing rules, as the window runs it: started on the person's word, told to its screen.

use std::sync::Arc;

use super::App;
use crate::app::comparing::desk::Export;
use crate::app::comparing::{ComparePlan, Comparing, Servers};
use crate::app::probing::prepare;
use crate::link::clock;
use crate::model::finding::Role;
use crate::model::phrase::{Phrase, phrase};
use crate::model::probe::{DEFAULT_SCHEMA, Met};
use crate::model::profile::{ExpectedRole, TopologyId, TopologyProfile};
use crate::model::server::Product;
use crate::model::time::{Moment, Span};
use crate::monitor::prober::{EndReason, ProbedServer};
use crate::mysql::probing;
use crate::routing::compare::Outcome;
use crate::ui::action::{Action, Screen};
use crate::ui::routing::{Report, SqlShown};
use crate::ui::widgets::Sign;

/// While it runs, what was seen so far is judged this often.
const JUDGE_EVERY: Span = Span::from_secs(2);

/// What the person chose.
struct Wanted {
    topology: TopologyId,
    length: Span,
    rate: u32,
    spare_per_second: Option<u32>,
    typed_name: String,
}

impl App {
    fn start_comparing(&mut self, wanted: Wanted) {
        if let Err(why) = self.try_to_compare(wanted) {
            self.say(Sign::Critical, &why);
        }
    }

    fn try_to_compare(&mut self, wanted: Wanted) -> Result<(), Phrase> {
        let running = self.comparing.as_ref().is_some_and(|c| c.end.is_none());
        if running {
            return Err(phrase("rules.plan.running"));
        }
        if self.accepting.board.running().is_some() {
            return Err(phrase("acceptance.refused.running"));
        }
        let profile = self.profile(&wanted.topology).cloned();
        let profile = profile.ok_or_else(|| phrase("rules.plan.no_source"))?;
        // The screen asks for both; here nothing is taken on trust.
        if !self.probing.board.may_write(&profile) {
            return Err(phrase("rules.plan.not_allowed"));
        }
        let typed = wanted.typed_name.trim();
        if profile.environment.guards_writes() && (typed.is_empty() || typed != profile.name.trim())
        {
            return Err(phrase("probe.cli.not_confirmed"));
        }
        let kept = self.screens.routing.board.kept.get(&profile.id);
        let kinds = kept.map(|kept| kept.kinds.clone()).unwrap_or_default();
        let plan = ComparePlan {
            kinds: kinds.routes(&|server| self.conductor.watch_of(&profile.id, server)),
            length: wanted.length,
            rate: wanted.rate,
            spare_per_second: wanted.spare_per_second.map(f64::from),
            schema: DEFAULT_SCHEMA.to_owned(),
            seed: fastrand::u64(..),
        };
        if let Some(problem) = plan.problem() {
            return Err(problem);
        }
        let servers = self.compared_servers(&profile)?;
        let comparing = Comparing::start(
            profile.id.clone(),
            plan,
            servers,
            &self.conductor.store,
            clock::now(),
        )
        .map_err(|error| phrase("window.no_thread").with("reason", error.to_string()))?;
        self.pause(false);
        self.keep_the_last_result();
        self.comparing = Some(comparing);
        self.teaching.compare_started = Some(clock::now());
        self.tell_comparison(clock::now());
        Ok(())
    }

    /// Of the topology whose report is on show; `None` while it is not whole.
    fn result(&self, topology: &TopologyId) -> Option<(Outcome, Moment)> {
        let report = self.screens.routing.report.as_ref()?;
        let whole = report.topology == *topology && !report.is_running;
        report
            .outcome
            .clone()
            .filter(|_| whole)
            .map(|outcome| (outcome, report.at))
    }

    fn keep_the_last_result(&mut self) {
        let Some(report) = &self.screens.routing.report else {
            return;
        };
        let topology = report.topology.clone();
        if let Some((outcome, at)) = self.result(&topology) {
            let board = &mut self.screens.routing.board;
            self.compare_desk
                .keep_unnamed(board, &topology, (&outcome, at));
        }
    }

    pub(super) fn perform_comparison(&mut self, action: Action) -> Option<Action> {
        match action {
            Action::Compare {
                topology,
                length,
                rate,
                spare_per_second,
                typed_name,
            } => self.start_comparing(Wanted {
                topology,
                length,
                rate,
                spare_per_second,
                typed_name,
            }),
            Action::StopComparing => {
                if let Some(comparing) = &self.comparing {
                    comparing.stop();
                }
            }
            Action::KeepKinds(topology) => {
                self.compare_desk
                    .save(&self.screens.routing.board, &topology);
            }
            Action::SaveComparison { topology, name } => {
                if let Some((outcome, at)) = self.result(&topology) {
                    let board = &mut self.screens.routing.board;
                    self.compare_desk
                        .keep(board, &topology, (&outcome, at), &name);
                }
            }
            Action::ExportComparison {
                topology,
                format,
                to,
                may_replace,
            } => {
                let file = Export {
                    format,
                    to,
                    may_replace,
                };
                self.export_comparison(&topology, file);
            }
            other => return Some(other),
        }
        None
    }

    fn export_comparison(&mut self, topology: &TopologyId, file: Export) {
        let Some((outcome, _)) = self.result(topology) else {
            return;
        };
        let comparing = self.comparing.as_ref();
        let end = comparing
            .filter(|comparing| comparing.topology == *topology)
            .and_then(|comparing| comparing.end.clone());
        let board = &mut self.screens.routing.board;
        self.compare_desk.export(board, outcome, end, file);
    }

    /// The source by what was seen, or as the profile has it; and the watched replicas.
    fn compared_servers(&self, profile: &TopologyProfile) -> Result<Servers, Phrase> {
        let judged = self.conductor.store.judged(&profile.id);
        let judged = judged.ok_or_else(|| phrase("rules.plan.no_source"))?;
        let mut sources = Vec::new();
        let mut replicas = Vec::new();
        for server in &profile.servers {
            let watch = self.conductor.watch_of(&profile.id, &server.id);
            let dial = self.probing.dial(&profile.id, &server.id);
            let (Some(watch), Some(dial)) = (watch, dial) else {
                continue;
            };
            let role = judged.servers.get(&watch).map(|judged| judged.role);
            let probed = ProbedServer {
                name: server.label(),
                dial: Arc::clone(dial),
            };
            match role {
                Some(Role::Replica | Role::Intermediate) => replicas.push((watch, probed)),
                Some(Role::Source) => sources.push((server.role, probed)),
                _ => {}
            }
        }
        if replicas.is_empty() {
            return Err(phrase("rules.plan.no_replica"));
        }
        if sources.len() > 1 {
            sources.retain(|(expected, _)| *expected == ExpectedRole::Source);
        }
        match sources.len() {
            1 => Ok(Servers {
                source: sources.swap_remove(0).1,
                replicas,
            }),
            _ => Err(phrase("rules.plan.no_source")),
        }
    }

    /// Takes in what the comparison reported.
    pub(super) fn hear_comparison(&mut self, now: Moment) {
        let Some(comparing) = &mut self.comparing else {
            return;
        };
        if comparing.end.is_some() {
            return;
        }
        comparing.take_in(&self.conductor.store, now);
        self.tell_comparison(now);
    }

    fn tell_comparison(&mut self, now: Moment) {
        let Some(comparing) = &self.comparing else {
            return;
        };
        let known = self.screens.routing.report.take();
        let known = known.filter(|report| report.topology == comparing.topology);
        let (done, planned) = comparing.progress();
        let is_running = comparing.end.is_none();
        let due = known
            .as_ref()
            .is_none_or(|known| now.since(known.at) >= JUDGE_EVERY);
        let (outcome, at) = match known {
            Some(known) if is_running && !due => (known.outcome, known.at),
            _ => (Some(comparing.outcome()).filter(|seen| seen.reads > 0), now),
        };
        self.screens.routing.report = Some(Report {
            topology: comparing.topology.clone(),
            is_running,
            done,
            planned,
            outcome,
            at,
            troubles: troubles(comparing),
        });
    }

    /// Where writing is allowed, and what would be sent, before it is.
    pub(super) fn tell_routing(&mut self) {
        let enabled = &self.probing.board.enabled;
        if self.screens.routing.enabled != *enabled {
            self.screens.routing.enabled = enabled.clone();
        }
        if self.shell.screen != Screen::Routing {
            return;
        }
        let Some(topology) = self.topology.clone() else {
            return;
        };
        let known = &self.screens.routing.sql;
        if known.as_ref().is_some_and(|sql| sql.topology == topology) {
            return;
        }
        let Some(profile) = self.profile(&topology).cloned() else {
            return;
        };
        let plan = ComparePlan::default().probe_plan();
        let known = self.conductor.store.servers_of(&topology);
        let known = known.filter_map(|server| server.last_known.as_ref());
        let known: Vec<Product> = known.map(|sample| sample.product.clone()).collect();
        if known.is_empty() {
            return;
        }
        let mut text = String::new();
        let list = prepare::listed_by(probing::listed_for_workload, &plan, known.into_iter());
        for (flavour, statements) in list {
            text += &format!("-- {flavour}\n");
            for listed in statements {
                let on = self.words().text(listed.on.key());
                text += &format!("/* {on} */ {}\n", listed.sql);
            }
        }
        self.screens.routing.sql = Some(SqlShown {
            topology,
            statements: text,
            grant: prepare::grant(&plan, &profile),
        });
    }
}

fn troubles(comparing: &Comparing) -> Vec<Phrase> {
    let unmet = comparing.needs.iter().filter(|need| need.met != Met::Yes);
    let mut troubles: Vec<Phrase> = unmet.map(|need| need.what.clone()).collect();
    let Some(end) = &comparing.end else {
        return troubles;
    };
    match &end.why {
        EndReason::AllRun => {}
        EndReason::Stopped => troubles.push(phrase("rules.end.stopped")),
        EndReason::Failed(trouble) => {
            troubles.push(trouble.what.clone());
            troubles.extend(trouble.hint.clone());
        }
    }
    if let Some(Err(trouble)) = &end.clean_up {
        troubles.push(phrase("probe.end.rows_left").with("why", trouble.what.clone()));
    }
    troubles
}
