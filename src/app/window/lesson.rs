//! A lesson as the window teaches it: its orders obeyed, its acts carried out by the same actions a person presses.

use eframe::egui::Context;

use super::App;
use crate::app::teaching::Busy;
use crate::app::teaching::facts::{Seen, facts, screen_of};
use crate::link::clock;
use crate::model::lab::{Fault, FaultKind, LabOrder, LabPhase, LabServer};
use crate::model::lesson::{Act, LessonFacts, LessonOrder, Spot};
use crate::model::phrase::{Phrase, phrase};
use crate::model::profile::ServerId;
use crate::model::time::Moment;
use crate::ui::acceptance::DEFAULT_WAIT_LIMIT;
use crate::ui::action::{Action, Screen};
use crate::ui::lab::is_active;
use crate::ui::lesson::board::LessonBoard;
use crate::ui::lesson::pointer;
use crate::ui::widgets::Sign;

/// The presenter view is made for so many points.
const PRESENTED_WIDTH: f32 = 960.0;
const LARGEST_ZOOM: f32 = 4.0;

impl App {
    pub fn lesson(&self) -> &LessonBoard {
        &self.teaching.board
    }

    /// Why there is no lab, if one was wanted.
    pub fn lab_failure(&self) -> Option<Phrase> {
        let status = self.lab.board.status.as_ref();
        match status.map(|status| &status.phase) {
            Some(LabPhase::Failed(trouble)) => Some(trouble.what.clone()),
            _ => None,
        }
    }

    pub fn obey_lesson(&mut self, ctx: &Context, order: LessonOrder) {
        let now = clock::now();
        match order {
            LessonOrder::Begin(id) => self.begin_lesson(&id, now),
            LessonOrder::Leave => self.leave_lesson(ctx),
            LessonOrder::Forward => self.teaching.turn(|run| run.forward(now)),
            LessonOrder::Back => self.teaching.turn(|run| run.back(now)),
            LessonOrder::Open(page) => self.teaching.turn(|run| run.go_to(page, now)),
            LessonOrder::Act => self.teaching.act(now),
            LessonOrder::Say => {
                let lab = self.lab.board.status.as_ref();
                self.teaching.say(lab, self.lab.wake());
            }
            LessonOrder::Tick => self.teaching.turn(|run| run.tick()),
            LessonOrder::RevealAnswer => self.teaching.turn(|run| run.reveal_answer()),
            LessonOrder::Look(spot) => {
                // it is on a screen that the large view hides
                self.present(ctx, false);
                self.look_at(ctx, spot);
            }
            LessonOrder::Present(is_presenting) => self.present(ctx, is_presenting),
            LessonOrder::BuildLab => self.build_lab_of_lesson(),
        }
    }

    fn begin_lesson(&mut self, id: &str, now: Moment) {
        if !self.teaching.begin(id, now) {
            let text = phrase("lab_screen.cli.no_lesson").with("id", id);
            return self.say(Sign::Critical, &text);
        }
        self.fit_lesson();
        self.carry_traffic_of_lesson();
        self.screens.show_lessons();
        self.shell.screen = Screen::Lab;
    }

    fn fit_lesson(&mut self) {
        let source = self.server_of(0).zip(self.lab.board.topology.as_ref());
        let source =
            source.and_then(|(id, topology)| self.conductor.store.of_server(topology, &id));
        let latest = source.and_then(|server| server.latest.as_ref());
        let version = latest.map(|sample| sample.product.version);
        self.teaching.fit(&self.lab.board, version);
    }

    /// A lab that stands already may carry less than the lesson needs.
    fn carry_traffic_of_lesson(&mut self) {
        if let Some(run) = &self.teaching.board.run
            && self.lab.board.is_running()
        {
            let traffic = run.lesson().lab.plan.traffic;
            self.lab.send(LabOrder::Carry(traffic));
        }
    }

    /// The next lesson is not to begin with what this one broke.
    fn leave_lesson(&mut self, ctx: &Context) {
        self.present(ctx, false);
        self.teaching.leave();
        let status = self.lab.board.status.as_ref();
        if status.is_some_and(|status| status.faults.iter().any(is_active)) {
            self.lab.send(LabOrder::UndoAll);
        }
    }

    fn present(&mut self, ctx: &Context, is_presenting: bool) {
        if self.teaching.board.is_presenting != is_presenting {
            self.teaching.board.is_presenting = is_presenting;
            self.apply_preferences(ctx);
        }
    }

    /// So that the small letters of a picture are read from the last row, whatever the projector's resolution.
    pub(super) fn zoom_for_projector(&self, ctx: &Context) {
        let zoom = ctx.zoom_factor();
        let width = ctx.content_rect().width() * zoom;
        let wanted = (width / PRESENTED_WIDTH).clamp(1.0, LARGEST_ZOOM);
        if (wanted - zoom).abs() > 0.01 {
            ctx.set_zoom_factor(wanted);
        }
    }

    /// In place of the lab that stands, of the same servers.
    fn build_lab_of_lesson(&mut self) {
        let Some(run) = &self.teaching.board.run else {
            return;
        };
        let need = &run.lesson().lab;
        let mut plan = need.plan.clone();
        let before = self.lab.board.status.as_ref();
        if let Some(status) = before {
            plan.ground = status.plan.ground;
        }
        self.overview_follows = false;
        self.lab.start(plan, None);
    }

    /// Brings the screen up, on the lab and on the server that is meant.
    fn look_at(&mut self, ctx: &Context, spot: Spot) {
        if let Some(topology) = self.lab.board.topology.clone()
            && self.topology.as_ref() != Some(&topology)
        {
            self.open(&topology);
        }
        let server = spot.server().and_then(|server| self.server_of(server));
        if server.is_some() {
            self.server = server.clone();
        }
        if let Some(place) = spot.place() {
            self.shell.screen = screen_of(place);
        }
        if self.shell.screen == Screen::Lab {
            self.screens.show_lab();
        }
        self.screens.turn_to(spot);
        pointer::point(ctx, spot, server);
    }

    /// The lab's server by its number, in the lab's topology.
    fn server_of(&self, server: LabServer) -> Option<ServerId> {
        let status = self.lab.board.status.as_ref()?;
        let node = status.nodes.iter().find(|node| node.server == server)?;
        Some(ServerId(node.name.clone()))
    }

    /// Once in every look: the next act, if its turn has come, and what was seen.
    pub(super) fn go_on_teaching(&mut self, ctx: &Context, now: Moment) {
        self.fit_lesson();
        if self.teaching.board.run.is_none() {
            return;
        }
        let busy = Busy {
            probe: self.probing.is_busy(),
            compare: self.comparing.as_ref().is_some_and(|c| c.end.is_none()),
            accept: self.accepting.is_busy(),
        };
        let lab = self.lab.board.status.as_ref();
        if let Some(act) = self.teaching.next_act(lab, busy, now) {
            self.carry_out(ctx, act);
        }
        let facts = self.lesson_facts(now);
        self.teaching.observe(&facts, now);
        let lab = self.lab.board.topology.as_ref();
        if let Some(lab) = lab.filter(|_| self.teaching.wants_poll(now)) {
            self.conductor.poll_now(lab);
        }
    }

    pub fn lesson_facts(&self, now: Moment) -> LessonFacts {
        let has_result = self.comparing.as_ref().is_some_and(|c| c.end.is_some());
        facts(&Seen {
            store: &self.conductor.store,
            lab: &self.lab.board,
            probes: &self.probing.board,
            acceptances: &self.accepting.board,
            accept_started: self.teaching.accept_started,
            compared: self.teaching.compare_started.filter(|_| has_result),
            screen: self.shell.screen,
            server: self.server.as_ref(),
            now,
        })
    }

    fn carry_out(&mut self, ctx: &Context, act: Act) {
        let Some(topology) = self.lab.board.topology.clone() else {
            return self.teaching.refused(phrase("lab_screen.no_lab"));
        };
        match act {
            Act::Make {
                kind,
                on,
                intensity,
                lasts,
            } => self.lab.send(LabOrder::Make(Fault {
                kind,
                on,
                intensity,
                lasts,
            })),
            Act::Undo(kind) => self.undo_all_of(kind),
            Act::UndoAll => self.lab.send(LabOrder::UndoAll),
            Act::Carry(traffic) => self.lab.send(LabOrder::Carry(traffic)),
            Act::Probe { plan, replica } => {
                self.probing.board.refused.remove(&topology);
                let replica = replica.and_then(|replica| self.server_of(replica));
                let start = Action::StartProbe {
                    topology: topology.clone(),
                    plan,
                    replica,
                };
                self.perform(ctx, start);
                if let Some(why) = self.probing.board.refused.get(&topology) {
                    self.teaching.refused(why.clone());
                }
            }
            Act::Compare { length, rate } => {
                let start = Action::Compare {
                    topology,
                    length,
                    rate,
                    spare_per_second: None,
                    typed_name: String::new(),
                };
                self.perform(ctx, start);
            }
            Act::Accept => {
                self.accepting.board.refused.remove(&topology);
                let start = Action::StartAcceptance {
                    topology: topology.clone(),
                    may_hold: true,
                    wait_limit: DEFAULT_WAIT_LIMIT,
                    proxy: None,
                    typed: String::new(),
                };
                self.perform(ctx, start);
                if let Some(why) = self.accepting.board.refused.get(&topology) {
                    self.teaching.refused(why.clone());
                }
            }
            Act::Show(spot) => self.look_at(ctx, spot),
            Act::Wait(_) => {}
        }
    }

    fn undo_all_of(&mut self, kind: FaultKind) {
        let status = self.lab.board.status.as_ref();
        let notes = status.into_iter().flat_map(|status| &status.faults);
        let ids: Vec<_> = notes
            .filter(|note| note.fault.kind == kind && is_active(note))
            .map(|note| note.id)
            .collect();
        for id in ids {
            self.lab.send(LabOrder::Undo(id));
        }
    }
}
